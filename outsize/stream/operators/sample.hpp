// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// sample(p, seed): each item with a probability, independently of the others.
//
// Invariant: which items are let through depends on the seed, the probability and the number of
// items before, on nothing else. One thread at a time. Layer: stream. Source: Steele, Lea, Flood:
// Fast splittable pseudorandom number generators, OOPSLA 2014 (the generator).

#include <cmath>
#include <cstdint>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/flow.hpp>
#include <outsize/stream/operators/filter.hpp>

namespace outsize::stream {
namespace detail {

/// Says yes with a probability: a predicate for any items.
class random_choice {
 public:
  random_choice(double probability, std::uint64_t seed) : state_(seed) {
    OUTSIZE_ASSERT(probability >= 0 && probability <= 1 && "a probability is from 0 to 1");
    is_always_ = probability == 1;
    if (!is_always_) limit_ = static_cast<std::uint64_t>(std::ldexp(probability, 64));
  }

  template <typename Item>
  bool operator()(Item const&) noexcept {
    return next() < limit_ || is_always_;
  }

 private:
  std::uint64_t next() noexcept {
    std::uint64_t x = state_ += 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
  }

  std::uint64_t state_;
  std::uint64_t limit_ = 0;
  bool is_always_;
};

template <typename In>
class sampled : public filtered<In, random_choice> {
 public:
  using filtered<In, random_choice>::filtered;

  void describe(description& d) const { this->describe_as(d, "sample"); }
};

}  // namespace detail

/// Lets each item through with this probability, independently of the others. Equal seeds choose
/// the same items.
/// @pre 0 ≤ probability ≤ 1.
/// Checked: sample_test.cpp.
inline auto sample(double probability, std::uint64_t seed) {
  return detail::expression_closure(
      [choice = detail::random_choice(probability, seed)]<typename Expr>(Expr in) {
        return detail::sampled<Expr>(std::move(in), choice);
      });
}

}  // namespace outsize::stream
