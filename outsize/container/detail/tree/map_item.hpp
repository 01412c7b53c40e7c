// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What maps hold: a key and its value. Layer: container.

#include <compare>
#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

namespace outsize {

/// A key and its value, side by side as they lie on disk; made and used as std::pair is, of which
/// it is made, and which it becomes, without a cast (a std::pair is not trivially copyable, and so
/// cannot be on disk itself). Where the key must not be changed it is map_item<Key const, Value>.
template <typename Key, typename Value>
struct map_item {
  Key first{};
  Value second{};

  map_item() = default;
  map_item(Key const& key, Value const& value) : first(key), second(value) {}
  /// Of whatever makes a key, and whatever makes a value.
  template <typename K, typename V>
    requires std::constructible_from<Key, K> && std::constructible_from<Value, V>
  explicit(!std::convertible_to<K, Key> || !std::convertible_to<V, Value>)
      map_item(K&& key, V&& value)
      : first(Key(std::forward<K>(key))), second(Value(std::forward<V>(value))) {}
  template <typename K, typename V>
    requires std::constructible_from<Key, K const&> && std::constructible_from<Value, V const&>
  explicit(!std::convertible_to<K const&, Key> || !std::convertible_to<V const&, Value>)
      map_item(std::pair<K, V> const& pair)
      : map_item(pair.first, pair.second) {}
  /// Of the arguments of both, in tuples.
  template <typename... K, typename... V>
  map_item(std::piecewise_construct_t, std::tuple<K...> key, std::tuple<V...> value)
      : first(std::make_from_tuple<Key>(std::move(key))),
        second(std::make_from_tuple<Value>(std::move(value))) {}

  operator map_item<std::remove_const_t<Key>, Value>() const
    requires std::is_const_v<Key>
  {
    return {first, second};
  }
  template <typename K, typename V>
    requires std::convertible_to<Key const&, K> && std::convertible_to<Value const&, V>
  operator std::pair<K, V>() const {
    return {first, second};
  }
  friend bool operator==(map_item const&, map_item const&) = default;
  friend auto operator<=>(map_item const&, map_item const&) = default;
};

}  // namespace outsize
