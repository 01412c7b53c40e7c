// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/process_locks.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <thread>

#include <outsize/testing/forked.hpp>

namespace outsize::detail {
namespace {

struct shared {
  process_mutex mutex;
  process_condition changed;
  int value = 0;  // guarded by mutex
};

TEST(process_locks, are_a_mutex_and_a_condition) {
  shared s;
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i) {
      std::lock_guard const held(s.mutex);
      ++s.value;
    }
    s.changed.notify_one();
  });
  std::unique_lock held(s.mutex);
  s.changed.wait(held, [&] { return s.value == 1000; });
  EXPECT_EQ(s.value, 1000);
  held.unlock();
  other.join();
}

TEST(process_locks, keep_nobody_in_a_process_that_comes_from_a_fork) {
  auto s = std::make_unique<shared>();
  std::thread waiting([&] {
    std::unique_lock held(s->mutex);
    s->changed.wait(held, [&] { return s->value == 1; });
  });
  std::unique_lock held(s->mutex);
  EXPECT_TRUE(scratch::holds_after_fork([&] {
    std::unique_lock mine(s->mutex);
    s->changed.wait(mine, [] { return false; });
    s->changed.notify_all();
    mine.unlock();
    held.unlock();
    s.reset();
    return true;
  }));
  s->value = 1;
  held.unlock();
  s->changed.notify_all();
  waiting.join();
}

}  // namespace
}  // namespace outsize::detail
