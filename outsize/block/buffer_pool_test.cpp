// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Every buffer is lent to one at a time, and waiting ends when one comes back.

#include <outsize/block/buffer_pool.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>

namespace outsize::block {
namespace {

TEST(buffer_pool, lends_disjoint_buffers_until_none_is_left) {
  memory_budget budget(1_MiB);
  grant memory = budget.take(1_MiB, "test");
  buffer_pool pool(memory, 4096, 5);
  EXPECT_EQ(pool.buffer_bytes(), 4096U);
  std::set<std::byte*> places;
  std::vector<frame> lent;
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(pool.free_count(), 5 - i);
    lent.push_back(pool.try_acquire());
    ASSERT_EQ(lent.back().size(), 4096U);
    std::memset(lent.back().data(), static_cast<int>(i), 4096);
    places.insert(lent.back().data());
  }
  EXPECT_TRUE(pool.try_acquire().empty());
  EXPECT_EQ(places.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(lent[i][4095], static_cast<std::byte>(i));
  for (frame f : lent) pool.release(f);
  EXPECT_EQ(pool.free_count(), pool.count());
}

TEST(buffer_pool, takes_its_memory_from_the_grant_and_gives_it_back) {
  memory_budget budget(64_KiB);
  grant memory = budget.take(64_KiB, "test");
  {
    buffer_pool const pool(memory, 8192, 4);
    EXPECT_EQ(memory.free_bytes(), 32_KiB);
  }
  EXPECT_EQ(memory.free_bytes(), 64_KiB);
  EXPECT_THROW(buffer_pool(memory, 8192, 9), budget_error);
  EXPECT_EQ(memory.free_bytes(), 64_KiB);
}

TEST(buffer_pool, wakes_whoever_waits_for_a_buffer) {
  memory_budget budget(64_KiB);
  grant memory = budget.take(64_KiB, "test");
  buffer_pool pool(memory, 64, 2);
  std::vector<std::thread> users;
  for (std::size_t t = 0; t < 4; ++t)
    users.emplace_back([&pool, t] {
      for (int i = 0; i < 2000; ++i) {
        frame const mine = pool.acquire();
        std::ranges::fill(mine, static_cast<std::byte>(t));
        EXPECT_TRUE(
            std::ranges::all_of(mine, [t](std::byte b) { return b == static_cast<std::byte>(t); }));
        pool.release(mine);
      }
    });
  for (auto& user : users) user.join();
  EXPECT_EQ(pool.free_count(), 2U);
}

// ThreadSanitizer sees what goes wrong here.
TEST(buffer_pool, may_go_as_soon_as_every_buffer_is_back) {
  memory_budget budget(64_KiB);
  grant memory = budget.take(64_KiB, "test");
  for (int round = 0; round < 200; ++round) {
    auto pool = std::make_unique<buffer_pool>(memory, 1024, 2);
    std::vector<std::thread> users;
    for (int user = 0; user < 2; ++user)
      users.emplace_back([where = pool.get(), lent = pool->acquire()] { where->release(lent); });
    frame const one = pool->acquire(), other = pool->acquire();
    pool->release(one);
    pool->release(other);
    pool.reset();
    for (auto& user : users) user.join();
  }
}

}  // namespace
}  // namespace outsize::block
