// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What maps and sets can be searched for: a key, or what can be compared with keys without being
// made one. Layer: container.

#include <compare>
#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

namespace outsize {

/// A key, what becomes one by itself, or anything if all functions take other types than keys too,
/// and say so by their is_transparent.
template <typename K, typename Key, typename... Functions>
concept key_or =
    std::convertible_to<K const&, Key> || (requires { typename Functions::is_transparent; } && ...);

namespace detail {

/// Whether a function that is transparent can be called with a K as one of its arguments.
template <typename Function, typename K, typename Key>
concept takes_other = requires { typename Function::is_transparent; } &&
                      (std::invocable<Function const&, K const&> ||
                       std::invocable<Function const&, K const&, Key const&> ||
                       std::invocable<Function const&, Key const&, K const&>);

/// Integers that std::in_range takes: of no character type, nor bool.
template <typename T>
concept counting_integer = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
                           !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                           !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

/// An integer above all keys, or below them.
struct beyond_keys {
  bool is_above = false;
  template <counting_integer Key>
  friend constexpr std::strong_ordering operator<=>(beyond_keys a, Key) noexcept {
    return a.is_above ? std::strong_ordering::greater : std::strong_ordering::less;
  }
};

/// Whether operators of the language compare: they turn a negative number into a large one where
/// the other has no sign.
template <typename Function>
inline constexpr bool compares_by_operator =
    std::same_as<Function, std::less<>> || std::same_as<Function, std::greater<>>;

/// Calls look(what is looked for): `key` as it is, if all functions are transparent and take it;
/// otherwise the key that it becomes. Integers are compared by value, whatever their types are.
template <typename Key, typename... Functions, typename K, typename Look>
decltype(auto) look_for(K const& key, Look look) {
  if constexpr (std::same_as<K, Key>) {
    return look(key);
  } else if constexpr (counting_integer<K> && counting_integer<Key> &&
                       (compares_by_operator<Functions> && ...)) {
    if (std::in_range<Key>(key)) return look(static_cast<Key const&>(static_cast<Key>(key)));
    return look(beyond_keys{key > K{}});
  } else if constexpr ((takes_other<Functions, K, Key> && ...) ||
                       !std::convertible_to<K const&, Key>) {
    return look(key);
  } else {
    return look(static_cast<Key const&>(static_cast<Key>(key)));
  }
}

}  // namespace detail
}  // namespace outsize
