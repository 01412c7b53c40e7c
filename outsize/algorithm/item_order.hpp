// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// In which order items can be sorted: comparators, and the engine's family for items under them.
//
//   numbers of 4, 8 or 16 bytes, less or greater  by digits; equal numbers are equal bytes
//   two words, by(a member that is one)           by digits; equal keys in the order of the other
//   by(an arithmetic key)                         by digits of the key; equal items in input order
//   anything else                                 comparison sort; equal items in input order
//
// All are orders of the data alone, so the result never depends on threads, memory or blocks.
// Layer: algorithm. Why the second is not in input order: docs/decisions/0010-order-of-equals.md.

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <outsize/algorithm/detail/sort/family/typed_items.hpp>
#include <outsize/algorithm/detail/sort/family/typed_kernel.hpp>
#include <outsize/algorithm/detail/sort/item_engine.hpp>
#include <outsize/kernel/detail/ordered_bits.hpp>
#include <outsize/kernel/detail/word_sort.hpp>

namespace outsize {

namespace detail {

template <typename Order, template <typename...> typename Standard, typename T>
concept standard_order = std::same_as<Order, Standard<>> || std::same_as<Order, Standard<T>>;

/// Orders of keys that are those of the keys' words (ordered_word), or the opposite ones.
template <typename Key, typename Order>
concept ordered_key =
    std::is_arithmetic_v<Key> && sizeof(Key) <= sizeof(std::uint64_t) &&
    (standard_order<Order, std::less, Key> || standard_order<Order, std::greater, Key>);

template <typename Projection, typename T>
using projected_t = std::remove_cvref_t<std::invoke_result_t<Projection const&, T const&>>;

}  // namespace detail

/// The order of what `projection` (a member, a function) yields of the items.
template <typename Projection, typename Order = std::less<>>
struct projected_order {
  Projection projection;
  [[no_unique_address]] Order order = {};

  template <typename T>
  bool operator()(T const& a, T const& b) const {
    if constexpr (detail::ordered_key<detail::projected_t<Projection, T>, Order>) {
      return word(a) < word(b);
    } else {
      return std::invoke(order, std::invoke(projection, a), std::invoke(projection, b));
    }
  }

  /// Arithmetic keys as words of the same order: word(a) < word(b) exactly if a comes before b.
  template <typename T>
    requires detail::ordered_key<detail::projected_t<Projection, T>, Order>
  std::uint64_t word(T const& item) const {
    using key = detail::projected_t<Projection, T>;
    return detail::ordered_word<key>(std::invoke(projection, item),
                                     detail::standard_order<Order, std::greater, key>);
  }
};

/// Orders items by a member or by what a function yields, smallest first or as `order` says:
/// `by(&event::time)`, `by(&event::time, std::greater<>())`.
///
/// Arithmetic keys under std::less or std::greater are sorted by their digits, without comparing
/// items; floating point goes by IEEE 754 totalOrder, but for -0 and +0, which are equal. Any order
/// of your own is sorted so, too, if it has a function `std::uint64_t word(T const&) const` that
/// decides it alone.
///
/// Items that compare equal keep their order, with one exception, for speed: items of 16 bytes
/// without padding, by a member that is an integer of 8 bytes, come in the order of their other 8
/// bytes as a little-endian number. stable_sort and in_input_order() know no exception.
template <typename Projection, typename Order = std::less<>>
projected_order<Projection, Order> by(Projection projection, Order order = {}) {
  return {std::move(projection), std::move(order)};
}

/// The order of `less`, in which items that compare equal always keep their order.
template <typename Less>
struct input_order {
  Less less;

  template <typename T>
  bool operator()(T const& a, T const& b) const {
    return less(a, b);
  }
  template <typename T>
    requires detail::word_order<Less, T>
  std::uint64_t word(T const& item) const {
    return less.word(item);
  }
};

/// The same order, in which items that compare equal always keep their order.
template <typename Less>
input_order<Less> in_input_order(Less less) {
  return {std::move(less)};
}

namespace detail {

/// Integers of 16 bytes, which are no arithmetic types in standard C++.
__extension__ typedef __int128 wide_signed;             // NOLINT(modernize-use-using)
__extension__ typedef unsigned __int128 wide_unsigned;  // NOLINT(modernize-use-using)
template <typename T>
concept wide_integer = std::same_as<T, wide_signed> || std::same_as<T, wide_unsigned>;

/// Numbers that travel as unsigned integers of the same order.
template <typename T, typename Less>
concept ordered_number =
    ((std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8)) || wide_integer<T>)&&(
        standard_order<Less, std::less, T> || standard_order<Less, std::greater, T>);

/// How the values of T are ordered as bits.
template <typename T, typename Less>
constexpr ordered_bits ordered_bits_of() noexcept {
  using kind = ordered_bits::kind;
  constexpr bool is_signed = std::is_signed_v<T> || std::same_as<T, wide_signed>;
  return {std::is_floating_point_v<T> ? kind::floating_point
          : is_signed                 ? kind::signed_integer
                                      : kind::unsigned_integer,
          standard_order<Less, std::greater, T>};
}

/// Two words, one of them an integer member: they travel as a word_pair.
template <typename T, typename Key, typename Order>
concept word_beside_key = sizeof(T) == sizeof(word_pair) && sizeof(Key) == sizeof(std::uint64_t) &&
                          std::is_integral_v<Key> && ordered_key<Key, Order> &&
                          std::has_unique_object_representations_v<T>;

/// The words of integers of 16 bytes.
template <typename T, typename Less>
constexpr ordered_words words_of_wide() noexcept {
  static_assert(std::endian::native == std::endian::little);
  constexpr ordered_bits leading = ordered_bits_of<T, Less>();
  return {.key = leading,
          .key_is_first = false,
          .both_are_keys = true,
          .other_descending = leading.descending};
}

/// Those of items of two words, one of them the key.
template <typename T, typename Key, typename Order>
ordered_words words_by_key(projected_order<Key T::*, Order> const& less) {
  T const item{};
  bool const is_first = static_cast<void const*>(&(item.*less.projection)) == &item;
  return {.key = ordered_bits_of<Key, Order>(), .key_is_first = is_first};
}

/// The engine's family for items of type T under Less, how to make it, and whether items that
/// compare equal keep their order in it, or are equal bytes.
template <typename T, typename Less>
struct family_of {
  static_assert(!std::is_same_v<T, bool>, "bool cannot be sorted; sort std::uint8_t instead");
  static constexpr bool keeps_input_order = true;
  using type = typed_items<T, Less>;
  static type make(Less less) { return type(std::move(less)); }
};

template <typename T, typename Less>
  requires ordered_number<T, Less>
struct family_of<T, Less> {
  static constexpr bool keeps_input_order = true;
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  using type = typed_items<bits, std::less<>>;
  static type make(Less) { return type({}, ordered_bits_of<T, Less>()); }
};

template <typename T, typename Less>
  requires ordered_number<T, Less> && wide_integer<T>
struct family_of<T, Less> {
  static constexpr bool keeps_input_order = true;
  using bits = word_pair;
  using type = typed_items<word_pair, std::less<>>;
  static type make(Less) { return type({}, words_of_wide<T, Less>()); }
};

template <typename T, typename Key, typename Order>
  requires word_beside_key<T, Key, Order>
struct family_of<T, projected_order<Key T::*, Order>> {
  static constexpr bool keeps_input_order = false;
  using type = typed_items<word_pair, std::less<>>;
  static type make(projected_order<Key T::*, Order> less) {
    return type({}, words_by_key<T>(less));
  }
};

/// `less` as an order in which items that compare equal keep their order, or are equal bytes.
template <typename T, typename Less>
auto stable_order(Less less) {
  if constexpr (family_of<T, Less>::keeps_input_order) {
    return less;
  } else {
    return in_input_order(std::move(less));
  }
}

/// As what many items of T under Less are sorted (item_engine.hpp); family_of is for algorithms
/// that look at single ones.
template <typename T, typename Less>
struct kind_of {
  static item_kind make(Less less) {
    using family = typename family_of<T, Less>::type;
    return item_kind(
        std::make_shared<typed_kernel<family> const>(family_of<T, Less>::make(std::move(less))));
  }
};

template <typename T, typename Less>
  requires ordered_number<T, Less>
struct kind_of<T, Less> {
  static item_kind make(Less, std::shared_ptr<item_reducer const> reducer = {}) {
    using width = number_form::width;
    return item_kind(number_form{sizeof(T) == 4 ? width::word32 : width::word64,
                                 {.key = ordered_bits_of<T, Less>()},
                                 std::move(reducer)});
  }
};

template <typename T, typename Less>
  requires ordered_number<T, Less> && wide_integer<T>
struct kind_of<T, Less> {
  static item_kind make(Less, std::shared_ptr<item_reducer const> reducer = {}) {
    return item_kind(
        number_form{number_form::width::word_pair, words_of_wide<T, Less>(), std::move(reducer)});
  }
};

template <typename T, typename Key, typename Order>
  requires word_beside_key<T, Key, Order>
struct kind_of<T, projected_order<Key T::*, Order>> {
  static item_kind make(projected_order<Key T::*, Order> less,
                        std::shared_ptr<item_reducer const> reducer = {}) {
    return item_kind(
        number_form{number_form::width::word_pair, words_by_key<T>(less), std::move(reducer)});
  }
};

/// Whether items are sorted by an index of their words.
template <typename T, typename Less>
inline constexpr bool is_keyed_item =
    word_order<Less, T> && (sizeof(T) > most_bytes_by_word) && sizeof(T) <= most_keyed_bytes;

template <typename T, typename Less>
  requires is_keyed_item<T, Less>
struct kind_of<T, Less> {
  static item_kind make(Less less) {
    return item_kind(std::shared_ptr<item_words const>(
        std::make_shared<typed_words<T, Less> const>(std::move(less))));
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
