// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Golden hashes pin the bytes; the other tests hold what the kinds promise.
#include <tools/outsize/generator.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <xxhash.h>

#include <tools/outsize/options.hpp>

namespace outsize::tool {
namespace {

std::string generate(item_kind kind, std::uint64_t seed, std::uint64_t first, std::size_t count) {
  generator const items(kind, seed);
  std::string bytes(items.buffer_bytes(count), '\0');
  bytes.resize(items.write(first, count, bytes.data()));
  return bytes;
}

std::vector<std::uint64_t> numbers(item_kind kind, std::uint64_t seed, std::size_t count) {
  std::vector<std::uint64_t> values;
  auto const bytes = generate(kind, seed, 0, count);
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    std::uint64_t value = 0;
    for (std::size_t i = 8; i-- > 0;)
      value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    values.push_back(value);
  }
  return values;
}

std::vector<std::string> split_lines(std::string const& bytes) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < bytes.size();) {
    auto const end = bytes.find('\n', at);
    lines.push_back(bytes.substr(at, end - at + 1));
    at = end + 1;
  }
  return lines;
}

bool is_printable(char byte) { return byte >= ' ' && byte <= '~'; }

std::vector<item_kind> all_kinds() {
  std::vector<item_kind> kinds;
  for (auto const name : item_kind_names) kinds.push_back(parse_item_kind(name));
  return kinds;
}

struct golden {
  item_kind kind;
  std::uint64_t seed;
  std::uint64_t first;
  std::uint64_t hash;
};

TEST(generator, makes_the_same_bytes_for_ever) {
  for (auto const& [kind, seed, first, hash] : {
           golden{item_kind::u64, 0, 0, 0x2149d89c23098ab7U},
           golden{item_kind::u64, 1, 1'000'000'007, 0xbd3d0733a6ed0e38U},
           golden{item_kind::u64_asc, 0, 0, 0xdd491cb09e55aa2eU},
           golden{item_kind::u64_asc, 1, 1'000'000'007, 0xe9a2620dfd36f486U},
           golden{item_kind::u64_desc, 0, 0, 0x8b78640d99998924U},
           golden{item_kind::u64_desc, 1, 1'000'000'007, 0x8e6631a25fa6a1e5U},
           golden{item_kind::u64_near, 0, 0, 0x5d744bf8965f9c8cU},
           golden{item_kind::u64_near, 1, 1'000'000'007, 0xab3443a58b090e41U},
           golden{item_kind::u64_few, 0, 0, 0x85b315549eb35f44U},
           golden{item_kind::u64_few, 1, 1'000'000'007, 0xa85f84586d1ea278U},
           golden{item_kind::u64_zipf, 0, 0, 0x9f5418f4f4c701dfU},
           golden{item_kind::u64_zipf, 1, 1'000'000'007, 0x9227d36165980cd9U},
           golden{item_kind::u64_same, 0, 0, 0xf35a8eb32d21b75dU},
           golden{item_kind::pairs, 1, 1'000'000'007, 0x89bc7fd7033e15eU},
           golden{item_kind::triples, 1, 1'000'000'007, 0xdf2ec285784618d1U},
           golden{item_kind::f64, 0, 0, 0x7837f0c002bf8537U},
           golden{item_kind::f64, 1, 1'000'000'007, 0xad79bde3e7949425U},
           golden{item_kind::records, 0, 0, 0xc822e4cf499d4ee5U},
           golden{item_kind::records, 1, 1'000'000'007, 0x0bfd11ed7424ec7aU},
           golden{item_kind::lines, 0, 0, 0xffe57914cf1102acU},
           golden{item_kind::lines, 1, 1'000'000'007, 0x90ed8ec807b6e5bbU},
       }) {
    auto const bytes = generate(kind, seed, first, 1000);
    EXPECT_EQ(XXH3_64bits(bytes.data(), bytes.size()), hash)
        << item_kind_names[static_cast<std::size_t>(kind)] << " seed " << seed << " first "
        << first;
  }
}

TEST(generator, makes_any_part_by_itself) {
  for (auto const kind : all_kinds()) {
    auto const whole = generate(kind, 5, 0, 300);
    EXPECT_EQ(generate(kind, 5, 0, 111) + generate(kind, 5, 111, 189), whole);
    EXPECT_NE(generate(kind, 6, 0, 300), whole);
  }
}

TEST(generator, makes_floating_point_numbers_of_either_sign_from_1_to_2) {
  std::size_t negative = 0;
  for (std::uint64_t const bits : numbers(item_kind::f64, 3, 5000)) {
    double const value = std::bit_cast<double>(bits);
    EXPECT_GE(std::abs(value), 1);
    EXPECT_LT(std::abs(value), 2);
    negative += value < 0 ? 1 : 0;
  }
  EXPECT_GT(negative, 2000U);
  EXPECT_LT(negative, 3000U);
}

TEST(generator, monotone_kinds_are_strict) {
  auto const up = numbers(item_kind::u64_asc, 3, 5000);
  EXPECT_TRUE(std::ranges::is_sorted(up, std::less_equal<>{}));
  auto const down = numbers(item_kind::u64_desc, 3, 5000);
  EXPECT_TRUE(std::ranges::is_sorted(down, std::greater_equal<>{}));
  generator const items(item_kind::u64_asc, 3);
  auto const last = generate(item_kind::u64_asc, 3, items.limit() - 1, 1);
  EXPECT_EQ(last.substr(6), "\xff\xff") << "the last index still fits";
}

TEST(generator, near_ones_are_a_little_behind_their_places) {
  auto const values = numbers(item_kind::u64_near, 3, 5000);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_GE(values[i] >> 20, i);
    EXPECT_LT(values[i] >> 20, i + 1024);
  }
  EXPECT_FALSE(std::ranges::is_sorted(values));
}

TEST(generator, few_are_sixteen_values) {
  auto const values = numbers(item_kind::u64_few, 3, 4000);
  EXPECT_EQ(std::set(values.begin(), values.end()).size(), 16U);
}

TEST(generator, same_is_one_value) {
  auto const values = numbers(item_kind::u64_same, 3, 4000);
  EXPECT_EQ(std::set(values.begin(), values.end()).size(), 1U);
}

TEST(generator, pairs_have_a_random_key_and_their_index) {
  auto const keys = numbers(item_kind::u64, 3, 1000);
  auto const bytes = generate(item_kind::pairs, 3, 0, 1000);
  ASSERT_EQ(bytes.size(), 16'000U);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    std::array<std::uint64_t, 2> pair{};
    std::memcpy(pair.data(), bytes.data() + 16 * i, 16);
    EXPECT_EQ(pair, (std::array{keys[i], i}));
  }
}

TEST(generator, triples_have_a_random_number_and_two_of_few_values) {
  auto const bytes = generate(item_kind::triples, 3, 0, 100'000);
  std::array<std::set<std::uint32_t>, 2> values;
  for (std::size_t at = 8; at < bytes.size(); at += 16) {
    std::array<std::uint32_t, 2> small{};
    std::memcpy(small.data(), bytes.data() + at, 8);
    for (std::size_t i = 0; i < 2; ++i) values[i].insert(small[i]);
  }
  for (auto const& seen : values) {
    EXPECT_EQ(seen.size(), 4096U);
    EXPECT_LT(*seen.rbegin(), 4096U);
  }
}

TEST(generator, zipf_values_are_skewed_by_rank) {
  std::map<std::uint64_t, int> counts;
  for (auto const value : numbers(item_kind::u64_zipf, 3, 100'000)) ++counts[value];
  std::vector<int> sorted;
  for (auto const& [value, count] : counts) sorted.push_back(count);
  std::ranges::sort(sorted, std::greater<>{});
  // The harmonic number of 65536 is 11.67: the first value has 8.6 % of all, the tenth a tenth.
  EXPECT_NEAR(sorted[0], 8570, 500);
  EXPECT_NEAR(sorted[9], 857, 150);
  EXPECT_GT(counts.size(), 10'000U);
}

TEST(generator, records_are_lines_of_100_printable_bytes) {
  auto const bytes = generate(item_kind::records, 3, 77, 1000);
  ASSERT_EQ(bytes.size(), 100'000U);
  std::set<std::string> keys;
  for (auto const& record : split_lines(bytes)) {
    ASSERT_EQ(record.size(), 100U);
    ASSERT_TRUE(std::all_of(record.begin(), record.end() - 1, is_printable));
    keys.insert(record.substr(0, 10));
  }
  EXPECT_EQ(keys.size(), 1000U);
  EXPECT_EQ(bytes.substr(10, 18), " 000000000000004d ");
}

TEST(generator, lines_have_20_to_200_bytes_and_some_repeat) {
  auto const lines = split_lines(generate(item_kind::lines, 3, 0, 20'000));
  ASSERT_EQ(lines.size(), 20'000U);
  std::map<std::string, int> counts;
  std::map<std::string, int> prefixes;
  std::size_t shortest = 1000;
  std::size_t longest = 0;
  for (auto const& line : lines) {
    ASSERT_TRUE(std::all_of(line.begin(), line.end() - 1, is_printable));
    shortest = std::min(shortest, line.size());
    longest = std::max(longest, line.size());
    ++counts[line];
    ++prefixes[line.substr(0, 19)];
  }
  EXPECT_EQ(shortest, 20U);
  EXPECT_EQ(longest, 200U);
  auto const repeated = std::ranges::count_if(counts, [](auto& entry) { return entry.second > 1; });
  EXPECT_GT(repeated, 500);
  EXPECT_LT(repeated, 2000);
  auto const shared =
      std::ranges::count_if(prefixes, [](auto& entry) { return entry.second > 90; });
  EXPECT_EQ(shared, 16);
}

TEST(generator, refuses_unknown_kinds_by_name) {
  try {
    parse_item_kind("u65");
    FAIL();
  } catch (usage_error const& error) {
    EXPECT_NE(std::string(error.what()).find("'u65'"), std::string::npos);
  }
}

}  // namespace
}  // namespace outsize::tool
