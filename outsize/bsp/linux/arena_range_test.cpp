// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/linux/arena_range.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include <outsize/base/units.hpp>

namespace outsize::bsp::detail {
namespace {

using namespace literals;

TEST(arena_range, has_zeros_where_memory_came_anew) {
  arena_range range(8_MiB, false);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(range.data()) % 2_MiB, 0U);
  range.open(1_MiB);
  range.populate(0, 128_KiB);
  range.data()[5] = std::byte{1};
  range.data()[64_KiB] = std::byte{2};
  range.drop(0, 64_KiB);
  range.populate(0, 128_KiB);
  EXPECT_EQ(range.data()[5], std::byte{0});
  EXPECT_EQ(range.data()[64_KiB], std::byte{2});  // populating leaves what is there
}

TEST(arena_range, keeps_its_contents_while_it_is_closed) {
  arena_range range(64_MiB, true);
  range.open(4_MiB);
  range.populate(0, 4_MiB);
  range.data()[4_MiB - 1] = std::byte{7};
  range.close();
  range.open(2_MiB);
  range.open(4_MiB);
  EXPECT_EQ(range.data()[4_MiB - 1], std::byte{7});
}

TEST(arena_range, stops_accesses_to_what_is_closed) {
  arena_range range(8_MiB, false);
  range.open(64_KiB);
  EXPECT_DEATH(range.data()[64_KiB] = std::byte{1}, "");
  range.close();
  EXPECT_DEATH(range.data()[0] = std::byte{1}, "");
}

TEST(arena_range, reserves_far_more_than_there_is) {
  arena_range range(std::uint64_t{1} << 40, false);
  range.open(std::uint64_t{1} << 39);
  range.populate((std::uint64_t{1} << 39) - 64_KiB, 64_KiB);
}

}  // namespace
}  // namespace outsize::bsp::detail
