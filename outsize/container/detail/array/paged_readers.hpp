// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Items in pages read from one end to the other, page by page: the loops of algorithms that know
// that they scan.
//
// They use the pages of the container's cache, and read ahead as it does. Reading is const access.
// One thread at a time uses a reader. Layer: container. Source: STXXL 2008, section 5.1.

#include <cstdint>

#include <outsize/base/piece_reader.hpp>
#include <outsize/container/detail/array/page_window.hpp>
#include <outsize/container/detail/array/paged_items.hpp>

namespace outsize {

/// Reads items front to back: a vector_reader, or what sequence::forward() gives. A reader of
/// pieces, and a range to go over once (piece_reader.hpp).
///
/// I/Os:    a scan's. Memory: the container's, and 4 KiB or an item.
/// Errors:  io_error of a page from the call that asks for its first item; the reader stays where
///          it is.
/// Checked: vector_readers_test.cpp, sequence_test.cpp.
template <typename T>
class paged_reader : public detail::page_reader<T> {
 public:
  using detail::page_reader<T>::page_reader;
};

/// Reads items back to front; otherwise as paged_reader.
template <typename T>
class paged_reverse_reader : public piece_reader_interface<paged_reverse_reader<T>, T, true> {
 public:
  /// Those at positions begin to end - 1.
  paged_reverse_reader(detail::paged_items<T> const& from, std::uint64_t begin, std::uint64_t end)
      : window_(from), begin_(begin), end_(end) {}

  std::uint64_t size() const noexcept { return end_ - begin_ + this->left(); }

 private:
  friend piece_reader_interface<paged_reverse_reader, T, true>;

  bool is_over() const noexcept { return begin_ == end_; }
  void go_on() {
    if (is_over()) return;
    auto const items = window_.until(begin_, end_);
    this->show(items);
    end_ -= items.size();
  }

  detail::page_window<T> window_;
  std::uint64_t begin_;
  std::uint64_t end_;  // of what has not been shown
};

}  // namespace outsize
