// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Large items of one C++ type whose order a word decides, for the sorting engine: as records of one
// length (record_items.hpp), of which an index of word and place is sorted.
//
// An item is moved once, when the sorted chunk is merged out, however large it is, and merges
// compare words that they have at hand. Stable. Several threads may use a family; each chunk and
// view is for one at a time. Layer: algorithm. Source: STXXL 2008, section 6.2.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <outsize/algorithm/sort/record_items.hpp>
#include <outsize/algorithm/sort/word_sort.hpp>

namespace outsize::detail {

/// Less as an order of the bytes of items.
template <typename T, word_order<T> Less>
class item_bytes_order {
 public:
  explicit item_bytes_order(Less less) : less_(std::move(less)) {}

  /// `item` lies where a T may.
  std::uint64_t prefix(std::string_view item) const {
    return less_.word(*reinterpret_cast<T const*>(item.data()));
  }
  static bool prefix_is_whole_key() noexcept { return true; }
  // Asked only when prefixes are equal.
  static int compare(std::string_view, std::string_view) noexcept { return 0; }
  static bool equal_keys(std::string_view, std::string_view) noexcept { return true; }

 private:
  Less less_;
};

/// A chunk of records that is filled as one of items.
template <typename T, typename Items>
class keyed_chunk : public record_chunk<Items> {
 public:
  using record_chunk<Items>::record_chunk;

  std::span<T> room() const noexcept {
    auto const bytes = record_chunk<Items>::room(sizeof(T));
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  void grow(std::size_t items) noexcept { record_chunk<Items>::grow(sizeof(T), items); }
};

/// Where an order lies that views refer to, for all copies of a family.
template <typename Order>
struct shared_order {
  std::shared_ptr<Order const> order;
};

/// The family of items of type T under Less.
template <typename T, word_order<T> Less>
class keyed_items : private shared_order<item_bytes_order<T, Less>>,
                    public record_items<item_bytes_order<T, Less>> {
  using order_type = item_bytes_order<T, Less>;
  using holder = shared_order<order_type>;
  using base = record_items<order_type>;

 public:
  using chunk = keyed_chunk<T, base>;
  using trigger = std::uint64_t;

  explicit keyed_items(Less less)
      : holder{std::make_shared<order_type const>(std::move(less))},
        base(*holder::order, sizeof(T)) {}

  static trigger make_trigger(record_key_ref const& key) noexcept { return key.prefix; }
  static bool trigger_is_exact(trigger) noexcept { return true; }
  static record_key_ref trigger_key(trigger word) noexcept { return {word, nullptr, 0}; }
  static bool trigger_before(trigger a, trigger b) noexcept { return a < b; }
};

/// Whether items are sorted so. Longer ones than a place tells are not.
template <typename T, typename Less>
inline constexpr bool is_keyed_item =
    word_order<Less, T> && (sizeof(T) > most_bytes_by_word) && !record_place::is_long(sizeof(T));

}  // namespace outsize::detail
