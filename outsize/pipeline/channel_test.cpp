// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Values keep their order, the capacity bounds, ends and failures wake everybody.

#include <outsize/pipeline/channel.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

namespace outsize::pipeline {
namespace {

TEST(channel, passes_values_in_order) {
  channel<int> values(3);
  values.push(1);
  values.push(2);
  EXPECT_EQ(values.size(), 2U);
  EXPECT_EQ(values.pop(), 1);
  values.push(3);
  EXPECT_EQ(values.try_pop(), 2);
  EXPECT_EQ(values.pop(), 3);
  EXPECT_EQ(values.try_pop(), std::nullopt);
}

TEST(channel, moves_what_cannot_be_copied) {
  channel<std::unique_ptr<int>> values(1);
  values.push(std::make_unique<int>(5));
  EXPECT_EQ(**values.pop(), 5);
}

TEST(channel, hands_out_what_is_left_after_it_is_closed) {
  channel<int> values(2);
  values.push(1);
  values.close();
  EXPECT_EQ(values.pop(), 1);
  EXPECT_EQ(values.pop(), std::nullopt);
  EXPECT_EQ(values.pop(), std::nullopt);
}

TEST(channel, throws_on_every_call_once_poisoned) {
  channel<int> values(2);
  values.push(1);
  EXPECT_FALSE(values.is_poisoned());
  values.poison();
  EXPECT_TRUE(values.is_poisoned());
  EXPECT_THROW(values.pop(), poisoned);
  EXPECT_THROW(values.try_pop(), poisoned);
  EXPECT_THROW(values.push(2), cancelled);
}

TEST(channel, wakes_those_who_wait_when_poisoned_or_closed) {
  channel<int> full(1), empty(1), closing(1);
  full.push(1);
  std::thread pusher([&] { EXPECT_THROW(full.push(2), poisoned); });
  std::thread popper([&] { EXPECT_THROW(empty.pop(), poisoned); });
  std::thread ended([&] { EXPECT_EQ(closing.pop(), std::nullopt); });
  std::this_thread::yield();
  full.poison();
  empty.poison();
  closing.close();
  pusher.join();
  popper.join();
  ended.join();
}

TEST(channel, loses_and_repeats_nothing_among_many_threads) {
  constexpr int each = 3000, writers = 3, readers = 3;
  channel<int> values(4);
  std::vector<std::atomic<int>> seen(each * writers);
  std::vector<std::thread> pushing, popping;
  for (int w = 0; w < writers; ++w)
    pushing.emplace_back([&, w] {
      for (int i = 0; i < each; ++i) values.push(w * each + i);
    });
  for (int r = 0; r < readers; ++r)
    popping.emplace_back([&] {
      std::vector<int> last(writers, -1);
      while (auto const v = values.pop()) {
        EXPECT_LE(values.size(), 4U);
        int& before = last[static_cast<std::size_t>(*v / each)];
        EXPECT_LT(before, *v % each);  // those of one writer come in order
        before = *v % each;
        ++seen[static_cast<std::size_t>(*v)];
      }
    });
  for (auto& t : pushing) t.join();
  values.close();
  for (auto& t : popping) t.join();
  for (auto const& count : seen) ASSERT_EQ(count.load(), 1);
}

}  // namespace
}  // namespace outsize::pipeline
