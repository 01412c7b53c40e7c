// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>

namespace outsize::io {
namespace {

[[maybe_unused]] bool is_aligned(std::uint64_t offset_bytes, std::byte const* data,
                                 std::size_t length_bytes, std::size_t alignment_bytes) {
  return offset_bytes % alignment_bytes == 0 && length_bytes % alignment_bytes == 0 &&
         reinterpret_cast<std::uintptr_t>(data) % alignment_bytes == 0;
}

}  // namespace

file::~file() { OUTSIZE_ASSERT(pending_ == 0 || !process_.is_current()); }

request_ptr file::read(std::uint64_t offset_bytes, std::span<std::byte> into, completion done) {
  return issue({operation::read, offset_bytes, into.data(), into.size(), nullptr}, std::move(done));
}

request_ptr file::read_now(std::uint64_t offset_bytes, std::span<std::byte> into, completion done) {
  // A wait where the transfer is done at once by this thread; else next to nothing.
  timed_wait const wait(counter());
  return issue({operation::read, offset_bytes, into.data(), into.size(), nullptr, true},
               std::move(done));
}

request_ptr file::write(std::uint64_t offset_bytes, std::span<std::byte const> from,
                        completion done) {
  // One type of attempt serves both directions; nobody writes through the pointer of a write.
  return issue(
      {operation::write, offset_bytes, const_cast<std::byte*>(from.data()), from.size(), nullptr},
      std::move(done));
}

std::uint64_t file::allocate_some(std::uint64_t offset_bytes, std::uint64_t least_bytes,
                                  std::uint64_t most_bytes) {
  for (std::uint64_t bytes = most_bytes;;) try {
      allocate(offset_bytes, bytes);
      return bytes;
    } catch (io_error const& e) {
      if (bytes <= least_bytes || !e.is_full()) throw;
      bytes = std::max(round_down<std::uint64_t>(bytes / 2, alignment_bytes()), least_bytes);
    }
}

request_ptr file::issue(attempt const& all, completion done) {
  OUTSIZE_ASSERT(is_aligned(all.offset_bytes, all.data, all.length_bytes, alignment_bytes()));
  auto issued = std::make_shared<request>(request::key{}, *this, all, std::move(done));
  {
    std::lock_guard lock(pending_mutex_);
    ++pending_;
  }
  if (!process_.is_current()) {
    issued->complete({EOWNERDEAD, 0});
  } else if (all.length_bytes == 0) {
    issued->complete({});
  } else {
    issued->run();
  }
  return issued;
}

void file::request_ended() noexcept {
  // Notifies under the lock: the file may be gone as soon as drain() can see zero.
  std::lock_guard lock(pending_mutex_);
  if (--pending_ == 0) idle_.notify_all();
}

void file::drain() noexcept {
  std::unique_lock lock(pending_mutex_);
  idle_.wait(lock, [this] { return pending_ == 0; });
}

}  // namespace outsize::io
