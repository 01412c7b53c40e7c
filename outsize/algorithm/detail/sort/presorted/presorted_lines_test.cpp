// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Files of lines in order, and with one line out of order anywhere: the right output, and the bytes
// it took.

#include <outsize/algorithm/detail/sort/presorted/presorted_lines.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/file_merge.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/kernel/byte_order.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::detail {
namespace {

using lines = std::vector<std::string>;
constexpr std::size_t buffer_bytes = 20_KiB;  // with 2 MiB

/// By the first three bytes alone.
struct by_beginning {
  static std::string_view key(std::string_view line) { return line.substr(0, 3); }
  std::uint64_t prefix(std::string_view line) const { return byte_order{}.prefix(key(line)); }
  int compare(std::string_view a, std::string_view b) const { return key(a).compare(key(b)); }
  bool equal_keys(std::string_view a, std::string_view b) const { return key(a) == key(b); }
};

class presorted_lines : public ::testing::Test {
 protected:
  /// Whether a sort copies these lines; compares its output with std::stable_sort.
  template <typename Order = byte_order>
  bool is_copied(lines all, Order order = {}, char delimiter = '\n', bool ends = true) {
    std::string text = joined(all, delimiter);
    if (!ends) text.pop_back();
    scratch::write_file(in_, text);
    storage store({.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = 2});
    auto const report = sort_shaped_files(store, order, {.lines = {delimiter}}, {{in_}, out_}, {});
    std::ranges::stable_sort(all,
                             [&](auto const& a, auto const& b) { return order.compare(a, b) < 0; });
    text = joined(all, delimiter);
    EXPECT_TRUE(scratch::read_file(out_) == text);
    EXPECT_EQ(report.items, all.size());
    EXPECT_EQ(report.output_items, all.size());
    EXPECT_EQ(report.input_bytes, text.size());
    EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
    expect_no_other_files();
    auto const moved = store.total_statistics();
    bool const copied = report.runs == 0;
    if (copied) {
      EXPECT_LE(moved.read_bytes, text.size() + 65 * buffer_bytes);
      EXPECT_LE(moved.write_bytes, text.size() + 2 * buffer_bytes);
    }
    return copied;
  }

  void expect_no_other_files() const {
    for (auto const& entry : std::filesystem::directory_iterator(dir_.path()))
      EXPECT_TRUE(entry.path() == in_ || entry.path() == out_) << entry.path();
  }

  static std::string joined(lines const& all, char delimiter) {
    std::string text;
    for (auto const& line : all) (text += line) += delimiter;
    return text;
  }

  scratch::directory dir_;
  std::string in_ = dir_.path("in");
  std::string out_ = dir_.path("out");
};

/// Lines of up to so many bytes, some of them empty or equal, in order.
lines ordered_lines(std::size_t count, std::size_t longest, unsigned seed) {
  std::mt19937_64 random(seed);
  lines all(count);
  for (auto& line : all) {
    line.resize(random() % (longest + 1));
    for (char& c : line) c = static_cast<char>('a' + random() % 26);
  }
  std::ranges::sort(all);
  return all;
}

TEST_F(presorted_lines, are_copied) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    auto all = ordered_lines(80'000, 60, seed);
    EXPECT_TRUE(is_copied(all));
    EXPECT_TRUE(is_copied(all, byte_order(), '\0'));
    std::ranges::reverse(all);
    EXPECT_TRUE(is_copied(all, byte_order{.descending = true}));
    EXPECT_FALSE(is_copied(all));
  }
}

TEST_F(presorted_lines, keep_their_order_where_they_compare_equal) {
  auto all = ordered_lines(80'000, 60, 5);
  std::mt19937_64 random(5);
  for (auto first = all.begin(); first != all.end();) {
    auto const last = std::find_if(first, all.end(), [&](auto const& line) {
      return by_beginning::key(line) != by_beginning::key(*first);
    });
    std::shuffle(first, last, random);
    first = last;
  }
  EXPECT_TRUE(is_copied(all, by_beginning()));
  EXPECT_FALSE(is_copied(all));
}

TEST_F(presorted_lines, may_be_longer_than_buffers) {
  auto all = ordered_lines(120'000, 40, 1);
  for (std::size_t const bytes : {buffer_bytes - 1, buffer_bytes, 5 * buffer_bytes + 7})
    all[all.size() / 3 + bytes % 10] += std::string(bytes, 'z');
  std::ranges::sort(all);
  EXPECT_TRUE(is_copied(all));
}

TEST_F(presorted_lines, get_the_delimiter_that_the_last_one_lacks) {
  auto all = ordered_lines(80'000, 60, 2);
  EXPECT_TRUE(is_copied(all, byte_order(), '\n', false));
  std::size_t const bytes = joined(all, '\n').size();
  for (std::size_t const missing : {0, 1, 2}) {  // to whole buffers, without a last delimiter
    auto fitted = all;
    fitted.back() =
        std::string(2 * buffer_bytes - bytes % buffer_bytes + all.back().size() + 1 - missing, 'z');
    EXPECT_TRUE(is_copied(fitted, byte_order(), '\n', false)) << missing;
  }
}

TEST_F(presorted_lines, are_sorted_if_one_is_out_of_order) {
  auto const all = ordered_lines(80'000, 60, 3);
  auto const size = all.size();
  for (std::size_t const at : {size / 10, size / 2, size / 2 + 1, size / 3 + 100, size - 1}) {
    auto one_off = all;
    one_off[at] = "";
    EXPECT_FALSE(is_copied(one_off)) << at;
  }
  auto last_off = all;
  last_off.back() = "a";
  EXPECT_FALSE(is_copied(last_off, byte_order(), '\n', false));
}

TEST_F(presorted_lines, are_sorted_if_two_are_in_the_wrong_order_where_buffers_meet) {
  // Lines of 64 bytes, so that buffers begin with one, or with the last bytes of one.
  for (std::size_t const shift : {0, 1, 5, 63}) {
    lines all;
    for (int i = 0; i < 40'000; ++i) all.push_back(fmt::format("{:063}", i));
    all.front().resize(63 - shift);
    std::ranges::sort(all);
    EXPECT_TRUE(is_copied(all));
    for (int const step : {-1, 0, 1}) {
      auto swapped = all;
      auto const at = swapped.begin() + 100 * static_cast<int>(buffer_bytes / 64) + step;
      std::iter_swap(at, at - 1);
      EXPECT_FALSE(is_copied(swapped)) << shift << ' ' << step;
    }
  }
}

TEST_F(presorted_lines, can_be_copied_onto_themselves) {
  auto const text = joined(ordered_lines(80'000, 60, 4), '\n');
  scratch::write_file(in_, text);
  storage store({.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = 2});
  EXPECT_EQ(sort_shaped_files(store, byte_order(), {}, {{in_}, in_}, {}).runs, 0U);
  EXPECT_TRUE(scratch::read_file(in_) == text);
}

TEST_F(presorted_lines, are_not_copied_where_a_sort_does_something_else) {
  auto const all = ordered_lines(80'000, 60, 6);
  scratch::write_file(in_, joined(all, '\n'));
  storage store({.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = 2});
  EXPECT_GT(sort_shaped_files(store, byte_order(), {}, {{in_}, out_}, {.unique = true}).runs, 0U);
  EXPECT_GT(sort_shaped_files(store, byte_order(), {}, {{in_, in_}, out_}, {}).runs, 0U);
  line_format with_header;
  with_header.header = true;
  EXPECT_GT(sort_shaped_files(store, byte_order(), {.lines = with_header}, {{in_}, out_}, {}).runs,
            0U);
}

TEST_F(presorted_lines, that_are_too_long_for_a_sort_are_refused) {
  auto all = ordered_lines(80'000, 60, 7);
  all.emplace_back(600'000, 'z');
  scratch::write_file(in_, joined(all, '\n'));
  storage store({.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = 2});
  EXPECT_THROW(sort_shaped_files(store, byte_order(), {}, {{in_}, out_}, {}), budget_error);
  EXPECT_FALSE(std::filesystem::exists(out_));
  expect_no_other_files();
}

TEST_F(presorted_lines, are_not_there_after_a_stop) {
  scratch::write_file(in_, joined(ordered_lines(80'000, 60, 8), '\n'));
  storage store({.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = 2});
  std::stop_source stop;
  sort_options options{.stop = stop.get_token(),
                       .on_progress = [&](sort_progress const&) { stop.request_stop(); }};
  EXPECT_THROW(sort_shaped_files(store, byte_order(), {}, {{in_}, out_}, options), cancelled);
  EXPECT_FALSE(std::filesystem::exists(out_));
  expect_no_other_files();
}

}  // namespace
}  // namespace outsize::detail
