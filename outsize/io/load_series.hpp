// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The load of a machine over the time of a run, in a fixed number of bins: for pictures.
//
//   bins   | 0.1 s | 0.1 s | … | 0.1 s |          all are in use:
//          |   0.2 s   | … |   0.2 s   | free …   pairs become one, and a bin is twice as long
//
// Invariant: the sums over all bins are the last totals that were added, less the first. One thread
// at a time. Layer: io.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace outsize::io {

/// Totals since any moment in the past.
struct load_totals {
  double read_bytes = 0;
  double written_bytes = 0;
  double cpu_seconds = 0;
};

class load_series {
 public:
  /// The bins are `bin_seconds` long at first. @pre both are positive, most_bins is even.
  explicit load_series(std::size_t most_bins = 240, double bin_seconds = 0.05)
      : most_bins_(most_bins), bin_seconds_(bin_seconds) {}

  /// Adds the totals at a moment, in seconds since the start. The increase since the last call is
  /// spread evenly over the time between. @pre moments and totals do not decrease.
  void add(double seconds, load_totals const& now);

  double bin_seconds() const noexcept { return bin_seconds_; }
  /// Returns the increase in each bin.
  std::span<load_totals const> bins() const noexcept { return bins_; }

 private:
  void double_bins();
  void spread(double begin, double end, load_totals const& increase);

  std::size_t most_bins_;
  double bin_seconds_;
  std::vector<load_totals> bins_;
  bool has_begun_ = false;
  double last_seconds_ = 0;
  load_totals last_;
};

}  // namespace outsize::io
