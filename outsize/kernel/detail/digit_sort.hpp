// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sorting items that fit in cache by the two leading digits of their key words.
//
// Digits are those of the distance from the least key, and so many bits long that there are some
// times as many numbers of two digits as items. Items are distributed by the lower digit, then by
// the higher one; few are then still in disorder, and are inserted where they belong:
//
//   items ──by the lower digit──▶ other memory ──by the higher digit──▶ items, almost in order
//
// That takes the same few steps for each item, none of which waits for a comparison, if keys are
// spread evenly; where too many agree in both digits it gives up. One thread. Layer: kernel.
// Source: Knuth: The Art of Computer Programming 3, section 5.2.5 (distribution, and its
// improvement by MacLaren: leading digits only, then insertion).
//
// Cycles for each random item in slices of 16384, one core of a 3.6 GHz Zen 4: words 14, where the
// vector kernel takes 24; items of two words 15, by proxies 33.

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/kernel/detail/vector_sort.hpp>

namespace outsize::detail {

/// Memory and method for items of type T, of which order.word(item) decides first, and then
/// order(a, b). Stable.
template <typename T, typename Order = own_order>
class digit_sort {
 public:
  digit_sort()
    requires std::default_initializable<Order>
      : digit_sort(Order()) {}
  explicit digit_sort(Order const& order) : order_(order) {}

  /// Sorts `items`, or returns false and leaves them in any order: so much for keys that are spread
  /// too unevenly. The memory grows to twice that of the items at most, and is kept.
  bool operator()(std::span<T> items) {
    OUTSIZE_ASSERT(items.size() <= std::numeric_limits<std::uint32_t>::max());
    if (items.size() < 2) return true;
    auto const [low, high] = digits_of(items);
    if (!count_digits(items, low, high)) return false;
    if (other_.size() < items.size()) other_.resize(std::bit_ceil(items.size()));
    auto const other = std::span(other_).first(items.size());
    distribute(items, other, low, low_);
    distribute(other, items, high, high_);
    return insert(items);
  }

 private:
  static constexpr unsigned least_digit_bits = 6, most_digit_bits = 9;
  using places = std::array<std::uint32_t, std::size_t{1} << most_digit_bits>;

  /// Some bits of the distance from the least key. By value wherever it is used: a store of an item
  /// might change what it refers to.
  struct digit {
    [[no_unique_address]] Order order;
    std::uint64_t least;
    std::uint64_t mask;
    unsigned shift;

    std::uint64_t operator()(T const& item) const {
      return (order.word(item) - least) >> shift & mask;
    }
  };

  /// The lower and the higher digit.
  std::pair<digit, digit> digits_of(std::span<T const> items) const {
    // Two of each, as a minimum waits for the one before it.
    std::array<std::uint64_t, 2> least{order_.word(items[0]), order_.word(items.back())};
    auto most = least;
    for (std::size_t i = 1; i + 1 < items.size(); i += 2)
      for (std::size_t j = 0; j < 2; ++j) {
        least[j] = std::min(least[j], order_.word(items[i + j]));
        most[j] = std::max(most[j], order_.word(items[i + j]));
      }
    std::uint64_t const first = std::min(least[0], least[1]);
    auto const bits = static_cast<unsigned>(std::bit_width(std::max(most[0], most[1]) - first));
    auto const count_bits = static_cast<unsigned>(std::bit_width(items.size()));
    unsigned const width = std::clamp((count_bits + 4) / 2, least_digit_bits, most_digit_bits);
    std::uint64_t const mask = (std::uint64_t{1} << width) - 1;
    return {digit{order_, first, mask, bits > 2 * width ? bits - 2 * width : 0},
            digit{order_, first, mask, bits > width ? bits - width : 0}};
  }

  /// Sets where the first item of each digit goes; false if too many have the same higher one.
  bool count_digits(std::span<T const> items, digit low, digit high) {
    low_.fill(0);
    high_.fill(0);
    for (T const& item : items) {
      ++low_[low(item)];
      ++high_[high(item)];
    }
    std::uint32_t low_place = 0, high_place = 0, fullest = 0;
    for (std::size_t d = 0; d <= low.mask; ++d) {
      fullest = std::max(fullest, high_[d]);
      low_place += std::exchange(low_[d], low_place);
      high_place += std::exchange(high_[d], high_place);
    }
    return fullest <= items.size() / 4 + 4 || high.shift == 0;
  }

  static void distribute(std::span<T const> from, std::span<T> to, digit of, places& next) {
    for (T const& item : from) to[next[of(item)]++] = item;
  }

  /// Brings what is out of order to its place, if that takes about a step for each item.
  bool insert(std::span<T> items) const {
    std::size_t steps = 0;
    for (std::size_t i = 1; i < items.size() && steps <= items.size(); ++i) {
      if (!order_(items[i], items[i - 1])) [[likely]]
        continue;
      T const item = items[i];
      std::size_t to = i;
      do {
        items[to] = items[to - 1];
        --to;
      } while (to > 0 && order_(item, items[to - 1]));
      items[to] = item;
      steps += i - to;
    }
    return steps <= items.size();
  }

  [[no_unique_address]] Order order_;
  std::vector<T> other_;
  places low_{}, high_{};  // of the next item with each digit
};

/// A sort that may give up, with another for that: after a failure it is left out some times, as
/// what follows uneven keys is likely to be uneven, too.
template <typename Sort>
class trusting_sort {
 public:
  trusting_sort()
    requires std::default_initializable<Sort>
      : trusting_sort(Sort()) {}
  explicit trusting_sort(Sort sort) : sort_(std::move(sort)) {}

  template <typename T, typename Other>
  void operator()(std::span<T> items, Other const& other) {
    if (left_out_ == 0 && sort_(items)) return;
    left_out_ = left_out_ == 0 ? times_left_out : left_out_ - 1;
    other(items);
  }

 private:
  static constexpr unsigned times_left_out = 15;

  Sort sort_;
  unsigned left_out_ = 0;
};

}  // namespace outsize::detail
