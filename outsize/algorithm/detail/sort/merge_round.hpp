// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// One round of a merge: what is resident and below a bound is merged by all threads at once.
//
// The round is cut into parts of nearly equal item counts by multisequence selection; each part is
// merged by one thread. How many parts there are never changes the result: the cuts follow the
// total order (key, sequence, rank). run_writer and window_writer say where the items go. Layer:
// algorithm. Source: Beckmann, Dementiev, Singler 2009, section 2; STXXL 2008,
// section 6.1.2.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include <outsize/base/executor.hpp>
#include <outsize/kernel/detail/item_sequence.hpp>
#include <outsize/kernel/detail/merge_part.hpp>
#include <outsize/kernel/detail/multisequence_selection.hpp>

namespace outsize::detail {

template <typename Family>
class merge_round {
 public:
  using view = typename Family::view;
  using key_type = typename Family::key_type;
  using part = merge_part<view>;

  merge_round(Family const& family, executor& threads,
              std::span<item_sequence<view> const> sequences)
      : family_(&family), threads_(&threads), sequences_(sequences), limits_(sequences.size()) {
    for (std::size_t s = 0; s < sequences.size(); ++s) limits_[s] = sequences[s].size();
  }

  /// Leaves out what does not come before `key`, taken as the next item of sequence `source` after
  /// its resident ones.
  void restrict_to_before(key_type const& key, std::size_t source) {
    for (std::size_t s = 0; s < limits_.size(); ++s)
      if (s != source)
        limits_[s] = rank_of(sequences_[s], 0, limits_[s], key, s < source, family_->less());
  }

  /// Leaves out all items that are not less than `key`.
  void restrict_to_less(key_type const& key) {
    for (std::size_t s = 0; s < limits_.size(); ++s)
      limits_[s] = rank_of(sequences_[s], 0, limits_[s], key, false, family_->less());
  }

  std::size_t items() const noexcept {
    return std::accumulate(limits_.begin(), limits_.end(), std::size_t{0});
  }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (std::size_t s = 0; s < limits_.size(); ++s) sum += sequences_[s].bytes(0, limits_[s]);
    return sum;
  }
  std::size_t limit(std::size_t s) const noexcept { return limits_[s]; }

  /// Keeps the least items only: `count`, or up to `slack` fewer. @pre count <= items().
  void restrict_to_first(std::size_t count, std::size_t slack = 0) {
    limits_ = cut_before(count, slack);
  }

  /// Keeps `count` items, whichever these are: nothing is compared. @pre count <= items().
  void restrict_to_any(std::size_t count) noexcept {
    for (std::size_t& limit : limits_) {
      limit = std::min(limit, count);
      count -= limit;
    }
  }

  /// Keeps so many items that they, each with `overhead_bytes` more, have at most `limit_bytes`,
  /// and not much less, but at least one.
  void restrict_to_bytes(std::uint64_t limit_bytes, std::size_t overhead_bytes) {
    // Adding up the sizes of very many items is not cheap: a sample tells how many to look at.
    double const expected = static_cast<double>(limit_bytes) /
                            (sampled_item_bytes() + static_cast<double>(overhead_bytes));
    auto const restrict_to_about = [this](std::size_t count) {
      restrict_to_first(count, count / 32);
    };
    if (expected < static_cast<double>(items()))
      restrict_to_about(std::max<std::size_t>(1, static_cast<std::size_t>(expected)));
    for (;;) {
      std::size_t const count = items();
      std::uint64_t const total = bytes() + count * overhead_bytes;
      if (total <= limit_bytes || count <= 1) return;
      double const share = 0.98 * static_cast<double>(limit_bytes) / static_cast<double>(total);
      auto const fewer = static_cast<std::size_t>(share * static_cast<double>(count));
      restrict_to_about(std::clamp<std::size_t>(fewer, 1, count - 1));
    }
  }

  /// Cuts the round into at most `part_count` parts, whose item counts differ by no more than a
  /// 16th.
  std::vector<part> cut(std::size_t part_count) const {
    std::size_t const total = items();
    std::size_t const count = std::clamp<std::size_t>(total / least_items_of_part(), 1, part_count);
    std::size_t const slack = total / count / 32;
    std::vector<std::vector<std::size_t>> cuts(count + 1);
    cuts[0].assign(limits_.size(), 0);
    cuts[count] = limits_;
    threads_->parallel_for(count - 1, [&](std::size_t p) {
      std::size_t const rank = (p + 1) * (total / count) + std::min(p + 1, total % count);
      cuts[p + 1] = cut_before(rank + slack / 2, slack);
    });
    for (std::size_t p = 1; p < count; ++p)  // so they are, unless the order is none
      for (std::size_t s = 0; s < limits_.size(); ++s)
        cuts[p][s] = std::max(cuts[p][s], cuts[p - 1][s]);
    std::vector<part> parts(count);
    std::size_t next_rank = 0;
    for (std::size_t p = 0; p < count; ++p) {
      parts[p].first_rank = next_rank;
      next_rank = std::reduce(cuts[p + 1].begin(), cuts[p + 1].end());
      parts[p].items = next_rank - parts[p].first_rank;
      for (std::size_t s = 0; s < limits_.size(); ++s) {
        if (cuts[p][s] == cuts[p + 1][s]) continue;
        parts[p].sources.push_back(sequences_[s].slice(cuts[p][s], cuts[p + 1][s]));
        for (auto const& piece : parts[p].sources.back())
          parts[p].bytes += piece.view.bytes(piece.begin, piece.end);
      }
    }
    return parts;
  }

 private:
  // Below, a cut costs more than a thread brings.
  static constexpr std::size_t least_part_items = 512;
  static constexpr std::size_t least_copied_bytes = std::size_t{4} << 20U;

  std::size_t least_items_of_part() const {
    if constexpr (Family::merges_by_copying) {
      bool const is_merged =
          std::ranges::count_if(limits_, [](std::size_t limit) { return limit > 0; }) > 1;
      if (!is_merged) return least_copied_bytes / family_->item_bytes();
    }
    return least_part_items;
  }

  std::vector<std::size_t> cut_before(std::size_t rank, std::size_t slack) const {
    return multisequence_select(sequences_, std::span<std::size_t const>(limits_), rank,
                                family_->less(), slack);
  }

  /// The mean size of the first items of each sequence.
  double sampled_item_bytes() const {
    if (family_->item_bytes() != 0) return static_cast<double>(family_->item_bytes());
    constexpr std::size_t sample = 256;
    std::uint64_t sum = 0;
    std::size_t count = 0;
    for (std::size_t s = 0; s < limits_.size(); ++s) {
      sum += sequences_[s].bytes(0, std::min(limits_[s], sample));
      count += std::min(limits_[s], sample);
    }
    return count == 0 ? 1.0 : static_cast<double>(sum) / static_cast<double>(count);
  }

  Family const* family_;
  executor* threads_;
  std::span<item_sequence<view> const> sequences_;
  std::vector<std::size_t> limits_;
};

}  // namespace outsize::detail
