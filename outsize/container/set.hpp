// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sorted sets of keys, on disk. What they can do: ordered_container.hpp. Layer: container.

#include <functional>

#include <outsize/container/detail/tree/ordered_container.hpp>

namespace outsize {

/// Each key once, as std::set.
template <typename Key, typename Less = std::less<>>
using set = ordered_container<Key, void, Less, true>;

/// Each key any number of times, as std::multiset.
template <typename Key, typename Less = std::less<>>
using multiset = ordered_container<Key, void, Less, false>;

}  // namespace outsize
