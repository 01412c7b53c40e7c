// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sorted maps of keys to values, on disk. What they can do: ordered_container.hpp. Layer:
// container.

#include <functional>

#include <outsize/container/detail/tree/ordered_container.hpp>

namespace outsize {

/// One value for each key, as std::map.
template <typename Key, typename Value, typename Less = std::less<>>
using map = ordered_container<Key, Value, Less, true>;

/// Any number of values for each key, in the order in which they were inserted, as std::multimap.
template <typename Key, typename Value, typename Less = std::less<>>
using multimap = ordered_container<Key, Value, Less, false>;

}  // namespace outsize
