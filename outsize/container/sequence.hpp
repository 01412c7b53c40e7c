// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A sequence on disk that grows and shrinks at both ends, and is read as a whole in either
// direction: a deque with readers in place of random access. One thread at a time.
// Layer: container. Source: STXXL's sequence.

#include <compare>
#include <cstdint>
#include <initializer_list>

#include <outsize/container/deque.hpp>
#include <outsize/container/detail/array/paged_readers.hpp>

namespace outsize {

/// Items that come and go at both ends, and readers over all of them.
///
///     sequence<event> events(store);
///     events.push_back(e);
///     for (auto const& one : events.backward()) use(one);
///
/// I/Os:    O(1/B) for each push and pop, amortised, as a deque's; ⌈N/B⌉ + 1 reads for a reader
///          over N items, ahead of their use, less what is in the cache.
/// Memory, errors: as a deque's. Readers use its memory, and 4 KiB or an item.
/// Checked: sequence_test.cpp.
template <typename T>
class sequence {
 public:
  using value_type = T;
  using size_type = std::uint64_t;

  /// An empty one on the disks of `store`, which must outlive it. @throws budget_error, io_error.
  explicit sequence(storage& store = default_storage(), page_options const& options = {})
      : items_(store, options) {}
  /// One with these items, the first one in front. @throws as push_back(), besides.
  sequence(storage& store, std::initializer_list<T> list, page_options const& options = {})
      : sequence(store, options) {
    for (T const& item : list) items_.push_back(item);
  }
  /// An empty one that shares the memory of `pool`, as a deque would.
  explicit sequence(page_pool& pool) : items_(pool) {}

  bool empty() const noexcept { return items_.empty(); }
  size_type size() const noexcept { return items_.size(); }
  void clear() { items_.clear(); }

  void push_back(T const& item) { items_.push_back(item); }
  void push_front(T const& item) { items_.push_front(item); }
  /// @pre !empty()
  void pop_back() { items_.pop_back(); }
  void pop_front() { items_.pop_front(); }
  /// @pre !empty()
  T& front() { return items_.front(); }
  T front() const { return items_.front(); }
  T& back() { return items_.back(); }
  T back() const { return items_.back(); }

  /// All items, front to back. The sequence stays as it is as long as the reader is used.
  paged_reader<T> forward() const { return items_.forward(); }
  /// All items, back to front.
  paged_reverse_reader<T> backward() const { return items_.backward(); }

  /// What the cache has done.
  block::block_cache_counts cache_counts() const { return items_.cache_counts(); }

  /// Whether both have the same items, and their order as words from front to back, as far as items
  /// have that. I/Os: a scan of both, up to the first that differ.
  friend bool operator==(sequence const&, sequence const&) = default;
  friend auto operator<=>(sequence const&, sequence const&) = default;
  friend void swap(sequence& a, sequence& b) noexcept { a.swap(b); }
  void swap(sequence& other) noexcept { items_.swap(other.items_); }

 private:
  deque<T> items_;
};

}  // namespace outsize
