// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Items of one C++ type, for the sorting engine: how they lie in memory, compare and are sorted in
// a chunk.
//
// Items are equal to their bytes: blocks hold them side by side. Integer keys (std::uint32_t,
// std::uint64_t, word_pair with std::less) are sorted by vector_sort; other types by stable sorts,
// so that items that compare equal keep the order in which they came: small ones out of place, by
// digits if a word decides the order (word_sort), by merges if not; large ones in place by
// comparisons, and merged by address. Several threads may use a family; each chunk and view is for
// one at a time. Layer: algorithm. A model of `item_family` (sort_work.hpp); sorts get
// to it through number_items.hpp and typed_kernel.hpp.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include <outsize/algorithm/detail/sort/family/reduction.hpp>
#include <outsize/kernel/detail/merge_sort.hpp>
#include <outsize/kernel/detail/ordered_bits.hpp>
#include <outsize/kernel/detail/slice_merge.hpp>
#include <outsize/kernel/detail/stable_item_sort.hpp>
#include <outsize/kernel/detail/tree_merge.hpp>
#include <outsize/kernel/detail/typed_view.hpp>
#include <outsize/kernel/detail/vector_sort.hpp>
#include <outsize/kernel/detail/word_sort.hpp>

namespace outsize::detail {

/// Keys whose equality means equal bytes and which vector_sort sorts.
template <typename T, typename Less>
inline constexpr bool is_vector_key =
    (std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t> ||
     std::same_as<T, word_pair>)&&(std::same_as<Less, std::less<T>> ||
                                   std::same_as<Less, std::less<>>);

template <typename Items>
class typed_chunk;

/// The family of items of type T under Less.
template <typename T, typename Less>
class typed_items {
 public:
  using item = T;
  using view = typed_view<T>;
  using key_type = typename view::key_type;
  using chunk = typed_chunk<typed_items>;
  using trigger = T;
  static constexpr bool fixed_size = true;
  static constexpr bool combines = false;  // see reduction.hpp
  // Larger items cost more to be copied on each level than to be compared; by words there are few
  // levels.
  static constexpr bool by_word = word_order<Less, T> && sizeof(T) <= most_bytes_by_word;
  static constexpr bool sorts_out_of_place =
      !is_vector_key<T, Less> && (sizeof(T) <= 32 || by_word);
  static constexpr bool merges_by_copying = is_vector_key<T, Less> || sorts_out_of_place;
  static constexpr std::size_t chunk_entry_bytes = 0;            // an item has none
  static constexpr bool has_key_codec = is_vector_key<T, Less>;  // for runs: key_codec.hpp
  static constexpr std::size_t least_part_items = 4096;  // below, threads cost more than they bring

  struct key_less {
    Less less;
    bool operator()(key_type const& a, key_type const& b) const {
      if constexpr (view::by_value) {
        return less(a, b);
      } else {
        return less(*a, *b);
      }
    }
  };

  /// How users' values become the integers that are sorted.
  using key_form = std::conditional_t<std::same_as<T, word_pair>, ordered_words, ordered_bits>;

  explicit typed_items(Less order, key_form bits = {}) : less_{std::move(order)}, bits_(bits) {}

  std::size_t item_bytes() const noexcept { return sizeof(T); }
  key_less const& less() const noexcept { return less_; }
  /// @pre b does not come before a.
  bool equal(key_type const& a, key_type const& b) const {
    if constexpr (std::same_as<T, word_pair>)
      return a.high == b.high && (!bits_.both_are_keys || a.low == b.low);
    return !less_(a, b);
  }

  /// A user's item as it travels through the merge, and back.
  T encode(T const& given) const {
    if constexpr (is_vector_key<T, Less>) return bits_.encode(given);
    return given;
  }
  T decode(T const& encoded) const {
    if constexpr (is_vector_key<T, Less>) return bits_.decode(encoded);
    return encoded;
  }
  /// Whether `a`, encoded, comes before `b`.
  bool before(T const& a, T const& b) const { return less_.less(a, b); }

  void sort_part(std::span<T> part) const {
    if constexpr (is_vector_key<T,
                                Less>) {  // which, unlike the others, sees no order that is there
      bool const sorted = in_order(part, false);
      bool const reversed = !sorted && in_order(part, true);
      bits_.encode_all(part);
      if (reversed)
        std::ranges::reverse(part);
      else if (!sorted)
        vector_sort(part);
    } else {
      stable_item_sort(part, less_.less);
    }
  }

  /// How values become the integers that are sorted.
  key_form const& bits() const noexcept { return bits_; }

  /// Memory that sort_here() needs for so many bytes of items.
  static constexpr std::size_t scratch_bytes(std::size_t items_bytes) noexcept {
    return sorts_out_of_place ? items_bytes : 0;
  }
  /// Sorts users' items where they lie, by the calling thread; equal ones stay as they come.
  /// @pre they are aligned as a T, as is `scratch`, of scratch_bytes().
  void sort_here(std::span<std::byte> items, std::span<std::byte> scratch) const {
    std::span<T> const part(reinterpret_cast<T*>(items.data()), items.size() / sizeof(T));
    if constexpr (sorts_out_of_place) {
      sort_part_into(part, {reinterpret_cast<T*>(scratch.data()), part.size()});
      std::memcpy(items.data(), scratch.data(), items.size());
    } else {
      sort_part(part);
      finish(items);
    }
  }

  void sort_part_into(std::span<T> part, std::span<T> to) const
    requires(sorts_out_of_place)
  {
    if constexpr (by_word) {
      word_sort<T, Less>(less_.less).sort_into(part, to);
    } else {
      merge_sort<T, Less>(less_.less).sort_into(part, to);
    }
  }

  /// A merge of sources, all of whose items are copied to places of their own.
  auto make_merge() const
    requires(merges_by_copying)
  {
    if constexpr (is_vector_key<T, Less>) {
      return slice_merge<T>();
    } else {
      return tree_merge<T, Less>(less_.less);
    }
  }

  /// Whether sorting would leave these items, as the user gave them, where they are; or, for
  /// `descending`, turn them round exactly.
  bool in_order(std::span<T const> items, bool descending) const {
    bool good = true;
    for (std::size_t i = 1; i < items.size() && good;) {
      // A stretch without a jump at each item.
      for (std::size_t const end = std::min(items.size(), i + 256); i < end; ++i)
        good &= descending ? may_follow_in_reverse(items[i - 1], items[i])
                           : may_follow(items[i - 1], items[i]);
    }
    return good;
  }

  /// Items of a block written by the merge.
  view block_view(std::span<std::byte const> block, std::size_t count) const noexcept {
    return view(std::span(reinterpret_cast<T const*>(block.data()), count));
  }

  /// One item on its own.
  view view_of_one(std::span<std::byte const> item_bytes) const noexcept {
    return block_view(item_bytes, 1);
  }

  std::size_t size(key_type const&) const noexcept { return sizeof(T); }
  static std::byte* store(key_type const& key, std::byte* to) noexcept {
    if constexpr (view::by_value) {
      std::memcpy(to, &key, sizeof(T));
    } else {
      std::memcpy(to, key, sizeof(T));
    }
    return to + sizeof(T);
  }
  /// Turns merged bytes into what the user gave; items travel in their ordered form until then.
  void finish(std::span<std::byte> merged) const noexcept {
    if constexpr (is_vector_key<T, Less>)
      bits_.decode_all(std::span(reinterpret_cast<T*>(merged.data()), merged.size() / sizeof(T)));
  }

  trigger make_trigger(key_type const& key) const {
    if constexpr (view::by_value) {
      return key;
    } else {
      return *key;
    }
  }
  static bool trigger_is_exact(trigger const&) noexcept { return true; }
  key_type trigger_key(trigger const& t) const noexcept {
    if constexpr (view::by_value) {
      return t;
    } else {
      return &t;
    }
  }
  bool trigger_before(trigger const& a, trigger const& b) const {
    return less_(trigger_key(a), trigger_key(b));
  }

 private:
  bool may_follow(T const& a, T const& b) const {
    if constexpr (is_vector_key<T, Less>) return bits_.encode(a) <= bits_.encode(b);
    return !less_.less(b, a);
  }
  bool may_follow_in_reverse(T const& a, T const& b) const {
    // Equal keys are equal bytes, so that it does not show when they change places.
    if constexpr (is_vector_key<T, Less>) return bits_.encode(b) <= bits_.encode(a);
    return less_.less(b, a);
  }

  key_less less_;
  key_form bits_;
};

extern template class typed_items<std::uint32_t, std::less<>>;
extern template class typed_items<std::uint64_t, std::less<>>;
extern template class typed_items<word_pair, std::less<>>;

}  // namespace outsize::detail
