// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A vector read and written from one end to the other, page by page: the loops of algorithms that
// know that they scan.
//
// They use the pages of the vector's cache, so that what they write is seen by all else at once,
// and read ahead and write behind as it does. A reader is const access, a writer is not. One thread
// at a time uses a stream. Layer: container. Source: STXXL 2008, section 5.1.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/container/vector.hpp>

namespace outsize::detail {

/// Items of a vector that are in one page, as long as no others are asked for.
template <typename T>
class page_window {
 public:
  explicit page_window(vector<T> const& from) noexcept : from_(*from.items_) {}

  /// Those of [begin, end) from the first one on.
  std::span<T const> from(std::uint64_t begin, std::uint64_t end) {
    std::uint64_t const page = begin / from_.page_items();
    return show(page, begin, std::min(end, (page + 1) * from_.page_items()), begin);
  }
  /// Those up to the last one.
  std::span<T const> until(std::uint64_t begin, std::uint64_t end) {
    std::uint64_t const page = (end - 1) / from_.page_items();
    std::uint64_t const first = std::max(begin, page * from_.page_items());
    return show(page, first, end, end - std::min<std::uint64_t>(end - first, few));
  }

 private:
  static constexpr std::size_t few = std::max<std::size_t>(4096 / sizeof(T), 1);

  /// Items first to last - 1 of a page; or where it is blank or cannot be pinned a few of them.
  std::span<T const> show(std::uint64_t page, std::uint64_t first, std::uint64_t last,
                          std::uint64_t first_of_few) {
    pin_.release();
    pin_ = from_.row().pin(page, std::exchange(page_, page));
    if (pin_) {
      auto const* const items = reinterpret_cast<T const*>(pin_.bytes().data());
      return {items + (first - page * from_.page_items()), static_cast<std::size_t>(last - first)};
    }
    auto const copies = std::span(few_).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(last - first_of_few, few)));
    from_.read(first_of_few, copies);
    return copies;
  }

  paged_items<T> const& from_;
  page_pin pin_;
  std::uint64_t page_ = UINT64_MAX - 1;  // shown last; at first none, nor a neighbour of one
  std::array<T, few> few_;
};

}  // namespace outsize::detail

namespace outsize {

/// Reads a part of a vector, front to back.
///
///     for (vector_reader in(v); !in.empty(); ++in) use(*in);
///
/// I/Os:    a scan's. Memory: the vector's, and 4 KiB or an item.
/// Errors:  io_error of a page from the call that comes to it; the reader stays where it is.
/// Checked: vector_streams_test.cpp.
template <typename T>
class vector_reader {
 public:
  explicit vector_reader(vector<T> const& from) : vector_reader(from, 0, from.size()) {}
  /// Items begin to end - 1. @pre begin <= end <= from.size().
  vector_reader(vector<T> const& from, std::uint64_t begin, std::uint64_t end)
      : window_(from), begin_(begin), end_(end) {
    OUTSIZE_ASSERT(begin <= end && end <= from.size());
  }

  bool empty() const noexcept { return begin_ == end_; }
  /// Items still to be read, the current one included.
  std::uint64_t size() const noexcept { return end_ - begin_; }

  /// The current item. @pre !empty().
  T const& operator*() { return pull().front(); }
  vector_reader& operator++() {
    skip(1);
    return *this;
  }

  /// The current item and those behind it that are in memory: at least one. @pre !empty().
  std::span<T const> pull() {
    if (items_.empty()) items_ = window_.from(begin_, end_);
    return items_;
  }
  /// Goes past the first `count` items of pull().
  void skip(std::size_t count) {
    OUTSIZE_ASSERT(count <= pull().size());
    items_ = items_.subspan(count);
    begin_ += count;
  }

 private:
  detail::page_window<T> window_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::span<T const> items_;  // from begin_ on
};

/// Reads a part of a vector, back to front; otherwise as vector_reader.
template <typename T>
class vector_reverse_reader {
 public:
  explicit vector_reverse_reader(vector<T> const& from)
      : vector_reverse_reader(from, 0, from.size()) {}
  vector_reverse_reader(vector<T> const& from, std::uint64_t begin, std::uint64_t end)
      : window_(from), begin_(begin), end_(end) {
    OUTSIZE_ASSERT(begin <= end && end <= from.size());
  }

  bool empty() const noexcept { return begin_ == end_; }
  std::uint64_t size() const noexcept { return end_ - begin_; }

  T const& operator*() { return pull().back(); }
  vector_reverse_reader& operator++() {
    skip(1);
    return *this;
  }

  /// The current item, which is the last, and those before it that are in memory.
  std::span<T const> pull() {
    if (items_.empty()) items_ = window_.until(begin_, end_);
    return items_;
  }
  /// Goes past the last `count` items of pull().
  void skip(std::size_t count) {
    OUTSIZE_ASSERT(count <= pull().size());
    items_ = items_.first(items_.size() - count);
    end_ -= count;
  }

 private:
  detail::page_window<T> window_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::span<T const> items_;  // up to end_
};

/// Writes items into a vector: behind its last one, or over a part of it.
///
///     vector_writer out(v);
///     while (…) out.push(item);
///     out.finish();                            // v has grown by as many
///
/// I/Os:    a write for each page, when it leaves the cache. Pages of which all items are replaced
///          are not read.
/// Memory:  the vector's.
/// Errors:  as vector::push_back(); what has been pushed before is there.
/// Checked: vector_streams_test.cpp.
template <typename T>
class vector_writer {
 public:
  /// Appends. Nobody else changes the vector until finish().
  explicit vector_writer(vector<T>& to) : vector_writer(to, to.size(), UINT64_MAX) {}
  /// Replaces items begin to end - 1, where the vector need not have them yet. Those that are not
  /// written have values that are not known. @pre begin <= to.size().
  vector_writer(vector<T>& to, std::uint64_t begin, std::uint64_t end)
      : to_(to), position_(begin), end_(end), size_before_(to.size()) {
    OUTSIZE_ASSERT(begin <= end && begin <= to.size());
  }
  vector_writer(vector_writer const&) = delete;
  vector_writer& operator=(vector_writer const&) = delete;
  ~vector_writer() { finish(); }

  /// @pre not at `end`.
  void push(T const& item) {
    room().front() = item;
    used(1);
  }
  void push(std::span<T const> items) {
    while (!items.empty()) {
      std::size_t const count = std::min(items.size(), room().size());
      std::ranges::copy(items.first(count), room_.begin());
      items = items.subspan(count);
      used(count);
    }
  }

  /// Where the next items may be put, at least one; used() says how many have been.
  std::span<T> room() {
    if (room_.empty()) open_page();
    return room_;
  }
  /// @pre count <= room().size()
  void used(std::size_t count) {
    OUTSIZE_ASSERT(count <= room_.size());
    room_ = room_.subspan(count);
    position_ += count;
  }

  /// Gives the vector its size; the writer can only be destroyed then.
  void finish() {
    room_ = {};
    end_ = position_;
    if (std::uint64_t const size = std::max(size_before_, position_); to_.size() > size)
      to_.resize(size);
  }

 private:
  void open_page() {
    OUTSIZE_ASSERT(position_ < end_);
    std::uint64_t const page_items = to_.page_items();
    std::uint64_t const page_end = (position_ / page_items + 1) * page_items;
    bool const is_replaced =
        position_ % page_items == 0 && end_ >= std::min(page_end, size_before_);
    if (to_.size() < page_end) to_.resize(std::max(to_.size(), std::min(page_end, end_)));
    room_ = is_replaced ? to_.replacing(position_) : to_.changing(position_);
    room_ = room_.first(
        static_cast<std::size_t>(std::min<std::uint64_t>(room_.size(), end_ - position_)));
  }

  vector<T>& to_;
  std::uint64_t position_;
  std::uint64_t end_;
  std::uint64_t size_before_;
  std::span<T> room_;
};

}  // namespace outsize
