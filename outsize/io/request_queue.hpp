// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What moves the bytes of disk_files: one queue per disk, shared by the files on it.
//
//   uring     linux/uring_queue: io_uring of fixed depth, to which attempts go in batches
//   threads   posix/thread_queue: a team of threads that call pread and pwrite; what there is
//             where io_uring is not
//   mmap      such a team that copies from and to mappings of the file: linux/mapped_transfer
//
// Attempts of one queue may begin and end in any order. Every function may be called from any
// thread. In a process that comes from a fork the copy of a queue does nothing: its attempts fail
// (EOWNERDEAD). Layer: io.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include <outsize/io/request.hpp>

namespace outsize::io {

/// How bytes are moved. `automatic` never takes `mmap`: its files pass through the page cache, and
/// it copies in the threads of this process; it suits data that stays in that cache. A file that
/// it moves must not be cut shorter, here or by another program, over bytes that are on their way:
/// the kernel answers that with SIGBUS. Failures of the disk, and a full one, are errors as
/// everywhere.
enum class backend : std::uint8_t { automatic, uring, threads, mmap };

/// Moves bytes of open files of the system; made by make_request_queue.
class request_queue {
 public:
  request_queue() = default;
  request_queue(request_queue const&) = delete;
  request_queue& operator=(request_queue const&) = delete;
  /// All attempts have ended before (the files are gone).
  virtual ~request_queue() = default;

  /// Begins the attempt on an open file of the system, now or when the depth allows. One that is
  /// awaited is made by this thread at once: to wake others costs as much as a fast disk needs.
  virtual void start(int file_descriptor, attempt work) noexcept = 0;
  /// Takes back the attempt of `owner` if it has not begun; returns whether it did.
  virtual bool withdraw(request const& owner) noexcept = 0;
  /// "io_uring", "threads" or "mmap".
  virtual std::string_view name() const noexcept = 0;
  /// Whether it can move bytes past the page cache; disk_file does not try where it cannot.
  virtual bool moves_directly() const noexcept = 0;
  /// The most long attempts under way at once, beside those that are awaited.
  virtual std::size_t depth() const noexcept = 0;
};

/// The most that may be asked for.
inline constexpr std::size_t most_queue_depth = 4096;

/// Makes a queue of the given kind; `automatic` tries io_uring (built in, kernel willing) and falls
/// back to threads. Depth is the number of attempts under way at once (of threads, for `threads`
/// and `mmap`); `uring` has eight times as many where they are of up to 64 KiB.
/// @throws io_error if `uring` or `mmap` was asked for and the kernel refuses or is too old (`mmap`
/// needs process_vm_readv); std::invalid_argument if `uring` is not built in, or if the depth is
/// not from 1 to most_queue_depth.
std::unique_ptr<request_queue> make_request_queue(backend kind = backend::automatic,
                                                  std::size_t depth = 16);

}  // namespace outsize::io
