// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Where to cut several sorted sequences so that exactly the r least items lie before the cuts.
//
// Items are ordered by key, then by sequence, then by rank: a strict total order, so the cut is
// unique and a merge cut into parts gives the same result as a whole one. Pure functions. Layer:
// algorithm. Source: Varman et al.: Merging multiple lists on hierarchical-memory multiprocessors,
// 1991; used as in Beckmann, Dementiev, Singler 2009, section 2.

#include <cstddef>
#include <span>
#include <vector>

#include <outsize/base/assert.hpp>

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

/// Cuts `sequences`, of which only the first limits[s] items count, before the item of the given
/// rank in their merge: returns a cut for each, together `rank`.
/// @pre rank <= the sum of limits. CPU: O(k log² n) comparisons for k sequences of n items.
template <typename Sequence, typename Less>
std::vector<std::size_t> multisequence_select(std::span<Sequence const> sequences,
                                              std::span<std::size_t const> limits, std::size_t rank,
                                              Less const& less) {
  std::size_t const k = sequences.size();
  std::vector<std::size_t> low(k, 0);
  std::vector<std::size_t> high(limits.begin(), limits.end());
  std::vector<std::size_t> cut(k);
  for (;;) {
    // Invariant: low[s] <= answer[s] <= high[s]. The pivot halves the widest range at least.
    std::size_t widest = 0;
    for (std::size_t s = 1; s < k; ++s)
      if (high[s] - low[s] > high[widest] - low[widest]) widest = s;
    if (k == 0 || high[widest] == low[widest]) return low;
    std::size_t const middle = low[widest] + (high[widest] - low[widest]) / 2;
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
    } else {
      high.swap(cut);
    }
  }
}

}  // namespace outsize::detail
