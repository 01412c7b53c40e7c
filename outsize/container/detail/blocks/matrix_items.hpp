// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The items of a matrix one by one, and iterators along its rows and columns: what paged_items.hpp
// is to vector.
//
// Invariant: the hot block is the page that was touched last in all of the pool, or there is none.
// Threads: as page_row's. Layer: container.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/container/detail/array/paged_items.hpp>
#include <outsize/container/detail/blocks/matrix_kernel.hpp>
#include <outsize/container/detail/blocks/matrix_pages.hpp>
#include <outsize/page/detail/page_row.hpp>

namespace outsize {

template <matrix_item T>
class matrix;

}  // namespace outsize

namespace outsize::detail {

/// A block whose items are in memory.
template <typename T>
struct matrix_block {
  block_extent extent = {};
  T* items = nullptr;

  bool has(std::uint64_t i, std::uint64_t j) const noexcept {
    return i - extent.first_row < extent.rows && j - extent.first_column < extent.columns;
  }
  T& at(std::uint64_t i, std::uint64_t j) const noexcept {
    return items[(i - extent.first_row) * extent.stride + (j - extent.first_column)];
  }
};

/// The items of a matrix, at a fixed address for its iterators.
template <typename T>
class matrix_items {
 public:
  matrix_items(page_pool const& pool, std::uint64_t rows, std::uint64_t columns)
      : pages_(pool, rows, columns, sizeof(T)) {
    static_assert(alignof(T) <= block::block_cache::buffer_alignment_bytes);
    pages_.row().call_at_rest([this] { hot_ = {}; });
  }
  matrix_items(matrix_items const&) = delete;
  matrix_items& operator=(matrix_items const&) = delete;
  ~matrix_items() { pages_.row().call_at_rest({}); }

  matrix_pages& pages() noexcept { return pages_; }
  matrix_pages const& pages() const noexcept { return pages_; }
  std::uint64_t page_of(std::uint64_t i, std::uint64_t j) const noexcept {
    return pages_.page(i / pages_.block_rows(), j / pages_.block_columns());
  }

  /// An item to be changed.
  T& at(std::uint64_t i, std::uint64_t j) {
    if (!hot_.has(i, j)) touch(page_of(i, j));
    return hot_.at(i, j);
  }
  T value(std::uint64_t i, std::uint64_t j) const {
    std::uint64_t const page = page_of(i, j);
    auto const extent = pages_.extent(page);
    std::size_t const place = (i - extent.first_row) * extent.stride + (j - extent.first_column);
    T item;
    pages_.row().read(page, place * sizeof(T), std::as_writable_bytes(std::span(&item, 1)));
    return item;
  }

 private:
  [[gnu::noinline]] void touch(std::uint64_t page) {
    hot_ = {};  // it may leave for the new one, even if that does not come
    auto const bytes = pages_.row().change(page);
    hot_ = {pages_.extent(page), reinterpret_cast<T*>(bytes.data())};
  }

  matrix_pages pages_;
  matrix_block<T> hot_;
};

/// A row or a column.
struct matrix_line {
  std::uint64_t number = 0;
  bool is_column = false;

  std::uint64_t row_of(std::uint64_t position) const noexcept {
    return is_column ? position : number;
  }
  std::uint64_t column_of(std::uint64_t position) const noexcept {
    return is_column ? number : position;
  }
};

}  // namespace outsize::detail

namespace outsize {

/// A place in a row or column of a matrix whose item can be changed.
template <typename T>
class matrix_iterator : public detail::paged_position<matrix_iterator<T>> {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using pointer = T*;

  matrix_iterator() = default;

  /// @throws io_error, where the item's block is not in memory.
  T& operator*() const { return items_->at(line_.row_of(position_), line_.column_of(position_)); }
  T* operator->() const { return &**this; }

  friend bool operator==(matrix_iterator const& a, matrix_iterator const& b) noexcept {
    return a.position_ == b.position_;
  }
  friend std::strong_ordering operator<=>(matrix_iterator const& a,
                                          matrix_iterator const& b) noexcept {
    return a.position_ <=> b.position_;
  }

 private:
  template <typename>
  friend class detail::paged_position;
  template <matrix_item>
  friend class matrix;
  matrix_iterator(detail::matrix_items<T>* items, detail::matrix_line line,
                  std::uint64_t position) noexcept
      : items_(items), line_(line), position_(position) {}

  detail::matrix_items<T>* items_ = nullptr;
  detail::matrix_line line_;
  std::uint64_t position_ = 0;
};

/// A place in a row or column of a matrix whose item can be read, as a value. It keeps the block in
/// memory that it was used for last, and so do its copies.
template <typename T>
class matrix_const_iterator : public detail::paged_position<matrix_const_iterator<T>> {
 public:
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using reference = T;

  matrix_const_iterator() = default;

  /// @throws io_error, where the item's block is not in memory.
  T operator*() const {
    std::uint64_t const i = line_.row_of(position_), j = line_.column_of(position_);
    if (block_.has(i, j) || pin(items_->page_of(i, j))) return block_.at(i, j);
    return items_->value(i, j);
  }

  friend bool operator==(matrix_const_iterator const& a, matrix_const_iterator const& b) noexcept {
    return a.position_ == b.position_;
  }
  friend std::strong_ordering operator<=>(matrix_const_iterator const& a,
                                          matrix_const_iterator const& b) noexcept {
    return a.position_ <=> b.position_;
  }

 private:
  template <typename>
  friend class detail::paged_position;
  template <matrix_item>
  friend class matrix;
  matrix_const_iterator(detail::matrix_items<T> const* items, detail::matrix_line line,
                        std::uint64_t position) noexcept
      : items_(items), line_(line), position_(position) {}

  /// False if the block holds zeros, or there is no room for another pin.
  bool pin(std::uint64_t page) const {
    pin_.reset();
    block_ = {};
    auto pinned = items_->pages().row().pin(page, std::exchange(page_, page));
    if (!pinned) return false;
    auto const* const first = reinterpret_cast<T const*>(pinned.bytes().data());
    pin_ = std::make_shared<detail::page_pin const>(std::move(pinned));
    block_ = {items_->pages().extent(page), first};
    return true;
  }

  detail::matrix_items<T> const* items_ = nullptr;
  detail::matrix_line line_;
  std::uint64_t position_ = 0;
  mutable std::shared_ptr<detail::page_pin const> pin_;
  mutable detail::matrix_block<T const> block_;
  mutable std::uint64_t page_ = UINT64_MAX - 1;  // pinned last; at first none
};

namespace detail {

template <typename T>
inline constexpr bool touches_pages<matrix_iterator<T>> = true;

}  // namespace detail
}  // namespace outsize
