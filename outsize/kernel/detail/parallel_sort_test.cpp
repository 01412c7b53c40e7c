// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Numbers sorted in place by several threads against std::sort: few and many, all alike, ordered.

#include <outsize/kernel/detail/parallel_sort.hpp>
#include <outsize/testing/effort.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace outsize::detail {
namespace {

using generator = std::function<std::uint64_t(std::size_t)>;

std::vector<std::pair<std::string, generator>> kinds(std::mt19937_64& random) {
  return {{"random", [&](std::size_t) { return random(); }},
          {"small", [&](std::size_t) { return random() % 5; }},
          {"alike", [](std::size_t) { return std::uint64_t{7}; }},
          {"ascending", [](std::size_t i) { return std::uint64_t{i}; }},
          {"descending", [](std::size_t i) { return ~std::uint64_t{i}; }},
          {"mostly least", [&](std::size_t i) { return i % 5 < 3 ? 0 : random(); }},
          {"mostly greatest", [&](std::size_t i) { return i % 5 < 3 ? ~0ULL : random(); }},
          {"two", [&](std::size_t) { return random() % 5 < 3 ? 0ULL : 1ULL; }},
          {"mostly one", [&](std::size_t i) { return i % 50 == 0 ? random() : 1U << 20; }}};
}

template <typename T>
T item_of(std::uint64_t number) {
  if constexpr (std::same_as<T, word_pair>) {
    return {number % 3, number};
  } else {
    return static_cast<T>(number);
  }
}

template <typename T, typename Form>
void expect_sorted(Form const& form) {
  std::mt19937_64 random(23);
  for (std::size_t const threads : {1, 2, 3, 5, 8}) {
    executor team(threads);
    for (auto const& [name, number] : kinds(random))
      for (std::size_t const count :
           {0, 1, 100, 16'384, 16'385, 20'003 + scratch::operations(80'000)}) {
        std::vector<T> items(count);
        for (std::size_t i = 0; i < count; ++i) items[i] = item_of<T>(number(i));
        auto want = items;
        std::ranges::sort(want,
                          [&](T const& a, T const& b) { return form.encode(a) < form.encode(b); });
        parallel_sort(items, form, team);
        ASSERT_EQ(items, want) << name << ", " << count << " items, " << threads << " threads";
      }
  }
}

using kind = ordered_bits::kind;

TEST(parallel_sort, sorts_numbers) {
  expect_sorted<std::uint64_t>(ordered_bits{});
  expect_sorted<std::uint32_t>(ordered_bits{});
}

TEST(parallel_sort, sorts_values_by_their_bits) {
  expect_sorted<std::uint64_t>(ordered_bits{kind::signed_integer, true});
  expect_sorted<std::uint32_t>(ordered_bits{kind::floating_point});
}

TEST(parallel_sort, sorts_items_of_two_words) {
  expect_sorted<word_pair>(ordered_words{});
  expect_sorted<word_pair>(ordered_words{.key = {kind::signed_integer}, .key_is_first = false});
}

}  // namespace
}  // namespace outsize::detail
