// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Readers of pieces compared with each other, as ranges are in the standard library: what == and
// <=> of containers do.
//
// Both are read side by side, up to the place where they differ. Layer: container.

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstddef>
#include <functional>

#include <outsize/base/piece_reader.hpp>

namespace outsize::detail {

template <typename T>
concept ordered_item = requires(T const& item) {
  { item < item } -> std::convertible_to<bool>;
};

/// a <=> b, or what follows of it from a < b and b < a.
struct three_way {
  template <ordered_item T>
  auto operator()(T const& a, T const& b) const {
    if constexpr (std::three_way_comparable<T>) {
      return a <=> b;
    } else {
      return a < b   ? std::weak_ordering::less
             : b < a ? std::weak_ordering::greater
                     : std::weak_ordering::equivalent;
    }
  }
};

/// Goes past what is the same in both.
template <piece_reader A, piece_reader B, typename Same>
void skip_same(A& a, B& b, Same const& same) {
  while (!a.empty() && !b.empty()) {
    auto const x = a.pull();
    auto const y = b.pull();
    auto const both = x.first(std::min(x.size(), y.size()));
    auto const differ = std::mismatch(both.begin(), both.end(), y.begin(), same).first;
    auto const count = static_cast<std::size_t>(differ - both.begin());
    a.skip(count);
    b.skip(count);
    if (differ != both.end()) return;
  }
}

/// Whether both have the same items.
template <piece_reader A, piece_reader B>
bool equal_pieces(A a, B b) {
  skip_same(a, b, std::equal_to<>());
  return a.empty() && b.empty();
}

/// The order of words.
template <piece_reader A, piece_reader B>
auto compare_pieces(A a, B b) {
  using order = decltype(three_way()(a.pull().front(), b.pull().front()));
  skip_same(a, b, [](auto const& x, auto const& y) { return three_way()(x, y) == 0; });
  if (a.empty() || b.empty()) return order(!a.empty() <=> !b.empty());
  return three_way()(a.pull().front(), b.pull().front());
}

}  // namespace outsize::detail
