// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Merging integer keys by sorting: what lies under a splitter is gathered from all sequences and
// sorted in cache.
//
// A loser tree takes log k unpredictable steps for each item; vector_sort takes fewer cycles for a
// slice that fits in the second-level cache. Equal keys are equal bytes, so which of them
// comes first does not show.
//
//   sources:  [..|......]  [....|...]  [.|........]        items up to the splitter, |
//   output:   | sorted so far | slice: gathered, then sorted in place | room |
//
// One thread for each merge. Layer: algorithm.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <outsize/algorithm/sort/two_way_merge.hpp>
#include <outsize/algorithm/sort/vector_sort.hpp>
#include <outsize/base/assert.hpp>

namespace outsize::detail {

template <typename T>
class slice_merge {
 public:
  /// The pieces of one source follow each other in order.
  void add_source(std::vector<std::span<T const>> pieces) {
    sources_.push_back({std::move(pieces)});
    sources_.back().enter_next();
  }

  /// Writes all items in order to the places that `out` provides: room() is the contiguous place
  /// for the next ones, never empty while items are left; used(n) takes its first n.
  template <typename Output>
  void run(Output& out) {
    for (;;) {
      std::erase_if(sources_, [](source const& s) { return s.rest.empty(); });
      if (sources_.empty()) return;
      std::span<T> const room = out.room();
      OUTSIZE_ASSERT(!room.empty());
      std::size_t const count = sources_.size() == 1   ? copy(room)
                                : sources_.size() == 2 ? merge_two(room)
                                                       : sort_slice(room);
      out.used(count);
      for (source& s : sources_)
        if (s.rest.empty()) s.enter_next();
    }
  }

 private:
  // Half of the smallest second-level caches in use.
  static constexpr std::size_t slice_items = (std::size_t{128} << 10) / sizeof(T);

  struct source {
    std::vector<std::span<T const>> pieces;
    std::size_t next_piece = 0;
    std::span<T const> rest = {};

    bool has_more_pieces() const noexcept { return next_piece < pieces.size(); }
    void enter_next() {
      if (has_more_pieces()) rest = pieces[next_piece++];
    }
  };

  static void move_items(std::span<T const>& from, T* to, std::size_t count) {
    std::memcpy(to, from.data(), count * sizeof(T));
    from = from.subspan(count);
  }

  std::size_t copy(std::span<T> room) {
    std::size_t const count = std::min(room.size(), sources_[0].rest.size());
    move_items(sources_[0].rest, room.data(), count);
    return count;
  }

  /// As far as both pieces and the room reach.
  std::size_t merge_two(std::span<T> room) {
    std::span<T const> a = sources_[0].rest, b = sources_[1].rest;
    // Behind the end of one piece there may be a later one of its source.
    if (a.back() < b.back()) {
      b = b.first(up_to(b, a.back()));
    } else {
      a = a.first(up_to(a, b.back()));
    }
    std::size_t const count = std::min(room.size(), a.size() + b.size());
    std::size_t const from_a = split_of_least(a, b, count);
    merge_two_ways(a.first(from_a), b.first(count - from_a), room.data());
    sources_[0].rest = sources_[0].rest.subspan(from_a);
    sources_[1].rest = sources_[1].rest.subspan(count - from_a);
    return count;
  }

  static std::size_t up_to(std::span<T const> items, T const& last) {
    return static_cast<std::size_t>(std::ranges::upper_bound(items, last) - items.begin());
  }

  std::size_t sort_slice(std::span<T> room) {
    std::size_t const limit = std::min(room.size(), slice_items);
    choose_splitter(limit);
    std::size_t filled = 0;
    std::size_t contributors = 0;
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      contributors += below_[s] > 0 ? 1 : 0;
      move_items(sources_[s].rest, room.data() + filled, below_[s]);
      filled += below_[s];
    }
    if (contributors > 1) vector_sort(room.first(filled));
    // Keys equal to the splitter need no sorting, and may be taken or left as the room allows.
    for (source& s : sources_) {
      std::size_t equal = 0;
      while (equal < s.rest.size() && filled + equal < limit && s.rest[equal] == splitter_) ++equal;
      move_items(s.rest, room.data() + filled, equal);
      filled += equal;
    }
    return filled;
  }

  /// Sets splitter_ and below_, the number of items less than it in each source: together at most
  /// `limit`. The splitter is the key of an item at hand, and no source has a later piece with a
  /// lesser key.
  void choose_splitter(std::size_t limit) {
    std::size_t const stride = std::max<std::size_t>(1, limit / sources_.size());
    candidates_.clear();
    T bound = sources_[0].rest.back();
    bool bounded = false;
    for (source const& s : sources_) {
      candidates_.push_back(s.rest[std::min(stride, s.rest.size()) - 1]);
      if (!s.has_more_pieces()) continue;
      bound = bounded ? std::min(bound, s.rest.back()) : s.rest.back();
      bounded = true;
    }
    auto const middle = candidates_.begin() + static_cast<std::ptrdiff_t>(candidates_.size() / 2);
    std::nth_element(candidates_.begin(), middle, candidates_.end());
    splitter_ = bounded ? std::min(*middle, bound) : *middle;
    if (count_below() <= limit) return;
    // The least candidate is safe: no source has `stride` items less than it.
    splitter_ = std::min(splitter_, *std::min_element(candidates_.begin(), candidates_.end()));
    [[maybe_unused]] std::size_t const count = count_below();
    OUTSIZE_ASSERT(count <= limit);
  }

  std::size_t count_below() {
    below_.clear();
    std::size_t sum = 0;
    for (source const& s : sources_) {
      // Galloping: the answer is near the front.
      std::size_t high = 64;
      while (high < s.rest.size() && s.rest[high] < splitter_) high *= 2;
      auto const end = s.rest.begin() + static_cast<std::ptrdiff_t>(std::min(high, s.rest.size()));
      auto const begin = s.rest.begin() + static_cast<std::ptrdiff_t>(high == 64 ? 0 : high / 2);
      below_.push_back(
          static_cast<std::size_t>(std::lower_bound(begin, end, splitter_) - s.rest.begin()));
      sum += below_.back();
    }
    return sum;
  }

  std::vector<source> sources_;
  std::vector<T> candidates_;
  std::vector<std::size_t> below_;
  T splitter_{};
};

}  // namespace outsize::detail
