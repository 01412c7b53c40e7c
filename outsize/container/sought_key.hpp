// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What maps and sets can be searched for: a key, or what can be compared with keys without being
// made one. Layer: container.

#include <concepts>
#include <type_traits>

namespace outsize {

/// A key, what becomes one by itself, or anything if all functions take other types than keys too,
/// and say so by their is_transparent.
template <typename K, typename Key, typename... Functions>
concept key_or =
    std::convertible_to<K const&, Key> || (requires { typename Functions::is_transparent; } && ...);

namespace detail {

/// What is looked for: what becomes a key is made one first, as it need not be ordered among keys
/// as the key is. (Negative keys and a number without a sign, say.)
template <typename Key, typename K>
decltype(auto) sought_key(K const& key) {
  if constexpr (std::same_as<K, Key> || !std::convertible_to<K const&, Key>) {
    return (key);
  } else {
    return static_cast<Key>(key);
  }
}

}  // namespace detail
}  // namespace outsize
