// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A request: one read or write that was issued and runs without its issuer.
//
// A request is split into attempts: each asks the back-end for the bytes that are still missing.
// Short transfers, EINTR and EAGAIN lead to another attempt, so that a request ends only when all
// its bytes have moved, the file ended (reads only), an error came, or it was cancelled in time. A
// file system that never gets on is an error after some seconds (patience.hpp).
//
// Invariant: the memory of a request belongs to the back-end from issue to completion; a completed
// request never changes. Every function may be called from any thread. Layer: io. Source:
// Dementiev, Kettner, Sanders: STXXL, 2008, section 3.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <outsize/base/detail/process_locks.hpp>
#include <outsize/base/detail/process_mark.hpp>
#include <outsize/io/detail/patience.hpp>
#include <outsize/io/statistics.hpp>

namespace outsize::io {

class file;
class request;
using request_ptr = std::shared_ptr<request>;

/// How a request ended. `error_number` is 0 for success, ECANCELED after cancel(), EOWNERDEAD in a
/// process that comes from a fork and waits for a request of another one, else an errno.
/// `bytes` is what was moved: all for a successful write, less for a read only where the file
/// ended.
struct outcome {
  int error_number = 0;
  std::size_t bytes = 0;
  bool ok() const noexcept { return error_number == 0; }
};

/// Called once on completion, before any waiter wakes: in a thread of the back-end, or inside the
/// issuing call where a file completes at once (memory_file, a failure injected by faulty_file), or
/// inside cancel(). So hold no lock that it takes while issuing. Must not throw, must not wait for
/// requests; it may issue new ones. It is destroyed before any waiter wakes. What it makes of the
/// outcome is what waiters learn: one that looks at the bytes may find that they are wrong.
using completion = std::function<void(request const&, outcome&)>;

/// What a back-end is asked to do at once: move these bytes, all or a part, and then call
/// owner->attempt_ended() with the count or with a negative errno.
struct attempt {
  operation kind;
  std::uint64_t offset_bytes;
  std::byte* data;
  std::size_t length_bytes;
  request_ptr owner;
  bool is_awaited = false;  ///< The thread that starts it has nothing else to do until it ends.
};

/// One read or write; made by file::read and file::write.
class request : public std::enable_shared_from_this<request> {
 public:
  operation kind() const noexcept { return kind_; }
  std::uint64_t offset_bytes() const noexcept { return offset_bytes_; }
  std::size_t length_bytes() const noexcept { return length_bytes_; }
  file& target() const noexcept { return target_; }

  /// Whether it has completed.
  bool poll() const;

  /// Waits for completion and returns the bytes moved. The time is counted as I/O wait in the
  /// statistics of the file. May be called any number of times.
  /// @throws io_error (operation, path, offset, length, errno); cancelled after a cancel() that
  /// succeeded.
  std::size_t wait();

  /// Waits like wait() but returns the outcome instead of throwing.
  outcome wait_outcome();

  /// Takes the request back if its attempt has not begun (or its next one, after a short transfer).
  /// Returns whether it did; it is complete then.
  bool cancel();

  /// For back-ends: an attempt moved `result` bytes, or failed with errno `-result`.
  void attempt_ended(std::int64_t result) noexcept;

  /// For back-ends, inside file::start(): how many attempts have begun, this one included.
  unsigned attempt_count() const noexcept { return attempt_count_; }

 private:
  friend class file;
  friend class any_waiter;
  struct key {};

 public:
  /// For file::issue only.
  request(key, file& target, attempt const& all, completion on_completion);

 private:
  void run() noexcept;
  attempt next_attempt();
  std::optional<outcome> settle(std::int64_t result) noexcept;
  bool is_worth_another(int error_number) noexcept;
  bool reached_end_of_file() const noexcept;
  void complete(outcome how) noexcept;
  void note_path() noexcept;
  void notify_any_waiters();
  /// Whether it will complete in another process, of which this one is a copy.
  bool is_lost() const noexcept { return !done_ && !process_.is_current(); }

  file& target_;  // not touched after completion, when the file may be gone
  operation const kind_;
  std::uint64_t const offset_bytes_;
  std::byte* const data_;
  std::size_t const length_bytes_;
  bool const is_awaited_;
  std::int64_t const issued_ns_;
  completion on_completion_;

  // Of the attempts; one runs at a time, and back-ends order what precedes it before its end.
  std::size_t moved_bytes_ = 0;
  std::size_t attempt_bytes_ = 0;
  unsigned attempt_count_ = 0;
  detail::patience patience_;

  outsize::detail::process_mark process_;
  mutable outsize::detail::process_mutex mutex_;  // guards what follows
  outsize::detail::process_condition completed_;
  bool done_ = false;
  outcome outcome_;
  std::string failed_path_;
  std::vector<class any_waiter*> any_waiters_;
};

/// Waits until all have completed; then throws the error of the first failed one, if any.
void wait_all(std::span<request_ptr const> requests);

/// Waits until at least one has completed and returns the index of one that has. Does not throw its
/// error. The time is counted as I/O wait of the first file that counts.
/// @pre requests is not empty.
std::size_t wait_any(std::span<request_ptr const> requests);

/// The index of a completed one, if there is one now.
std::optional<std::size_t> poll_any(std::span<request_ptr const> requests);

}  // namespace outsize::io
