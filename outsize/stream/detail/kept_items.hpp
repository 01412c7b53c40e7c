// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Items that an operator keeps in memory while its streams go on: the groups of a merge join, the
// table of a hash join.
//
// Byte strings are copied into blocks of bytes and shown as views of them.
// Invariant: items keep their place until clear(). One thread at a time. Layer: stream, internal.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/stream/detail/item_copies.hpp>
#include <outsize/stream/element_stream.hpp>

namespace outsize::stream::detail {

/// Items of any type, with bytes to which they refer (item_copies.hpp).
template <typename T>
class kept_items {
  using kept = kept_form_t<T>;
  static constexpr bool is_shown_in_place = std::same_as<kept, T>;

 public:
  using shown = T;

  template <typename Item>
  void push(Item&& item) {
    items_.push_back(kept_form<T>::of(std::forward<Item>(item)));
    if constexpr (!is_shown_in_place) shown_.push_back(kept_form<T>::show(items_.back()));
  }
  T const& operator[](std::size_t i) const {
    if constexpr (is_shown_in_place) {
      return items_[i];
    } else {
      return shown_[i];
    }
  }
  std::size_t size() const noexcept { return items_.size(); }
  bool empty() const noexcept { return items_.empty(); }
  void clear() noexcept {
    shown_.clear();
    items_.clear();
  }
  /// Memory in use, without memory that items own.
  std::uint64_t bytes() const noexcept {
    return items_.size() * (sizeof(kept) + (is_shown_in_place ? 0 : sizeof(T)));
  }

 private:
  std::deque<kept> items_;
  std::deque<T> shown_;  // of `items_`, where they are not the items themselves
};

/// Copies of byte strings, one behind the other in blocks.
class kept_bytes {
 public:
  std::string_view push(std::string_view bytes) {
    if (bytes.empty()) return {};
    if (bytes.size() > left_) add_block(bytes.size());
    char* const to = next_;
    std::memcpy(to, bytes.data(), bytes.size());
    next_ += bytes.size();
    left_ -= bytes.size();
    return {to, bytes.size()};
  }
  /// Forgets all, and keeps the last block for those to come.
  void clear() noexcept {
    if (blocks_.empty()) return;
    blocks_.erase(blocks_.begin(), blocks_.end() - 1);
    next_ = blocks_.back().get();
    left_ = bytes_ = last_bytes_;
  }
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  static constexpr std::size_t least_block = 1 << 10, usual_block = 1 << 16;

  void add_block(std::size_t least_bytes) {
    std::size_t const usual = std::clamp<std::size_t>(2 * last_bytes_, least_block, usual_block);
    last_bytes_ = std::max(least_bytes, usual);
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(last_bytes_));
    next_ = blocks_.back().get();
    left_ = last_bytes_;
    bytes_ += last_bytes_;
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t last_bytes_ = 0;  // of the last block
  std::uint64_t bytes_ = 0;     // of all blocks
};

template <byte_string T>
class kept_items<T> {
 public:
  using shown = std::string_view;

  void push(std::string_view item) { items_.push_back(bytes_.push(item)); }
  std::string_view const& operator[](std::size_t i) const { return items_[i]; }
  std::size_t size() const noexcept { return items_.size(); }
  bool empty() const noexcept { return items_.empty(); }
  void clear() noexcept {
    items_.clear();
    bytes_.clear();
  }
  std::uint64_t bytes() const noexcept {
    return items_.size() * sizeof(std::string_view) + bytes_.bytes();
  }

 private:
  std::deque<std::string_view> items_;
  kept_bytes bytes_;
};

/// Makes an address of the current item of a stream, which may be yielded by value.
/// @tparam Item  As `*stream` yields it.
template <typename Item>
class item_place {
  using value = std::remove_cvref_t<Item>;

 public:
  using shown = stored_form_t<value>;

  /// Valid until the next call, and as long as the stream stands.
  shown const* address_of(Item item) {
    if constexpr (!std::is_lvalue_reference_v<Item>) {
      value_.emplace(std::move(item));
      return address_of_lvalue(*value_);
    } else {
      return address_of_lvalue(item);
    }
  }

 private:
  shown const* address_of_lvalue(value const& item) {
    if constexpr (std::same_as<value, shown>) {
      return &item;
    } else {
      view_ = item;
      return &view_;
    }
  }

  struct nothing {};
  std::conditional_t<std::is_lvalue_reference_v<Item>, nothing, std::optional<value>> value_;
  std::conditional_t<std::same_as<value, shown>, nothing, std::string_view> view_;
};

}  // namespace outsize::stream::detail
