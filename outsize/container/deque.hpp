// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A sequence on disk that grows and shrinks at both ends, with random access: used as std::deque
// is.
//
// Its pages are a vector's (vector.hpp says how long references are valid, and how values are
// read), but new ones may come before the first. Those at the ends that are at work are in memory;
// what is pushed is written behind, what will be popped is read ahead. Threads: as a vector's.
// Layer: container. Source: STXXL 2008, section 5.3.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/item_batch.hpp>
#include <outsize/container/page_pool.hpp>
#include <outsize/container/page_window.hpp>
#include <outsize/container/paged_items.hpp>
#include <outsize/container/vector_options.hpp>

namespace outsize {

template <typename T>
class sequence;

/// Items in the order of their positions, which come and go at both ends.
///
/// I/Os:    O(1/B) for each push and pop, amortised, where B items fit in a page, and none as long
///          as the items that come and go fit in the cache; random access as a vector's.
/// Memory:  options.cache_pages + spare_pages pages from the storage's budget, and 17 bytes for
///          each page.
/// Errors:  io_error where a page must be read, or another written for it; out_of_space,
///          budget_error where it grows. Nothing is added or removed then, nothing is lost.
/// Checked: deque_test.cpp.
template <typename T>
class deque {
 public:
  using value_type = T;
  using size_type = std::uint64_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = T;
  using iterator = paged_iterator<T>;
  using const_iterator = paged_const_iterator<T>;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = paged_const_reverse_iterator<T>;

  /// An empty one on the disks of `store`, which must outlive it. @throws budget_error, io_error.
  explicit deque(storage& store = default_storage(), vector_options const& options = {})
      : items_(std::make_unique<items>(
            detail::pages_on_disks(store, sizeof(T), at_two_ends(options), middle_page))) {}
  /// An empty one that shares the memory of `pool`, as a vector's would.
  explicit deque(page_pool& pool)
      : items_(std::make_unique<items>(detail::pages_in_pool(pool, sizeof(T), middle_page))) {}
  deque(deque&&) noexcept = default;
  deque& operator=(deque&&) noexcept = default;

  bool empty() const noexcept { return size() == 0; }
  size_type size() const noexcept { return items_->size(); }
  /// Makes it longer at the back, by items as vector::resize() does, or shorter.
  void resize(size_type size) { items_->resize(size); }
  void clear() { items_->resize(0); }

  void push_back(T const& item) { items_->append(item); }
  void push_front(T const& item) { items_->prepend(item); }
  template <typename... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    push_back(T(std::forward<Arguments>(arguments)...));
    return back();
  }
  template <typename... Arguments>
  T& emplace_front(Arguments&&... arguments) {
    push_front(T(std::forward<Arguments>(arguments)...));
    return front();
  }
  /// @pre !empty()
  void pop_back() {
    OUTSIZE_ASSERT(!empty());
    items_->remove_last();
  }
  void pop_front() {
    OUTSIZE_ASSERT(!empty());
    items_->remove_first();
  }

  /// @pre !empty()
  T& front() { return items_->at(items_->begin()); }
  T front() const { return value(0); }
  T& back() { return items_->at(items_->end() - 1); }
  T back() const { return value(size() - 1); }
  T& operator[](size_type index) { return items_->at(items_->begin() + index); }
  T operator[](size_type index) const { return value(index); }
  /// @throws std::out_of_range, besides.
  T& at(size_type index) {
    check(index);
    return (*this)[index];
  }
  T at(size_type index) const {
    check(index);
    return value(index);
  }

  /// Many items at once, as vector::read_many() and write_many().
  void read_many(std::span<size_type const> indices, std::span<T> into) const {
    detail::read_many(std::as_const(*items_), indices, into);
  }
  void write_many(std::span<size_type const> indices, std::span<T const> from) {
    detail::write_many(*items_, indices, from);
  }

  /// They stay valid as long as their item is there, whatever comes or goes at the ends.
  iterator begin() noexcept { return {items_.get(), items_->begin()}; }
  iterator end() noexcept { return {items_.get(), items_->end()}; }
  const_iterator begin() const noexcept { return {items_.get(), items_->begin()}; }
  const_iterator end() const noexcept { return {items_.get(), items_->end()}; }
  const_iterator cbegin() const noexcept { return begin(); }
  const_iterator cend() const noexcept { return end(); }
  reverse_iterator rbegin() noexcept { return reverse_iterator(end()); }
  reverse_iterator rend() noexcept { return reverse_iterator(begin()); }
  const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }
  const_reverse_iterator crbegin() const noexcept { return rbegin(); }
  const_reverse_iterator crend() const noexcept { return rend(); }

  /// Reads all items in pieces: a stream with empty(), pull() and skip(), as vector_reader is.
  detail::page_reader<T> pieces() const { return {*items_, items_->begin(), items_->end()}; }
  /// The storage that it is on.
  storage& store() const noexcept { return items_->row().store(); }
  /// What the cache has done.
  block::block_cache_counts cache_counts() const { return items_->row().counts(); }

  friend void swap(deque& a, deque& b) noexcept { std::swap(a.items_, b.items_); }
  void swap(deque& other) noexcept { std::swap(items_, other.items_); }

 private:
  friend class sequence<T>;
  using items = detail::paged_items<T>;
  static constexpr std::uint64_t middle_page = std::uint64_t{1} << 40;

  /// So that what is read ahead at one end is not pushed out by what is read ahead at the other.
  static vector_options at_two_ends(vector_options options) {
    std::size_t const others = std::min<std::size_t>(options.cache_pages, 4);  // that are at work
    options.read_ahead_pages =
        std::min(options.read_ahead_pages, (options.cache_pages - others) / 2);
    return options;
  }
  void check(size_type index) const {
    if (index >= size())
      throw std::out_of_range("deque: index " + std::to_string(index) + " of " +
                              std::to_string(size()) + " items");
  }
  T value(size_type index) const {
    OUTSIZE_ASSERT(index < size());
    return std::as_const(*items_).value(items_->begin() + index);
  }

  std::unique_ptr<items> items_;
};

}  // namespace outsize
