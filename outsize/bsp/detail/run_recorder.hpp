// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Notes the course of a run (run_history.hpp) while it goes on.
//
//   timeline:  | 1 ms | 1 ms | … | 1 ms |        all bins are in use:
//              |    2 ms     | … |  free …       pairs become one, and a bin is twice as long
//
// Entries of supersteps become one in the same way. So a recorder takes at most 6 MiB for the
// entries and 1 MiB for the timeline, however long the run is; these are not counted.
//
// Invariant: the times of an unfinished processor add up to the time since the start, at its last
// change. Any thread, with or without the lock of the run: its own lock is the innermost.
// Layer: bsp.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <outsize/bsp/run_history.hpp>

namespace outsize::bsp::detail {

class run_recorder {
 public:
  using clock = std::chrono::steady_clock;

  /// All processors begin to wait. @param clock_now  For tests: the clock.
  explicit run_recorder(std::uint32_t count, clock::time_point (*clock_now)() = clock::now);

  // ---- activity ----

  void begin_computing(std::uint32_t rank) noexcept;
  void end_computing(std::uint32_t rank) noexcept;
  /// Pieces of its context begin to move, or have ended (negative).
  void move(std::uint32_t rank, std::ptrdiff_t pieces) noexcept;
  void end(std::uint32_t rank) noexcept;

  // ---- supersteps ----

  /// The superstep of a processor ends, and the next begins. @throws std::bad_alloc.
  void pass(std::uint32_t rank);
  /// Adds to the present superstep of a processor.
  void add(std::uint32_t rank, superstep_counts const& more) noexcept;
  /// Adds to the superstep that a processor has ended last, if there is one.
  void add_to_ended(std::uint32_t rank, superstep_counts const& more) noexcept;

  // ---- questions ----

  /// How far the run is.
  struct progress {
    std::uint64_t supersteps = 0;   ///< Begun by the processor that has come furthest.
    std::uint32_t ended = 0;        ///< Processors.
    std::uint64_t moved_bytes = 0;  ///< Contexts and messages, by disks.
    double computing_seconds = 0;   ///< All processors together.
  };
  progress now() const;
  run_history history();
  /// The sums of one processor.
  superstep_counts total_of(std::uint32_t rank) const;

 private:
  static constexpr std::size_t most_bins = 512;
  static constexpr std::uint32_t most_rows = 256;

  struct rank_state {
    bool is_computing = false, has_ended = false;
    std::ptrdiff_t moving = 0;  // pieces
    std::int64_t since_ns = 0;  // its times are noted up to here
    std::uint64_t superstep = 0;
    std::vector<superstep_counts> entries = std::vector<superstep_counts>(1);
  };

  // Each expects mutex_ locked.
  std::int64_t elapsed() const noexcept;
  void settle(rank_state& of, std::uint32_t rank, std::int64_t now_ns) noexcept;
  void spread(std::vector<float>& to, std::uint32_t row, std::int64_t begin_ns,
              std::int64_t end_ns) noexcept;
  void reach(std::int64_t end_ns) noexcept;
  void double_bins() noexcept;
  void merge_entries();
  superstep_counts& entry_of(rank_state& of, std::uint64_t superstep) noexcept;

  clock::time_point (*const clock_)();
  clock::time_point const begin_;
  std::size_t const most_entries_;  // of a rank
  mutable std::mutex mutex_;        // guards the following members
  std::vector<rank_state> ranks_;
  std::uint64_t merged_ = 1;
  std::vector<run_history::span> spans_;
  std::uint32_t ended_ = 0;
  std::uint64_t moved_bytes_ = 0;
  std::int64_t computing_ns_ = 0;
  std::uint64_t furthest_ = 0;
  run_timeline timeline_;  // with most_bins
};

}  // namespace outsize::bsp::detail
