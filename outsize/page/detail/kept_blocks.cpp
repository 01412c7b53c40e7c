// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/page/detail/kept_blocks.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>

namespace outsize::detail {

block::block_id kept_blocks::block(std::uint64_t number, std::size_t length_bytes) const noexcept {
  return {.offset_bytes = pages_.place(number).offset_bytes,
          .disk = static_cast<std::uint32_t>(number),
          .length_bytes = static_cast<std::uint32_t>(length_bytes)};
}

void kept_blocks::trim() noexcept {
  std::uint64_t end = pages_.end();
  while (end > 0 && !pages_.is_written(end - 1)) --end;
  pages_.shrink(0, end);
  first_free_ = std::min(first_free_, end);
}

block::block_id kept_blocks::allocate(std::size_t length_bytes) {
  OUTSIZE_ASSERT(length_bytes <= block_bytes());
  while (first_free_ < pages_.end() && pages_.is_written(first_free_)) ++first_free_;
  if (first_free_ > UINT32_MAX) throw out_of_space(file_->name(), length_bytes, 0);
  if (first_free_ == pages_.end()) pages_.append();
  pages_.place_to_change(first_free_);
  return block(first_free_++, length_bytes);
}

void kept_blocks::free(block::block_id id) noexcept {
  pages_.vacate(id.disk);
  first_free_ = std::min<std::uint64_t>(first_free_, id.disk);
}

std::span<std::uint64_t const> kept_blocks::disk_speeds() const noexcept {
  return pages_.device().disk_speeds();
}

std::size_t kept_blocks::alignment_bytes() {
  constexpr std::size_t most = 4096;  // that pages are rounded up to
  return std::gcd(block_bytes(), most);
}

io::request_ptr kept_blocks::read(block::block_id id, std::span<std::byte> into,
                                  io::completion done) {
  return pages_.device().read(id, into, std::move(done));
}

io::request_ptr kept_blocks::read_now(block::block_id id, std::span<std::byte> into) {
  return pages_.device().read_now(id, into);
}

io::request_ptr kept_blocks::write(block::block_id id, std::span<std::byte const> from,
                                   io::completion done) {
  return pages_.device().write(id, from, std::move(done));
}

void kept_blocks::wait_for_block(block::block_id id, io::request& reading) const {
  pages_.device().wait_for_block(id, reading);
}

}  // namespace outsize::detail
