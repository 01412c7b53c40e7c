// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Sorters that give back their memory while they are read: what comes out is what would have come
// out, whatever they are asked for in between, and whatever their items are.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <outsize/algorithm/record_sorter.hpp>
#include <outsize/algorithm/sorter.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize {
namespace {

using number = std::uint64_t;

struct reading {
  number key, value;
  friend bool operator<(reading const& a, reading const& b) noexcept { return a.key < b.key; }
  friend bool operator==(reading const&, reading const&) = default;
};

storage make_storage(std::uint64_t memory) {
  return storage({.disks = {disk_options("disk",
                                         [](io::request_queue&) -> io::file_ptr {
                                           return io::make_memory_file("disk", 1_GiB);
                                         })},
                  .memory_bytes = memory,
                  .threads = 2});
}

/// What a sorter has at least while it is read, by the report.
std::uint64_t least_of_sort(storage const& store) {
  for (auto const& share : store.memory_report().shares)
    if (share.asker == "sort") return share.claim.least;
  return 0;
}

/// Reads `sorted`, and takes all memory that can be had at places that `draw` chooses; twice, with
/// a rewind() in the middle.
template <typename Sorter, typename Item>
void read_under_pressure(storage& store, Sorter& sorted, std::vector<Item> const& expected,
                         std::mt19937_64& draw) {
  std::size_t at = 0;
  std::size_t const rewinds_at = draw() % expected.size();
  bool has_rewound = false;
  std::optional<grant> taken;
  for (; !sorted.empty(); ++sorted, ++at) {
    ASSERT_LT(at, expected.size());
    ASSERT_EQ(*sorted, expected[at]) << at;
    if (draw() % (expected.size() / 8) == 0) {
      taken.reset();
      std::uint64_t const free = store.memory().free_bytes();
      std::uint64_t const most = store.memory().total_bytes() - least_of_sort(store);
      taken =
          store.memory().take(draw() % 2 == 0 ? most : free + draw() % (most - free + 1), "others");
    }
    if (draw() % (expected.size() / 4) == 0) taken.reset();
    if (at == rewinds_at && !std::exchange(has_rewound, true)) {
      sorted.rewind();
      at = 0;
      ASSERT_EQ(*sorted, expected[at]);
    }
  }
  EXPECT_EQ(at, expected.size());
  sorted.rewind();
  for (at = 0; !sorted.empty(); ++sorted) ASSERT_EQ(*sorted, expected[at++]);
  EXPECT_EQ(at, expected.size());
}

/// Does so for a sorter of each of several sizes: in memory, with some that stays there, with many
/// runs. `make(store)` makes a sorter, `push(sorter, i)` adds the i-th item.
template <typename Make, typename Push>
void test_kind(Make const& make, Push const& push, std::size_t item_bytes) {
  number const seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 draw(seed);
  for (double const times : {0.1, 0.4, 1.1, 3.0, 8.0}) {
    SCOPED_TRACE(times);
    std::uint64_t const memory = 2_MiB + draw() % 2_MiB;
    storage store = make_storage(memory);
    auto const count = static_cast<number>(times * static_cast<double>(memory)) / item_bytes;
    auto plain = make(store), pressed = make(store);
    number const items_seed = draw();
    for (number i = 0; i < count; ++i) push(plain, items_seed ^ (i * 0x9e3779b97f4a7c15ULL));
    plain.sort();
    using item = decltype(std::string(), *plain);
    std::vector<std::conditional_t<std::is_convertible_v<item, std::string_view>, std::string,
                                   std::remove_cvref_t<item>>>
        expected;
    for (; !plain.empty(); ++plain) expected.emplace_back(*plain);
    plain.clear();
    for (number i = 0; i < count; ++i) push(pressed, items_seed ^ (i * 0x9e3779b97f4a7c15ULL));
    pressed.sort();
    read_under_pressure(store, pressed, expected, draw);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(suspended_output, of_numbers_goes_on_where_it_was) {
  test_kind([](storage& store) { return sorter<number>(store); },
            [](auto& s, number i) { s.push(i); }, sizeof(number));
}

TEST(suspended_output, of_items_that_compare_equal_goes_on_where_it_was) {
  test_kind([](storage& store) { return sorter<reading>(store); },
            [](auto& s, number i) {
              s.push({i % 1000, i});
            },
            sizeof(reading));
}

TEST(suspended_output, of_items_that_are_made_one_goes_on_where_it_was) {
  auto const sum = [](reading const& a, reading const& b) {
    return reading{a.key, a.value + b.value};
  };
  test_kind(
      [&](storage& store) {
        return sorter<reading, std::less<>, decltype(sum)>(store, {}, {.rewindable = true}, sum);
      },
      [](auto& s, number i) {
        s.push({i % 50'000, i % 7});
      },
      sizeof(reading));
}

TEST(suspended_output, of_unique_numbers_goes_on_where_it_was) {
  test_kind(
      [](storage& store) {
        return sorter<number>(store, {}, {.unique = true, .rewindable = true});
      },
      [](auto& s, number i) { s.push(i % 70'001); }, sizeof(number));
}

TEST(suspended_output, of_records_goes_on_where_it_was) {
  test_kind([](storage& store) { return record_sorter<>(store); },
            [](auto& s, number i) { s.push(std::string(i % 40, 'a') + std::to_string(i)); }, 50);
}

TEST(suspended_output, that_stayed_in_memory_can_be_read_again_if_it_was_written_since) {
  storage store = make_storage(4_MiB);
  sorter<number> s(store, {}, {.rewindable = false});
  for (number i = 0; i < 100'000; ++i) s.push(i * 7919 % 100'000);
  s.sort();
  for (int times = 0; times < 4; ++times) {
    number seen = 0;
    for (; !s.empty() && (times != 2 || seen < 50'000); ++s) ASSERT_EQ(*s, seen++);
    EXPECT_EQ(seen, times != 2 ? 100'000U : 50'000U);
    grant const others = store.memory().take(times == 0 ? 3_MiB : 0, "others");
    s.rewind();
  }
}

TEST(suspended_output, that_has_no_memory_says_so_again_and_again) {
  storage store = make_storage(4_MiB);
  record_sorter<> s(store);
  for (number i = 0; i < 200'000; ++i) s.push(std::to_string(i));
  s.sort();
  for (; !s.empty(); ++s) continue;
  {
    grant const others = store.memory().take(store.memory().obtainable_bytes() - 8_KiB, "others");
    EXPECT_THROW(s.rewind(), budget_error);
    EXPECT_THROW(s.rewind(), budget_error);
  }
  s.rewind();
  number seen = 0;
  for (; !s.empty(); ++s) ++seen;
  EXPECT_EQ(seen, 200'000U);
}

TEST(divided_sorters, take_long_records_although_their_shares_shrink) {
  storage store = make_storage(32_MiB);
  record_sorter<> longs(store);
  std::vector<sorter<number>> others;
  std::string const record(900'000, 'x');
  for (int i = 0; i < 60; ++i) {
    longs.push(record + std::to_string(i));
    if (i % 15 == 5) others.emplace_back(store);
    for (auto& s : others)
      for (number k = 0; k < 100'000; ++k) s.push(k);
  }
  longs.sort();
  number seen = 0;
  for (; !longs.empty(); ++longs, ++seen) ASSERT_GT((*longs).size(), record.size());
  EXPECT_EQ(seen, 60U);
}

}  // namespace
}  // namespace outsize
