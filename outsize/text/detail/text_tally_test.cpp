// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Counts against std::map, in so little memory that it fills up again and again.
#include <outsize/text/detail/text_tally.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <outsize/base/units.hpp>

namespace outsize::detail {
namespace {

TEST(text_tally, counts_all_strings_if_it_is_emptied_when_full) {
  memory_budget budget(64_KiB);
  for (std::size_t const bytes : {4_KiB, 8_KiB, 64_KiB}) {
    grant memory = budget.take(64_KiB, "test");
    text_tally tally(memory, bytes);
    std::mt19937_64 random(bytes);
    std::map<std::string, std::uint64_t> model, found;
    int emptied = 0;
    auto const take_all = [&] {
      tally.for_each(
          [&](std::string_view text, std::uint64_t count) { found[std::string(text)] += count; });
    };
    for (int i = 0; i < 20'000; ++i) {
      std::string const text(random() % 40, static_cast<char>(random() % 3));
      ++model[text];
      if (tally.add(text)) continue;
      take_all();
      tally.clear();
      ++emptied;
      EXPECT_TRUE(tally.add(text));
    }
    take_all();
    EXPECT_EQ(found, model);
    EXPECT_EQ(emptied > 0, bytes == 4_KiB);
  }
}

TEST(text_tally, keeps_the_order_of_first_coming_and_refuses_what_does_not_fit) {
  memory_budget budget(4_KiB);
  grant memory = budget.take(4_KiB, "test");
  text_tally tally(memory, 4_KiB);
  EXPECT_FALSE(tally.add(std::string(4096, 'x')));
  std::vector<std::string> const texts{"b", "", "a", std::string("\0", 1)};
  for (int round = 0; round < 2; ++round)
    for (auto const& text : texts) EXPECT_TRUE(tally.add(text));
  std::vector<std::string> order;
  tally.for_each([&](std::string_view text, std::uint64_t count) {
    order.emplace_back(text);
    EXPECT_EQ(count, 2U);
  });
  EXPECT_EQ(order, texts);
  EXPECT_EQ(tally.size(), 4U);
}

}  // namespace
}  // namespace outsize::detail
