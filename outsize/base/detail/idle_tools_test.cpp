// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/idle_tools.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include <outsize/base/executor.hpp>

namespace outsize::detail {
namespace {

std::atomic<std::size_t> made{0}, living{0};

struct counted_tool {
  counted_tool() { ++made, ++living; }
  counted_tool(counted_tool const&) = delete;
  counted_tool& operator=(counted_tool const&) = delete;
  ~counted_tool() { --living; }

  std::atomic<bool> in_use{false};
};

idle_tools<counted_tool>& tools() {
  static auto& all = *new idle_tools<counted_tool>();
  return all;
}

TEST(idle_tools, are_as_many_as_are_in_use_at_once) {
  made = 0;
  executor team(3);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread> callers;  // which run bodies, too
    for (int i = 0; i < 6; ++i)
      callers.emplace_back([&] {
        team.parallel_for(10, [](std::size_t) {
          auto const tool = tools().take();
          EXPECT_FALSE(tool->in_use.exchange(true));
          std::this_thread::yield();
          tool->in_use = false;
        });
      });
    for (auto& caller : callers) caller.join();
  }
  EXPECT_LE(made, 3U);
}

TEST(idle_tools, go_when_a_team_ends) {
  { auto const one = tools().take(), other = tools().take(); }
  EXPECT_GE(living, 2U);
  { executor const team(1); }
  EXPECT_EQ(living, 0U);
}

template <std::size_t Number>
struct numbered_tool {
  std::size_t number = Number;
};

TEST(idle_tools, of_new_kinds_come_while_a_team_ends) {
  auto const use_new_ones = []<std::size_t... Numbers>(std::index_sequence<Numbers...>) {
    return ((new idle_tools<numbered_tool<Numbers>>)->take()->number + ...);
  };
  std::atomic<bool> is_done{false};
  std::thread ending([&] {
    while (!is_done) idle_tools_base::drop_all();
  });
  EXPECT_EQ(use_new_ones(std::make_index_sequence<50>()), 49U * 50 / 2);
  is_done = true;
  ending.join();
}

}  // namespace
}  // namespace outsize::detail
