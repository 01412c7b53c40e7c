// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Priority queues with any budget, from the least that they run with: right, or one exact error;
// and hardly more is resident than they were given. Each runs in a process of its own, with its
// blocks in files.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/priority_queue.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/forked.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize {
namespace {

using namespace literals;

enum class outcome : int { right, too_little_memory, wrong };

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

outcome run_with(std::uint64_t memory_bytes, std::string const& directory) {
  try {
    storage_options options{.memory_bytes = memory_bytes, .threads = 2};
    options.disks.emplace_back(directory);
    storage store(options);
    return is_right(store, memory_bytes - memory_bytes / 8) ? outcome::right : outcome::wrong;
  } catch (budget_error const&) {
    return outcome::too_little_memory;
  } catch (std::exception const& e) {
    std::cerr << e.what() << '\n';
    return outcome::wrong;
  }
}

outcome run_alone(std::uint64_t memory_bytes, std::string const& directory) {
  return static_cast<outcome>(scratch::status_of_fork(
      [&] { std::_Exit(static_cast<int>(run_with(memory_bytes, directory))); }));
}

/// Of any process that has ended.
std::uint64_t peak_resident_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

TEST(queue_memory, is_all_that_is_resident_with_any_budget) {
  scratch::directory dir;
  std::size_t right = 0, refused = 0;
  for (std::uint64_t memory_bytes = 128_KiB; memory_bytes <= 32_MiB; memory_bytes *= 2) {
    outcome const how = run_alone(memory_bytes, dir.path());
    EXPECT_LE(peak_resident_bytes(), memory_bytes + 64_MiB) << memory_bytes;  // of it and less
    EXPECT_NE(how, outcome::wrong) << memory_bytes;
    if (how == outcome::right)
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
