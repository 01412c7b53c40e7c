// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The state that the threads of one run share, behind one lock: processors, free frames, waits, and
// the first failure.
//
// Workers run processors, the pager moves their memory; both look here for their next step. The
// lock is held for decisions, never for copies or I/O. Layer: bsp.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <outsize/bsp/detail/run_recorder.hpp>
#include <outsize/bsp/detail/scheduler.hpp>

namespace outsize::bsp::detail {

/// The reason for which a processor waits, for the report of a deadlock.
struct wait_note {
  static constexpr std::int64_t any = -1;
  char const* call = "";    ///< "barrier", "receive", …
  std::uint32_t group = 0;  ///< Of processors: 0 is all of them.
  std::int64_t peer = any;  ///< The processor that is to answer, if it is a certain one.
  std::int64_t tag = any;
};

/// The first thing that went wrong.
struct run_failure {
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  std::exception_ptr error;
  std::uint32_t rank = nobody;
};

class board {
 public:
  board(std::uint32_t count, std::uint32_t workers, std::uint64_t frame_bytes)
      : record(count),
        ranks(count, workers),
        free_frame_bytes(frame_bytes),
        waits(count),
        worker_wakes_(workers) {}

  std::atomic<bool> has_swapped = false;  ///< Memory is short: contexts have gone to disk.
  run_recorder record;                    // has a lock of its own

  std::mutex mutex;  // guards all that follows
  scheduler ranks;
  std::uint64_t free_frame_bytes;
  std::vector<wait_note> waits;
  run_failure failure;
  std::function<void()> on_failure = {};  ///< Called at the first failure, if it is set.
  bool is_lost = false;  ///< Memory cannot come in any more: absent processors cannot go on.

  std::uint64_t steps = 0;  ///< All steps of processors but vain polls.

  std::condition_variable pager_wakes;
  std::condition_variable& worker_wakes(std::uint32_t worker) { return worker_wakes_[worker]; }

  // ---- with the lock held ----

  void wake(std::uint32_t rank) {
    ranks.wake(rank);
    worker_wakes_[ranks.worker_of(rank)].notify_one();
    pager_wakes.notify_one();
  }
  bool has_failed() const noexcept { return failure.error != nullptr; }
  /// Notes the first failure, and wakes all processors, so that they unwind.
  void fail(std::exception_ptr error, std::uint32_t rank = run_failure::nobody);
  /// The same, if memory can no longer be moved: those absent are given up.
  void lose(std::exception_ptr error);
  /// Gives those that poll another turn if all others wait. Fails if all that have not ended wait,
  /// or nothing but polls has happened for a minute. One line names the call in which each of them
  /// waits.
  void check_progress();

 private:
  void abandon_absent();
  bool go_on_polling();
  void fail_for_waits(char const* how);
  void wake_all();

  std::vector<std::condition_variable> worker_wakes_;
  std::uint64_t steps_seen_ = ~std::uint64_t{0};  // at the last time when all others waited
  std::chrono::steady_clock::time_point seen_ = {}, looked_ = {};
};

}  // namespace outsize::bsp::detail
