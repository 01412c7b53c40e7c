// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Containers of a storage with checksums of all blocks, in which one bit of one write goes out
// wrong: what comes out is right, or corrupt_block says that it would not be.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/queue.hpp>
#include <outsize/container/stack.hpp>
#include <outsize/container/unordered_map.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize {
namespace {

using number = std::uint64_t;
constexpr number seed = 5;

/// Each fills a container, changes it here and there, and reads it in the ways that there are;
/// false if what came out is not what went in.
bool use_vector(storage& store) {
  constexpr number count = 4000;
  vector<number> v(store, {.page_bytes = 512, .cache_pages = 4});
  for (number i = 0; i < count; ++i) v.push_back(i);
  std::mt19937_64 random(seed);
  std::vector<number> model(count);
  for (number i = 0; i < count; ++i) model[i] = i;
  for (int step = 0; step < 500; ++step) {
    number const at = random() % count;
    v[at] = model[at] = random();
  }
  if (!std::equal(v.cbegin(), v.cend(), model.begin(), model.end())) return false;
  std::vector<number> indices(200), items(200);
  for (auto& i : indices) i = random() % count;
  v.read_many(indices, items);
  for (std::size_t i = 0; i < indices.size(); ++i)
    if (items[i] != model[indices[i]]) return false;
  return true;
}

template <typename Map>
bool use_map(Map& m) {
  std::vector<typename Map::value_type> sorted;
  std::map<number, number> model;
  for (number key = 0; key < 3000; ++key) {
    sorted.push_back({2 * key, key});
    model.emplace(2 * key, key);
  }
  m.build(sorted);
  std::mt19937_64 random(seed);
  for (int step = 0; step < 500; ++step) {
    number const key = random() % 6000;
    if (step % 3 == 0) {
      m.erase(key);
      model.erase(key);
    } else {
      m.insert({key, key});
      model.insert({key, key});
    }
  }
  std::vector<number> keys(300);
  for (auto& key : keys) key = random() % 6000;
  std::vector<std::optional<number>> found(keys.size());
  m.find_many(keys, found);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto const there = model.find(keys[i]);
    if (found[i].has_value() != (there != model.end())) return false;
    if (found[i] && *found[i] != there->second) return false;
  }
  std::map<number, number> content;
  for (auto const& [key, value] : m) content.emplace(key, value);
  return content == model;
}

bool use_ordered_map(storage& store) {
  map<number, number> m(
      store,
      {.leaf_bytes = 512, .node_bytes = 256, .leaf_cache_bytes = 8 * 512, .node_cache_bytes = 1});
  return use_map(m);
}

bool use_hashed_map(storage& store) {
  unordered_map<number, number> m(store, {.page_bytes = 512, .cache_pages = 8});
  return use_map(m);
}

template <typename Ends>
bool use_ends(Ends& ends, bool is_stack) {
  constexpr number count = 5000;
  for (number i = 0; i < count; ++i) ends.push(i);
  for (number i = 0; i < count; ++i, ends.pop()) {
    number const next = [&] {
      if constexpr (requires { ends.top(); })
        return ends.top();
      else
        return ends.front();
    }();
    if (next != (is_stack ? count - 1 - i : i)) return false;
  }
  return true;
}

bool use_stack(storage& store) {
  stack<number> s(store, {.page_bytes = 512, .cache_pages = 4});
  return use_ends(s, true);
}

bool use_queue(storage& store) {
  queue<number> q(store, {.page_bytes = 512, .cache_pages = 4});
  return use_ends(q, false);
}

struct use {
  char const* name;
  bool (*run)(storage&);
};

class checked_pages : public testing::TestWithParam<use> {
 protected:
  enum class ending { right, wrong, noticed };

  static ending run(std::shared_ptr<io::fault_plan> const& plan, block_checksums checksums) {
    auto const open = [&plan](io::request_queue&) -> io::file_ptr {
      return std::make_unique<io::faulty_file>(io::make_memory_file("disk", 64_MiB), plan);
    };
    storage store({.disks = {disk_options("disk", open)},
                   .memory_bytes = 16_MiB,
                   .threads = 1,
                   .checksums = checksums});
    try {
      return GetParam().run(store) ? ending::right : ending::wrong;
    } catch (corrupt_block const& e) {
      EXPECT_EQ(e.disk(), "disk");
      return ending::noticed;
    }
  }
};

TEST_P(checked_pages, are_right_or_an_error_says_that_they_are_not) {
  auto const clean = std::make_shared<io::fault_plan>();
  ASSERT_EQ(run(clean, block_checksums::of_all), ending::right);
  std::uint64_t const writes = clean->calls(io::fault_point::write);
  ASSERT_GT(writes, 20U);
  std::mt19937_64 random(seed);
  int noticed = 0;
  std::uint64_t const step = std::max<std::uint64_t>(writes / 50, 1);
  for (std::uint64_t write = 0; write < writes; write += step) {
    SCOPED_TRACE("write " + std::to_string(write));
    auto const plan = std::make_shared<io::fault_plan>();
    plan->script(io::fault_point::write, write, io::fault::flip(random()));
    auto const how = run(plan, block_checksums::of_all);
    EXPECT_NE(how, ending::wrong);
    noticed += how == ending::noticed;
  }
  EXPECT_GT(noticed, 10);
}

INSTANTIATE_TEST_SUITE_P(containers, checked_pages,
                         testing::Values(use{"vector", use_vector}, use{"map", use_ordered_map},
                                         use{"unordered_map", use_hashed_map},
                                         use{"stack", use_stack}, use{"queue", use_queue}),
                         [](auto const& one) { return one.param.name; });

}  // namespace
}  // namespace outsize
