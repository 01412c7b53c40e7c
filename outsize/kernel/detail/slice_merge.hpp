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
// A room too short for a whole slice gets the beginning of one that is sorted elsewhere, and later
// rooms the rest: for few items the splitter would cost more than they do.
//
// One thread for each merge, and one merge at a time for each thread. Layer: kernel.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/kernel/detail/two_way_merge.hpp>
#include <outsize/kernel/detail/vector_sort.hpp>

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
      if (sources_.empty() && sorted_.empty()) return;
      std::span<T> const room = out.room();
      OUTSIZE_ASSERT(!room.empty());
      out.used(fill(room));
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

  /// Returns how many of the next items are now in the front of `room`.
  std::size_t fill(std::span<T> room) {
    if (!sorted_.empty()) return copy(sorted_, room);
    if (sources_.size() == 1) return copy(sources_[0].rest, room);
    if (sources_.size() == 2) return merge_two(room);
    if (room.size() >= slice_items) return sort_slice(room.first(slice_items));
    thread_local std::vector<T> elsewhere(slice_items);
    sorted_ = std::span(elsewhere).first(sort_slice(elsewhere));
    return copy(sorted_, room);
  }

  static void move_items(std::span<T const>& from, T* to, std::size_t count) {
    std::memcpy(to, from.data(), count * sizeof(T));
    from = from.subspan(count);
  }

  static std::size_t copy(std::span<T const>& from, std::span<T> room) {
    std::size_t const count = std::min(room.size(), from.size());
    move_items(from, room.data(), count);
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

  /// Returns how many of the next items are now in the front of `slice`, in order; at least one.
  std::size_t sort_slice(std::span<T> slice) {
    choose_splitter(slice.size());
    std::size_t filled = 0;
    std::size_t contributors = 0;
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      contributors += below_[s] > 0 ? 1 : 0;
      move_items(sources_[s].rest, slice.data() + filled, below_[s]);
      filled += below_[s];
    }
    if (contributors > 1) vector_sort(slice.first(filled));
    // Keys equal to the splitter need no sorting, and may be taken or left as the slice allows.
    for (source& s : sources_) {
      std::size_t equal = 0;
      while (equal < s.rest.size() && filled + equal < slice.size() && s.rest[equal] == splitter_)
        ++equal;
      move_items(s.rest, slice.data() + filled, equal);
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
    // The median fills about the limit. The least candidate is safe: no source has `stride` items
    // less than it.
    for (std::size_t rank = candidates_.size() / 2;; rank /= 4) {
      auto const candidate = candidates_.begin() + static_cast<std::ptrdiff_t>(rank);
      std::nth_element(candidates_.begin(), candidate, candidates_.end());
      splitter_ = bounded ? std::min(*candidate, bound) : *candidate;
      if (count_below() <= limit) return;
      OUTSIZE_ASSERT(rank > 0);
    }
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
  std::span<T const> sorted_;  // what is left of a slice sorted elsewhere
  std::vector<T> candidates_;
  std::vector<std::size_t> below_;
  T splitter_{};
};

}  // namespace outsize::detail
