// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Maps in files: they are there again, as they were flushed last, whenever the power fails; and
// files that are none are refused.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/set.hpp>
#include <outsize/testing/crashing_file.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize {
namespace {

using words = map<std::uint64_t, std::uint64_t>;
using model = std::map<std::uint64_t, std::uint64_t>;

map_options const tiny{.leaf_bytes = 512,
                       .node_bytes = 128,
                       .leaf_cache_bytes = 1,
                       .node_cache_bytes = 1,
                       .spare_leaves = 1};

bool same(words const& ours, model const& theirs) {
  return std::ranges::equal(ours, theirs, [](auto const& a, auto const& b) {
    return a.first == b.first && a.second == b.second;
  });
}

storage_options in_memory() {
  return {
      .disks = {disk_options(
          "none", [](io::request_queue&) -> io::file_ptr { return io::make_memory_file("none"); })},
      .memory_bytes = 16_MiB,
      .threads = 1};
}

TEST(maps_in_files, are_as_they_were_flushed_whenever_the_power_fails) {
  storage store(in_memory());
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    auto const journal = std::make_shared<scratch::file_journal>();
    std::map<std::size_t, model> flushed;  // steps of the journal → what is there for sure
    {
      auto m = words::create(store, std::make_unique<scratch::crashing_file>(journal), tiny);
      model now;
      flushed[journal->size()] = now;
      for (int flushes = 0; flushes < 5; ++flushes) {
        for (std::uint64_t i = random() % 400; i > 0; --i) {
          std::uint64_t const key = random() % 1000;
          if (random() % 3 == 0) {
            EXPECT_EQ(m.erase(key), now.erase(key));
          } else {
            m[key] = now[key] = i;
          }
        }
        m.flush();
        flushed[journal->size()] = now;
      }
      m[5] = 5;  // what is not flushed may be there, as the destructor closes the map
      now[5] = 5;
      m.close();
      flushed[journal->size()] = now;
    }
    for (std::size_t steps = flushed.begin()->first; steps <= journal->size();
         steps += 1 + random() % 20) {
      auto const survivor =
          words::open(store, journal->file_after(steps, random), io::access::read_only, tiny);
      auto const after = flushed.upper_bound(steps);
      ASSERT_TRUE(same(survivor, std::prev(after)->second) ||
                  (after != flushed.end() && same(survivor, after->second)))
          << "after " << steps << " steps";
    }
    auto last = words::open(store, journal->file_after(journal->size(), random));
    EXPECT_TRUE(last.was_closed());
    EXPECT_TRUE(same(last, flushed.rbegin()->second));
    for (std::uint64_t key = 0; key < 1000; key += 3) last.erase(key);  // goes on as any other
    EXPECT_FALSE(last.contains(3));
  }
}

struct maps_with_paths : testing::Test {
  scratch::directory directory;
  storage store{{.disks = {disk_options(directory.path())}, .memory_bytes = 16_MiB, .threads = 1}};
  std::string const path = directory.path() + "/map";
};

TEST_F(maps_with_paths, are_there_again) {
  model theirs;
  std::mt19937_64 random(7);
  {
    auto m = words::create(path, store, {.leaf_bytes = 4_KiB, .node_bytes = 4_KiB});
    for (int i = 0; i < 20'000; ++i) {
      std::uint64_t const key = random();
      m[key] = theirs[key] = random();
    }
    m.flush();
    std::filesystem::copy_file(path, path + ".copy");  // what a crash would leave now
    auto const other = words::open(path + ".copy", store, io::access::read_only);
    EXPECT_FALSE(other.was_closed());
    EXPECT_TRUE(same(other, theirs));
    m[1] = theirs[1] = 1;
  }
  {
    auto const m = words::open(path, store, io::access::read_only);
    EXPECT_TRUE(m.was_closed());
    EXPECT_TRUE(same(m, theirs));
  }
  {
    auto m = words::open(path, store, io::access::read_only);
    EXPECT_THROW(m[2] = 2, io_error);
    EXPECT_THROW(m.erase(1), io_error);
    EXPECT_THROW(m.clear(), io_error);
    EXPECT_TRUE(same(m, theirs));
    EXPECT_NO_THROW(m.close());
  }
  auto m = words::open(path, store);
  m.clear();
  m.close();
  EXPECT_EQ(std::filesystem::file_size(path), 8_KiB);
}

TEST_F(maps_with_paths, are_open_to_one_that_changes_them_or_to_many_that_read) {
  auto const refused = [&](io::access mode) {
    try {
      words::open(path, store, mode);
      ADD_FAILURE() << "opened";
    } catch (io_error const& e) {
      EXPECT_EQ(e.code().value(), EBUSY);
      EXPECT_EQ(e.path(), path);
    }
  };
  {
    auto m = words::create(path, store);
    refused(io::access::read_only);
    m[1] = 2;
  }
  auto const one = words::open(path, store, io::access::read_only);
  auto const another = words::open(path, store, io::access::read_only);
  EXPECT_EQ(one.size(), 1U);
  EXPECT_EQ(another.size(), 1U);
  refused(io::access::read_write);
}

TEST_F(maps_with_paths, of_another_kind_are_refused) {
  words::create(path, store).close();
  EXPECT_THROW(words::create(path, store), io_error);
  EXPECT_THROW(set<std::uint64_t>::open(path, store), format_error);
  EXPECT_THROW((multimap<std::uint64_t, std::uint64_t>::open(path, store)), format_error);
  EXPECT_THROW((map<std::uint64_t, std::uint32_t>::open(path, store)), format_error);
  EXPECT_NO_THROW(words::open(path, store));
  std::ofstream(path) << std::string(10'000, 'x');
  EXPECT_THROW(words::open(path, store), format_error);
  EXPECT_THROW(words::open(path + "2", store), io_error);
}

}  // namespace
}  // namespace outsize
