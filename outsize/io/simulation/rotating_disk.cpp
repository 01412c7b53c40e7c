// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/simulation/rotating_disk.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace outsize::io {
namespace {

using std::chrono::nanoseconds;

nanoseconds whole_nanoseconds(double milliseconds) noexcept {
  return nanoseconds(std::llround(milliseconds * 1e6));
}

rotating_disk_options checked(rotating_disk_options options) {
  auto const& seek = options.seek;
  bool const empty = options.heads == 0 || options.zones.empty() ||
                     std::ranges::any_of(options.zones, [](disk_zone const& z) {
                       return z.cylinders == 0 || z.track_bytes == 0;
                     });
  if (empty) throw std::invalid_argument("a rotating disk needs heads, zones, cylinders and bytes");
  bool const negative =
      std::min({seek.near_ms, seek.near_root_ms, seek.far_ms, seek.far_step_ms}) < 0 ||
      std::min(options.head_switch, options.overhead) < nanoseconds(0);
  if (negative) throw std::invalid_argument("the times of a rotating disk must not be negative");
  if (!(options.rpm >= 60)) throw std::invalid_argument("a rotating disk makes 60 rpm or more");
  return options;
}

}  // namespace

nanoseconds seek_curve::operator()(std::uint64_t cylinders) const noexcept {
  auto const distance = static_cast<double>(cylinders);
  if (cylinders == 0) return nanoseconds(0);
  if (cylinders < far_cylinders)
    return whole_nanoseconds(near_ms + near_root_ms * std::sqrt(distance));
  return whole_nanoseconds(far_ms + far_step_ms * distance);
}

rotating_disk_options hp_97560() {
  return {.rpm = 4002,
          .heads = 19,
          .zones = {{1962, 72 * 512}},
          .seek = {.near_ms = 3.24,
                   .near_root_ms = 0.4,
                   .far_cylinders = 383,
                   .far_ms = 8,
                   .far_step_ms = 0.008},
          .head_switch = nanoseconds(1'600'000),
          .overhead = nanoseconds(2'200'000)};
}

rotating_disk::rotating_disk(rotating_disk_options options)
    : options_(checked(std::move(options))), revolution_(whole_nanoseconds(60e3 / options_.rpm)) {
  std::uint64_t tracks = 0;
  for (auto const& zone : options_.zones) {
    zones_.push_back({capacity_bytes_, tracks, zone.track_bytes});
    std::uint64_t const in_zone = std::uint64_t{zone.cylinders} * options_.heads;
    tracks += in_zone;
    capacity_bytes_ += in_zone * zone.track_bytes;
  }
}

disk_service rotating_disk::serve(disk_request const& asked) noexcept {
  auto const begin = std::max(free_, asked.arrival);
  if (asked.offset_bytes >= capacity_bytes_) return {begin, {}};
  auto const length = std::min(asked.length_bytes, capacity_bytes_ - asked.offset_bytes);
  disk_time spent;
  bool const goes_on = asked.offset_bytes == next_offset_bytes_ && asked.kind == last_kind_;
  if (!goes_on) spent = approach(asked.offset_bytes, begin);
  spent += transfer(asked.offset_bytes, length);
  free_ = begin + spent.total();
  last_kind_ = asked.kind;
  next_offset_bytes_ = asked.offset_bytes + length;
  return {free_, spent};
}

rotating_disk::position rotating_disk::find(std::uint64_t offset_bytes) const noexcept {
  auto const zone = std::prev(
      std::ranges::upper_bound(zones_, offset_bytes, std::less<>(), &placed_zone::begin_bytes));
  std::uint64_t const within = offset_bytes - zone->begin_bytes;
  return {zone->begin_track + within / zone->track_bytes, zone->track_bytes,
          within % zone->track_bytes};
}

/// The angle at which a track begins, as time from angle 0: what passes from the beginning of track
/// 0 while the head goes from track to track.
rotating_disk::duration rotating_disk::skew(std::uint64_t track) const noexcept {
  std::uint64_t const cylinder = track / options_.heads;
  std::uint64_t const head_switches = track - cylinder;
  auto const turned = [this](duration step, std::uint64_t count) {
    auto const angle = static_cast<std::uint64_t>((step % revolution_).count());
    auto const full = static_cast<std::uint64_t>(revolution_.count());
    return duration(static_cast<std::int64_t>(angle * (count % full) % full));
  };
  return turned(options_.head_switch, head_switches) + turned(options_.seek(1), cylinder);
}

/// How long after the beginning of its track `end_byte` passes. Rounded once, so that the times of
/// parts add up to that of the whole.
rotating_disk::duration rotating_disk::passing(position const& where,
                                               std::uint64_t end_byte) const noexcept {
  auto const full = static_cast<std::uint64_t>(revolution_.count());
  return duration(static_cast<std::int64_t>(end_byte * full / where.track_bytes));
}

rotating_disk::duration rotating_disk::move_head(std::uint64_t track) noexcept {
  auto const from = std::exchange(track_, track);
  auto const cylinder = track / options_.heads;
  auto const old_cylinder = from / options_.heads;
  if (cylinder == old_cylinder) return track == from ? duration(0) : options_.head_switch;
  return options_.seek(std::max(cylinder, old_cylinder) - std::min(cylinder, old_cylinder));
}

/// Brings the head to a byte, from wherever it is.
disk_time rotating_disk::approach(std::uint64_t offset_bytes, duration begin) noexcept {
  auto const where = find(offset_bytes);
  disk_time spent{.overhead = options_.overhead, .seek = move_head(where.track)};
  auto const angle = (skew(where.track) + passing(where, where.byte)) % revolution_;
  auto const now = (begin + spent.total()) % revolution_;
  spent.rotation = (angle - now + revolution_) % revolution_;
  return spent;
}

/// Moves bytes from track to track. @pre The first is below the head, or on the track after it.
disk_time rotating_disk::transfer(std::uint64_t offset_bytes, std::uint64_t length_bytes) noexcept {
  disk_time spent;
  while (length_bytes > 0) {
    auto const where = find(offset_bytes);
    spent.seek += move_head(where.track);
    auto const end_byte = std::min(where.track_bytes, where.byte + length_bytes);
    spent.transfer += passing(where, end_byte) - passing(where, where.byte);
    offset_bytes += end_byte - where.byte;
    length_bytes -= end_byte - where.byte;
  }
  return spent;
}

}  // namespace outsize::io
