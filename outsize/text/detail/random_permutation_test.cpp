// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Every number comes once.
#include <outsize/text/detail/random_permutation.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace outsize::text {
namespace {

TEST(random_permutation, takes_every_number_to_another_place) {
  for (std::uint64_t const size : {1, 2, 3, 4, 5, 15, 16, 17, 64, 65, 1000, 4097}) {
    random_permutation const permutation(random_salt::of_seed(size), size);
    std::vector<bool> taken(size);
    for (std::uint64_t i = 0; i < size; ++i) {
      std::uint64_t const place = permutation(i);
      ASSERT_LT(place, size);
      EXPECT_FALSE(taken[place]) << place << " of " << size;
      taken[place] = true;
    }
  }
}

TEST(random_permutation, depends_on_its_salt_and_spreads_neighbours) {
  std::uint64_t const size = ~std::uint64_t{0};
  random_permutation const one(random_salt::of_seed(1), size);
  random_permutation const other(random_salt::of_seed(2), size);
  int upper = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_NE(one(i), other(i));
    upper += one(i) > size / 2 ? 1 : 0;
  }
  EXPECT_NEAR(upper, 500, 80);
}

}  // namespace
}  // namespace outsize::text
