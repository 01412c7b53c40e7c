// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Arithmetic keys as unsigned integers of the same size and order, so that one kernel sorts them
// all; and items of two words, one of them such a key, as numbers of 128 bits.
//
// Signed integers have the sign bit flipped; floating point follows IEEE 754 totalOrder (-NaN <
// -inf < … < -0 < +0 < … < +inf < NaN), which distinguishes all bit patterns; descending order is
// the complement. Both directions are bijections, so sorting moves no information. Pure functions.
// Layer: kernel.

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <outsize/kernel/detail/vector_sort.hpp>

namespace outsize::detail {

struct ordered_bits {
  enum class kind : std::uint8_t { unsigned_integer, signed_integer, floating_point };
  kind values = kind::unsigned_integer;
  bool descending = false;

  bool is_identity() const noexcept { return values == kind::unsigned_integer && !descending; }

  /// The bits of a value → an integer of the same order.
  template <std::unsigned_integral U>
  constexpr U encode(U bits) const noexcept {
    constexpr U sign = U{1} << (sizeof(U) * 8 - 1);
    if (values == kind::signed_integer) bits ^= sign;
    if (values == kind::floating_point)
      bits = (bits & sign) != 0 ? static_cast<U>(~bits) : bits | sign;
    return descending ? static_cast<U>(~bits) : bits;
  }

  /// The inverse of encode.
  template <std::unsigned_integral U>
  constexpr U decode(U key) const noexcept {
    constexpr U sign = U{1} << (sizeof(U) * 8 - 1);
    if (descending) key = static_cast<U>(~key);
    if (values == kind::signed_integer) return key ^ sign;
    if (values == kind::floating_point)
      return (key & sign) != 0 ? key ^ sign : static_cast<U>(~key);
    return key;
  }

  template <std::unsigned_integral U>
  void encode_all(std::span<U> keys) const noexcept {
    if (is_identity()) return;
    for (U& key : keys) key = encode(key);
  }

  template <std::unsigned_integral U>
  void decode_all(std::span<U> keys) const noexcept {
    if (is_identity()) return;
    for (U& key : keys) key = decode(key);
  }
};

/// An arithmetic key as a word of the same order, or of the opposite one. Of floating point, -0 and
/// +0 are alike, as they are under <.
template <typename Key>
  requires std::is_arithmetic_v<Key>
constexpr std::uint64_t ordered_word(Key key, bool descending = false) noexcept {
  static_assert(sizeof(Key) <= sizeof(std::uint64_t));
  using kind = ordered_bits::kind;
  if constexpr (std::is_floating_point_v<Key>) {
    using bits = std::conditional_t<sizeof(Key) == 4, std::uint32_t, std::uint64_t>;
    return ordered_bits{kind::floating_point, descending}.encode(
        std::bit_cast<bits>(key == 0 ? Key{0} : key));
  } else {
    auto const word =
        static_cast<std::uint64_t>(key);  // of a negative one all leading bits are set
    return ordered_bits{std::is_signed_v<Key> ? kind::signed_integer : kind::unsigned_integer,
                        descending}
        .encode(word);
  }
}

/// Items of two words, ordered by the one that is the key and then by the other.
struct ordered_words {
  ordered_bits key = {};
  bool key_is_first = true;
  bool both_are_keys = false;  // the halves of one number
  bool other_descending = false;

  constexpr word_pair encode(word_pair item) const noexcept {
    return key_is_first ? word_pair{other().encode(item.high), key.encode(item.low)}
                        : word_pair{other().encode(item.low), key.encode(item.high)};
  }

  /// The inverse of encode.
  constexpr word_pair decode(word_pair item) const noexcept {
    return key_is_first ? word_pair{key.decode(item.high), other().decode(item.low)}
                        : word_pair{other().decode(item.low), key.decode(item.high)};
  }

  void encode_all(std::span<word_pair> items) const noexcept {
    for (word_pair& item : items) item = encode(item);
  }
  void decode_all(std::span<word_pair> items) const noexcept {
    for (word_pair& item : items) item = decode(item);
  }

 private:
  constexpr ordered_bits other() const noexcept {
    return {ordered_bits::kind::unsigned_integer, other_descending};
  }
};

}  // namespace outsize::detail
