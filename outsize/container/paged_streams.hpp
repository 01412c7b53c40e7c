// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Items in pages read from one end to the other, page by page: the loops of algorithms that know
// that they scan.
//
// They use the pages of the container's cache, and read ahead as it does. Reading is const access.
// One thread at a time uses a stream. Layer: container. Source: STXXL 2008, section 5.1.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/piece_iterator.hpp>
#include <outsize/container/page_window.hpp>
#include <outsize/container/paged_items.hpp>

namespace outsize {

/// Reads items front to back: a vector_reader, or what sequence::forward() gives. A stream, and a
/// range to go over once.
///
/// I/Os:    a scan's. Memory: the container's, and 4 KiB or an item.
/// Errors:  io_error of a page from the call that comes to it; the reader stays where it is.
/// Checked: vector_streams_test.cpp, sequence_test.cpp.
template <typename T>
class paged_reader : public detail::page_reader<T> {
 public:
  using detail::page_reader<T>::page_reader;

  /// The current item. @pre !empty().
  T const& operator*() { return this->pull().front(); }
  paged_reader& operator++() {
    this->skip(1);
    return *this;
  }

  /// Goes over what is left.
  auto begin() { return piece_iterator<paged_reader, T, false>(*this); }
  static std::default_sentinel_t end() noexcept { return {}; }
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

  /// Goes over what is left.
  auto begin() { return piece_iterator<paged_reverse_reader, T, true>(*this); }
  static std::default_sentinel_t end() noexcept { return {}; }

  /// The current item, which is the last, and those before it that are in memory.
  std::span<T const> pull() {
    if (items_.empty()) items_ = window_.until(begin_, end_);
    return items_;
  }
  /// Goes past the last `count` items of pull().
  void skip(std::size_t count) {
    if (count == 0) return;
    auto const items = pull();
    OUTSIZE_ASSERT(count <= items.size());
    items_ = items.first(items.size() - count);
    end_ -= count;
  }

 private:
  detail::page_window<T> window_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::span<T const> items_;  // up to end_
};

}  // namespace outsize
