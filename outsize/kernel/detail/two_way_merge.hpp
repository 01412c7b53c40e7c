// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Merging two sequences of small items without jumps that depend on them, from both ends of two
// lanes at once. Stable: of items that compare equal, those of the first sequence come first.
//
// One step of a merge waits for the one before it; so the output is cut in two (multisequence
// selection for two sequences), and four steps are interleaved:
//
//   output:  | lane 0 →      ← | lane 1 →      ← |
//
// From either end of a lane as many steps are safe as the shorter of its sequences has items left.
//
// Pure functions. Layer: kernel. Source: Green, Odeh, Birk: Merge Path, 2012 (the cuts).
//
// Cycles for each random item in cache, one core of a 3.6 GHz Zen 4: 64-bit keys 2.5, items of two
// words 3.1; items of 16 bytes by a comparison with two jumps and 4096 values in the first of them
// 4.3, on each level of merges of 50 in memory 6.7.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>

#include <outsize/base/detail/without_jump.hpp>
#include <outsize/kernel/detail/vector_sort.hpp>

namespace outsize::detail {

/// Orders whose comparisons have no jump inside: the compiler selects by their results without one.
template <typename T, typename Less>
inline constexpr bool compares_at_once = (std::is_arithmetic_v<T> || std::same_as<T, word_pair>)&&(
    std::same_as<Less, std::less<T>> || std::same_as<Less, std::less<>>);

/// How many of the `count` least items of both sequences, which have an operator[], come from `a`.
template <typename A, typename B, typename Less = std::less<>>
std::size_t split_of_least(A const& a, B const& b, std::size_t count, Less const& less = {}) {
  std::size_t low = count > b.size() ? count - b.size() : 0;
  std::size_t high = std::min(count, a.size());
  while (low < high) {
    std::size_t const middle = low + (high - low) / 2;
    if (less(b[count - middle - 1], a[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// A merge under way, from both ends at once.
template <typename T, typename Less>
class merge_lane {
 public:
  merge_lane(std::span<T const> a, std::span<T const> b, T* to) noexcept
      : a_(a.data()),
        a_end_(a.data() + a.size()),
        b_(b.data()),
        b_end_(b.data() + b.size()),
        to_(to),
        to_end_(to + a.size() + b.size()) {}

  /// So many surely end neither sequence. Less than none: what both ends took overlaps, so that the
  /// order is none.
  std::ptrdiff_t safe_steps() const noexcept { return std::min(a_end_ - a_, b_end_ - b_); }

  bool is_done() const noexcept { return a_ == a_end_ && b_ == b_end_; }

  /// The least item and the greatest of those that are left.
  void step(Less const& less) {
    step_forward(less);
    step_backward(less);
  }

  /// Merges what is left.
  void finish(Less const& less) {
    while (std::ptrdiff_t const steps = safe_steps())
      for (std::ptrdiff_t i = 0; i < steps; ++i) step_forward(less);
    std::copy(b_, b_end_, std::copy(a_, a_end_, to_));
  }

 private:
  void step_forward(Less const& less) {
    if constexpr (compares_at_once<T, Less>) {
      bool const from_b = less(*b_, *a_);
      *to_++ = from_b ? *b_ : *a_;
      a_ += from_b ? 0 : 1;
      b_ += from_b ? 1 : 0;
    } else {
      std::size_t const from_b = as_number(less(*b_, *a_));
      *to_++ = *selected(from_b, a_, b_);
      b_ += from_b;
      a_ -= from_b;
      ++a_;
    }
  }
  void step_backward(Less const& less) {
    if constexpr (compares_at_once<T, Less>) {
      bool const from_a = less(b_end_[-1], a_end_[-1]);
      *--to_end_ = from_a ? a_end_[-1] : b_end_[-1];
      a_end_ -= from_a ? 1 : 0;
      b_end_ -= from_a ? 0 : 1;
    } else {
      std::size_t const from_a = as_number(less(b_end_[-1], a_end_[-1]));
      *--to_end_ = *(selected(from_a, b_end_, a_end_) - 1);
      a_end_ -= from_a;
      b_end_ += from_a;
      --b_end_;
    }
  }

  T const* a_;
  T const* a_end_;
  T const* b_;
  T const* b_end_;
  T* to_;
  T* to_end_;
};

/// Writes the items of both sequences in order to `to`, which overlaps neither.
template <typename T, typename Less = std::less<>>
void merge_two_ways(std::span<T const> a, std::span<T const> b, T* to, Less const& less = {}) {
  std::size_t const half = (a.size() + b.size()) / 2;
  std::size_t const from_a = split_of_least(a, b, half, less), from_b = half - from_a;
  merge_lane<T, Less> one(a.first(from_a), b.first(from_b), to);
  merge_lane<T, Less> other(a.subspan(from_a), b.subspan(from_b), to + half);
  constexpr std::ptrdiff_t worthwhile = 4;
  std::ptrdiff_t steps = 0;
  do {
    steps = std::min(one.safe_steps(), other.safe_steps());
    for (std::ptrdiff_t i = 0; i < steps; ++i) {
      one.step(less);
      other.step(less);
    }
  } while (steps >= worthwhile);
  if (one.safe_steps() >= 0 && other.safe_steps() >= 0) {
    one.finish(less);
    other.finish(less);
  } else {
    std::ranges::merge(a, b, to, less);  // the order is none: this takes each item once anyway
  }
}

}  // namespace outsize::detail
