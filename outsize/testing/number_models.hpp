// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Steps on sequences of numbers, in memory and as plain as they can be: models for the same steps
// on flows. Layer: testing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

namespace outsize::models {

using numbers = std::vector<std::uint64_t>;

inline std::uint64_t mixed(std::uint64_t x) { return (x ^ (x >> 7)) * 0x9E3779B97F4A7C15 >> 44; }
inline std::uint64_t joined(std::uint64_t x, std::uint64_t y) { return mixed(x) + 3 * y; }
inline std::uint64_t folded(std::span<std::uint64_t const> some) {
  return std::accumulate(some.begin(), some.end(), std::uint64_t{1}, joined);
}

/// An order of numbers under which some that differ are equal.
struct by_high_bits {
  std::uint64_t low_bits = 0;
  bool is_descending = false;

  std::uint64_t key(std::uint64_t x) const { return x >> low_bits; }
  bool operator()(std::uint64_t a, std::uint64_t b) const {
    return is_descending ? key(b) < key(a) : key(a) < key(b);
  }
  bool are_equal(std::uint64_t a, std::uint64_t b) const { return key(a) == key(b); }
  /// Makes one number of two that are equal; associative.
  std::uint64_t combine(std::uint64_t a, std::uint64_t b) const {
    return key(a) << low_bits | ((a + b) & ((std::uint64_t{1} << low_bits) - 1));
  }
};

inline numbers sorted(numbers all, by_high_bits less = {}) {
  std::ranges::stable_sort(all, less);
  return all;
}
inline numbers without_repeats(numbers all, by_high_bits less = {}) {
  auto const equal = [less](std::uint64_t a, std::uint64_t b) { return less.are_equal(a, b); };
  all.erase(std::unique(all.begin(), all.end(), equal), all.end());
  return all;
}
/// One number of each group of equal neighbours.
inline numbers combined(numbers const& all, by_high_bits less) {
  numbers some;
  for (auto const x : all) {
    if (!some.empty() && less.are_equal(some.back(), x))
      some.back() = less.combine(some.back(), x);
    else
      some.push_back(x);
  }
  return some;
}
inline numbers first(numbers all, std::size_t count) {
  all.resize(std::min(count, all.size()));
  return all;
}
inline numbers without_first(numbers all, std::size_t count) {
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(count, all.size())));
  return all;
}
inline numbers chunks(std::span<std::uint64_t const> all, std::size_t count) {
  numbers some;
  for (; !all.empty(); all = all.subspan(std::min(count, all.size())))
    some.push_back(folded(all.first(std::min(count, all.size()))));
  return some;
}
inline numbers windows(std::span<std::uint64_t const> all, std::size_t count) {
  numbers some;
  for (; all.size() >= count; all = all.subspan(1)) some.push_back(folded(all.first(count)));
  return some;
}
inline numbers prefix_sums(numbers all, std::uint64_t sum) {
  for (auto& x : all) x = sum = joined(sum, x);
  return all;
}
inline numbers pairs(numbers const& all) {
  numbers some;
  for (std::size_t i = 1; i < all.size(); ++i) some.push_back(joined(all[i - 1], all[i]));
  return some;
}
inline numbers shuffled(numbers const& all, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> drawn;
  for (auto const x : all) drawn.emplace_back(random(), x);
  std::ranges::stable_sort(drawn, {}, [](auto const& one) { return one.first; });
  numbers some;
  for (auto const& one : drawn) some.push_back(one.second);
  return some;
}

/// Which numbers of two sequences a join yields beside pairs of equal keys.
struct join_parts {
  bool of_left = false;
  bool of_right = false;
};
inline constexpr std::uint64_t nothing = 1000;  // in place of a partner

/// Makes a result of two items, or of one without a partner.
struct joiner {
  static std::uint64_t value(std::uint64_t const* x) { return x ? *x : nothing; }
  std::uint64_t operator()(std::uint64_t x, std::uint64_t y) const { return joined(x, y); }
  std::uint64_t operator()(std::uint64_t x, std::uint64_t const* y) const {
    return joined(x, value(y));
  }
  std::uint64_t operator()(std::uint64_t const* x, std::uint64_t const* y) const {
    return joined(value(x), value(y));
  }
};

/// Pairs of equal keys, in the order of the left ones; where the right ones without a partner come
/// too, by key.
inline numbers join(numbers const& left, numbers const& right, by_high_bits keys,
                    join_parts alone = {}) {
  numbers const table = sorted(right, keys), lefts = sorted(left, keys);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> found;  // a number of either, and a result
  for (auto const x : left) {
    auto const partners = std::ranges::equal_range(table, x, keys);
    for (auto const y : partners) found.emplace_back(x, joined(x, y));
    if (partners.empty() && alone.of_left) found.emplace_back(x, joined(x, nothing));
  }
  if (alone.of_right) {
    for (auto const y : right)
      if (!std::ranges::binary_search(lefts, y, keys)) found.emplace_back(y, joined(nothing, y));
    std::ranges::stable_sort(found, keys, [](auto const& one) { return one.first; });
  }
  numbers results;
  for (auto const& one : found) results.push_back(one.second);
  return results;
}
/// The left numbers that have a partner, or those that have none.
inline numbers partners(numbers left, numbers const& right, by_high_bits keys, bool with_partner) {
  numbers const table = sorted(right, keys);
  std::erase_if(left, [&](std::uint64_t x) {
    return std::ranges::binary_search(table, x, keys) != with_partner;
  });
  return left;
}

}  // namespace outsize::models
