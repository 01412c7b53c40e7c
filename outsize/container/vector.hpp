// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// An array of items on disk, used as std::vector is: some of its pages are in memory at any time.
//
//   items:   | 0 1 2 3 | 4 5 6 7 | 8 9 … |          page_row: which pages are in memory
//              page 0    page 1    page 2
//
// Three ways to an item: a reference, through an `iterator` or operator[], which counts its page as
// changed; a value, through a `const_iterator` or const operator[], which does not; a span of all
// items of a page (changing(), or a vector_reader's) for loops that must be fast.
//
// How long a reference, or a span of changing(), is valid: until live_pages() - 1 other pages have
// been touched by references, or its item is no longer in the vector; flush() and const access do
// not end it. live_pages() is 2 at least, so that two items can always be exchanged. Debug builds
// stop if something is changed through a reference that was no longer valid.
//
// Iterators are valid as long as their item is in the vector, wherever it is moved or swapped to.
// An `iterator` is a value of two words that may be stored in items, as a link to other items.
//
// Invariant: pages hold size() items, side by side. Threads: as std::vector; several may use const
// functions and const_iterators at once. Layer: container. Source: STXXL 2008, sections 5.1, 5.6.

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/item_batch.hpp>
#include <outsize/container/page_pool.hpp>
#include <outsize/container/page_window.hpp>
#include <outsize/container/paged_items.hpp>
#include <outsize/container/vector_options.hpp>

namespace outsize {

/// An array of items on the disks of a storage, or in a file, whose pages are cached. See the top
/// of this file for references, iterators and threads.
///
///     outsize::vector<edge> edges(store);
///     for (…) edges.push_back(e);
///     std::sort(edges.begin(), edges.end());              // works; outsize::sort is faster
///     for (edge e : std::as_const(edges)) …               // changes nothing, so writes nothing
///
/// I/Os:    Random access at most one read, and one write if a changed page must leave; a scan
///          ⌈N / items of a page⌉ reads, ahead of their use, and as many writes if it changes
///          items. Pages that were never changed are neither written nor read.
/// Memory:  options.cache_pages + spare_pages pages from the storage's budget, 17 bytes for each
///          page, as long as the vector lives; whatever its size.
/// Errors:  io_error of any access to an item whose page is not in memory: the vector is as it was.
///          A page that cannot be written stays in memory, and the next call that needs its place
///          says so again. out_of_space, budget_error where the vector grows.
/// Checked: vector_test.cpp, vector_iterator_test.cpp, item_batch_test.cpp.
template <typename T>
class vector {
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
  explicit vector(storage& store = default_storage(), vector_options const& options = {})
      : items_(std::make_unique<items>(detail::pages_on_disks(store, sizeof(T), options))) {}
  /// An empty one that shares the memory of `pool`. @throws std::invalid_argument if an item is
  /// longer than its pages; io_error.
  explicit vector(page_pool& pool)
      : items_(std::make_unique<items>(detail::pages_in_pool(pool, sizeof(T)))) {}
  /// An empty one in a new file, to be opened again: what flush() has made durable is there,
  /// however the process ends. Otherwise as a vector on disks; but changed pages are written to
  /// other places until the next flush(), which ends references.
  /// @throws io_error, EEXIST if it is there already; budget_error.
  static vector create_kept(std::string const& path, storage& store = default_storage(),
                            vector_options const& options = {}) {
    return vector(detail::create_kept_pages(store, path, sizeof(T), options));
  }
  /// One that was created in a file. It has the pages that it was made with; was_closed() tells
  /// whether it was closed, or is what the last flush() left. Read only: all that changes items,
  /// their number, or hands out references throws io_error (EACCES).
  /// @throws io_error if it cannot be opened, EBUSY while it is open elsewhere and one of both
  /// would change it; format_error if the file is none of vector<T>'s, or is of a newer format, cut
  /// short, or damaged; budget_error.
  static vector open_kept(std::string const& path, storage& store = default_storage(),
                          io::access mode = io::access::read_write,
                          vector_options const& options = {}) {
    return vector(detail::open_kept_pages(store, path, mode, sizeof(T), options));
  }
  /// The items of a plain file, item i at byte i · sizeof(T); what is behind the last whole one is
  /// left out. Other programs can read the file after flush() or close(), which give it its length;
  /// the destructor does so too, but cannot tell of errors. If the process ends otherwise, pages
  /// changed since may be there or not. Read only: as open_kept().
  /// @throws io_error if it cannot be opened; budget_error.
  static vector open(std::string const& path, storage& store = default_storage(),
                     io::access mode = io::access::read_write, vector_options const& options = {}) {
    return vector(detail::bind_pages(store, path, {.mode = mode}, sizeof(T), options));
  }
  /// An empty one in a new plain file, as by open(). @throws io_error, EEXIST if it is there
  /// already.
  static vector create(std::string const& path, storage& store = default_storage(),
                       vector_options const& options = {}) {
    return vector(detail::bind_pages(
        store, path,
        {.mode = io::access::read_write, .create = true, .must_be_new = true, .permissions = 0666},
        sizeof(T), options));
  }
  vector(vector&&) noexcept = default;
  vector& operator=(vector&&) noexcept = default;

  // ---- size ----

  bool empty() const noexcept { return size() == 0; }
  size_type size() const noexcept { return items_->size(); }
  /// Makes it longer, by items that are zero in pages that nothing was written to, and otherwise
  /// have values that are not known; or shorter, which frees the space of whole pages. I/Os: none.
  /// @throws out_of_space, budget_error; the size is as before then.
  void resize(size_type size) { items_->resize(size); }
  /// The same; those that are added equal `value`. I/Os: a write for each of their pages.
  /// @throws io_error besides; it has its new size then, or the one before.
  void resize(size_type size, T const& value) {
    size_type const before = this->size();
    resize(size);
    if (before < size) std::fill(begin() + static_cast<difference_type>(before), end(), value);
  }
  void clear() { items_->resize(0); }
  /// Replaces all items, of which the new ones must not be some. I/Os: a write for each page.
  /// @throws as push_back(); some of the new items are there then, and none of the old ones.
  void assign(size_type count, T const& value) {
    T const copy = value;
    clear();
    resize(count, copy);
  }
  template <std::input_iterator I, std::sentinel_for<I> S>
  void assign(I first, S last) {
    clear();
    for (; first != last; ++first) push_back(*first);
  }
  void assign(std::initializer_list<T> list) { assign(list.begin(), list.end()); }

  /// @throws out_of_space, budget_error, io_error (a changed page cannot leave); nothing is added.
  void push_back(T const& item) { items_->append(item); }
  template <typename... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    push_back(T(std::forward<Arguments>(arguments)...));
    return back();
  }
  /// @pre !empty()
  void pop_back() {
    OUTSIZE_ASSERT(!empty());
    items_->remove_last();
  }
  /// Puts items in front of `place`, and returns where the first of them is; those behind it move
  /// back. The new ones must not be items of this vector. CPU and I/Os: a scan of those that move.
  /// @throws as push_back(), before any has moved; io_error when they do: it has its new size then,
  /// and items from `place` on have values that are not known.
  template <std::forward_iterator I>
  iterator insert(const_iterator place, I first, I last) {
    auto const count = static_cast<size_type>(std::ranges::distance(first, last));
    size_type const end = size();
    resize(end + count);
    iterator const to(items_.get(), place.position_);
    std::copy_backward(std::as_const(*this).begin() + static_cast<difference_type>(place.position_),
                       std::as_const(*this).begin() + static_cast<difference_type>(end),
                       this->end());
    std::copy(first, last, to);
    return to;
  }
  iterator insert(const_iterator place, T const& item) {
    T const copy = item;
    return insert(place, &copy, &copy + 1);
  }
  iterator insert(const_iterator place, std::initializer_list<T> list) {
    return insert(place, list.begin(), list.end());
  }
  iterator erase(const_iterator place) { return erase(place, place + 1); }
  /// Removes the items of a range; those behind it move up. CPU and I/Os: a scan of these.
  iterator erase(const_iterator from, const_iterator to) {
    iterator const place(items_.get(), from.position_);
    if (from == to) return place;
    std::copy(to, std::as_const(*this).end(), place);
    items_->resize(size() - (to.position_ - from.position_));
    return place;
  }

  // ---- items ----

  T& operator[](size_type index) { return items_->at(index); }
  T operator[](size_type index) const { return value(index); }
  /// @throws std::out_of_range, besides.
  T& at(size_type index) {
    check(index);
    return items_->at(index);
  }
  T at(size_type index) const {
    check(index);
    return value(index);
  }
  T& front() { return items_->at(0); }
  T front() const { return value(0); }
  T& back() { return items_->at(size() - 1); }
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

  iterator begin() noexcept { return {items_.get(), 0}; }
  iterator end() noexcept { return {items_.get(), size()}; }
  const_iterator begin() const noexcept { return {items_.get(), 0}; }
  const_iterator end() const noexcept { return {items_.get(), size()}; }
  const_iterator cbegin() const noexcept { return begin(); }
  const_iterator cend() const noexcept { return end(); }
  reverse_iterator rbegin() noexcept { return reverse_iterator(end()); }
  reverse_iterator rend() noexcept { return reverse_iterator(begin()); }
  const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }
  const_reverse_iterator crbegin() const noexcept { return rbegin(); }
  const_reverse_iterator crend() const noexcept { return rend(); }

  // ---- pages ----

  /// Items of a page.
  size_type page_items() const noexcept { return items_->page_items(); }
  /// Pages touched last by references that stay valid; at least 2.
  std::size_t live_pages() const noexcept { return items_->row().live_pages(); }
  /// The item and those behind it in its page, to be changed; valid as a reference is.
  std::span<T> changing(size_type index) { return items_->changing(index); }
  /// The same, of whole pages or to the end, whose items will all be replaced: they are not read.
  /// @pre index is the first one of a page.
  std::span<T> replacing(size_type index) {
    OUTSIZE_ASSERT(index % page_items() == 0);
    return items_->replacing(index);
  }
  /// Reads all items in pieces: a stream with empty(), pull() and skip(), as vector_reader is.
  detail::page_reader<T> pieces() const { return {*items_, items_->begin(), items_->end()}; }
  /// The storage that it is on, or whose memory it uses.
  storage& store() const noexcept { return items_->row().store(); }
  /// What the cache has done.
  block::block_cache_counts cache_counts() const { return items_->row().counts(); }
  /// Writes what was changed. A file has its length then, and its content is durable. @throws
  /// io_error of the first page that cannot be written; all are still there.
  void flush() { items_->flush(); }
  /// Flushes, and ends the vector: it can be destroyed, or assigned to. @throws as flush(); it is
  /// as it was then.
  void close() {
    items_->close();
    items_.reset();
  }
  /// Whether the file had been closed when it was opened; if not, the vector is as the last flush()
  /// left it. True of others.
  bool was_closed() const noexcept { return items_->was_closed(); }

  /// Whether both have the same items. I/Os: a scan of both, up to the first that differ.
  friend bool operator==(vector const& a, vector const& b)
    requires std::equality_comparable<T>
  {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
  }
  friend void swap(vector& a, vector& b) noexcept { std::swap(a.items_, b.items_); }
  void swap(vector& other) noexcept { std::swap(items_, other.items_); }

 private:
  using items = detail::paged_items<T>;

  void check(size_type index) const {
    if (index >= size())
      throw std::out_of_range("vector: index " + std::to_string(index) + " of " +
                              std::to_string(size()) + " items");
  }
  T value(size_type index) const {
    OUTSIZE_ASSERT(index < size());
    return std::as_const(*items_).value(index);
  }

  explicit vector(detail::pages_of_file pages)
      : items_(std::make_unique<items>(std::move(pages))) {}

  std::unique_ptr<items> items_;
};

}  // namespace outsize
