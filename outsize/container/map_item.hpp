// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What maps hold: a key and its value. Layer: container.

#include <type_traits>

namespace outsize {

/// A key and its value, side by side as they lie on disk; used as std::pair is. Where the key must
/// not be changed it is map_item<Key const, Value>.
template <typename Key, typename Value>
struct map_item {
  Key first{};
  Value second{};

  operator map_item<std::remove_const_t<Key>, Value>() const
    requires std::is_const_v<Key>
  {
    return {first, second};
  }
  friend bool operator==(map_item const&, map_item const&) = default;
};

}  // namespace outsize
