// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Items in pages read from one end to the other, page by page: the loops of algorithms that know
// that they scan.
//
// They use the pages of the container's cache, and read ahead as it does. Reading is const access.
// One thread at a time uses a stream. Layer: container. Source: STXXL 2008, section 5.1.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/container/paged_items.hpp>

namespace outsize::detail {

/// Items of a container that are in one page, as long as no others are asked for.
template <typename T>
class page_window {
 public:
  explicit page_window(paged_items<T> const& from) noexcept : from_(from) {}

  /// Those at positions begin to end - 1, from the first one on.
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

/// Reads items front to back: a vector_reader, or what sequence::forward() gives.
///
/// I/Os:    a scan's. Memory: the container's, and 4 KiB or an item.
/// Errors:  io_error of a page from the call that comes to it; the reader stays where it is.
/// Checked: vector_streams_test.cpp, sequence_test.cpp.
template <typename T>
class paged_reader {
 public:
  /// Those at positions begin to end - 1.
  paged_reader(detail::paged_items<T> const& from, std::uint64_t begin, std::uint64_t end)
      : window_(from), begin_(begin), end_(end) {}

  bool empty() const noexcept { return begin_ == end_; }
  /// Items still to be read, the current one included.
  std::uint64_t size() const noexcept { return end_ - begin_; }

  /// The current item. @pre !empty().
  T const& operator*() { return pull().front(); }
  paged_reader& operator++() {
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

/// Reads items back to front; otherwise as paged_reader.
template <typename T>
class paged_reverse_reader {
 public:
  /// Those at positions begin to end - 1.
  paged_reverse_reader(detail::paged_items<T> const& from, std::uint64_t begin, std::uint64_t end)
      : window_(from), begin_(begin), end_(end) {}

  bool empty() const noexcept { return begin_ == end_; }
  std::uint64_t size() const noexcept { return end_ - begin_; }

  T const& operator*() { return pull().back(); }
  paged_reverse_reader& operator++() {
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

}  // namespace outsize
