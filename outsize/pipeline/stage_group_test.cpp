// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The first error wins, everybody stops, nobody is left running.

#include <outsize/pipeline/stage_group.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>

#include <outsize/pipeline/channel.hpp>

namespace outsize::pipeline {
namespace {

TEST(stage_group, runs_stages_side_by_side) {
  channel<int> there(1), back(1);
  stage_group group;
  group.start([&] {
    for (int i = 0; i < 100; ++i) there.push(i);
    there.close();
  });
  group.start([&] {
    while (auto v = there.pop()) back.push(*v * 2);
    back.close();
  });
  int sum = 0;
  while (auto v = back.pop()) sum += *v;
  group.join();
  group.rethrow_error();
  EXPECT_EQ(sum, 9900);
}

TEST(stage_group, throws_the_first_error_and_stops_the_others) {
  channel<int> never(1);
  std::atomic<int> stops{0};
  stage_group group;
  group.stop_with([&] {
    ++stops;
    never.poison();
  });
  group.start([&] { never.pop(); });
  group.start([&] { never.pop(); });
  group.start([] { throw std::runtime_error("first"); });
  try {
    group.join();
    FAIL() << "the error was lost";
  } catch (std::runtime_error const& e) {
    EXPECT_EQ(std::string(e.what()), "first");
  }
  EXPECT_EQ(stops.load(), 1);
  EXPECT_THROW(group.rethrow_error(), std::runtime_error);
}

TEST(stage_group, takes_errors_from_outside) {
  channel<int> never(1);
  stage_group group;
  group.stop_with([&] { never.poison(); });
  group.start([&] { never.pop(); });
  group.fail(std::make_exception_ptr(std::logic_error("outside")));
  group.fail(std::make_exception_ptr(std::logic_error("too late")));
  try {
    group.join();
    FAIL() << "the error was lost";
  } catch (std::logic_error const& e) {
    EXPECT_EQ(std::string(e.what()), "outside");
  }
}

TEST(stage_group, stops_and_joins_when_destroyed) {
  channel<int> never(1);
  std::atomic<bool> ended{false};
  {
    stage_group group;
    group.stop_with([&] { never.poison(); });
    group.start([&] {
      try {
        never.pop();
      } catch (poisoned const&) {
        ended = true;
        throw;
      }
    });
  }
  EXPECT_TRUE(ended.load());
}

TEST(stage_group, has_nothing_to_do_when_empty) {
  stage_group group;
  group.join();
  group.rethrow_error();
}

}  // namespace
}  // namespace outsize::pipeline
