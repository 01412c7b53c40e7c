// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A disk that rotates: seeks, rotation, zones, one request after another.
//
// The bytes lie along the tracks of a cylinder, head after head, then in the next cylinder inwards;
// outer zones have longer tracks, so they are faster:
//
//   offset 0 ──► │ zone 0: tracks of 2 MiB │ zone 1 │ … │ last zone: tracks of 1 MiB │ ◄── capacity
//                  outermost cylinder                          innermost cylinder
//
// A request waits for those before it and then takes
//
//   overhead + seek(cylinders to go) + rotation to its first byte + transfer
//
// where the transfer moves at the speed of the track below the head and adds a head switch or a
// seek of one cylinder at the end of each track. Tracks are skewed by just that, so the next track
// begins where the head arrives. A request that goes on where the one before ended, in the same
// direction, takes its transfer only: the disk reads ahead and gathers writes.
//
// Not modelled: the disk's cache beyond that, reordering of requests, remapped sectors, the longer
// settling before writes. Invariant: after a request that did not come late, the angle of the disk
// is that of the byte after it, to the nanosecond; all times are whole nanoseconds. Thread rule as
// disk_model's. Layer: io. Source: Ruemmler, Wilkes: An introduction to disk drive modeling, IEEE
// Computer 27(3), 1994 (seek curve, layout, skew, head switches).

#include <chrono>
#include <cstdint>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/io/simulation/disk_model.hpp>

namespace outsize::io {

/// Neighbouring cylinders whose tracks have one length.
struct disk_zone {
  std::uint32_t cylinders;
  std::uint32_t track_bytes;
};

/// How long the arm needs for d > 0 cylinders: near_ms + near_root_ms * sqrt(d) where it only
/// speeds up and slows down; from far_cylinders on, where it moves at full speed in between, far_ms
/// + far_step_ms * d.
struct seek_curve {
  double near_ms = 0.5;
  double near_root_ms = 0.02;
  std::uint32_t far_cylinders = UINT32_MAX;
  double far_ms = 0;
  double far_step_ms = 0;

  /// 0 for no distance.
  std::chrono::nanoseconds operator()(std::uint64_t cylinders) const noexcept;
};

/// What a disk is built of. The defaults are round numbers of a large disk of the 2020s: 5 TB,
/// 250 MB/s outside and 125 MB/s inside before track ends, 8 ms for a third of the cylinders.
struct rotating_disk_options {
  double rpm = 7200;  ///< Revolutions in a minute; 60 or more.
  std::uint32_t heads = 8;
  std::vector<disk_zone> zones = {{100'000, 2'097'152},
                                  {100'000, 1'747'626},
                                  {100'000, 1'398'102},
                                  {100'000, 1'048'576}};  ///< Outermost first.
  seek_curve seek;
  std::chrono::nanoseconds head_switch{500'000};
  std::chrono::nanoseconds overhead{100'000};  ///< Of each request that is not a continuation.
};

/// The HP 97560 of 1992, 1.3 GB, with the numbers of Ruemmler and Wilkes; it has one zone.
rotating_disk_options hp_97560();

/// A disk with an arm; see the top of this file.
class rotating_disk final : public disk_model {
 public:
  /// @throws std::invalid_argument if it has no heads, no zones, an empty zone, negative times or
  /// less than 60 rpm.
  explicit rotating_disk(rotating_disk_options options = {});

  std::uint64_t capacity_bytes() const noexcept override { return capacity_bytes_; }
  disk_service serve(disk_request const& asked) noexcept override;

  std::chrono::nanoseconds revolution() const noexcept { return revolution_; }

 private:
  using duration = std::chrono::nanoseconds;

  /// A zone with what lies before it.
  struct placed_zone {
    std::uint64_t begin_bytes;
    std::uint64_t begin_track;
    std::uint64_t track_bytes;
  };
  /// Where a byte is. Tracks are numbered through, head by head and cylinder by cylinder.
  struct position {
    std::uint64_t track;
    std::uint64_t track_bytes;
    std::uint64_t byte;
  };

  position find(std::uint64_t offset_bytes) const noexcept;
  duration skew(std::uint64_t track) const noexcept;
  duration passing(position const& where, std::uint64_t end_byte) const noexcept;
  duration move_head(std::uint64_t track) noexcept;
  disk_time approach(std::uint64_t offset_bytes, duration begin) noexcept;
  disk_time transfer(std::uint64_t offset_bytes, std::uint64_t length_bytes) noexcept;

  rotating_disk_options const options_;
  duration const revolution_;
  std::vector<placed_zone> zones_;
  std::uint64_t capacity_bytes_ = 0;

  duration free_{0};                              // when the last request has ended
  std::uint64_t track_ = 0;                       // below the head
  operation last_kind_ = operation::read;         // of the last request
  std::uint64_t next_offset_bytes_ = UINT64_MAX;  // where it would be continued
};

}  // namespace outsize::io
