// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/detail/sort/family/recent_records.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <outsize/codec/detail/record_place.hpp>

namespace outsize::detail {
namespace {

/// A chunk that every record is put into, as if nothing were ever found.
struct recent_records_of_a_chunk : testing::Test {
  std::vector<std::byte> chunk = std::vector<std::byte>(1 << 20);
  std::vector<std::byte> memory = std::vector<std::byte>(recent_records::memory_bytes(1 << 20));
  recent_records recent{memory};
  std::size_t used = 0;

  std::optional<std::uint64_t> look(std::string const& record) {
    std::memcpy(chunk.data() + used, record.data(), record.size());
    auto const place = record_place::encode(used, record.size());
    used += record.size();
    return recent.find_or_note(record, recent.hash_of(record), chunk.data(), place);
  }
};

TEST_F(recent_records_of_a_chunk, are_found_where_they_were_noted) {
  EXPECT_FALSE(look("one"));
  EXPECT_FALSE(look("other"));
  EXPECT_EQ(look("one"), record_place::encode(0, 3));
  EXPECT_EQ(look("other"), record_place::encode(3, 5));
  EXPECT_FALSE(look(""));
  EXPECT_TRUE(look(""));
  recent.note(recent.hash_of("one"), record_place::encode(8, 3));
  EXPECT_EQ(look("one"), record_place::encode(8, 3));
}

TEST_F(recent_records_of_a_chunk, have_the_same_hashes_when_many_are_looked_at) {
  std::vector<std::string> const texts{"one", "other", "", std::string(100, 'x'), "one"};
  look(texts[0]);
  std::vector<std::string_view> const records(texts.begin(), texts.end());
  std::vector<recent_records::hash> hashes(records.size());
  recent.look_ahead(records, chunk.data(), hashes);
  for (std::size_t i = 0; i < records.size(); ++i)
    EXPECT_EQ(hashes[i], recent.hash_of(records[i])) << records[i];
  std::ranges::fill(hashes, 1);
  recent_records().look_ahead(records, chunk.data(), hashes);
  EXPECT_EQ(hashes, std::vector<recent_records::hash>(records.size(), 0));
}

TEST_F(recent_records_of_a_chunk, are_given_up_where_few_come_again) {
  for (int i = 0; i < 10'000; ++i) look("record " + std::to_string(i));
  look("again");
  EXPECT_FALSE(look("again"));
}

TEST_F(recent_records_of_a_chunk, are_looked_for_as_long_as_many_come_again) {
  std::size_t found = 0;
  for (int i = 0; i < 20'000; ++i) found += look("record " + std::to_string(i % 100)) ? 1 : 0;
  EXPECT_GT(found, 15'000U);
}

TEST(recent_records, take_little_of_a_chunk) {
  EXPECT_EQ(recent_records::memory_bytes(100 << 20), 256U << 10);
  EXPECT_EQ(recent_records::memory_bytes(1 << 20), 8192U);
  EXPECT_EQ(recent_records::memory_bytes(100), 16U);
  EXPECT_FALSE(recent_records().find_or_note("any", 0, nullptr, 0));
}

}  // namespace
}  // namespace outsize::detail
