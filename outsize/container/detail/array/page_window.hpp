// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Items that are in one page, looked at where they lie: what all loops that only read have in
// common.
//
// A page that is blank, or that the cache has no room to pin, is shown in pieces of 4 KiB, copied.
// Windows hold the pieces shown last; going to a neighbour begins to read the pages behind it.
// Invariant: what the last `held` calls have shown is valid. One thread at a time uses a window,
// several may look at what it shows. Layer: container.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/base/piece_reader.hpp>
#include <outsize/container/detail/array/paged_items.hpp>
#include <outsize/page/detail/page_row.hpp>

namespace outsize::detail {

template <typename T>
class page_window {
 public:
  /// @param held  How many pieces are valid at the same time.
  explicit page_window(paged_items<T> const& from, std::size_t held = 1)
      : from_(from), shown_(held) {}

  /// Items of [begin, end) from the first one on.
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

  struct piece {
    page_pin pin;
    std::unique_ptr<T[]> copies = nullptr;
  };

  /// Items first to last - 1 of a page; or where it is blank or cannot be pinned a few of them.
  std::span<T const> show(std::uint64_t page, std::uint64_t first, std::uint64_t last,
                          std::uint64_t first_of_few) {
    piece& next = shown_[next_];
    next_ = (next_ + 1) % shown_.size();
    next.pin.release();
    next.pin = from_.row().pin(page, std::exchange(page_, page));
    if (next.pin) {
      auto const* const items = reinterpret_cast<T const*>(next.pin.bytes().data());
      return {items + (first - page * from_.page_items()), static_cast<std::size_t>(last - first)};
    }
    if (!next.copies) next.copies = std::make_unique_for_overwrite<T[]>(few);
    auto const copies =
        std::span(next.copies.get(), few)
            .first(static_cast<std::size_t>(std::min<std::uint64_t>(last - first_of_few, few)));
    from_.read(first_of_few, copies);
    return copies;
  }

  paged_items<T> const& from_;
  std::vector<piece> shown_;
  std::size_t next_ = 0;                 // of them
  std::uint64_t page_ = UINT64_MAX - 1;  // shown last; at first none, nor a neighbour of one
};

/// Reads a part of a container front to back, in pieces of its pages.
template <typename T>
class page_reader : public piece_reader_interface<page_reader<T>, T> {
 public:
  /// Items of positions [begin, end).
  page_reader(paged_items<T> const& from, std::uint64_t begin, std::uint64_t end)
      : window_(from), begin_(begin), end_(end) {
    OUTSIZE_ASSERT(begin <= end && end <= from.end());
  }

  /// Items still to be read, the current one included.
  std::uint64_t size() const noexcept { return end_ - begin_ + this->left(); }

 private:
  friend piece_reader_interface<page_reader, T>;

  bool is_over() const noexcept { return begin_ == end_; }
  /// If the page cannot be read the reader stays where it is.
  void go_on() {
    if (is_over()) return;
    auto const items = window_.from(begin_, end_);
    this->show(items);
    begin_ += items.size();
  }

  page_window<T> window_;
  std::uint64_t begin_;  // of what has not been shown
  std::uint64_t end_;
};

}  // namespace outsize::detail
