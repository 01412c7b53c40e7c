// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Priority queues with any budget, from the least that they run with: right, or one exact error;
// and hardly more is resident than they were given. Each runs in a process of its own, with its
// blocks in files.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/priority_queue.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/limited_run.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize {
namespace {

using namespace literals;
using scratch::limited_outcome;
using scratch::peak_resident_bytes;
using scratch::run_limited;

/// Descending numbers, which come out before all others, with a pop after every 2^j pushes: each
/// window is put back before it is used up.
bool is_right(storage& store, std::uint64_t memory_bytes) {
  constexpr std::uint64_t count = scratch::operations(std::uint64_t{3'000'000});
  priority_queue<std::uint64_t, std::greater<>> q(store, {}, {.memory_bytes = memory_bytes});
  std::uint64_t popped = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t const x = count - i;
    q.push(x);
    std::uint64_t const pause = std::uint64_t{1} << (i / 100'000 % 18);
    if (i % pause != 0 || pause == 1) continue;
    if (q.top() != x) return false;
    q.pop();
    ++popped;
  }
  std::uint64_t last = 0, left = count - popped;
  for (; !q.empty(); q.pop(), --left) {
    if (q.top() <= last) return false;
    last = q.top();
  }
  return left == 0;
}

TEST(queue_memory, is_all_that_is_resident_with_any_budget) {
  scratch::directory dir;
  std::size_t right = 0, refused = 0;
  for (std::uint64_t memory_bytes = 128_KiB; memory_bytes <= 32_MiB; memory_bytes *= 2) {
    auto const how = run_limited(memory_bytes, dir.path(), [&](storage& store) {
      return is_right(store, memory_bytes - memory_bytes / 8);
    });
    EXPECT_LE(peak_resident_bytes(), memory_bytes + 64_MiB) << memory_bytes;  // of it and less
    EXPECT_NE(how, limited_outcome::wrong) << memory_bytes;
    if (how == limited_outcome::right)
      ++right;
    else
      ++refused;
    EXPECT_TRUE(dir.names().empty());
  }
  EXPECT_GE(right, 5U);
  EXPECT_GE(refused, 1U);
}

}  // namespace
}  // namespace outsize
