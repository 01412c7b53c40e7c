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
// items of a page (changing(), reading()) for loops that must be fast.
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
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/page_row.hpp>
#include <outsize/container/vector_options.hpp>

namespace outsize {

template <typename T>
class vector;

}  // namespace outsize

namespace outsize::detail {

template <typename T>
class page_window;

/// The items of a vector, at a fixed address for its iterators.
template <typename T>
class vector_items {
 public:
  explicit vector_items(std::shared_ptr<page_row> row)
      : row_(std::move(row)), page_items_(row_->page_bytes() / sizeof(T)) {
    // Here, so that an item can hold iterators over items of its own type.
    static_assert(external_item<T>);
    static_assert(alignof(T) <= block::block_cache::buffer_alignment_bytes);
  }
  explicit vector_items(pages_of_file pages) : vector_items(std::move(pages.row)) {
    file_ = pages.file;
    size_ = settled_size_ = pages.items;
  }
  vector_items(vector_items const&) = delete;
  vector_items& operator=(vector_items const&) = delete;
  /// The space of pages on disks is free afterwards, whoever still pins one; a file is as flush()
  /// leaves it, if that succeeds.
  ~vector_items() {
    try {
      if (file_ != nullptr) flush();
    } catch (std::exception const&) {  // vector::close() tells
    }
    if (file_ == nullptr) row_->resize(0);
  }

  page_row& row() noexcept { return *row_; }
  page_row const& row() const noexcept { return *row_; }
  std::uint64_t page_items() const noexcept { return page_items_; }
  std::uint64_t size() const noexcept { return size_; }

  /// An item to be changed.
  T& at(std::uint64_t index) {
    if (index - hot_begin_ < hot_count_) return hot_[index - hot_begin_];
    return touch(index);
  }
  /// The page of an item all of whose items will be replaced.
  void replace_page(std::uint64_t index) {
    if (index - hot_begin_ >= hot_count_) touch(index, page_row::content::replaced);
  }
  /// Copies items that are in one page.
  void read(std::uint64_t index, std::span<T> into) const {
    auto const place = static_cast<std::size_t>(index % page_items_) * sizeof(T);
    row_->read(index / page_items_, place, std::as_writable_bytes(into));
  }
  T value(std::uint64_t index) const {
    T item;
    read(index, {&item, 1});
    return item;
  }

  void resize(std::uint64_t size) {
    resize_row(pages_for(size));
    size_ = size;
  }
  void append(T const& item) {
    if (size_ - hot_begin_ >= hot_count_)
      make_room(item);
    else
      hot_[size_ - hot_begin_] = item;
    ++size_;
  }
  void flush() {
    row_->flush();
    auto const writes = row_->counts().write_backs;
    if (file_ == nullptr) return;
    if (size_ == settled_size_ && writes == settled_writes_ && !file_->is_grown()) return;
    file_->settle(size_ * sizeof(T));
    settled_size_ = size_;
    settled_writes_ = writes;
  }
  /// Keeps a page that is no longer used, so that coming and going at its edge does not cost one.
  void remove_last() noexcept {
    --size_;
    if (std::uint64_t const pages = pages_for(size_); row_->count() > pages + 1) resize_row(pages);
  }

 private:
  [[gnu::noinline]] T& touch(std::uint64_t index, page_row::content old = page_row::content::kept) {
    OUTSIZE_ASSERT(index <= size_);
    std::uint64_t const page = index / page_items_;
    auto const bytes = row_->change(page, old);
    hot_ = reinterpret_cast<T*>(bytes.data());
    hot_begin_ = page * page_items_;
    hot_count_ = page_items_;
    return hot_[index - hot_begin_];
  }
  [[gnu::noinline]] void make_room(T item) {  // a copy, as the page it is in may leave
    if (row_->count() == size_ / page_items_) resize_row(row_->count() + 1);
    touch(size_) = item;
  }
  std::uint64_t pages_for(std::uint64_t size) const noexcept { return div_up(size, page_items_); }
  void resize_row(std::uint64_t pages) {
    if (pages == row_->count()) return;
    if (pages < row_->count()) hot_count_ = 0;
    row_->resize(pages);
  }

  std::shared_ptr<page_row> row_;
  file_pages* file_ = nullptr;  // of the row, if it is one's
  std::uint64_t page_items_;
  std::uint64_t size_ = 0;
  std::uint64_t settled_size_ = 0;    // of the file when it was settled last,
  std::uint64_t settled_writes_ = 0;  // and the writes until then
  // The page touched last, which stays where it is until another is touched.
  std::uint64_t hot_begin_ = 0;
  std::uint64_t hot_count_ = 0;
  T* hot_ = nullptr;
};

/// What iterators over a vector have in common: arithmetic on the index.
template <typename Derived>
class vector_position {
 public:
  using difference_type = std::ptrdiff_t;

  Derived& operator++() { return *this += 1; }
  Derived& operator--() { return *this -= 1; }
  Derived operator++(int) {
    Derived const before = self();
    *this += 1;
    return before;
  }
  Derived operator--(int) {
    Derived const before = self();
    *this -= 1;
    return before;
  }
  Derived& operator+=(difference_type by) {
    self().index_ += static_cast<std::uint64_t>(by);
    return self();
  }
  Derived& operator-=(difference_type by) { return *this += -by; }
  friend Derived operator+(Derived const& a, difference_type by) { return Derived(a) += by; }
  friend Derived operator+(difference_type by, Derived const& a) { return Derived(a) += by; }
  friend Derived operator-(Derived const& a, difference_type by) { return Derived(a) -= by; }
  friend difference_type operator-(Derived const& a, Derived const& b) {
    return static_cast<difference_type>(index(a) - index(b));
  }
  decltype(auto) operator[](difference_type by) const {
    return *(static_cast<Derived const&>(*this) + by);
  }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }
  static std::uint64_t index(Derived const& position) noexcept { return position.index_; }
};

}  // namespace outsize::detail

namespace outsize {

/// A place in a vector whose item can be changed. See the top of this file.
template <typename T>
class vector_iterator : public detail::vector_position<vector_iterator<T>> {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using pointer = T*;

  vector_iterator() = default;

  /// @throws io_error, where the item's page is not in memory.
  T& operator*() const { return items_->at(index_); }
  T* operator->() const { return &items_->at(index_); }

  friend bool operator==(vector_iterator const& a, vector_iterator const& b) noexcept {
    return a.index_ == b.index_;
  }
  friend std::strong_ordering operator<=>(vector_iterator const& a,
                                          vector_iterator const& b) noexcept {
    return a.index_ <=> b.index_;
  }

 private:
  template <typename>
  friend class detail::vector_position;
  template <typename>
  friend class vector_const_iterator;
  friend class vector<T>;
  vector_iterator(detail::vector_items<T>* items, std::uint64_t index) noexcept
      : items_(items), index_(index) {}

  detail::vector_items<T>* items_ = nullptr;
  std::uint64_t index_ = 0;
};

/// A place in a vector whose item can be read. It keeps the page in memory that it was used for
/// last, and so do its copies. The item is a value, so that nothing can change while it is looked
/// at.
template <typename T>
class vector_const_iterator : public detail::vector_position<vector_const_iterator<T>> {
 public:
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using reference = T;

  class pointer {
   public:
    explicit pointer(T const& item) : item_(item) {}
    T const* operator->() const noexcept { return &item_; }

   private:
    T item_;
  };

  vector_const_iterator() = default;
  vector_const_iterator(vector_iterator<T> const& other) noexcept
      : items_(other.items_), index_(other.index_) {}

  /// @throws io_error, where the item's page is not in memory.
  T operator*() const {
    if (index_ - begin_ < count_) return page_[index_ - begin_];
    return value_of_other_page();
  }
  pointer operator->() const { return pointer(**this); }

  friend bool operator==(vector_const_iterator const& a, vector_const_iterator const& b) noexcept {
    return a.index_ == b.index_;
  }
  friend std::strong_ordering operator<=>(vector_const_iterator const& a,
                                          vector_const_iterator const& b) noexcept {
    return a.index_ <=> b.index_;
  }

 private:
  template <typename>
  friend class detail::vector_position;
  friend class vector<T>;
  vector_const_iterator(detail::vector_items<T> const* items, std::uint64_t index) noexcept
      : items_(items), index_(index) {}

  T value_of_other_page() const {
    OUTSIZE_ASSERT(index_ < items_->size());
    std::uint64_t const page_items = items_->page_items();
    std::uint64_t const page = index_ / page_items;
    std::uint64_t const before = count_ > 0 ? begin_ / page_items : page;
    pin_.reset();
    count_ = 0;
    auto pin = items_->row().pin(page, before);
    if (!pin) return items_->value(index_);
    page_ = reinterpret_cast<T const*>(pin.bytes().data());
    pin_ = std::make_shared<detail::page_pin const>(std::move(pin));
    begin_ = page * page_items;
    count_ = page_items;
    return page_[index_ - begin_];
  }

  detail::vector_items<T> const* items_ = nullptr;
  std::uint64_t index_ = 0;
  mutable std::shared_ptr<detail::page_pin const> pin_;
  mutable T const* page_ = nullptr;  // of the page pinned: its items, the first one, how many
  mutable std::uint64_t begin_ = 0;
  mutable std::uint64_t count_ = 0;
};

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
/// Memory:  options.cache_pages + spare_pages pages from the storage's budget, 16 bytes for each
///          page, as long as the vector lives; whatever its size.
/// Errors:  io_error of any access to an item whose page is not in memory: the vector is as it was.
///          A page that cannot be written stays in memory, and the next call that needs its place
///          says so again. out_of_space, budget_error where the vector grows.
/// Checked: vector_test.cpp, vector_iterator_test.cpp.
template <typename T>
class vector {
 public:
  using value_type = T;
  using size_type = std::uint64_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = T;
  using iterator = vector_iterator<T>;
  using const_iterator = vector_const_iterator<T>;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;

  /// An empty one on the disks of `store`, which must outlive it. @throws budget_error, io_error
  /// (the disks' files cannot be made).
  explicit vector(storage& store = default_storage(), vector_options const& options = {})
      : items_(std::make_unique<items>(detail::pages_on_disks(store, sizeof(T), options))) {}
  /// The items of a file, item i at byte i · sizeof(T); what is behind the last whole one is left
  /// out. Other programs can read the file after flush() or close(), which give it its length; the
  /// destructor does so too, but cannot tell of errors. Read only: all that changes items, their
  /// number, or hands out references throws io_error (EACCES).
  /// @throws io_error if it cannot be opened; budget_error.
  static vector open(std::string const& path, storage& store = default_storage(),
                     io::access mode = io::access::read_write, vector_options const& options = {}) {
    return vector(detail::open_pages(store, path, {.mode = mode}, sizeof(T), options));
  }
  /// An empty one in a new file, as by open(). @throws io_error, EEXIST if it is there already.
  static vector create(std::string const& path, storage& store = default_storage(),
                       vector_options const& options = {}) {
    return vector(detail::open_pages(
        store, path,
        {.mode = io::access::read_write, .create = true, .must_be_new = true, .permissions = 0666},
        sizeof(T), options));
  }
  vector(vector&&) noexcept = default;
  vector& operator=(vector&&) noexcept = default;

  // ---- size ----

  bool empty() const noexcept { return size() == 0; }
  size_type size() const noexcept { return items_->size(); }
  /// Makes it longer, by items that are zero or left over from when it was longer before, or
  /// shorter, which frees the space of whole pages. I/Os: none. @throws out_of_space, budget_error;
  /// the size is as before then.
  void resize(size_type size) { items_->resize(size); }
  void clear() { items_->resize(0); }

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
  /// Removes the items of a range; those behind it move up. CPU and I/Os: a scan of these.
  iterator erase(const_iterator from, const_iterator to) {
    iterator const place(items_.get(), from.index_);
    if (from == to) return place;
    std::copy(to, std::as_const(*this).end(), place);
    items_->resize(size() - (to.index_ - from.index_));
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

  // ---- pages ----

  /// Items of a page.
  size_type page_items() const noexcept { return items_->page_items(); }
  /// Pages touched last by references that stay valid; at least 2.
  std::size_t live_pages() const noexcept { return items_->row().live_pages(); }
  /// The item and those behind it in its page, to be changed; valid as a reference is.
  std::span<T> changing(size_type index) {
    size_type const end = std::min(size(), (index / page_items() + 1) * page_items());
    return {&items_->at(index), static_cast<std::size_t>(end - index)};
  }
  /// The same, of whole pages or to the end, whose items will all be replaced: they are not read.
  /// @pre index is the first one of a page.
  std::span<T> replacing(size_type index) {
    OUTSIZE_ASSERT(index % page_items() == 0);
    items_->replace_page(index);
    return changing(index);
  }
  /// What the cache has done.
  block::block_cache_counts cache_counts() const { return items_->row().counts(); }
  /// Writes what was changed. A file has its length then, and its content is durable. @throws
  /// io_error of the first page that cannot be written; all are still there.
  void flush() { items_->flush(); }
  /// Flushes, and ends the vector: it can be destroyed, or assigned to. @throws as flush(); it is
  /// as it was then.
  void close() {
    items_->flush();
    items_.reset();
  }

  friend void swap(vector& a, vector& b) noexcept { std::swap(a.items_, b.items_); }
  void swap(vector& other) noexcept { std::swap(items_, other.items_); }

 private:
  friend class detail::page_window<T>;
  using items = detail::vector_items<T>;

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
