// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// LRU chooses as a list of uses would, random every slot as often as any other. What every policy
// promises a cache is in tests/conformance/replacement_conformance_test.cpp.

#include <outsize/block/replacement.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace outsize::block {
namespace {

TEST(replacement, lru_chooses_the_one_that_entered_first) {
  std::uint64_t const seed = 91;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  auto const policy = make_lru_replacement();
  policy->start(6);
  std::vector<std::size_t> model;
  for (int step = 0; step < 2000; ++step) {
    std::size_t const slot = random() % 6;
    auto const found = std::ranges::find(model, slot);
    if (found == model.end()) {
      policy->enter(slot, {});
      model.push_back(slot);
    } else {
      policy->leave(slot);
      model.erase(found);
    }
    if (model.empty()) continue;
    ASSERT_EQ(policy->choose(), model.front());
  }
}

TEST(replacement, random_chooses_all_that_are_in_the_set_and_no_other) {
  auto const policy = make_random_replacement(5);
  policy->start(10);
  for (std::size_t slot = 0; slot < 10; ++slot) policy->enter(slot, {});
  policy->leave(0);
  policy->leave(7);
  policy->leave(9);
  policy->enter(9, {});
  std::vector<int> chosen(10);
  for (int i = 0; i < 8000; ++i) ++chosen[policy->choose()];
  for (std::size_t slot = 0; slot < 10; ++slot) {
    bool const absent = slot == 0 || slot == 7;
    EXPECT_NEAR(chosen[slot], absent ? 0 : 1000, absent ? 0 : 200) << slot;
  }
}

TEST(replacement, random_repeats_itself_with_the_same_seed) {
  auto const a = make_random_replacement(3), b = make_random_replacement(3),
             other = make_random_replacement(4);
  std::vector<std::size_t> of_a, of_b, of_other;
  for (auto* policy : {a.get(), b.get(), other.get()}) {
    policy->start(100);
    for (std::size_t slot = 0; slot < 100; ++slot) policy->enter(slot, {});
  }
  for (int i = 0; i < 20; ++i) {
    of_a.push_back(a->choose());
    of_b.push_back(b->choose());
    of_other.push_back(other->choose());
  }
  EXPECT_EQ(of_a, of_b);
  EXPECT_NE(of_a, of_other);
}

}  // namespace
}  // namespace outsize::block
