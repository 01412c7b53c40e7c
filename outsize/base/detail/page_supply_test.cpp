// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Pages come ahead of their use, and what is in them stays.

#include <outsize/base/detail/page_supply.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>

namespace outsize::detail {
namespace {

std::size_t resident_pages(buffer const& memory) {
  std::vector<unsigned char> pages(memory.size() / page_bytes());
  EXPECT_EQ(::mincore(memory.data(), memory.size(), pages.data()), 0);
  std::size_t resident = 0;
  for (unsigned char const page : pages) resident += page & 1U;
  return resident;
}

struct page_supply_of_parts : testing::Test {
  memory_budget budget{16_MiB};
  grant memory = budget.take(16_MiB, "test");
  buffer whole = memory.allocate(16_MiB);

  std::vector<std::span<std::byte>> parts() const {
    return {whole.bytes().first(9_MiB), whole.bytes().subspan(9_MiB, 6_MiB),
            whole.bytes().subspan(15_MiB)};
  }
};

TEST_F(page_supply_of_parts, makes_all_pages_resident) {
  page_supply supply(parts());
  while (resident_pages(whole) < whole.size() / page_bytes())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  supply.claim(0);
}

TEST_F(page_supply_of_parts, leaves_what_is_written_to_claimed_parts) {
  for (int round = 0; round < 20; ++round) {
    page_supply supply(parts());
    for (std::size_t i : {2, 0, 1, 1}) {
      supply.claim(i);
      std::ranges::fill(parts()[i], std::byte{7});
    }
  }
  EXPECT_TRUE(std::ranges::all_of(whole.bytes(), [](std::byte b) { return b == std::byte{7}; }));
}

TEST_F(page_supply_of_parts, ends_when_it_is_no_longer_wanted) {
  for (int i = 0; i < 100; ++i) page_supply const supply(parts());
  page_supply const of_nothing({});
}

}  // namespace
}  // namespace outsize::detail
