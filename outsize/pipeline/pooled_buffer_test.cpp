// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Handles bring their buffers home on every path.

#include <outsize/pipeline/pooled_buffer.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>

namespace outsize::pipeline {
namespace {

/// Counts what comes home.
class home final : public detail::buffer_home {
 public:
  explicit home(std::size_t count) : thumbnails(count) {
    for (std::size_t i = 0; i < count; ++i) {
      thumbnails[i].home = this;
      thumbnails[i].memory = room_.bytes().subspan(i * 4096, 4096);
    }
  }
  void take_back(detail::thumbnail& unused) noexcept override { back.push_back(&unused); }

 private:
  memory_budget budget_{1_MiB};
  grant memory_ = budget_.take(1_MiB, "test");
  buffer room_ = memory_.allocate(1_MiB);

 public:
  std::vector<detail::thumbnail> thumbnails;
  std::vector<detail::thumbnail*> back;
};

TEST(pooled_buffer, goes_home_when_it_ends_is_replaced_or_reset) {
  home h(3);
  {
    pooled_buffer a(h.thumbnails[0]), b(h.thumbnails[1]), c(h.thumbnails[2]);
    a = std::move(b);
    EXPECT_EQ(h.back.size(), 1U);
    c.reset();
    EXPECT_EQ(h.back.size(), 2U);
    EXPECT_FALSE(c);
    EXPECT_TRUE(a);
  }
  EXPECT_EQ(h.back, (std::vector{&h.thumbnails[0], &h.thumbnails[2], &h.thumbnails[1]}));
}

TEST(pooled_buffer, goes_home_when_an_exception_passes) {
  home h(1);
  try {
    pooled_buffer const b(h.thumbnails[0]);
    throw std::runtime_error("");
  } catch (std::runtime_error const&) {
    EXPECT_EQ(h.back.size(), 1U);
  }
}

TEST(pooled_buffer, shows_its_used_part_as_items) {
  home h(1);
  pooled_buffer b(h.thumbnails[0]);
  EXPECT_EQ(b.size_bytes(), 0U);
  EXPECT_EQ(b.room_for<std::uint32_t>().size(), 1024U);
  b.resize_to<std::uint32_t>(3);
  b.as<std::uint32_t>()[2] = 7;
  EXPECT_EQ(b.bytes().size(), 12U);
  b.resize(11);
  EXPECT_EQ(b.as<std::uint32_t>().size(), 2U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.memory().data()) % page_bytes(), 0U);
}

TEST(pooled_buffer, swaps_memory_and_keeps_what_belongs_to_the_round) {
  home h(2);
  h.thumbnails[0].round = 5;
  pooled_buffer a(h.thumbnails[0]), b(h.thumbnails[1]);
  a.resize_to<int>(1);
  a.as<int>()[0] = 42;
  a.mark_last();
  a.user<std::string>() = "mine";
  a.swap_payload(b);
  EXPECT_EQ(b.as<int>()[0], 42);
  EXPECT_EQ(a.size_bytes(), 0U);
  EXPECT_EQ(a.round(), 5U);
  EXPECT_TRUE(a.last());
  EXPECT_FALSE(b.last());
  EXPECT_EQ(a.user<std::string>(), "mine");
}

TEST(pooled_buffer_death_test, asserts_that_it_was_not_moved_from) {
  home h(1);
  pooled_buffer a(h.thumbnails[0]);
  pooled_buffer const b = std::move(a);
  EXPECT_DEATH(std::ignore = a.memory(), "after it was conveyed or moved from");
  EXPECT_DEATH(a.resize(0), "after it was conveyed or moved from");
}

}  // namespace
}  // namespace outsize::pipeline
