// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Scans of random files with buffers of a few bytes, held against splitting the text in memory.
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

TEST(record_scan, splits_random_lines_with_any_buffer) {
  auto const seed = std::random_device{}();
  scratch::directory const folder;
  auto const path = folder.path("lines");
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    std::string bytes(random() % 60, 'x');
    std::size_t const spread = 1 + random() % 12;
    for (auto& byte : bytes) byte = random() % spread == 0 ? '\n' : static_cast<char>(random());
    scratch::write_file(path, bytes);
    auto scan = record_scan::of_lines(path, '\n', 1 + random() % 20);
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

TEST(record_scan, reads_records_longer_than_its_buffer) {
  scratch::directory const folder;
  auto const path = folder.path("records");
  scratch::write_file(path, "aaabbbccc");
  for (std::size_t buffer_bytes : {1U, 3U, 4U, 100U}) {
    auto scan = record_scan::of_records(path, 3, buffer_bytes);
    ASSERT_TRUE(scan.next() && scan.next() && scan.next());
    EXPECT_EQ(scan.previous(), "bbb");
    EXPECT_EQ(scan.current(), "ccc");
    EXPECT_EQ(scan.offset_bytes(), 6U);
    EXPECT_FALSE(scan.next());
  }
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
    EXPECT_EQ(error.what(), path + ": 5 bytes are no multiple of the record length, 3 bytes");
  }
}

TEST(record_scan, names_what_it_cannot_read) {
  EXPECT_THROW(record_scan::of_lines("/nowhere/at/all", '\n'), io_error);
  scratch::directory const folder;
  auto scan = record_scan::of_lines(folder.path(), '\n');
  EXPECT_THROW(scan.next(), io_error);
}

}  // namespace
}  // namespace outsize::tool
