// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/guest_disk.hpp>

#include <algorithm>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/units.hpp>

namespace outsize::block {

guest_disk::guest_disk(storage& host, disk_options file)
    : host_(host),
      disk_(with_defaults(std::move(file), host.options()), host.disk_counter(0)),
      number_(host.disk_count()) {
  OUTSIZE_ASSERT(host.disk_count() == 1);
  disk_.grow_to_capacity();
}

std::optional<block_id> guest_disk::allocate(std::size_t length_bytes,
                                             std::uint64_t least_offset_bytes) {
  std::uint64_t const unit = disk_.file().alignment_bytes();
  std::uint64_t const bytes = round_up<std::uint64_t>(length_bytes, unit);
  OUTSIZE_ASSERT(bytes <= UINT32_MAX);
  auto const offset = disk_.allocate_from(round_up(least_offset_bytes, unit), bytes);
  if (!offset) return std::nullopt;
  return block_id{
      .offset_bytes = *offset, .disk = number_, .length_bytes = static_cast<std::uint32_t>(bytes)};
}

// Both are on one device, so one of them is as fast as the other.
std::span<std::uint64_t const> guest_disk::disk_speeds() const noexcept {
  return host_.disk_speeds();
}

std::size_t guest_disk::alignment_bytes() {
  return std::max(host_.alignment_bytes(), disk_.file().alignment_bytes());
}

io::request_ptr guest_disk::read(block_id id, std::span<std::byte> into, io::completion done) {
  if (!holds(id)) return host_.read(id, into, std::move(done));
  OUTSIZE_ASSERT(into.size() <= id.length_bytes);
  return disk_.read(id, into, std::move(done));
}

io::request_ptr guest_disk::read_now(block_id id, std::span<std::byte> into) {
  if (!holds(id)) return host_.read_now(id, into);
  OUTSIZE_ASSERT(into.size() <= id.length_bytes);
  return disk_.read_now(id, into);
}

io::request_ptr guest_disk::write(block_id id, std::span<std::byte const> from,
                                  io::completion done) {
  if (!holds(id)) return host_.write(id, from, std::move(done));
  OUTSIZE_ASSERT(from.size() <= id.length_bytes || from.size() % id.length_bytes == 0);
  return disk_.write(id, from, std::move(done));
}

void guest_disk::wait_for_block(block_id id, io::request& reading) const {
  if (!holds(id)) return host_.wait_for_block(id, reading);
  disk_.wait_for_block(id, reading);
}

void guest_disk::free(block_id id) noexcept {
  if (!holds(id)) return host_.free(id);
  disk_.free(id.offset_bytes, id.length_bytes);
}

std::string const& guest_disk::disk_name(std::uint32_t index) const {
  return index == number_ ? disk_.name() : host_.disk_name(index);
}

}  // namespace outsize::block
