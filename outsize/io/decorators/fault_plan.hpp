// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Says which calls of a file go wrong, and how: by script, or by odds and a seed.
//
// Several faulty_files may share a plan (the disks of a storage); calls are numbered over all of
// them. The script goes before the odds. The same seed and the same sequence of calls give the same
// faults. Every function may be called from any thread. Layer: io.

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <vector>

namespace outsize::io {

/// The calls that can fail; each has its own numbering.
enum class fault_point : std::uint8_t { read, write, allocate, resize, sync };

/// One thing that goes wrong with one call. Build it with the functions.
struct fault {
  int error_number = 0;                ///< Not 0: fails with it, nothing is moved.
  std::size_t at_most_bytes = 0;       ///< Not 0: moves no more (rounded up to the alignment).
  std::chrono::microseconds delay{0};  ///< Held back so long; attempts behind it overtake.
  std::optional<std::size_t> flipped_bit = {};  ///< Of a write (modulo its length): goes out wrong.

  static fault fail(int error_number) { return {.error_number = error_number}; }
  static fault interrupt() { return {.error_number = EINTR}; }
  static fault shorten(std::size_t at_most_bytes) { return {.at_most_bytes = at_most_bytes}; }
  static fault flip(std::size_t bit) { return {.flipped_bit = bit}; }
  static fault hold(std::chrono::microseconds delay) { return {.delay = delay}; }
};

/// Probabilities from 0 to 1, drawn for each attempt in this order; they apply to reads and writes.
struct fault_odds {
  std::uint64_t seed = 0;
  double fail = 0;
  int error_number = EIO;  ///< Of `fail`.
  double interrupt = 0;
  double shorten = 0;  ///< To a random part of the length.
  double hold = 0;     ///< For a random time up to max_delay, also of a shortened attempt.
  std::chrono::microseconds max_delay{500};
};

/// Says of each attempt what shall go wrong with it.
class fault_plan {
 public:
  explicit fault_plan(fault_odds const& odds = {});

  /// Calls number `first` (from 0) to `first + count - 1` at that point get the fault.
  void script(fault_point where, std::uint64_t first, fault what, std::uint64_t count = 1);

  /// From now on calls at that point fail, until end_script(). Then nothing is scripted any more.
  void fail_from_now_on(fault_point where, int error_number);
  void end_script();

  /// For faulty_file: numbers a call of `length_bytes` and returns what goes wrong with it, if
  /// anything.
  std::optional<fault> next(fault_point where, std::size_t length_bytes);

  /// How many calls there were, and how many of all calls went wrong in some way.
  std::uint64_t calls(fault_point where) const;
  std::uint64_t injected() const;

 private:
  struct scripted {
    fault_point where;
    std::uint64_t first;
    std::uint64_t count;
    fault what;
  };

  std::optional<fault> draw(std::size_t length_bytes);

  fault_odds const odds_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<scripted> script_;
  std::array<std::uint64_t, 5> calls_{};
  std::uint64_t injected_ = 0;
  std::mt19937_64 random_;
};

}  // namespace outsize::io
