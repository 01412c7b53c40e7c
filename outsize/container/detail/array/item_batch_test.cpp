// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Many items at once are those that are read and written one by one, each page is read once and
// ahead of its use, and nothing is lost when disks fail.

#include <outsize/container/detail/array/item_batch.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/container/deque.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/paged_pair.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize {
namespace {

using scratch::numbers;

struct batches : scratch::paged_pairs {
  static numbers below(std::uint64_t size, std::size_t count, std::mt19937_64& random) {
    return some(count, random, size);
  }
  static std::size_t pages_of(numbers const& indices) {
    std::set<std::uint64_t> pages;
    for (auto const index : indices) pages.insert(index / page_items);
    return pages.size();
  }

  /// Random batches, between items that come and go one by one.
  template <typename Container>
  static void run_model(Container& c, std::uint64_t seed, int rounds, auto const& persist) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    numbers model;
    for (int round = 0; round < rounds; ++round) {
      for (auto i = random() % 60; i > 0; --i) {
        persist([&] { c.push_back(i); });
        model.push_back(i);
      }
      if (model.empty()) continue;
      auto const indices = below(model.size(), random() % 100, random);
      auto const items = some(indices.size(), random, UINT64_MAX);
      persist([&] { c.write_many(indices, items); });
      for (std::size_t i = 0; i < indices.size(); ++i) model[indices[i]] = items[i];
      auto const index = random() % model.size();
      persist([&] { c[index] = 7; });
      model[index] = 7;
      auto const asked = below(model.size(), random() % 100, random);
      numbers found(asked.size());
      persist([&] { std::as_const(c).read_many(asked, found); });
      for (std::size_t i = 0; i < asked.size(); ++i) ASSERT_EQ(found[i], model[asked[i]]);
      if (random() % 20 == 0) {
        auto const size = random() % model.size() + 101;
        persist([&] { c.resize(size); });
        for (auto i = model.size(); i < size; ++i) persist([&] { c[i] = 0; });
        model.resize(size);
      }
    }
    for (std::uint64_t i = 0; i < model.size(); ++i)
      persist([&] { ASSERT_EQ(std::as_const(c)[i], model[i]); });
  }
};

TEST_F(batches, read_and_write_what_single_accesses_do) {
  auto const seed = std::random_device{}();
  auto const once = [](auto const& action) { action(); };
  for (std::size_t const cache_pages : {4U, 5U, 12U, 60U}) {
    vector<std::uint64_t> v(store, options(cache_pages));
    run_model(v, seed + cache_pages, scratch::operations(500), once);
    deque<std::uint64_t> d(store, options(cache_pages));
    for (int i = 0; i < 5; ++i) d.push_front(0);  // so that it begins in the middle of a page
    for (int i = 0; i < 5; ++i) d.pop_back();
    run_model(d, seed + cache_pages, scratch::operations(500), once);
  }
}

TEST_F(batches, read_each_page_once_ahead_of_its_use_and_write_nothing) {
  std::mt19937_64 random(1);
  auto options_of_many = options(64);
  options_of_many.read_ahead_pages = 6;
  vector<std::uint64_t> v(store, options_of_many);
  for (std::uint64_t i = 0; i < 1000 * page_items; ++i) v.push_back(i);
  v.flush();
  auto const reads_before = reads(), writes_before = writes();
  auto const before = v.cache_counts();
  auto const indices = below(v.size(), 600, random);
  numbers found(indices.size());
  v.read_many(indices, found);
  EXPECT_EQ(found, indices);
  auto const pages = pages_of(indices);
  EXPECT_LE(reads() - reads_before, pages);
  EXPECT_GE(reads() - reads_before, pages - 64);
  EXPECT_EQ(writes(), writes_before);
  EXPECT_EQ(v.cache_counts().misses, before.misses) << "all were asked for before";

  auto const again = below(v.size(), 600, random);
  auto const reads_until_then = reads();
  v.write_many(again, again);
  v.flush();
  EXPECT_LE(reads() - reads_until_then, pages_of(again));
  EXPECT_GE(writes() - writes_before, pages_of(again));
  EXPECT_LE(writes() - writes_before, pages_of(again) + v.live_pages()) << "those that lived";
}

TEST_F(batches, have_as_many_pages_under_way_as_options_and_caches_allow) {
  auto const at_once = [&](std::size_t cache_pages, std::size_t batch_pages) {
    auto chosen = options(cache_pages);
    chosen.batch_pages = batch_pages;
    page_pool const pool(store, chosen);
    return detail::pages_in_pool(pool, 8)->batch_pages();
  };
  EXPECT_EQ(at_once(1000, 128), 128U);
  EXPECT_EQ(at_once(1000, 0), 1U);
  EXPECT_EQ(at_once(108, 128), 49U);  // 8 live; as many used as expected; one that is used
  EXPECT_EQ(at_once(4, 128), 1U);
}

TEST_F(batches, need_no_disk_for_pages_that_nothing_was_written_to) {
  vector<std::uint64_t> v(store, options(6));
  v.resize(10'000);
  numbers const indices = {5, 9'999, 400, 5};
  numbers found(4, 1);
  v.read_many(indices, found);
  EXPECT_EQ(found, numbers(4));
  EXPECT_EQ(reads(), 0U);
  v.write_many(indices, numbers{1, 2, 3, 4});
  v.read_many(indices, found);
  EXPECT_EQ(found, (numbers{4, 2, 3, 4})) << "the last of equal ones";
  v.read_many({}, {});
  v.write_many({}, {});
}

TEST_F(batches, are_read_by_several_threads_at_once) {
  for (std::size_t const cache_pages : {4U, 30U}) {
    auto const v = filled<vector<std::uint64_t>>(
        [] {
          numbers items(2000);
          for (std::size_t i = 0; i < items.size(); ++i) items[i] = 3 * i;
          return items;
        }(),
        cache_pages);
    std::vector<std::jthread> readers;
    for (std::uint64_t t = 0; t < 3; ++t)
      readers.emplace_back([&, t] {
        std::mt19937_64 random(t);
        auto const pinned = v.begin() + static_cast<std::ptrdiff_t>(100 * t);
        for (int round = 0; round < 5; ++round) {
          auto const indices = below(v.size(), 300, random);
          numbers found(indices.size());
          v.read_many(indices, found);
          for (std::size_t i = 0; i < indices.size(); ++i) ASSERT_EQ(found[i], 3 * indices[i]);
          ASSERT_EQ(*pinned, 300 * t);
        }
      });
  }
}

TEST_F(batches, can_be_had_again_when_disks_have_failed_or_are_late) {
  auto const seed = std::random_device{}();
  auto const plan =
      std::make_shared<io::fault_plan>(io::fault_odds{.seed = seed,
                                                      .fail = 0.005,
                                                      .interrupt = 0.05,
                                                      .shorten = 0.1,
                                                      .hold = 0.05,
                                                      .max_delay = std::chrono::microseconds(20)});
  auto const open = [&](io::request_queue&) -> io::file_ptr {
    return std::make_unique<io::faulty_file>(io::make_memory_file("faulty", 1_MiB), plan);
  };
  storage faulty({.disks = {disk_options("faulty", open)}, .memory_bytes = 1_MiB, .threads = 1});
  int failed = 0;
  auto const persist = [&](auto const& action) {
    for (;;) try {
        return action();
      } catch (io_error const&) {
        ++failed;
      }
  };
  vector<std::uint64_t> v(faulty, options(12));
  run_model(v, seed, scratch::operations(2'000), persist);
  EXPECT_GT(failed, 5);
}

TEST_F(batches, are_not_written_to_files_that_are_only_read) {
  scratch::directory const folder;
  auto const path = folder.path("items");
  {
    auto v = vector<std::uint64_t>::create(path, store, options(8));
    for (std::uint64_t i = 0; i < 500; ++i) v.push_back(0);
    v.flush();
    v.write_many(numbers{499, 7}, numbers{5, 6});
    v.close();
  }
  auto v = vector<std::uint64_t>::open(path, store, io::access::read_only, options(8));
  numbers found(3);
  v.read_many(numbers{7, 8, 499}, found);
  EXPECT_EQ(found, (numbers{6, 0, 5}));
  try {
    v.write_many(numbers{8}, numbers{1});
    FAIL() << "written";
  } catch (io_error const& e) {
    EXPECT_EQ(e.code().value(), EACCES);
  }
  EXPECT_EQ(std::as_const(v)[8], 0U);
}

}  // namespace
}  // namespace outsize
