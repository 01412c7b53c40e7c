// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What vector and deque have in common: items in pages, with random access, which come and go at
// the back. vector.hpp says how long references are valid, and how values are read.
//
// What is left when something throws, an I/O or what the user gives (iterators, ranges, conversions
// and constructors of items), is said at each function; where nothing is said all is as it was.
// Items move by exchanges, within pages that are both in memory, so that none is ever lost.
//
// Threads: as a vector's. Layer: container.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/detail/owned.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/detail/array/item_batch.hpp>
#include <outsize/container/detail/array/page_window.hpp>
#include <outsize/container/detail/array/paged_items.hpp>
#include <outsize/container/detail/array/paged_readers.hpp>
#include <outsize/container/detail/filling.hpp>
#include <outsize/container/detail/piece_comparison.hpp>
#include <outsize/page/page_options.hpp>
#include <outsize/page/page_pool.hpp>

namespace outsize::detail {

/// The members of vector and deque. Container is the one of them that it is a part of, and says
/// how it is called, with which page it begins, and how it uses the options.
template <typename Container, typename T>
class paged_array {
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

  /// An empty one on the disks of `store`, which must outlive it. @throws budget_error, io_error
  /// (the disks' files cannot be made).
  explicit paged_array(storage& store = default_storage(), page_options const& options = {})
      : items_(std::make_unique<items>(pages_on_disks(store, sizeof(T), Container::adapted(options),
                                                      Container::pages_before))) {}
  /// An empty one that shares the memory of `pool`. @throws std::invalid_argument if an item is
  /// longer than its pages; io_error.
  explicit paged_array(page_pool& pool)
      : items_(std::make_unique<items>(pages_in_pool(pool, sizeof(T), Container::pages_before))) {}
  /// One with items, as assign() puts them there. @throws as assign(), besides; nothing is left of
  /// it then, and its space is free.
  paged_array(storage& store, size_type count, T const& value, page_options const& options = {})
      : paged_array(store, options) {
    assign(count, value);
  }
  /// One with so many items that are zero. I/Os: none. Disk: none, until they are changed. @throws
  /// as resize(), besides.
  paged_array(storage& store, size_type count, page_options const& options = {})
      : paged_array(store, options) {
    resize(count);
  }
  template <std::input_iterator I, std::sentinel_for<I> S>
  paged_array(storage& store, I first, S last, page_options const& options = {})
      : paged_array(store, options) {
    assign(std::move(first), std::move(last));
  }
  template <source_of<T> In>
  paged_array(storage& store, In&& in, page_options const& options = {})
      : paged_array(store, options) {
    assign(std::forward<In>(in));
  }
  paged_array(storage& store, std::initializer_list<T> list, page_options const& options = {})
      : paged_array(store, options) {
    assign(list);
  }
  /// The same on the disks of default_storage().
  explicit paged_array(size_type count) : paged_array(default_storage(), count) {}
  paged_array(size_type count, T const& value) : paged_array(default_storage(), count, value) {}
  template <std::input_iterator I, std::sentinel_for<I> S>
  paged_array(I first, S last)
      : paged_array(default_storage(), std::move(first), std::move(last)) {}
  paged_array(std::initializer_list<T> list) : paged_array(default_storage(), list) {}

  // ---- size ----

  bool empty() const noexcept { return size() == 0; }
  size_type size() const noexcept { return items_->size(); }
  static constexpr size_type max_size() noexcept {
    return std::numeric_limits<difference_type>::max() / sizeof(T);
  }
  /// Makes it longer at the back, by items that are zero in pages that nothing was written to, and
  /// otherwise have values that are not known; or shorter, which frees the space of whole pages.
  /// Asks whether there is the space, but takes that of a page when the page is changed first: what
  /// changes it may then throw out_of_space, if others have taken the space; reserve() of a vector
  /// takes it. I/Os: none. @throws out_of_space, budget_error; std::length_error if it is more than
  /// max_size(). The size is as before then.
  void resize(size_type size) {
    check_size(size);
    items_->resize(size);
  }
  /// The same; those that are added equal `value`. I/Os: a write for each of their pages.
  /// @throws io_error besides; all is as before then.
  void resize(size_type size, T const& value) {
    size_type const before = this->size();
    T const copy = value;
    resize(size);
    if (before >= size) return;
    or_shrink_to(before,
                 [&] { std::fill(begin() + static_cast<difference_type>(before), end(), copy); });
  }
  void clear() { items_->resize(0); }
  /// Gives up the space of pages that no item is in. I/Os: none.
  void shrink_to_fit() { items_->shrink_to_fit(); }
  /// Replaces all items, of which the new ones must not be some, in the pages that are there. I/Os:
  /// a write for each page. @throws as push_back(), and whatever the input throws. If that comes
  /// before the first item is there, all is as it was: where the number of new ones can be told
  /// that holds of out_of_space and budget_error whenever they come, but on a file. Otherwise the
  /// first ones of the new items are there, as many as came, and none of the old ones.
  /// std::length_error if there are more than max_size(); all is as it was.
  void assign(size_type count, T const& value) {
    T const copy = value;
    replace_all(count, [&] { append(count, copy); });
  }
  template <std::input_iterator I, std::sentinel_for<I> S>
  void assign(I first, S last) {
    size_type count = 0;
    if constexpr (std::sized_sentinel_for<S, I>) count = static_cast<size_type>(last - first);
    replace_all(count, [&] { append(std::move(first), last); });
  }
  void assign(std::initializer_list<T> list) { assign(list.begin(), list.end()); }
  /// By those of a range, or of a file: items<T>(path). @throws besides what its reading throws.
  template <source_of<T> In>
  void assign(In&& in) {
    replace_all(0, [&] {
      scan_source<T>(store(), std::forward<In>(in), {}, [this](std::span<T const> some) {
        append(some.begin(), some.end());
        return true;
      });
    });
  }

  // ---- insertion and erasure ----

  /// @throws out_of_space, budget_error, io_error (a changed page cannot leave), or what making the
  /// item throws; nothing is added.
  void push_back(T const& item) { items_->append(item); }
  template <typename... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    push_back(T(std::forward<Arguments>(arguments)...));
    return back();
  }
  /// @pre !empty(). @throws io_error, of a file that may not be changed; it is still there.
  void pop_back() {
    OUTSIZE_ASSERT(!empty());
    items_->remove_last();
  }
  /// Puts items in front of `place`, and returns where the first of them is; those behind it move
  /// back. The new ones must not be items of this container. CPU and I/Os: a scan of those that
  /// move, two where more are added than the cache holds; those added are written at the back
  /// first. @throws as push_back(), and whatever the input throws; std::length_error if `count` is
  /// more than max_size() leaves room for: all is as it was. But io_error when the others move: all
  /// of them are there, in their order, and all of the new ones, side by side in any order at or
  /// behind `place`.
  template <std::input_iterator I, std::sentinel_for<I> S>
  iterator insert(const_iterator place, I first, S last) {
    size_type const before = size();
    auto const moved = static_cast<size_type>(cend() - place);
    or_shrink_to(before, [&] { append_to_be_moved(std::move(first), std::move(last), moved); });
    return move_behind_those_from(before, place);
  }
  iterator insert(const_iterator place, size_type count, T const& item) {
    T const copy = item;
    size_type const before = size();
    check_size(count > max_size() ? count : before + count);
    or_shrink_to(before, [&] { append(count, copy); });
    return move_behind_those_from(before, place);
  }
  iterator insert(const_iterator place, T const& item) { return insert(place, 1, item); }
  iterator insert(const_iterator place, std::initializer_list<T> list) {
    return insert(place, list.begin(), list.end());
  }
  template <typename... Arguments>
  iterator emplace(const_iterator place, Arguments&&... arguments) {
    return insert(place, T(std::forward<Arguments>(arguments)...));
  }
  iterator erase(const_iterator place) { return erase(place, place + 1); }
  /// Removes the items of a range; those behind it move up. CPU and I/Os: a scan of these. @throws
  /// io_error: all others are there, in their order, and between two of them as many as were to go,
  /// which are some of those, or copies of others.
  iterator erase(const_iterator from, const_iterator to) {
    iterator const place = changeable(from);
    if (from == to) return place;
    std::copy(to, cend(), place);
    resize(size() - static_cast<size_type>(to - from));
    return place;
  }

  // ---- items ----

  /// @pre index < size()
  T& operator[](size_type index) {
    OUTSIZE_ASSERT(index < size());
    return items_->at(items_->begin() + index);
  }
  T operator[](size_type index) const { return value(index); }
  /// @throws std::out_of_range, besides.
  T& at(size_type index) {
    check(index);
    return items_->at(items_->begin() + index);
  }
  T at(size_type index) const {
    check(index);
    return value(index);
  }
  /// @pre !empty()
  T& front() {
    OUTSIZE_ASSERT(!empty());
    return items_->at(items_->begin());
  }
  T front() const { return value(0); }
  T& back() {
    OUTSIZE_ASSERT(!empty());
    return items_->at(items_->end() - 1);
  }
  T back() const { return value(size() - 1); }

  /// Reads many items: into[i] becomes item indices[i], in any order, the same one several times
  /// if it is asked for. For pages to be short, as all of each is read: page_bytes = 4096.
  /// I/Os:    a read for each page with one of the items that is not in memory, once for each 2^20
  ///          indices, options.batch_pages under way at the same time; less in company.
  /// Memory:  16 bytes for each of 2^20 indices, beside the budget.
  /// Threads: as other const functions.
  /// @pre as many of both; indices are less than size(). @throws io_error; some of `into` may have
  /// been written.
  void read_many(std::span<size_type const> indices, std::span<T> into) const {
    detail::read_many(std::as_const(*items_), indices, into);
  }
  /// The counterpart: item indices[i] becomes from[i], of equal indices the last one's. Ends
  /// references. I/Os: as read_many(), and a write for each page when it leaves. @pre likewise.
  /// @throws io_error; some of the items may have been changed, all others are as they were.
  void write_many(std::span<size_type const> indices, std::span<T const> from) {
    detail::write_many(*items_, indices, from);
  }

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

  // ---- scans ----

  /// All items, or those from `from` to before `to`, front to back: a reader, and a range to go
  /// over once. The container stays as it is as long as the reader is used.
  paged_reader<T> forward() const { return {*items_, items_->begin(), items_->end()}; }
  paged_reader<T> forward(const_iterator from, const_iterator to) const {
    return {*items_, from.position_, to.position_};
  }
  /// The same in the other order, from the one before `to` on.
  paged_reverse_reader<T> backward() const { return {*items_, items_->begin(), items_->end()}; }
  paged_reverse_reader<T> backward(const_iterator from, const_iterator to) const {
    return {*items_, from.position_, to.position_};
  }
  /// Reads all items in pieces: a reader with empty(), pull() and skip(), as vector_reader is.
  page_reader<T> pieces() const { return {*items_, items_->begin(), items_->end()}; }

  // ---- pages ----

  /// Items of a page.
  size_type page_items() const noexcept { return items_->page_items(); }
  /// Pages touched last by references that stay valid; at least 2.
  std::size_t live_pages() const noexcept { return items_->row().live_pages(); }
  /// The item and those behind it in its page, to be changed; valid as a reference is.
  /// @pre index < size()
  std::span<T> changing(size_type index) {
    OUTSIZE_ASSERT(index < size());
    return items_->changing(items_->begin() + index);
  }
  /// The same, of whole pages or to the end, whose items will all be replaced: they are not read.
  /// @pre index < size(), and is the first one of a page.
  std::span<T> replacing(size_type index) {
    OUTSIZE_ASSERT(index < size() && (items_->begin() + index) % page_items() == 0);
    return items_->replacing(items_->begin() + index);
  }
  /// The storage that it is on, or whose memory it uses.
  storage& store() const noexcept { return items_->row().store(); }
  /// What the cache has done.
  block::block_cache_counts cache_counts() const { return items_->row().counts(); }

  /// Whether both have the same items. I/Os: a scan of both, up to the first that differ.
  friend bool operator==(Container const& a, Container const& b)
    requires std::equality_comparable<T>
  {
    return a.size() == b.size() && equal_pieces(a.pieces(), b.pieces());
  }
  /// The order of words. I/Os: the same.
  friend auto operator<=>(Container const& a, Container const& b)
    requires ordered_item<T>
  {
    return compare_pieces(a.pieces(), b.pieces());
  }
  friend void swap(Container& a, Container& b) noexcept { a.swap(b); }
  void swap(Container& other) noexcept { std::swap(items_, other.items_); }

 protected:
  using items = paged_items<T>;

  explicit paged_array(std::unique_ptr<items> from) noexcept : items_(std::move(from)) {}

  /// @throws std::length_error if there cannot be so many items.
  static void check_size(size_type size) {
    if (size > max_size())
      throw std::length_error(std::string(Container::name) + ": too many items");
  }

  owned<items> items_;

 private:
  void check(size_type index) const {
    if (index >= size())
      throw std::out_of_range(std::string(Container::name) + ": index " + std::to_string(index) +
                              " of " + std::to_string(size()) + " items");
  }
  T value(size_type index) const {
    OUTSIZE_ASSERT(index < size());
    return std::as_const(*items_).value(items_->begin() + index);
  }
  iterator changeable(const_iterator const& place) noexcept {
    return {items_.get(), place.position_};
  }
  /// Does something that adds items; if it throws, those are gone.
  template <typename Action>
  void or_shrink_to(size_type size, Action action) {
    try {
      action();
    } catch (...) {
      resize(size);
      throw;
    }
  }
  /// Replaces all items by those that `add` appends, `room` of them if that is known.
  template <typename Add>
  void replace_all(size_type room, Add add) {
    size_type const before = size();
    check_size(room);
    items_->begin_anew(room);
    try {
      add();
    } catch (...) {
      resize(empty() ? before : size());
      throw;
    }
    resize(size());
  }
  void append(size_type count, T const& item) {
    for (; count > 0; --count) push_back(item);
  }
  template <typename I, typename S>
  void append(I first, S last) {
    for (; first != last; ++first) push_back(*first);
  }
  /// So that they are in order when `moved` items have been moved behind them, each of which turns
  /// them by one.
  template <typename I, typename S>
  void append_to_be_moved(I first, S last, size_type moved) {
    if constexpr (std::forward_iterator<I>) {
      auto const count = static_cast<size_type>(std::ranges::distance(first, last));
      if (count == 0) return;
      I const middle =
          std::ranges::next(first, static_cast<std::iter_difference_t<I>>(moved % count));
      append(middle, last);
      append(first, middle);
    } else {
      auto const before = static_cast<difference_type>(size());
      append(std::move(first), std::move(last));
      auto const count = static_cast<difference_type>(size()) - before;
      if (count == 0) return;
      std::rotate(begin() + before, begin() + before + static_cast<difference_type>(moved) % count,
                  end());
    }
  }
  /// Puts the items from index `before` on, the ones added last, in front of `place`: those there
  /// change places with them, from the back on, as far as both are in one page at a time.
  iterator move_behind_those_from(size_type before, const_iterator const& place) {
    size_type const count = size() - before;
    size_type const index = place.position_ - items_->begin();
    auto const in_page = [&](size_type last) {
      return (items_->begin() + last) % page_items() + 1;
    };
    for (size_type end = before; end > index && count > 0;) {
      size_type const some = std::min({end - index, in_page(end - 1), in_page(end + count - 1)});
      std::span<T> const to = changing(end + count - some);
      std::span<T> const from = changing(end - some);
      for (size_type i = some; i-- > 0;) std::swap(from[i], to[i]);
      end -= some;
    }
    return changeable(place);
  }
};

}  // namespace outsize::detail
