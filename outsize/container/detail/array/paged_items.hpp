// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Items side by side in the pages of a page_row, and iterators over them: what vector, deque, stack
// and queue have in common.
//
//   positions:   … | . . b i | i i i i | i e . . | …        b: begin(), e: end()
//                    page 7    page 8    page 9
//
// An item has a position that does not change when others come or go at the ends; its page is the
// position divided by the items of a page. The two pages touched last are found without a search.
//
// Invariant: the row has the pages of all items, and at each end one more at most than it needs,
// but what is reserved, and after a failure; hot pages are the row's two that were touched last, or
// none since another row of its cache is at work. Threads: as page_row's. Layer: container.

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/base/units.hpp>
#include <outsize/page/detail/page_row.hpp>
#include <outsize/page/detail/page_space.hpp>
#include <outsize/page/page_options.hpp>

namespace outsize::detail {

template <typename Container, typename T>
class paged_array;

/// The items of a container, at a fixed address for its iterators.
template <typename T>
class paged_items {
 public:
  /// None yet; the first one will be at the beginning of page row->begin().
  explicit paged_items(std::shared_ptr<page_row> row)
      : row_(std::move(row)),
        page_items_(row_->page_bytes() / sizeof(T)),
        begin_(row_->begin() * page_items_),
        end_(begin_) {
    // Here, so that an item can hold iterators over items of its own type.
    static_assert(stored_item<T>);
    static_assert(alignof(T) <= block::block_cache::buffer_alignment_bytes);
    row_->call_at_rest([this] { hot_ = {}; });
    note_row();
  }
  explicit paged_items(pages_of_file pages) : paged_items(std::move(pages.row)) {
    lasting_ = pages.space;
    was_closed_ = pages.was_closed;
    end_ = settled_end_ = pages.items;
    trim_below_ = UINT64_MAX;  // whether it may be changed is asked first
  }
  paged_items(paged_items const&) = delete;
  paged_items& operator=(paged_items const&) = delete;
  /// The space of pages on disks is free afterwards, whoever still pins one; a file is as close()
  /// leaves it, if that succeeds.
  ~paged_items() {
    try {
      if (lasting_ != nullptr) close();
    } catch (std::exception const&) {  // vector::close() tells
    }
    if (lasting_ == nullptr) row_->reach(row_->begin(), row_->begin());
    row_->call_at_rest({});
  }

  page_row& row() noexcept { return *row_; }
  page_row const& row() const noexcept { return *row_; }
  std::uint64_t page_items() const noexcept { return page_items_; }
  /// The position of the first item, and the one behind the last.
  std::uint64_t begin() const noexcept { return begin_; }
  std::uint64_t end() const noexcept { return end_; }
  std::uint64_t size() const noexcept { return end_ - begin_; }

  /// An item to be changed. @pre it is there; release builds look only where its page is another
  /// one than the last.
  T& at(std::uint64_t position) {
    OUTSIZE_ASSERT_HEAVY(position - begin_ < size());
    if (hot_[0].has(position)) return hot_[0].at(position);
    OUTSIZE_ASSERT(position - begin_ < size());
    return touch(position);
  }
  /// An item and those behind it in its page, to be changed.
  std::span<T> changing(std::uint64_t position) {
    std::uint64_t const end = std::min(end_, (position / page_items_ + 1) * page_items_);
    return {&at(position), static_cast<std::size_t>(end - position)};
  }
  /// The same, of a page all of whose items will be replaced: they are not read.
  std::span<T> replacing(std::uint64_t position) {
    if (!hot_[0].has(position)) touch(position, page_row::content::replaced);
    return changing(position);
  }
  /// Copies items that are in one page.
  void read(std::uint64_t position, std::span<T> into) const {
    auto const place = static_cast<std::size_t>(position % page_items_) * sizeof(T);
    row_->read(position / page_items_, place, std::as_writable_bytes(into));
  }
  T value(std::uint64_t position) const {
    T item;
    read(position, {&item, 1});
    return item;
  }

  /// Moves the end. Items that are new are zero in pages that nothing was written to; otherwise
  /// their values are not known.
  void resize(std::uint64_t size) {
    if (lasting_ != nullptr && size != this->size()) lasting_->check_writable();
    reach(begin_, begin_ + size);
    end_ = begin_ + size;
  }
  /// Has no items any more, but all its pages, and those that `room` items need: what is appended
  /// next takes the place of what is there, which is not read. Then resize() gives up the pages
  /// behind it; or if nothing has been appended, brings all items back. @throws as resize(), and
  /// all is as before.
  void begin_anew(std::uint64_t room) {
    if (lasting_ != nullptr) lasting_->check_writable();
    take_pages_until(div_up(begin_ + room, page_items_));
    end_ = begin_;
  }
  /// Has the pages of so many items, and their space, and keeps them.
  void reserve(std::uint64_t size) {
    if (lasting_ != nullptr) lasting_->check_writable();
    std::uint64_t const pages_end = div_up(begin_ + size, page_items_);
    take_pages_until(pages_end);
    reserved_end_ = std::max(reserved_end_, pages_end);
    note_row();
  }
  /// Takes the space of the pages of these positions, whose items will be replaced by others that
  /// must not be lost for want of it. @throws out_of_space, io_error; nothing is taken then.
  void take_places(std::uint64_t begin, std::uint64_t end) {
    row_->take_places(begin / page_items_, div_up(end, page_items_));
  }
  /// Gives up what no item is in.
  void shrink_to_fit() {
    if (lasting_ != nullptr) lasting_->check_writable();
    reserved_end_ = 0;
    reach(begin_, end_);
    note_row();
  }
  std::uint64_t capacity() const noexcept { return row_->end() * page_items_ - begin_; }
  void append(T const& item) {
    if (hot_[0].has(end_))
      hot_[0].at(end_) = item;
    else
      append_to_other_page(item);
    ++end_;
  }
  void prepend(T const& item) {
    if (hot_[0].has(begin_ - 1))
      hot_[0].at(begin_ - 1) = item;
    else
      prepend_to_other_page(item);
    --begin_;
  }
  /// These keep a page that is no longer used, so that coming and going at its edge costs nothing.
  void remove_last() {
    // The end by value: then it stays in a register of loops that pop.
    std::uint64_t const end = end_ - 1;
    end_ = end > trim_below_ ? end : trimmed_to(end);
  }
  void remove_first() {
    if (++begin_ >= trim_above_) trim();
  }

  void flush() {
    row_->flush();
    if (lasting_ == nullptr) return;
    if (lasting_->keeps_what_was_settled()) hot_ = {};
    auto const writes = row_->counts().write_backs;
    if (end_ == settled_end_ && writes == settled_writes_ && !lasting_->is_resized()) return;
    if (!lasting_->keeps_what_was_settled()) {  // the file will end there, so behind it is nothing
      reserved_end_ = 0;
      reach(begin_, end_);
    }
    lasting_->settle(end_ * sizeof(T));
    settled_end_ = end_;
    settled_writes_ = writes;
  }
  /// Flushes for the last time.
  void close() {
    flush();
    if (lasting_ != nullptr) lasting_->close(end_ * sizeof(T));
  }
  /// How often pages have been given up: what was pinned before may be another page's, or old.
  std::uint64_t given_up() const noexcept { return given_up_; }
  /// Of a file that says so: whether it had been closed when it was opened.
  bool was_closed() const noexcept { return was_closed_; }

 private:
  struct hot_page {
    std::uint64_t begin = 0;
    std::uint64_t count = 0;
    T* items = nullptr;

    bool has(std::uint64_t position) const noexcept { return position - begin < count; }
    T& at(std::uint64_t position) const noexcept { return items[position - begin]; }
  };

  static constexpr auto fresh = page_row::content::replaced;  // of a page without items yet

  [[gnu::noinline]] T& touch(std::uint64_t position,
                             page_row::content old = page_row::content::kept) {
    std::uint64_t const page = position / page_items_;
    if (hot_[1].has(position)) {
      row_->change(page);
      std::swap(hot_[0], hot_[1]);
    } else {
      // They may leave for the new one even if that does not come: both, if this happens again.
      auto const last = std::exchange(hot_, {})[0];
      auto const bytes = row_->change(page, old);
      hot_ = {{{page * page_items_, page_items_, reinterpret_cast<T*>(bytes.data())}, last}};
    }
    return hot_[0].at(position);
  }
  // Copies, as the page that the item is in may leave.
  [[gnu::noinline]] void append_to_other_page(T item) {
    if (end_ / page_items_ == row_->end()) reach(begin_, end_ + 1);
    touch(end_, end_ % page_items_ == 0 ? fresh : page_row::content::kept) = item;
  }
  [[gnu::noinline]] void prepend_to_other_page(T item) {
    if ((begin_ - 1) / page_items_ < row_->begin()) reach(begin_ - 1, end_);
    touch(begin_ - 1, begin_ % page_items_ == 0 ? fresh : page_row::content::kept) = item;
  }

  /// Gives the row the pages of these positions, and no others but those reserved.
  void reach(std::uint64_t begin, std::uint64_t end) {
    std::uint64_t const first = begin / page_items_;
    set_row(first, std::max({first, div_up(end, page_items_), reserved_end_}));
  }
  /// Has pages up to there, and the space of all that are on disks. After a failure it has those
  /// that it had.
  void take_pages_until(std::uint64_t end) {
    std::uint64_t const before = row_->end();
    set_row(row_->begin(), std::max(before, end));
    try {
      row_->take_places(row_->begin(), end);
    } catch (...) {
      set_row(row_->begin(), before);
      throw;
    }
  }
  /// Gives up what is not needed up to there; returns where.
  [[gnu::noinline]] std::uint64_t trimmed_to(std::uint64_t end) {
    if (lasting_ != nullptr) lasting_->check_writable();
    end_ = end;
    trim();
    note_row();
    return end;
  }
  [[gnu::noinline]] void trim() {
    std::uint64_t const first = begin_ / page_items_;
    std::uint64_t const last = std::max(first, div_up(end_, page_items_));
    set_row(first == row_->begin() ? first : first - 1,
            std::min(std::max(last + 1, reserved_end_), row_->end()));
  }
  void set_row(std::uint64_t begin, std::uint64_t end) {
    if (begin == row_->begin() && end == row_->end()) return;
    if (begin > row_->begin() || end < row_->end()) {
      hot_ = {};
      ++given_up_;
    }
    row_->reach(begin, end);
    note_row();
  }
  /// Where a page can be given up, and one more is left.
  void note_row() noexcept {
    bool const is_needed = row_->end() < 2 || row_->end() <= reserved_end_;
    trim_below_ = is_needed ? 0 : (row_->end() - 2) * page_items_;
    trim_above_ = (row_->begin() + 2) * page_items_;
  }

  std::shared_ptr<page_row> row_;
  page_space* lasting_ = nullptr;  // the row's, if it outlives this
  bool was_closed_ = true;
  std::uint64_t page_items_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::uint64_t reserved_end_ = 0;    // of the pages that are not given up
  std::uint64_t trim_below_ = 0;      // of end_
  std::uint64_t trim_above_ = 0;      // of begin_
  std::uint64_t given_up_ = 0;        // how often pages were
  std::uint64_t settled_end_ = 0;     // of the file when it was settled last,
  std::uint64_t settled_writes_ = 0;  // and the writes until then
  std::array<hot_page, 2> hot_;       // touched last, and before that
};

/// What iterators stand on, for those who go over pages.
struct paged_access {
  template <typename Iterator>
  static auto& items(Iterator const& at) noexcept {
    return *at.items_;
  }
  template <typename Iterator>
  static std::uint64_t position(Iterator const& at) noexcept {
    return at.position_;
  }
};

/// What iterators have in common: arithmetic on the position.
template <typename Derived>
class paged_position {
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
    self().position_ += static_cast<std::uint64_t>(by);
    return self();
  }
  Derived& operator-=(difference_type by) { return *this += -by; }
  friend Derived operator+(Derived const& a, difference_type by) { return Derived(a) += by; }
  friend Derived operator+(difference_type by, Derived const& a) { return Derived(a) += by; }
  friend Derived operator-(Derived const& a, difference_type by) { return Derived(a) -= by; }
  friend difference_type operator-(Derived const& a, Derived const& b) {
    return static_cast<difference_type>(of(a) - of(b));
  }
  decltype(auto) operator[](difference_type by) const {
    return *(static_cast<Derived const&>(*this) + by);
  }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }
  static std::uint64_t of(Derived const& iterator) noexcept { return iterator.position_; }
};

}  // namespace outsize::detail

namespace outsize {

/// A place in a container whose item can be changed: a value of two words.
template <typename T>
class paged_iterator : public detail::paged_position<paged_iterator<T>> {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using pointer = T*;

  paged_iterator() = default;

  /// @throws io_error, where the item's page is not in memory.
  T& operator*() const { return items_->at(position_); }
  T* operator->() const { return &items_->at(position_); }

  friend bool operator==(paged_iterator const& a, paged_iterator const& b) noexcept {
    return a.position_ == b.position_;
  }
  friend std::strong_ordering operator<=>(paged_iterator const& a,
                                          paged_iterator const& b) noexcept {
    return a.position_ <=> b.position_;
  }

 private:
  template <typename>
  friend class detail::paged_position;
  friend struct detail::paged_access;
  template <typename>
  friend class paged_const_iterator;
  template <typename, typename>
  friend class detail::paged_array;
  paged_iterator(detail::paged_items<T>* items, std::uint64_t position) noexcept
      : items_(items), position_(position) {}

  detail::paged_items<T>* items_ = nullptr;
  std::uint64_t position_ = 0;
};

/// A place in a container whose item can be read. It keeps the page in memory that it was used for
/// last, and so do its copies. The item is a value, so that nothing can change while it is looked
/// at.
template <typename T>
class paged_const_iterator : public detail::paged_position<paged_const_iterator<T>> {
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

  paged_const_iterator() = default;
  paged_const_iterator(paged_iterator<T> const& other) noexcept
      : items_(other.items_), position_(other.position_) {}

  /// @throws io_error, where the item's page is not in memory.
  T operator*() const {
    if (position_ - begin_ < count_ && given_up_ == items_->given_up()) [[likely]]
      return page_[position_ - begin_];
    return value_of_other_page();
  }
  pointer operator->() const { return pointer(**this); }

  friend bool operator==(paged_const_iterator const& a, paged_const_iterator const& b) noexcept {
    return a.position_ == b.position_;
  }
  friend std::strong_ordering operator<=>(paged_const_iterator const& a,
                                          paged_const_iterator const& b) noexcept {
    return a.position_ <=> b.position_;
  }

 private:
  friend struct detail::paged_access;
  template <typename>
  friend class detail::paged_position;
  template <typename>
  friend class paged_const_reverse_iterator;
  template <typename, typename>
  friend class detail::paged_array;
  paged_const_iterator(detail::paged_items<T> const* items, std::uint64_t position) noexcept
      : items_(items), position_(position) {}

  T value_of_other_page() const {
    OUTSIZE_ASSERT(position_ < items_->end());
    std::uint64_t const page_items = items_->page_items();
    std::uint64_t const page = position_ / page_items;
    std::uint64_t const before = count_ > 0 ? begin_ / page_items : page;
    pin_.reset();
    count_ = 0;
    auto pin = items_->row().pin(page, before);
    if (!pin) return items_->value(position_);
    page_ = reinterpret_cast<T const*>(pin.bytes().data());
    pin_ = std::make_shared<detail::page_pin const>(std::move(pin));
    begin_ = page * page_items;
    count_ = page_items;
    given_up_ = items_->given_up();
    return page_[position_ - begin_];
  }

  detail::paged_items<T> const* items_ = nullptr;
  std::uint64_t position_ = 0;
  mutable std::shared_ptr<detail::page_pin const> pin_;
  mutable T const* page_ = nullptr;  // of the page pinned: its items, the first one, how many
  mutable std::uint64_t begin_ = 0;
  mutable std::uint64_t count_ = 0;
  mutable std::uint64_t given_up_ = 0;  // by the container when it was pinned
};

/// The same backward, as std::reverse_iterator: that one has another iterator for each item that is
/// looked at, which would pin the page anew.
template <typename T>
class paged_const_reverse_iterator
    : public detail::paged_position<paged_const_reverse_iterator<T>> {
 public:
  using iterator_type = paged_const_iterator<T>;
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using reference = T;
  using pointer = typename iterator_type::pointer;

  paged_const_reverse_iterator() = default;
  /// At the item in front of that place.
  explicit paged_const_reverse_iterator(iterator_type base)
      : shown_(std::move(base)), position_(0 - shown_.position_) {}
  paged_const_reverse_iterator(std::reverse_iterator<paged_iterator<T>> const& other)
      : paged_const_reverse_iterator(iterator_type(other.base())) {}

  /// @throws io_error, where the item's page is not in memory.
  T operator*() const {
    shown_.position_ = 0 - position_ - 1;
    return *shown_;
  }
  pointer operator->() const { return pointer(**this); }
  iterator_type base() const {
    iterator_type place = shown_;
    place.position_ = 0 - position_;
    return place;
  }

  friend bool operator==(paged_const_reverse_iterator const& a,
                         paged_const_reverse_iterator const& b) noexcept {
    return a.position_ == b.position_;
  }
  friend std::strong_ordering operator<=>(paged_const_reverse_iterator const& a,
                                          paged_const_reverse_iterator const& b) noexcept {
    return static_cast<std::int64_t>(a.position_) <=> static_cast<std::int64_t>(b.position_);
  }

 private:
  template <typename>
  friend class detail::paged_position;

  mutable iterator_type shown_;  // wherever it was looked at last
  std::uint64_t position_ = 0;   // the negative of base()'s, so that it goes up
};

namespace detail {

/// Whether to use a place may have pages come and go, which one thread does alone; constant
/// iterators may be used by many, each a copy of its own.
template <typename I>
inline constexpr bool touches_pages = false;
template <typename T>
inline constexpr bool touches_pages<paged_iterator<T>> = true;
template <typename I>
inline constexpr bool touches_pages<std::reverse_iterator<I>> = touches_pages<I>;
template <typename I>
inline constexpr bool touches_pages<std::move_iterator<I>> = touches_pages<I>;

}  // namespace detail
}  // namespace outsize
