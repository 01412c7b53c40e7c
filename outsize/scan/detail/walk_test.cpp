// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Walks show each item once, in pieces that lie where they say, also where disks fail.

#include <outsize/scan/detail/walk.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <random>
#include <set>

#include <outsize/base/error.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/scan/for_each.hpp>
#include <outsize/scan/transform.hpp>
#include <outsize/testing/paged_pair.hpp>

namespace outsize::detail {
namespace {

struct walks : scratch::paged_pairs {};

TEST_F(walks, show_each_item_of_several_sequences_at_the_same_index) {
  on_many_by_both([this](auto const& p, auto policy) {
    std::uint64_t const count = p.end - p.begin;
    auto other = filled<deque<std::uint64_t>>(scratch::numbers(count + 3), 7);
    auto a = source_at(policy, p.first(), count);
    auto b = target_at(policy, other.begin() + 1, count);
    auto c = source_at(policy, p.plain_first(), count);
    std::mutex mutex;
    std::set<std::uint64_t> seen;
    walk_all(
        policy, count,
        [&](slice part, std::uint64_t const* x, std::uint64_t* y, auto z) {
          for (std::size_t i = 0; i < part.count; ++i, ++z) {
            y[i] = x[i];
            EXPECT_EQ(*z, x[i]);
          }
          std::lock_guard const lock(mutex);
          for (std::size_t i = 0; i < part.count; ++i)
            EXPECT_TRUE(seen.insert(part.index + i).second);
        },
        a, b, c);
    EXPECT_EQ(seen.size(), count);
    for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(other[i + 1], p.plain[p.begin + i]);
    EXPECT_EQ(other.front() + other.back(), 0U);
  });
}

TEST_F(walks, end_after_the_batch_that_says_so) {
  auto const v = filled<vector<std::uint64_t>>(scratch::numbers(100));
  auto items = source_at(sequential_policy{}, v.begin(), 100);
  std::uint64_t seen = 0;
  walk(
      sequential_policy{}, 100, [&](slice part, auto const*) { seen += part.count; },
      [] { return false; }, items);
  EXPECT_EQ(seen, page_items);
}

TEST_F(walks, of_two_parts_of_one_vector_may_change_both) {
  auto v = filled<vector<std::uint64_t>>(scratch::numbers(200), 4);
  for (std::size_t const apart : {1U, 5U, 8U, 64U, 100U}) {
    tabulate(v, [](std::uint64_t i) { return i; });
    auto a = changer_at(par, v.begin());
    auto b = changer_at(par, v.begin() + static_cast<std::ptrdiff_t>(100 + apart));
    walk_all(
        par, 200 - 100 - apart,
        [](slice part, std::uint64_t* x, std::uint64_t* y) {
          for (std::size_t i = 0; i < part.count; ++i) std::swap(x[i], y[i]);
        },
        a, b);
    for (std::uint64_t i = 0; i < 100 - apart; ++i) {
      ASSERT_EQ(std::as_const(v)[i], 100 + apart + i);
      ASSERT_EQ(std::as_const(v)[100 + apart + i], i);
    }
  }
}

TEST_F(walks, throw_the_errors_of_disks_and_lose_no_page) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  auto const plan = std::make_shared<io::fault_plan>(io::fault_odds{.seed = seed, .fail = 0.005});
  storage faulty({.disks = {disk_options("faulty",
                                         [&](io::request_queue&) -> io::file_ptr {
                                           return std::make_unique<io::faulty_file>(
                                               io::make_memory_file("faulty", 1_MiB), plan);
                                         })},
                  .memory_bytes = 1_MiB,
                  .threads = 2});
  vector<std::uint64_t> v(faulty, options(6));
  int failed = 0;
  auto const persist = [&](auto const& action) {
    for (;;) try {
        return action();
      } catch (io_error const&) {
        ++failed;
      }
  };
  persist([&] { v.resize(800); });
  for (std::uint64_t round = 1; round <= 20; ++round) {
    persist([&] { tabulate(par, v, [&](std::uint64_t i) { return i * round; }); });
    persist([&] {  // the same if it is done again
      transform(par, v, v.begin(), [](std::uint64_t x) { return x | 1; });
    });
    for (std::uint64_t i = 0; i < 800; ++i)
      persist([&] { ASSERT_EQ(std::as_const(v)[i], (i * round) | 1); });
  }
  EXPECT_GT(failed, 10);
}

}  // namespace
}  // namespace outsize::detail
