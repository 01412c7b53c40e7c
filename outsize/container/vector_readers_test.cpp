// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Readers and writers against a standard vector; what they cost.

#include <outsize/container/vector_readers.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <outsize/page/page_pool.hpp>
#include <outsize/testing/counted_storage.hpp>
#include <outsize/testing/effort.hpp>

namespace outsize {
namespace {

struct readers_of_vectors : testing::Test, scratch::counted_storage {
  vector<std::uint64_t> v{store, {.page_bytes = 64, .cache_pages = 6, .read_ahead_pages = 2}};
  std::vector<std::uint64_t> model;

  void expect_equal() const {
    ASSERT_EQ(v.size(), model.size());
    ASSERT_TRUE(std::equal(v.begin(), v.end(), model.begin()));
  }
  std::span<std::uint64_t const> part(std::uint64_t begin, std::uint64_t end) const {
    return std::span(model).subspan(begin, end - begin);
  }
};

TEST_F(readers_of_vectors, write_and_read_what_a_standard_vector_has) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < scratch::operations(300); ++round) {
    std::vector<std::uint64_t> items(random() % 40);
    for (auto& item : items) item = random();
    auto const begin = random() % (model.size() + 1);
    if (random() % 2 == 0) {
      vector_writer out(v);
      out.push(items);
      out.push(7);
      model.insert(model.end(), items.begin(), items.end());
      model.push_back(7);
    } else {
      vector_writer out(v, begin, begin + items.size());
      for (auto const item : items) out.push(item);
      if (random() % 2 == 0) out.finish();
      model.resize(std::max(model.size(), begin + items.size()));
      std::ranges::copy(items, model.begin() + static_cast<std::ptrdiff_t>(begin));
    }
    expect_equal();
    if (random() % 10 == 0) {
      v.resize(model.size() + 30);  // blank pages
      for (auto i = model.size(); i < model.size() + 30; ++i) v[i] = 0;
      model.resize(model.size() + 30);
    }
    auto const first = random() % (model.size() + 1);
    auto const last = first + random() % (model.size() - first + 1);
    std::vector<std::uint64_t> found;
    for (vector_reader in(v, first, last); !in.empty();) {
      ASSERT_EQ(in.size(), last - first - found.size());
      auto const items_there = in.pull();
      auto const taken = items_there.first(1 + random() % items_there.size());
      found.insert(found.end(), taken.begin(), taken.end());
      in.skip(taken.size());
    }
    ASSERT_TRUE(std::ranges::equal(found, part(first, last)));
    found.clear();
    for (vector_reverse_reader in(v, first, last); !in.empty(); ++in) found.push_back(*in);
    std::ranges::reverse(found);
    ASSERT_TRUE(std::ranges::equal(found, part(first, last)));
  }
}

TEST_F(readers_of_vectors, write_while_other_pages_are_touched) {
  std::mt19937_64 random(4);
  for (std::uint64_t i = 0; i < 2000; ++i) {
    v.push_back(i);
    model.push_back(i);
  }
  vector_writer out(v);
  for (int i = 0; i < 3000; ++i) {
    for (auto k = random() % 4; k > 0; --k) v[random() % 2000] += 0;
    std::uint64_t const item = v[random() % 2000];
    if (i % 3 == 0)
      out.push(std::array{item, item + 1});
    else
      out.push(item);
    model.push_back(item);
    if (i % 3 == 0) model.push_back(item + 1);
  }
  out.finish();
  expect_equal();
}

TEST_F(readers_of_vectors, take_turns_in_a_pool) {
  page_pool pool(store, {.page_bytes = 64, .cache_pages = 12, .spare_pages = 2});
  std::vector<vector<std::uint64_t>> parts;
  for (int i = 0; i < 20; ++i) parts.emplace_back(pool);
  std::vector<std::unique_ptr<vector_writer<std::uint64_t>>> out;
  for (auto& part : parts) out.push_back(std::make_unique<vector_writer<std::uint64_t>>(part));
  for (std::uint64_t i = 0; i < 4000; ++i) out[i % 20]->push(i);
  out.clear();
  for (std::uint64_t i = 0; i < 4000; ++i) ASSERT_EQ(std::as_const(parts[i % 20])[i / 20], i);
}

TEST_F(readers_of_vectors, read_zeros_where_nothing_was_written) {
  v.resize(1000);
  std::uint64_t count = 0;
  for (vector_reader in(v); !in.empty(); ++in, ++count) ASSERT_EQ(*in, 0U);
  for (vector_reverse_reader in(v); !in.empty(); ++in, ++count) ASSERT_EQ(*in, 0U);
  EXPECT_EQ(count, 2000U);
  EXPECT_EQ(reads(), 0U);
}

TEST_F(readers_of_vectors, replace_whole_pages_without_reading_them) {
  vector_writer fill(v);
  for (std::uint64_t i = 0; i < 400; ++i) fill.push(i);  // 50 pages
  fill.finish();
  v.flush();
  std::ignore = std::as_const(v).front();
  auto const before = reads();
  vector_writer over(v, 4, 396);
  for (std::uint64_t i = 4; i < 396; ++i) over.push(2 * i);
  over.finish();
  EXPECT_LE(reads() - before, 2U);  // the first and the last page
  EXPECT_EQ(std::as_const(v)[3], 3U);
  EXPECT_EQ(std::as_const(v)[4], 8U);
  EXPECT_EQ(std::as_const(v)[395], 790U);
  EXPECT_EQ(std::as_const(v)[396], 396U);
  v.flush();
  auto const reads_before = reads();
  auto const writes_before = writes();
  std::uint64_t count = 0;
  for (vector_reader in(v); !in.empty(); ++in) ++count;
  EXPECT_EQ(count, 400U);
  EXPECT_LE(reads() - reads_before, 50U);
  EXPECT_EQ(writes(), writes_before);
}

TEST_F(readers_of_vectors, leave_the_vector_alone_after_finish) {
  vector<std::uint64_t> other(store, {.page_bytes = 64, .cache_pages = 6});
  vector_writer out(other);
  out.push(1);
  out.finish();
  auto moved = std::move(other);
  moved.clear();
  out.finish();
  EXPECT_EQ(moved.size(), 0U);
}

TEST(vector_writer_death_test, asserts_that_nothing_is_pushed_after_finish) {
  auto const misuse = [] {
    scratch::counted_storage disk;
    vector<std::uint64_t> other(disk.store, {.page_bytes = 64, .cache_pages = 6});
    vector_writer out(other);
    out.push(1);
    out.finish();
    out.push(2);
  };
  EXPECT_DEATH(misuse(), "pushed after finish");
}

}  // namespace
}  // namespace outsize
