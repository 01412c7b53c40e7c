// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Scans of random files with blocks of every size, held against splitting the text in memory.
#include <tools/outsize/record_scan.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <outsize/base/error.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::tool {
namespace {

std::vector<std::string> split(std::string const& bytes, char delimiter) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < bytes.size();) {
    auto const end = std::min(bytes.find(delimiter, at), bytes.size());
    lines.push_back(bytes.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

TEST(record_scan, splits_random_lines_with_any_block) {
  auto const seed = std::random_device{}();
  scratch::directory const folder;
  auto const path = folder.path("lines");
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 40; ++round) {
    std::string bytes(random() % 30'000, 'x');
    std::size_t const spread = 1 + random() % 6'000;
    for (auto& byte : bytes) byte = random() % spread == 0 ? '\n' : static_cast<char>(random());
    scratch::write_file(path, bytes);
    auto scan = record_scan::of_lines(path, '\n', {.block_bytes = 1 + random() % 9000});
    std::string previous;
    for (auto const& line : split(bytes, '\n')) {
      ASSERT_TRUE(scan.next());
      ASSERT_EQ(scan.current(), line);
      ASSERT_EQ(scan.previous(), previous);
      ASSERT_EQ(bytes.substr(scan.offset_bytes(), line.size()), line);
      previous = line;
    }
    ASSERT_FALSE(scan.next());
    ASSERT_FALSE(scan.next());
    ASSERT_EQ(scan.consumed_bytes(), bytes.size());
    ASSERT_EQ(scan.count(), split(bytes, '\n').size());
  }
}

TEST(record_scan, goes_on_after_a_move) {
  scratch::directory const folder;
  auto const path = folder.path("records");
  scratch::write_file(path, "aaabbbccc");
  auto scan = record_scan::of_records(path, 3);
  ASSERT_TRUE(scan.next() && scan.next());
  auto moved = std::move(scan);
  EXPECT_EQ(moved.current(), "bbb");
  EXPECT_TRUE(moved.next());
  EXPECT_EQ(moved.previous(), "bbb");
  EXPECT_EQ(moved.current(), "ccc");
  EXPECT_EQ(moved.offset_bytes(), 6U);
  EXPECT_FALSE(moved.next());
}

TEST(record_scan, names_a_file_that_ends_inside_a_record) {
  scratch::directory const folder;
  auto const path = folder.path("records");
  scratch::write_file(path, "aaabb");
  auto scan = record_scan::of_records(path, 3);
  EXPECT_TRUE(scan.next());
  try {
    scan.next();
    FAIL();
  } catch (format_error const& error) {
    EXPECT_EQ(error.what(), path + ": the last record is cut short: 5 bytes are no multiple of 3");
  }
}

TEST(record_scan, names_what_it_cannot_read) {
  EXPECT_THROW(record_scan::of_lines("/nowhere/at/all", '\n'), io_error);
  scratch::directory const folder;
  EXPECT_THROW(record_scan::of_lines(folder.path(), '\n'), io_error);
}

}  // namespace
}  // namespace outsize::tool
