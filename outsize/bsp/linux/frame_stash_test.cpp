// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/linux/frame_stash.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include <outsize/base/units.hpp>

namespace outsize::bsp::detail {
namespace {

using namespace literals;

TEST(frame_stash, moves_frames_with_their_contents) {
  frame_stash stash(2_MiB, 2);
  arena_range first(16_MiB, true);
  arena_range second(16_MiB, true);
  first.open(8_MiB);
  second.open(8_MiB);
  first.populate(0, 6_MiB);
  for (std::size_t i = 0; i < 3; ++i) first.data()[i * 2_MiB + 5] = static_cast<std::byte>(i + 1);
  EXPECT_FALSE(stash.take(second.data()));
  EXPECT_TRUE(stash.put(first.data()));
  EXPECT_TRUE(stash.put(first.data() + 2_MiB));
  EXPECT_FALSE(stash.put(first.data() + 4_MiB));  // it has room for two
  EXPECT_EQ(first.data()[4_MiB + 5], std::byte{3});
  EXPECT_EQ(first.data()[5], std::byte{0});
  ASSERT_TRUE(stash.take(second.data() + 4_MiB));
  EXPECT_EQ(second.data()[4_MiB + 5], std::byte{2});
  ASSERT_TRUE(stash.take(first.data() + 6_MiB));
  EXPECT_EQ(first.data()[6_MiB + 5], std::byte{1});
  EXPECT_FALSE(stash.take(second.data()));
  first.drop(0, 8_MiB);
  first.populate(0, 8_MiB);
  EXPECT_EQ(first.data()[6_MiB + 5], std::byte{0});
}

TEST(frame_stash, has_no_room_for_small_or_for_many_frames) {
  arena_range range(4_MiB, true);
  range.open(2_MiB);
  for (frame_stash* const none : {new frame_stash(64_KiB, 10), new frame_stash(2_MiB, 100'000)}) {
    EXPECT_FALSE(none->put(range.data()));
    EXPECT_FALSE(none->take(range.data()));
    delete none;
  }
}

}  // namespace
}  // namespace outsize::bsp::detail
