// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/file_blocks.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>

namespace outsize::block {

io::request_ptr file_blocks::read(block_id id, std::span<std::byte> into, io::completion done) {
  OUTSIZE_ASSERT(into.size() <= id.length_bytes);
  return file_.read(id.offset_bytes, into, std::move(done));
}

io::request_ptr file_blocks::read_now(block_id id, std::span<std::byte> into) {
  OUTSIZE_ASSERT(into.size() <= id.length_bytes);
  return file_.read_now(id.offset_bytes, into);
}

io::request_ptr file_blocks::write(block_id id, std::span<std::byte const> from,
                                   io::completion done) {
  OUTSIZE_ASSERT(from.size() <= id.length_bytes || from.size() % id.length_bytes == 0);
  return file_.write(id.offset_bytes, from, std::move(done));
}

void file_blocks::wait_for_block(block_id id, io::request& reading) const {
  std::uint64_t const bytes = reading.wait();
  if (bytes == id.length_bytes) return;
  std::uint64_t const size_bytes = file_.size_bytes();
  std::uint64_t const there = size_bytes - std::min(size_bytes, id.offset_bytes);
  if (bytes < std::min<std::uint64_t>(there, id.length_bytes) || bytes == 0)
    throw io_error(EIO, "read", file_.name(), id.offset_bytes, id.length_bytes);
}

}  // namespace outsize::block
