// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A first-in, first-out queue on disk: its first and last pages are in memory; what is pushed is
// written behind, what will be popped is read ahead. Used as std::queue is. One thread at a time.
// Layer: container. Source: STXXL 2008, section 5.3.

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include <outsize/container/deque.hpp>

namespace outsize {

/// Items of which the first one pushed is popped first.
///
/// I/Os, memory, errors: as a deque's.
/// Checked: queue_test.cpp.
template <typename T>
class queue {
 public:
  using value_type = T;
  using size_type = std::uint64_t;

  /// An empty one on the disks of `store`, which must outlive it. @throws budget_error, io_error.
  explicit queue(storage& store = default_storage(), page_options const& options = {})
      : items_(store, options) {}
  /// One with these items, the first one in front. @throws as push(), besides.
  queue(storage& store, std::initializer_list<T> list, page_options const& options = {})
      : queue(store, options) {
    for (T const& item : list) items_.push_back(item);
  }
  /// An empty one that shares the memory of `pool` with others: there can be thousands of them.
  /// @throws std::invalid_argument if an item is longer than its pages; io_error.
  explicit queue(page_pool& pool) : items_(pool) {}

  bool empty() const noexcept { return items_.empty(); }
  size_type size() const noexcept { return items_.size(); }
  void push(T const& item) { items_.push_back(item); }
  /// The new item: back().
  template <typename... Arguments>
  T& emplace(Arguments&&... arguments) {
    return items_.emplace_back(std::forward<Arguments>(arguments)...);
  }
  /// @pre !empty()
  void pop() { items_.pop_front(); }
  /// @pre !empty()
  T& front() { return items_.front(); }
  T front() const { return items_.front(); }
  T& back() { return items_.back(); }
  T back() const { return items_.back(); }

  /// What the cache has done.
  block::block_cache_counts cache_counts() const { return items_.cache_counts(); }

  /// Whether both have the same items, and their order as words from front to back, as far as items
  /// have that. I/Os: a scan of both, up to the first that differ.
  friend bool operator==(queue const&, queue const&) = default;
  friend auto operator<=>(queue const&, queue const&) = default;
  friend void swap(queue& a, queue& b) noexcept { a.swap(b); }
  void swap(queue& other) noexcept { items_.swap(other.items_); }

 private:
  deque<T> items_;
};

}  // namespace outsize
