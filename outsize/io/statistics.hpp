// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Counters of I/O: how much moved, how long it took, how long threads waited for it.
//
// statistics is the live, shared counter (every function from any thread); statistics_snapshot is a
// plain value, and two of them subtract, so that the I/O of one phase is "after - before". For
// traces a counter can also note everything one by one, in a timeline. Layer: io.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace outsize::io {

class timeline;

enum class operation : std::uint8_t { read, write };

/// Values at one moment. Times are nanoseconds; `*_time_ns` adds up the time from issue to
/// completion of each request (requests overlap, so it can exceed the clock's), `busy_ns` the time
/// in which at least one request was under way (a lower bound if requests end out of order),
/// `wait_ns` what threads stood in wait().
struct statistics_snapshot {
  std::uint64_t read_count = 0, read_bytes = 0, read_time_ns = 0;
  std::uint64_t write_count = 0, write_bytes = 0, write_time_ns = 0;
  std::uint64_t busy_ns = 0;
  std::uint64_t wait_ns = 0;

  statistics_snapshot& operator+=(statistics_snapshot const& other) noexcept;
  statistics_snapshot& operator-=(statistics_snapshot const& other) noexcept;
  friend statistics_snapshot operator+(statistics_snapshot a,
                                       statistics_snapshot const& b) noexcept {
    return a += b;
  }
  friend statistics_snapshot operator-(statistics_snapshot a,
                                       statistics_snapshot const& b) noexcept {
    return a -= b;
  }
  friend bool operator==(statistics_snapshot const&, statistics_snapshot const&) = default;
};

/// The live counter.
class statistics {
 public:
  /// Counts a completed request, and the time since its issue.
  void add_request(operation kind, std::size_t bytes, std::uint64_t time_ns) noexcept;
  /// Counts time that a thread has waited for I/O.
  void add_wait(std::uint64_t wait_ns) noexcept;
  /// The values now.
  statistics_snapshot snapshot() const noexcept;

  /// Notes all that ends from now on in a track `name` of `where` too, which must outlive the
  /// counter or the next call; nullptr: no longer. @pre no request that it counts is under way.
  void note_in(timeline* where, std::string name = {});

 private:
  void add_busy(std::int64_t begin_ns, std::int64_t end_ns) noexcept;

  struct alignas(64) counters {
    std::atomic<std::uint64_t> count{0}, bytes{0}, time_ns{0};
  };
  counters reads_;
  counters writes_;
  std::atomic<std::uint64_t> wait_ns_{0};
  std::atomic<std::uint64_t> busy_ns_{0};
  std::atomic<std::int64_t> busy_until_ns_{0};  // the latest end of a request
  std::atomic<timeline*> timeline_{nullptr};
  std::size_t track_ = 0;  // of the timeline
};

/// Counts its own life as a wait for I/O.
class timed_wait {
 public:
  /// nullptr: counts nothing. The counter must outlive it.
  explicit timed_wait(statistics* counter) noexcept;
  timed_wait(timed_wait const&) = delete;
  timed_wait& operator=(timed_wait const&) = delete;
  ~timed_wait() {
    if (counter_ != nullptr) counter_->add_wait(elapsed_ns());
  }

  std::uint64_t elapsed_ns() const noexcept;

 private:
  statistics* counter_;
  std::int64_t begin_ns_;
};

}  // namespace outsize::io
