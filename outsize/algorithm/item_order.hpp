// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// In which order items can be sorted: comparators, and the engine's family for items under them.
//
//   numbers of 4 or 8 bytes, less or greater   by digits; equal numbers are equal bytes
//   two words, by(a member that is one)        by digits; equal keys in the order of the other
//   anything else                              comparison sort; equal items in input order
//
// All are orders of the data alone, so the result never depends on threads, memory or blocks.
// Layer: algorithm. Why the second is not in input order: docs/decisions/0010-order-of-equals.md.

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include <outsize/algorithm/sort/typed_items.hpp>

namespace outsize {

/// The order of what `projection` (a member, a function) yields of the items, smallest first.
template <typename Projection>
struct projected_less {
  Projection projection;

  template <typename T>
  bool operator()(T const& a, T const& b) const {
    return std::invoke(projection, a) < std::invoke(projection, b);
  }
};

/// Orders items by a member or by what a function yields: `by(&event::time)`.
///
/// Items that compare equal keep their order, with one exception, for speed: items of 16 bytes
/// without padding, by a member that is an integer of 8 bytes, come in the order of their other 8
/// bytes as a little-endian number. stable_sort and in_input_order() know no exception.
template <typename Projection>
projected_less<Projection> by(Projection projection) {
  return {std::move(projection)};
}

/// The same order, in which items that compare equal always keep their order.
template <typename Less>
auto in_input_order(Less less) {
  return [less = std::move(less)](auto const& a, auto const& b) { return less(a, b); };
}

namespace detail {

/// Arithmetic types that travel as unsigned integers of the same order.
template <typename T, typename Less>
concept ordered_number =
    std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8) &&
    (std::same_as<Less, std::less<>> || std::same_as<Less, std::less<T>> ||
     std::same_as<Less, std::greater<>> || std::same_as<Less, std::greater<T>>);

/// Two words, one of them an integer member: they travel as a word_pair.
template <typename T, typename Key>
concept word_beside_key = sizeof(T) == sizeof(word_pair) && sizeof(Key) == sizeof(std::uint64_t) &&
                          std::is_integral_v<Key> && std::has_unique_object_representations_v<T>;

/// The engine's family for items of type T under Less, and how to make it.
template <typename T, typename Less>
struct family_of {
  using type = typed_items<T, Less>;
  static type make(Less less) { return type(std::move(less)); }
};

template <typename T, typename Less>
  requires ordered_number<T, Less>
struct family_of<T, Less> {
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  using type = typed_items<bits, std::less<>>;
  static type make(Less) {
    constexpr bool descending =
        std::same_as<Less, std::greater<>> || std::same_as<Less, std::greater<T>>;
    constexpr auto kind = std::is_floating_point_v<T> ? ordered_bits::kind::floating_point
                          : std::is_signed_v<T>       ? ordered_bits::kind::signed_integer
                                                      : ordered_bits::kind::unsigned_integer;
    return type({}, {kind, descending});
  }
};

template <typename T, typename Key>
  requires word_beside_key<T, Key>
struct family_of<T, projected_less<Key T::*>> {
  using type = typed_items<word_pair, std::less<>>;
  static type make(projected_less<Key T::*> less) {
    T const item{};
    bool const is_first = static_cast<void const*>(&(item.*less.projection)) == &item;
    auto const kind = std::is_signed_v<Key> ? ordered_bits::kind::signed_integer
                                            : ordered_bits::kind::unsigned_integer;
    return type({}, {.key = {kind, false}, .key_is_first = is_first});
  }
};

/// Less as sort takes it: floating point under std::less or std::greater by totalOrder.
template <typename T, typename Less>
struct item_less {
  Less less;

  bool operator()(T const& a, T const& b) const {
    if constexpr (ordered_number<T, Less> && std::is_floating_point_v<T>) {
      using order = family_of<T, Less>;
      auto const family = order::make(less);
      using bits = typename order::bits;
      return family.encode(std::bit_cast<bits>(a)) < family.encode(std::bit_cast<bits>(b));
    } else {
      return less(a, b);
    }
  }
};

/// What ksort takes: a member or function of T that yields an integer.
template <typename Key, typename T>
concept integer_key =
    std::invocable<Key const&, T const&> &&
    std::integral<std::remove_cvref_t<std::invoke_result_t<Key const&, T const&>>>;

}  // namespace detail
}  // namespace outsize
