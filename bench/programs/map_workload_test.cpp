// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

#include "map_workload.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/testing/scratch_directory.hpp>

namespace map_workload {
namespace {

std::vector<entry> all_of(sorted_entries const& from) {
  std::vector<entry> all;
  for (entry_cursor at(from); !at.done(); ++at) all.push_back(*at);
  return all;
}

digest digest_of(std::vector<entry> const& entries) {
  digest found;
  for (auto const& e : entries) found.add(e);
  return found;
}

std::vector<std::uint64_t> const sizes{1, 40, 79, 80, 4000, 400'040, 5'000'000};

TEST(map_workload, stored_keys_ascend_and_are_even) {
  for (auto const bytes : sizes) {
    workload const load(bytes);
    for (std::uint64_t i = 0; i < load.count(); ++i) {
      ASSERT_EQ(load.stored(i) % 2, 0U);
      ASSERT_TRUE(i == 0 || load.stored(i - 1) < load.stored(i)) << bytes;
    }
  }
}

TEST(map_workload, shuffled_keys_are_those_stored) {
  for (auto const bytes : sizes) {
    workload const load(bytes);
    std::set<std::uint64_t> stored, shuffled;
    for (std::uint64_t i = 0; i < load.count(); ++i) {
      stored.insert(load.stored(i));
      shuffled.insert(load.shuffled(i));
    }
    EXPECT_EQ(stored, shuffled) << bytes;
  }
}

TEST(map_workload, inserted_keys_are_odd_and_come_once) {
  workload const load(400'000'000);
  std::set<std::uint64_t> inserted;
  for (std::uint64_t j = 0; j < load.operations(); ++j) {
    ASSERT_EQ(load.inserted(j) % 2, 1U);
    inserted.insert(load.inserted(j));
  }
  EXPECT_EQ(inserted.size(), 100'000U);
}

TEST(map_workload, operations_are_a_million_at_most) {
  EXPECT_EQ(workload(std::uint64_t{4} << 30).operations(), 1'000'000U);
  EXPECT_EQ(workload(std::uint64_t{1} << 30).operations(), 268'435U);
  EXPECT_EQ(workload(1).operations(), 1U);
}

TEST(map_workload, digests_see_what_is_missing_exchanged_or_out_of_order) {
  workload const load(4000);
  auto const entries = all_of(sorted_entries(load, ""));
  digest const right = digest_of(entries);
  EXPECT_TRUE(right.ascending && right.same_entries(load.all_stored()));

  auto wrong = entries;
  wrong.pop_back();
  EXPECT_FALSE(digest_of(wrong).same_entries(right));
  wrong = entries;
  std::swap(wrong[3].data, wrong[4].data);
  EXPECT_FALSE(digest_of(wrong).same_entries(right));
  wrong = entries;
  std::swap(wrong[3].data.words[0], wrong[3].data.words[3]);
  EXPECT_FALSE(digest_of(wrong).same_entries(right));
  wrong = entries;
  std::swap(wrong[3], wrong[4]);
  EXPECT_TRUE(digest_of(wrong).same_entries(right));
  EXPECT_FALSE(digest_of(wrong).ascending);
  wrong = entries;
  wrong[4] = wrong[3];
  EXPECT_FALSE(digest_of(wrong).ascending);
}

TEST(map_workload, a_file_gives_what_is_computed) {
  workload const load(5'000'000);
  auto const entries = all_of(sorted_entries(load, ""));
  outsize::scratch::directory const folder;
  auto const path = folder.path("entries");
  outsize::scratch::write_file(path, std::string_view(reinterpret_cast<char const*>(entries.data()),
                                                      entries.size() * sizeof(entry)));
  auto const read = all_of(sorted_entries(load, path));
  EXPECT_EQ(read.size(), load.count());
  EXPECT_TRUE(digest_of(read).ascending);
  EXPECT_TRUE(digest_of(read).same_entries(load.all_stored()));
  EXPECT_THROW(all_of(sorted_entries(workload(5'000'040), path)), std::runtime_error);
}

}  // namespace
}  // namespace map_workload
