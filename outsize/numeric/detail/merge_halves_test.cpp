// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

#include <outsize/numeric/detail/merge_halves.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace outsize::numeric {
namespace {

TEST(merge_halves, agrees_with_the_standard_library) {
  constexpr unsigned seed = 7;
  std::mt19937_64 random(seed);
  for (std::size_t a_size : {0, 1, 2, 5, 64, 1000}) {
    for (std::size_t b_size : {std::size_t{0}, std::size_t{1}, std::size_t{7}, a_size}) {
      for (std::uint64_t distinct : {std::uint64_t{1}, std::uint64_t{4}, UINT64_MAX}) {
        std::vector<std::uint64_t> a(a_size), b(b_size), merged(a_size + b_size), expected;
        for (auto* v : {&a, &b}) {
          for (auto& x : *v) x = random() % distinct;
          std::sort(v->begin(), v->end());
        }
        std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(expected));
        merge_halves(a, b, merged);
        ASSERT_EQ(merged, expected) << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace outsize::numeric
