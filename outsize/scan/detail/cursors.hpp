// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Cursors along sequences, from one piece of memory to the next; walk.hpp moves several together.
//
//   page_source   pages to be read          plain_place    what is not in pages, at any place
//   page_target   pages to be changed, or   plain_output   what can only be written one by one
//                 replaced unread
//
// A cursor shows rest() items at(), and skip() goes past them. Invariant: pieces stay valid until
// the next begin_batch(), as long as goes_on() says so before each, also where the items of others,
// or functions, touch pages of the same cache: they are pinned, if it has room for that. The
// caller's thread alone moves cursors. Layer: scan.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/container/detail/array/page_window.hpp>
#include <outsize/container/detail/array/paged_items.hpp>
#include <outsize/page/detail/page_row.hpp>
#include <outsize/scan/policy.hpp>

namespace outsize::detail {

/// What cursors into pages have in common: the current piece, and how many there are in a batch.
template <typename Derived, typename Item>
class piece_by_piece {
 public:
  /// Items left of the piece, at least one. @throws io_error, of the piece that follows.
  std::size_t rest() {
    if (piece_.empty()) {
      piece_ = static_cast<Derived*>(this)->next_piece(position_);
      ++opened_;
    }
    return piece_.size();
  }
  Item* at() const noexcept { return piece_.data(); }
  void skip(std::size_t count) noexcept {
    piece_ = piece_.subspan(count);
    position_ += count;
  }
  std::uint64_t position() const noexcept { return position_; }
  void begin_batch() {
    opened_ = piece_.empty() ? 0 : 1;
    if (!piece_.empty()) piece_ = static_cast<Derived*>(this)->same_piece(position_, piece_);
  }
  /// Whether rest() leaves all pieces of the batch valid.
  bool goes_on() const noexcept { return !piece_.empty() || opened_ < held_; }

 protected:
  piece_by_piece(std::uint64_t position, std::size_t held) noexcept
      : position_(position), held_(held) {}

 private:
  std::uint64_t position_;
  std::size_t held_;
  std::size_t opened_ = 0;
  std::span<Item> piece_ = {};
};

/// Items of a container, to be read.
template <typename T>
class page_source : public piece_by_piece<page_source<T>, T const> {
 public:
  page_source(paged_items<T> const& from, std::uint64_t begin, std::uint64_t end, std::size_t held)
      : page_source::piece_by_piece(begin, held), window_(from, held), from_(&from), end_(end) {
    OUTSIZE_ASSERT(begin <= end && end <= from.end());
  }
  std::span<T const> next_piece(std::uint64_t position) { return window_.from(position, end_); }
  static std::span<T const> same_piece(std::uint64_t, std::span<T const> piece) { return piece; }
  executor* team() const noexcept { return &from_->row().store().threads(); }

 private:
  page_window<T> window_;
  paged_items<T> const* from_;
  std::uint64_t end_;
};

/// Items of a container, to be changed or replaced.
template <typename T>
class page_target : public piece_by_piece<page_target<T>, T> {
 public:
  /// @param unread_end  What is from the beginning to there will be replaced: pages that hold
  /// nothing else are not read.
  page_target(paged_items<T>& to, std::uint64_t begin, std::uint64_t unread_end, std::size_t held)
      : page_target::piece_by_piece(begin, held), to_(&to), unread_end_(unread_end), pins_(held) {}

  /// The same of what has been told later: nobody needs it any more.
  void leave_unread(std::uint64_t end) noexcept { unread_end_ = end; }
  std::span<T> next_piece(std::uint64_t position) {
    OUTSIZE_ASSERT(position < to_->end());
    std::uint64_t const page_items = to_->page_items();
    std::uint64_t const page = position / page_items;
    bool const is_replaced = position == std::max(page * page_items, to_->begin()) &&
                             std::min((page + 1) * page_items, to_->end()) <= unread_end_;
    auto const piece = is_replaced ? to_->replacing(position) : to_->changing(position);
    page_pin& pin = pins_[next_];
    next_ = (next_ + 1) % pins_.size();
    pin.release();  // first, so that there is room
    pin = to_->row().pin(page, page);
    return piece;
  }
  /// Touches the page again, so that others leave before it does.
  std::span<T> same_piece(std::uint64_t position, std::span<T>) { return to_->changing(position); }
  executor* team() const noexcept { return &to_->row().store().threads(); }

 private:
  paged_items<T>* to_;
  std::uint64_t unread_end_;
  std::vector<page_pin> pins_;  // of the pieces opened last
  std::size_t next_ = 0;        // of them
};

/// What is not in pages, and may be visited at any place.
template <std::random_access_iterator I>
class plain_place {
 public:
  explicit plain_place(I at) : at_(std::move(at)) {}

  static std::size_t rest() noexcept { return std::numeric_limits<std::size_t>::max(); }
  I at() const { return at_; }
  void skip(std::size_t count) { at_ += static_cast<std::iter_difference_t<I>>(count); }
  static void begin_batch() noexcept {}
  static bool goes_on() noexcept { return true; }
  static executor* team() noexcept { return nullptr; }

 private:
  I at_;
};

/// What can only be written one after the other: at() goes on by itself.
template <typename I>
class plain_output {
 public:
  explicit plain_output(I at) : at_(std::move(at)) {}

  class place {
   public:
    using iterator_category = std::output_iterator_tag;
    using value_type = void;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = void;

    explicit place(I& at) : at_(&at) {}
    place& operator*() noexcept { return *this; }
    place& operator++() noexcept { return *this; }
    place& operator++(int) noexcept { return *this; }
    template <typename Item>
    place& operator=(Item const& item) {
      **at_ = item;
      ++*at_;
      return *this;
    }

   private:
    I* at_;
  };

  static std::size_t rest() noexcept { return std::numeric_limits<std::size_t>::max(); }
  place at() { return place(at_); }
  static void skip(std::size_t) noexcept {}
  static void begin_batch() noexcept {}
  static bool goes_on() noexcept { return true; }
  static executor* team() noexcept { return nullptr; }
  I const& reached() const noexcept { return at_; }

 private:
  I at_;
};

/// Pieces that a cursor holds at the same time: others may hold as many of the same container.
template <typename Policy, typename T>
std::size_t held_pieces(Policy, paged_items<T> const& items) {
  return std::same_as<Policy, parallel_policy> ? items.row().live_pages() / 2 : 1;
}

/// A place that is only read: all threads may do that at once, and no page counts as changed.
template <typename I>
I to_be_read(I const& at) {
  return at;
}
template <typename T>
paged_const_reverse_iterator<T> to_be_read(std::reverse_iterator<paged_iterator<T>> const& at) {
  return at;
}

/// A cursor that reads `count` items.
template <typename Policy, typename I>
auto source_at(Policy policy, I const& first, std::uint64_t count) {
  if constexpr (paged_place<I>) {
    using item = std::iter_value_t<I>;
    auto const& items = paged_access::items(first);
    std::uint64_t const begin = paged_access::position(first);
    return page_source<item>(items, begin, begin + count, held_pieces(policy, items));
  } else {
    return plain_place(to_be_read(first));
  }
}

/// A cursor that replaces `count` items.
template <typename Policy, typename I>
auto target_at(Policy policy, I const& first, std::uint64_t count) {
  if constexpr (changeable_place<I>) {
    auto& items = paged_access::items(first);
    std::uint64_t const begin = paged_access::position(first);
    return page_target<std::iter_value_t<I>>(items, begin, begin + count,
                                             held_pieces(policy, items));
  } else if constexpr (std::random_access_iterator<I>) {
    return plain_place<I>(first);
  } else {
    return plain_output<I>(first);
  }
}

/// Whether pages of `count` items at two places may be the same.
template <typename I, typename J>
bool share_pages(I const& a, J const& b, std::uint64_t count) {
  if constexpr (paged_place<I> && changeable_place<J>) {
    if constexpr (std::same_as<std::iter_value_t<I>, std::iter_value_t<J>>) {
      if (&paged_access::items(a) != &paged_access::items(b)) return false;
      std::uint64_t const x = paged_access::position(a), y = paged_access::position(b);
      return (x > y ? x - y : y - x) < count + paged_access::items(b).page_items();
    }
  }
  return false;
}

/// A cursor that replaces `count` items with what is made of those at `sources`. Where these may be
/// in the same pages, they are needed until they are replaced.
template <typename Policy, typename O, typename... I>
auto target_of(Policy policy, O const& out, std::uint64_t count, I const&... sources) {
  return target_at(policy, out, (share_pages(sources, out, count) || ...) ? 0 : count);
}

/// A cursor that changes items.
template <typename Policy, changeable_place I>
auto changer_at(Policy policy, I const& first) {
  return target_at(policy, first, 0);
}

/// Where an output has got to after `count` items.
template <typename I, typename Cursor>
I output_end(I const& first, Cursor const& cursor, std::uint64_t count) {
  if constexpr (std::random_access_iterator<I>) {
    return first + static_cast<std::iter_difference_t<I>>(count);
  } else {
    return cursor.reached();
  }
}

}  // namespace outsize::detail
