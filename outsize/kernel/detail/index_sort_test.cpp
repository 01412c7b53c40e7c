// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Index entries of records against std::stable_sort: common prefixes, ends inside them, equals.

#include <outsize/kernel/detail/index_sort.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/kernel/byte_order.hpp>
#include <outsize/testing/index_places.hpp>

namespace outsize::detail {
namespace {

using scratch::index_places;
using scratch::stable_places;

/// Bytes alone, without what lets it look further.
struct shallow_order {
  byte_order bytes;
  std::uint64_t prefix(std::string_view r) const { return bytes.prefix(r); }
  int compare(std::string_view a, std::string_view b) const { return bytes.compare(a, b); }
};
static_assert(deepening_order<byte_order>);
static_assert(!deepening_order<shallow_order>);

/// Wants to know of all that are equal, but for those whose number is a multiple of 7.
struct noting_equals {
  bool wanted() const { return true; }
  bool operator()(std::uint64_t place, std::uint64_t later) const {
    EXPECT_LT(place, later);
    return later % 7 != 0;
  }
};

/// Sorted places as they are if equal ones are noted so.
std::vector<std::uint64_t> noted(std::vector<std::uint64_t> places,
                                 std::vector<std::string> const& records) {
  for (std::size_t i = 1; i < places.size(); ++i)
    if (places[i] % 7 != 0 && records[places[i]] == records[places[i - 1]])
      places[i] = places[i - 1];
  return places;
}

void expect_sorted(std::vector<std::string> const& records) {
  for (bool const descending : {false, true}) {
    byte_order const order{descending};
    auto const want = stable_places(order, records);
    EXPECT_EQ(index_places(order, records), want);
    EXPECT_EQ(index_places(shallow_order{order}, records), want);
    EXPECT_EQ(index_places(order, records, noting_equals()), noted(want, records));
    EXPECT_EQ(index_places(shallow_order{order}, records, noting_equals()), noted(want, records));
  }
}

TEST(index_sort, sorts_no_record_and_one) {
  expect_sorted({});
  expect_sorted({"one"});
}

TEST(index_sort, sorts_records_of_few_different_bytes) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::size_t const longest = 1 + random() % 60;
    std::string const common(random() % 40, "\0a"[random() % 2]);
    std::vector<std::string> records(random() % 3000);
    for (auto& r : records) {
      r = common + std::string(random() % longest, '\0');
      for (std::size_t i = common.size(); i < r.size(); ++i) r[i] = "\0\0\0a\xff"[random() % 5];
    }
    expect_sorted(records);
  }
}

TEST(index_sort, puts_records_that_end_before_those_that_go_on) {
  std::vector<std::string> records;
  for (char const filling : {'\0', 'x'})
    for (std::size_t length = 0; length < 70; ++length)
      for (int copies = 0; copies < 3; ++copies) records.emplace_back(length, filling);
  std::mt19937_64 random(5);
  std::ranges::shuffle(records, random);
  expect_sorted(records);
}

TEST(index_sort, keeps_the_order_of_equal_records) {
  for (std::size_t length : {0, 7, 8, 9, 15, 16, 100})
    expect_sorted(std::vector<std::string>(500, std::string(length, 'e')));
}

TEST(index_sort, looks_at_long_common_prefixes_as_often_as_there_are_records) {
  struct counting_order : byte_order {
    std::size_t* looks;
    std::uint64_t deeper_prefix(std::string_view r, key_depth depth) const {
      ++*looks;
      return byte_order::deeper_prefix(r, depth);
    }
  };
  std::vector<std::string> records;
  for (int i = 0; i < 1000; ++i) records.push_back(std::string(5000, 'p') + std::to_string(i * 7));
  std::size_t looks = 0;
  counting_order order;
  order.looks = &looks;
  EXPECT_EQ(index_places(order, records), stable_places(order, records));
  EXPECT_LT(looks, 4 * records.size());
}

}  // namespace
}  // namespace outsize::detail
