// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What a kept file says about the types of its container: what its items are, and in which order
// they lie. The same for all compilers and builds, so that a program can always open its own files.
//
//   numbers, enumerations    kind and width: u64, i32, f64, bool, char
//   classes                  "class", or the name that kept_name gives; size and alignment
//   orders, hash functions   less, greater, hash, equal_to of the standard library, or kept_name
//
// Names of the language (typeid) are not used: a class that is renamed, and a lambda in the next
// build, would not be known again. Layer: page.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <type_traits>

namespace outsize {

/// The name by which kept files know T: a class of items, an order or a hash function. Specialise
/// it, in 30 characters at most, and `open` refuses files of another name. Without a name, a class
/// is told by its size and alignment alone, and an order of one's own by whether the keys are in
/// it. A name that is given later is added to the file when something is committed to it.
///
///     template <>
///     inline constexpr std::string_view outsize::kept_name<account> = "account";
///
/// What has the bytes and the order of a number can have its name: "u64", "i8", "f32", "bool".
template <typename T>
inline constexpr std::string_view kept_name{};

}  // namespace outsize

namespace outsize::detail {

/// What is known of a type, to be compared with what a file notes.
struct kept_part {
  static constexpr std::size_t most_name_bytes = 30;
  static constexpr std::size_t most_parts = 4;

  std::string_view role = {};  ///< "keys", "the order"; for messages.
  std::string_view name = {};  ///< Empty: not known, and not compared.
  bool is_class = false;       ///< Whether a file may call it "class".
  std::uint8_t alignment_bytes = 0;
};

/// Of a container; those that are not used have no name.
using kept_parts = std::array<kept_part, kept_part::most_parts>;

inline constexpr std::string_view kept_class_name = "class";

template <typename T>
constexpr std::string_view kept_number_name() {
  if constexpr (std::is_enum_v<T>) {
    return kept_number_name<std::underlying_type_t<T>>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return "bool";
  } else if constexpr (std::is_same_v<T, char>) {
    return "char";
  } else if constexpr (std::is_floating_point_v<T>) {
    constexpr int digits = std::numeric_limits<T>::digits;
    return digits == 24 ? "f32" : digits == 53 ? "f64" : digits == 64 ? "f80" : "f128";
  } else if constexpr (std::is_integral_v<T>) {
    constexpr std::size_t log = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    constexpr std::string_view names[2][4] = {{"u8", "u16", "u32", "u64"},
                                              {"i8", "i16", "i32", "i64"}};
    return names[std::is_signed_v<T>][log];
  } else {
    return kept_class_name;
  }
}

template <typename T>
constexpr std::string_view checked_kept_name() {
  static_assert(kept_name<T>.size() <= kept_part::most_name_bytes,
                "kept_name<T> must have 30 characters at most");
  return kept_name<T>;
}

/// Of items, or of their keys or values.
template <typename T>
constexpr kept_part kept_item(std::string_view role) {
  constexpr auto number = kept_number_name<T>();
  constexpr auto given = checked_kept_name<T>();
  return {role, given.empty() ? number : given, number == kept_class_name,
          static_cast<std::uint8_t>(alignof(T))};
}

/// Of a function of keys.
template <typename F, typename Key>
constexpr kept_part kept_function(std::string_view role) {
  constexpr auto is_one_of = []<typename... G>(std::type_identity<G>...) {
    return (std::is_same_v<F, G> || ...);
  };
  using std::type_identity;
  std::string_view name = checked_kept_name<F>();
  if (name.empty()) {
    if (is_one_of(type_identity<std::less<>>(), type_identity<std::less<Key>>(),
                  type_identity<std::ranges::less>()))
      name = "less";
    else if (is_one_of(type_identity<std::greater<>>(), type_identity<std::greater<Key>>(),
                       type_identity<std::ranges::greater>()))
      name = "greater";
    else if (is_one_of(type_identity<std::equal_to<>>(), type_identity<std::equal_to<Key>>(),
                       type_identity<std::ranges::equal_to>()))
      name = "equal_to";
    else if (is_one_of(type_identity<std::hash<Key>>()))
      name = "hash";
  }
  return {role, name};
}

/// What a kept_file holds; compared when it is opened.
struct kept_kind {
  std::string_view container;                    ///< At most 15 characters.
  std::array<std::uint32_t, 2> item_bytes = {};  ///< sizeof an item; of a key, and of its value.
  std::uint32_t rows = 1;                        ///< Of pages.
  kept_parts parts = {};                         ///< What the types are, as far as that is known.
};

}  // namespace outsize::detail
