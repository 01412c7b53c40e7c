// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A sequence against std::deque, its streams, and their I/Os against the bound.

#include <outsize/container/sequence.hpp>

#include <gtest/gtest.h>

#include <compare>
#include <concepts>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/testing/counted_storage.hpp>
#include <outsize/testing/effort.hpp>

namespace outsize {
namespace {

struct sequences : testing::Test, scratch::counted_storage {};

template <typename Action>
auto persist(Action const& action) {
  for (;;) try {
      return action();
    } catch (io_error const&) {
    }
}

void expect_streams_equal(sequence<std::uint64_t> const& s,
                          std::deque<std::uint64_t> const& model) {
  auto in = s.forward();
  ASSERT_EQ(in.size(), model.size());
  for (auto const item : model) {
    ASSERT_EQ(persist([&] { return *in; }), item);
    persist([&] { ++in; });
  }
  ASSERT_TRUE(in.empty());
  auto back = s.backward();
  for (auto it = model.rbegin(); it != model.rend(); ++it) {
    ASSERT_EQ(persist([&] { return *back; }), *it);
    persist([&] { ++back; });
  }
  ASSERT_TRUE(back.empty());
}

void run_model(storage& store, std::uint64_t seed, int phases) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
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
        persist([&] { at_back ? s.push_back(item) : s.push_front(item); });
        at_back ? model.push_back(item) : model.push_front(item);
      } else {
        auto const expected = at_back ? model.back() : model.front();
        ASSERT_EQ(persist([&] { return at_back ? s.back() : s.front(); }), expected);
        at_back ? s.pop_back() : s.pop_front();
        at_back ? model.pop_back() : model.pop_front();
      }
      ASSERT_EQ(s.size(), model.size());
    }
    expect_streams_equal(s, model);
    if (testing::Test::HasFatalFailure()) return;
  }
  s.clear();
  EXPECT_TRUE(s.empty());
  EXPECT_TRUE(s.forward().empty());
}

TEST_F(sequences, behave_as_standard_deques_and_stream_in_both_directions) {
  run_model(store, std::random_device{}(), scratch::operations(200));
}

TEST_F(sequences, lose_nothing_when_accesses_fail) {
  auto const seed = std::random_device{}();
  auto const plan = std::make_shared<io::fault_plan>(
      io::fault_odds{.seed = seed, .fail = 0.03, .interrupt = 0.05, .shorten = 0.1});
  auto const open = [&](io::request_queue&) -> io::file_ptr {
    return std::make_unique<io::faulty_file>(io::make_memory_file("memory", 16_MiB), plan);
  };
  storage faulty({.disks = {disk_options("memory", open)}, .memory = 1_MiB, .threads = 1});
  run_model(faulty, seed, scratch::operations(700));
}

TEST_F(sequences, are_read_once_by_each_stream_ahead_of_their_use) {
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

}  // namespace
}  // namespace outsize
