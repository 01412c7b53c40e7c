// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/idle_tools.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <thread>
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

}  // namespace
}  // namespace outsize::detail
