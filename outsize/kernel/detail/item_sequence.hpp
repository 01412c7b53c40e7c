// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A sorted sequence whose resident part lies in several pieces of memory, and cursors over it.
//
//   sequence:  | consumed | view 0 ...... | view 1 ...... | (not yet read) …
//                         ^ rank 0 of the resident items
//
// A view is a random-access range of sorted items in one piece of memory: `size()`, `key(i)` (a
// small value that the merge compares and from which the item can be stored), `bytes(begin, end)`
// (of those items). const functions may be called from several threads at once. Layer: kernel.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>

namespace outsize::detail {

/// Some consecutive items of one view.
template <typename View>
struct piece {
  View view;
  std::size_t begin;
  std::size_t end;
};

/// Walks through consecutive pieces, none of them empty.
template <typename View>
class piece_cursor {
 public:
  /// @pre pieces is not empty.
  explicit piece_cursor(std::vector<piece<View>> pieces) : pieces_(std::move(pieces)) { enter(); }

  auto get() const { return view_.key(index_); }
  auto get_without_prefix() const { return view_.key_without_prefix(index_); }

  bool next() {
    if (++index_ != end_) {
      view_.will_need(index_);
      return true;
    }
    if (++piece_ == pieces_.size()) return false;
    enter();
    return true;
  }

 private:
  void enter() {
    view_ = pieces_[piece_].view;
    index_ = pieces_[piece_].begin;
    end_ = pieces_[piece_].end;
    OUTSIZE_ASSERT(index_ < end_);
  }

  View view_{};
  std::size_t index_ = 0;
  std::size_t end_ = 0;
  std::vector<piece<View>> pieces_;
  std::size_t piece_ = 0;
};

template <typename View>
class item_sequence {
 public:
  void append(View view) {
    if (view.size() == 0) return;
    segments_.push_back({view, end_});
    end_ += view.size();
  }

  /// Resident items.
  std::size_t size() const noexcept { return end_ - begin_; }

  auto key(std::size_t rank) const {
    auto const& s = segment_of(begin_ + rank);
    return s.view.key(begin_ + rank - s.first);
  }

  /// The pieces that hold the items of ranks [begin, end).
  std::vector<piece<View>> slice(std::size_t begin, std::size_t end) const {
    std::vector<piece<View>> pieces;
    for_each_piece(begin, end, [&](View const& v, std::size_t from, std::size_t to) {
      pieces.push_back({v, from, to});
    });
    return pieces;
  }

  std::uint64_t bytes(std::size_t begin, std::size_t end) const {
    std::uint64_t sum = 0;
    for_each_piece(begin, end, [&](View const& v, std::size_t from, std::size_t to) {
      sum += v.bytes(from, to);
    });
    return sum;
  }

  /// Drops the first `count` items and returns how many views have been used up by that.
  std::size_t consume(std::size_t count) {
    begin_ += count;
    OUTSIZE_ASSERT(begin_ <= end_);
    std::size_t used_up = 0;
    while (!segments_.empty() &&
           segments_.front().first + segments_.front().view.size() <= begin_) {
      segments_.pop_front();
      ++used_up;
    }
    return used_up;
  }

 private:
  struct segment {
    View view;
    std::size_t first;  // the number of items that came before it in the whole sequence
  };

  segment const& segment_of(std::size_t position) const {
    auto const after =
        std::upper_bound(segments_.begin(), segments_.end(), position,
                         [](std::size_t p, segment const& s) { return p < s.first; });
    return *(after - 1);
  }

  template <typename F>
  void for_each_piece(std::size_t begin, std::size_t end, F&& f) const {
    begin += begin_;
    end += begin_;
    for (segment const& s : segments_) {
      std::size_t const from = std::max(begin, s.first);
      std::size_t const to = std::min(end, s.first + s.view.size());
      if (from < to) f(s.view, from - s.first, to - s.first);
    }
  }

  std::deque<segment> segments_;
  std::size_t begin_ = 0;  // items consumed since the start
  std::size_t end_ = 0;    // items appended since the start
};

}  // namespace outsize::detail
