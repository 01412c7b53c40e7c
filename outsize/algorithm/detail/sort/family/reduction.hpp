// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Items that compare equal made one: the first of them, or what the user's function combines them
// to.
//
//   chunk:    | a a a b c c | ─sort, reduce─▶ | a b c |      what a run gets
//   windows:  | … b c | c d d d | ─join─▶ | … b c | d |      and rounds of a merge likewise
//
// Done as early as items are sorted, in chunks and in every merge, so that a run has no more items
// than there are different ones. Which items meet first depends on memory and threads; so what a
// function makes of them must not (combining_items.hpp).
//
// Invariant: what is left is in order, and no two neighbours are equal. Pure functions. Layer:
// algorithm.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace outsize::detail {

/// What becomes of items that compare equal.
enum class equal_items : std::uint8_t {
  kept,
  made_one,  ///< The first, or if the family combines, what its function makes of all.
};

/// The bytes of an item of one size: a constant where items have a type.
template <typename Family>
std::size_t bytes_of_item(Family const& family) noexcept {
  if constexpr (requires { typename Family::item; }) {
    return sizeof(typename Family::item);
  } else {
    return family.item_bytes();
  }
}

/// Puts the second of two equal items into the first: nothing to do if the first is kept.
template <typename Family>
void combine_into(Family const& family, std::byte* first, std::byte const* second) {
  if constexpr (requires { family.combine(first, second); }) family.combine(first, second);
}

template <typename Family>
std::size_t reduce_by_view(Family const& family, std::span<std::byte> items) {
  std::size_t const item = bytes_of_item(family);
  std::size_t const count = items.size() / item;
  if (count == 0) return 0;
  auto const view = family.block_view(items, count);
  std::size_t kept = 0;
  for (std::size_t i = 1; i < count; ++i) {
    if (family.equal(view.key(kept), view.key(i))) {
      combine_into(family, &items[kept * item], &items[i * item]);
    } else if (++kept != i) {
      std::memcpy(&items[kept * item], &items[i * item], item);
    }
  }
  return (kept + 1) * item;
}

/// Makes equal ones of sorted items of one size, side by side, one each; returns the bytes of those
/// left, which are in front. CPU: O(n) comparisons.
template <typename Family>
std::size_t reduce_sorted(Family const& family, std::span<std::byte> items) {
  if constexpr (requires { family.reduce(items); }) {
    return family.reduce(items);
  } else {
    return reduce_by_view(family, items);
  }
}
}  // namespace outsize::detail
