// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A sequence against std::deque, its readers, and their I/Os against the bound.

#include <outsize/container/sequence.hpp>

#include <gtest/gtest.h>

#include <compare>
#include <concepts>
#include <cstdint>
#include <deque>
#include <random>
#include <utility>

#include <outsize/testing/counted_storage.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/faulty_storage.hpp>

namespace outsize {
namespace {

using scratch::persist;

struct sequences : testing::Test, scratch::counted_storage {};

/// @param failures  Counts accesses that have failed.
void expect_readers_equal(sequence<std::uint64_t> const& s, std::deque<std::uint64_t> const& model,
                          std::uint64_t& failures) {
  auto in = s.forward();
  ASSERT_EQ(in.size(), model.size());
  for (auto const item : model) {
    ASSERT_EQ(persist(failures, [&] { return *in; }), item);
    persist(failures, [&] { ++in; });
  }
  ASSERT_TRUE(in.empty());
  auto back = s.backward();
  for (auto it = model.rbegin(); it != model.rend(); ++it) {
    ASSERT_EQ(persist(failures, [&] { return *back; }), *it);
    persist(failures, [&] { ++back; });
  }
  ASSERT_TRUE(back.empty());
}

/// How often an access failed.
std::uint64_t run_model(storage& store, std::uint64_t seed, int phases) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::uint64_t failures = 0;
  std::mt19937_64 random(seed);
  page_pool pool(store, {.page_bytes = 64, .cache_pages = 6, .spare_pages = 2});
  sequence<std::uint64_t> s(pool);
  std::deque<std::uint64_t> model;
  for (int phase = 0; phase < phases; ++phase) {
    auto const back = random() % 101, front = random() % 101;
    for (int i = 0; i < 300; ++i) {
      auto const item = random();
      bool const at_back = random() % 2 == 0;
      if (model.empty() || random() % 100 < (at_back ? back : front)) {
        persist(failures, [&] { at_back ? s.push_back(item) : s.push_front(item); });
        at_back ? model.push_back(item) : model.push_front(item);
      } else {
        auto const expected = at_back ? model.back() : model.front();
        EXPECT_EQ(persist(failures, [&] { return at_back ? s.back() : s.front(); }), expected);
        at_back ? s.pop_back() : s.pop_front();
        at_back ? model.pop_back() : model.pop_front();
      }
      EXPECT_EQ(s.size(), model.size());
      if (testing::Test::HasFailure()) return failures;
    }
    expect_readers_equal(s, model, failures);
  }
  s.clear();
  EXPECT_TRUE(s.empty());
  EXPECT_TRUE(s.forward().empty());
  return failures;
}

TEST_F(sequences, behave_as_standard_deques_and_are_read_in_both_directions) {
  EXPECT_EQ(run_model(store, std::random_device{}(), scratch::operations(700)), 0U);
}

TEST_F(sequences, lose_nothing_when_accesses_fail) {
  auto const seed = std::random_device{}();
  scratch::faulty_storage disk(scratch::failing_or_late(seed));
  EXPECT_GT(run_model(disk.store, seed, scratch::operations(700)), scratch::operations(100U));
}

TEST_F(sequences, notice_nothing_of_accesses_that_are_short_or_late) {
  auto const seed = std::random_device{}();
  scratch::faulty_storage disk(scratch::late(seed));
  EXPECT_EQ(run_model(disk.store, seed, scratch::operations(700)), 0U);
  EXPECT_GT(disk.plan->injected(), scratch::operations(1000U));
}

TEST_F(sequences, are_read_once_by_each_reader_ahead_of_their_use) {
  sequence<std::uint64_t> s(
      store, {.page_bytes = 64, .cache_pages = 8, .spare_pages = 2, .read_ahead_pages = 3});
  for (std::uint64_t i = 0; i < 4000; ++i) {  // 1000 pages
    s.push_back(4000 + i);
    s.push_front(3999 - i);
  }
  EXPECT_LE(writes(), 1001U);
  EXPECT_EQ(reads(), 0U);
  std::uint64_t next = 0;
  for (auto in = s.forward(); !in.empty(); ++in) ASSERT_EQ(*in, next++);
  EXPECT_LE(reads(), 1001U);
  EXPECT_GE(reads(), 990U);
  auto const read = reads();
  for (auto in = s.backward(); !in.empty(); ++in) ASSERT_EQ(*in, --next);
  EXPECT_LE(reads() - read, 1001U);
  EXPECT_GE(s.cache_counts().prefetches, 1950U);
  EXPECT_LE(writes(), 1012U);  // reading changes nothing
}

TEST_F(sequences, are_in_the_order_of_their_items) {
  struct unordered {
    int number;
  };
  static_assert(!std::equality_comparable<sequence<unordered>>);
  sequence<std::uint64_t> a(store, {.page_bytes = 64, .cache_pages = 8, .spare_pages = 2}),
      b(store, {.page_bytes = 64, .cache_pages = 8, .spare_pages = 2});
  EXPECT_TRUE(a == b);
  for (std::uint64_t i = 0; i < 100; ++i) {  // 13 pages
    a.push_back(i);
    EXPECT_TRUE(a != b && a > b);
    b.push_back(i);
    ASSERT_TRUE(a == b && a <=> b == std::strong_ordering::equal);
  }
  a.push_back(1);
  b.push_back(2);
  EXPECT_TRUE(a < b && !(a == b));
}

TEST(sequence_content, may_be_given_at_once) {
  scratch::counted_storage disk;
  sequence<int> numbers(disk.store, {1, 2, 3});
  EXPECT_EQ(numbers.size(), 3U);
  EXPECT_EQ(numbers.front(), 1);
  sequence<int> const paged(disk.store, {1, 2, 3}, {.page_bytes = 64});
  EXPECT_TRUE(numbers == paged);
  EXPECT_TRUE(sequence<int>(disk.store, {.page_bytes = 64}).empty());
}

}  // namespace
}  // namespace outsize
