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
#include <initializer_list>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/container/detail/array/paged_array.hpp>
#include <outsize/page/page_options.hpp>

namespace outsize {

/// Items in the order of their positions, which come and go at both ends. What it can do beside
/// that, as vectors can: paged_array.hpp. Iterators stay valid as long as their item is there,
/// whatever comes or goes at the ends.
///
/// I/Os:    O(1/B) for each push and pop, amortised, where B items fit in a page, and none as long
///          as the items that come and go fit in the cache; random access as a vector's.
/// Memory:  as a vector's.
/// Errors:  io_error where a page must be read, or another written for it; out_of_space,
///          budget_error where it grows. Nothing is added or removed then, nothing is lost.
/// Checked: deque_test.cpp.
template <typename T>
class deque : public detail::paged_array<deque<T>, T> {
  using base = detail::paged_array<deque<T>, T>;

 public:
  using base::base;
  deque() = default;
  /// As assign(): it stays on its disks.
  deque& operator=(std::initializer_list<T> list) {
    this->assign(list);
    return *this;
  }

  void push_front(T const& item) { items_->prepend(item); }
  template <typename... Arguments>
  T& emplace_front(Arguments&&... arguments) {
    push_front(T(std::forward<Arguments>(arguments)...));
    return this->front();
  }
  /// @pre !empty()
  void pop_front() {
    OUTSIZE_ASSERT(!this->empty());
    items_->remove_first();
  }

 private:
  friend base;
  using base::items_;
  static constexpr char const* name = "deque";
  static constexpr std::uint64_t pages_before = std::uint64_t{1} << 40;

  /// So that what is read ahead at one end is not pushed out by what is read ahead at the other.
  static page_options adapted(page_options options) {
    std::size_t const pages = options.cache_pages != 0 ? options.cache_pages : usual_cache_pages;
    std::size_t const others = std::min<std::size_t>(pages, 4);  // that are at work
    options.read_ahead_pages = std::min(options.read_ahead_pages, (pages - others) / 2);
    return options;
  }
};

template <item_source In>
deque(storage&, In&&, page_options = {}) -> deque<source_item_t<In>>;
template <std::input_iterator I, std::sentinel_for<I> S>
deque(storage&, I, S, page_options = {}) -> deque<std::iter_value_t<I>>;
template <stored_item T>
deque(storage&, std::initializer_list<T>, page_options = {}) -> deque<T>;

}  // namespace outsize
