// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A file: bytes at offsets, read and written asynchronously.
//
// The base class makes requests (request.hpp) and hands their attempts to the back-end or decorator
// that derives from it:
//
//   disk_file      a file or device of the system; moves its bytes through a request_queue
//   memory_file    bytes in memory, for tests and for planning
//   decorators/    counting_file, faulty_file, throttled_file, simulated_file: behaviour added
//                  around any file
//
// A completed write is visible to every later read of the same bytes. Requests that overlap in
// bytes must be ordered by the caller. Every function may be called from any thread. A file must
// outlive its requests: the destructor waits for them and swallows their errors. In a process that
// comes from a fork requests of a copy fail (EOWNERDEAD), and its destructor does not wait.
// Layer: io.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <outsize/base/detail/process_locks.hpp>
#include <outsize/io/file_version.hpp>
#include <outsize/io/request.hpp>
#include <outsize/io/statistics.hpp>

namespace outsize::io {

/// What a file is opened for.
enum class access : std::uint8_t { read_only, read_write };

/// What every file can do; see the top of this file.
class file {
 public:
  file(file const&) = delete;
  file& operator=(file const&) = delete;
  virtual ~file();

  /// Issues a read of into.size() bytes at `offset_bytes` and returns at once. Offset, length and
  /// address must be multiples of alignment_bytes(); the memory must live until completion. Errors:
  /// none here; they come out of request::wait() and reach the callback.
  request_ptr read(std::uint64_t offset_bytes, std::span<std::byte> into, completion done = {});
  /// The same for a caller that waits at once: where that is faster, the bytes are moved in this
  /// thread, which is counted as I/O wait, and the request is complete when it returns.
  request_ptr read_now(std::uint64_t offset_bytes, std::span<std::byte> into, completion done = {});
  /// Issues a write of from.size() bytes, likewise.
  request_ptr write(std::uint64_t offset_bytes, std::span<std::byte const> from,
                    completion done = {});

  /// The length in bytes. @throws io_error.
  virtual std::uint64_t size_bytes() const = 0;
  /// What tells whether others change it; where nobody can, its length alone. @throws io_error.
  virtual file_version version() const { return {.size_bytes = size_bytes()}; }
  /// Cuts or extends to `bytes`. @throws io_error.
  virtual void resize(std::uint64_t bytes) = 0;
  /// Makes sure that the range is backed by space on the disk, extending the file where needed;
  /// does nothing where the file system has no such call. @throws io_error, which is_full() if a
  /// disk or a quota has too little.
  virtual void allocate(std::uint64_t offset_bytes, std::uint64_t length_bytes) = 0;
  /// The same for `most_bytes`, or where there is no room for them half as many, and so on down to
  /// `least_bytes`; returns how many, a multiple of the alignment. @pre both are.
  std::uint64_t allocate_some(std::uint64_t offset_bytes, std::uint64_t least_bytes,
                              std::uint64_t most_bytes);
  /// Returns when everything whose write has completed, and the length, would survive a failure of
  /// the power. @throws io_error: what has survived is not known then.
  virtual void sync() = 0;
  /// What offsets, lengths and addresses must be multiples of; 1 if anything goes.
  virtual std::size_t alignment_bytes() const noexcept = 0;
  /// For messages: the path, or what stands for it.
  virtual std::string const& name() const noexcept = 0;

  /// Requests are counted there from now on; nullptr: not. The counter must outlive the file.
  void count_into(statistics* counter) noexcept { statistics_.store(counter); }
  statistics* counter() const noexcept { return statistics_.load(); }

  /// For decorators and request: begins an attempt; the result goes to work.owner->attempt_ended(),
  /// possibly before this returns. Must not throw, nor wait for the disk unless the attempt is
  /// awaited.
  virtual void start(attempt work) noexcept = 0;
  /// Takes back an attempt that has not begun; returns whether it did (attempt_ended is not called
  /// then).
  virtual bool withdraw(request const& owner) noexcept = 0;

 protected:
  file() = default;
  /// Waits until no request is under way. Every final class calls it first in its destructor.
  void drain() noexcept;
  /// The process that made it: only there its requests end, and may it be changed.
  outsize::detail::process_mark const& process() const noexcept { return process_; }

 private:
  friend class request;
  request_ptr issue(attempt const& all, completion done);

  void request_ended() noexcept;

  std::atomic<statistics*> statistics_{nullptr};
  std::atomic<bool> refuses_{false};  // a request lost its patience, and nothing was moved since
  outsize::detail::process_mark process_;
  outsize::detail::process_mutex pending_mutex_;
  outsize::detail::process_condition idle_;
  std::size_t pending_ = 0;
};

using file_ptr = std::unique_ptr<file>;

}  // namespace outsize::io
