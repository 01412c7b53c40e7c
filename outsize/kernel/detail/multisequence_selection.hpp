// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Where to cut several sorted sequences so that the r least items lie before the cuts, or nearly
// so many.
//
// Items are ordered by key, then by sequence, then by rank: a strict total order, so the cut is
// unique for a rank, and a merge cut into parts gives the same result as a whole one. Pure
// functions. Layer: kernel. Source: Varman et al.: Merging multiple lists on
// hierarchical-memory multiprocessors, 1991; used as in Beckmann, Dementiev, Singler 2009,
// section 2. Pivots by interpolation are ours.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace outsize::detail {

/// The number of items among ranks [low, high) of `s` that come before the item with `pivot` in
/// another sequence, plus low. `ties_before`: whether s's items equal to the pivot come before it.
template <typename Sequence, typename Key, typename Less>
std::size_t rank_of(Sequence const& s, std::size_t low, std::size_t high, Key const& pivot,
                    bool ties_before, Less const& less) {
  while (low < high) {
    std::size_t const middle = low + (high - low) / 2;
    bool const is_before = ties_before ? !less(pivot, s.key(middle)) : less(s.key(middle), pivot);
    if (is_before) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Cuts `sequences`, of which only the first limits[s] items count, so that the `rank` least items
/// of their merge lie before the cuts, or up to `slack` fewer. Returns a cut for each.
///
/// Pivots come from the widest range that is left, from where the rank would be if all ranges were
/// alike: with slack one or two will do then. Where they are not, every third one halves it.
/// @pre rank <= the sum of limits. CPU: O(k log n) comparisons for each pivot, of k sequences of n
/// items; O(log n) pivots where sequences are alike, O(k log n) at worst.
template <typename Sequence, typename Less>
std::vector<std::size_t> multisequence_select(std::span<Sequence const> sequences,
                                              std::span<std::size_t const> limits, std::size_t rank,
                                              Less const& less, std::size_t slack = 0) {
  std::size_t const k = sequences.size();
  std::vector<std::size_t> low(k, 0);
  std::vector<std::size_t> high(limits.begin(), limits.end());
  std::vector<std::size_t> cut(k);
  // Invariant: low[s] <= answer[s] <= high[s], and so their sums; both are cuts of the merge.
  std::size_t low_sum = 0, high_sum = std::reduce(high.begin(), high.end());
  std::size_t guesses_in_vain = 0;
  for (;;) {
    if (rank - low_sum <= slack) return low;
    if (high_sum == rank) return high;
    std::size_t widest = 0;
    for (std::size_t s = 1; s < k; ++s)
      if (high[s] - low[s] > high[widest] - low[widest]) widest = s;
    std::size_t const width = high[widest] - low[widest], between = high_sum - low_sum;
    std::size_t const aimed = rank - low_sum - slack / 2;
    bool const guesses = guesses_in_vain < 2;
    double const share = guesses ? static_cast<double>(aimed) / static_cast<double>(between) : 0.5;
    std::size_t const middle =
        low[widest] +
        std::min(width - 1, static_cast<std::size_t>(share * static_cast<double>(width)));
    auto const pivot = sequences[widest].key(middle);
    std::size_t before = 0;
    for (std::size_t s = 0; s < k; ++s) {
      cut[s] =
          s == widest ? middle : rank_of(sequences[s], low[s], high[s], pivot, s < widest, less);
      before += cut[s];
    }
    if (before < rank) {
      cut[widest] = middle + 1;  // the pivot itself lies before the cut
      low.swap(cut);
      low_sum = before + 1;
    } else {
      high.swap(cut);
      high_sum = before;
    }
    bool const has_halved = high_sum - low_sum <= between / 2;
    guesses_in_vain = has_halved || !guesses ? 0 : guesses_in_vain + 1;
  }
}

}  // namespace outsize::detail
