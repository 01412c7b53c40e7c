// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A stack on disk: the last page is in memory, those before it come ahead while it shrinks, and are
// written behind while it grows. Used as std::stack is. One thread at a time. Layer: container.
// Source: STXXL 2008, section 5.2 (normal and grow-shrink stacks).

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/container/vector.hpp>

namespace outsize {

/// For a stack whose memory is to be small: nothing is read ahead or written behind.
inline page_options without_overlap(page_options options = {}) {
  options.cache_pages = 4;
  options.spare_pages = 0;
  options.read_ahead_pages = 0;
  return options;
}

/// Items of which the last one pushed is popped first.
///
/// I/Os, memory, errors: as a vector's push_back and pop_back: O(1/B) I/Os for each push and pop,
/// amortised, whatever their order, where B items fit in a page.
/// Checked: stack_test.cpp.
template <typename T>
class stack {
 public:
  using value_type = T;
  using size_type = std::uint64_t;

  /// An empty one on the disks of `store`, which must outlive it. The default grows and shrinks at
  /// the speed of the disks; without_overlap() takes less memory. @throws budget_error, io_error.
  explicit stack(storage& store = default_storage(), page_options const& options = {})
      : items_(store, options) {}
  /// One with these items, the last one on top. @throws as push(), besides.
  stack(storage& store, std::initializer_list<T> list, page_options const& options = {})
      : stack(store, options) {
    for (T const& item : list) items_.push_back(item);
  }
  /// An empty one that shares the memory of `pool` with others: there can be thousands of them.
  /// @throws std::invalid_argument if an item is longer than its pages; io_error.
  explicit stack(page_pool& pool) : items_(pool) {}

  bool empty() const noexcept { return items_.empty(); }
  size_type size() const noexcept { return items_.size(); }
  void push(T const& item) { items_.push_back(item); }
  /// The new item: top().
  template <typename... Arguments>
  T& emplace(Arguments&&... arguments) {
    return items_.emplace_back(std::forward<Arguments>(arguments)...);
  }
  /// @pre !empty()
  void pop() { items_.pop_back(); }
  /// @pre !empty()
  T& top() { return items_.back(); }
  T top() const { return items_.back(); }

  /// What the cache has done.
  block::block_cache_counts cache_counts() const { return items_.cache_counts(); }

  /// Whether both have the same items, and their order as words from bottom to top, as far as items
  /// have that. I/Os: a scan of both, up to the first that differ.
  friend bool operator==(stack const&, stack const&) = default;
  friend auto operator<=>(stack const&, stack const&) = default;
  friend void swap(stack& a, stack& b) noexcept { a.swap(b); }
  void swap(stack& other) noexcept { items_.swap(other.items_); }

 private:
  vector<T> items_;
};

}  // namespace outsize
