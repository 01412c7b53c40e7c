// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Split flows: their files, one behind the other, hold all items, and each is as long as it may be.
#include <outsize/stream/split_sinks.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/sorting_nodes.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/sources.hpp>
#include <outsize/testing/item_files.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::stream {
namespace {

struct event {
  std::uint32_t day;
  std::uint32_t number;
  bool operator==(event const&) const = default;
};

struct split_sinks : testing::Test {
  storage store{{.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 64_MiB);
                                        })},
                 .memory_bytes = 4_MiB,
                 .threads = 2}};
  scratch::directory dir;

  auto part() const {
    return [this](std::uint64_t i) { return dir.path("part" + std::to_string(i)); };
  }
  auto file_of_day() const {
    return [this](std::uint32_t day) { return dir.path("day" + std::to_string(day)); };
  }
  template <typename F>
  static std::string message_of(F&& run_it) {
    try {
      run_it();
    } catch (flow_error const& e) {
      return e.what();
    }
    return {};
  }
};

TEST_F(split_sinks, files_are_as_long_as_they_may_be) {
  std::vector<std::uint64_t> in(100'000);
  std::iota(in.begin(), in.end(), std::uint64_t{0});
  EXPECT_EQ(run(store, from(in) | split_by_size(part(), 30'000 * 8 + 7)), 4U);
  EXPECT_EQ(dir.names(), (std::vector<std::string>{"part0", "part1", "part2", "part3"}));
  std::vector<std::uint64_t> out;
  for (std::uint64_t i = 0; i < 4; ++i) {
    auto const some = scratch::read_items<std::uint64_t>(part()(i));
    EXPECT_EQ(some.size(), i < 3 ? 30'000U : 10'000U);
    out.insert(out.end(), some.begin(), some.end());
  }
  EXPECT_EQ(out, in);
}

TEST_F(split_sinks, files_have_one_item_at_least) {
  std::vector<std::uint64_t> const in{1, 2, 3};
  EXPECT_EQ(run(store, from(in) | split_by_size(part(), 5)), 3U);
  for (std::uint64_t i = 0; i < 3; ++i)
    EXPECT_EQ(scratch::read_items<std::uint64_t>(part()(i)), (std::vector<std::uint64_t>{i + 1}));
}

TEST_F(split_sinks, no_items_make_no_file) {
  EXPECT_EQ(run(store, counter(0, 0) | split_by_size(part(), 100)), 0U);
  EXPECT_EQ(run(store, counter(0, 0) | split_by_key(std::identity(), file_of_day())), 0U);
  EXPECT_TRUE(dir.names().empty());
}

TEST_F(split_sinks, byte_strings_become_lines) {
  std::vector<std::string> const in{"aaa", "", "bb", std::string(20, 'c'), "d"};
  EXPECT_EQ(run(store, from(in) | split_by_size(part(), 8)), 3U);
  EXPECT_EQ(scratch::read_file(part()(0)), "aaa\n\nbb\n");
  EXPECT_EQ(scratch::read_file(part()(1)), std::string(20, 'c') + "\n");
  EXPECT_EQ(scratch::read_file(part()(2)), "d\n");
}

TEST_F(split_sinks, two_files_of_one_name_are_refused) {
  auto const same = [&](std::uint64_t) { return dir.path("same"); };
  EXPECT_NE(message_of([&] {
              run(store, counter(0, 10) | split_by_size(same, 8));
            }).find("two files have the name '" + dir.path("same")),
            std::string::npos);
  EXPECT_EQ(scratch::read_items<int>(dir.path("same")), (std::vector<int>{0, 1}));
}

TEST_F(split_sinks, keys_have_a_file_each) {
  std::vector<event> in;
  for (std::uint32_t i = 0; i < 30'000; ++i) in.push_back({i % 7, i});
  EXPECT_EQ(run(store, from(in) | sort(by(&event::day)) | split_by_key(&event::day, file_of_day())),
            7U);
  EXPECT_EQ(dir.names().size(), 7U);
  for (std::uint32_t day = 0; day < 7; ++day) {
    std::vector<event> expected;
    for (event const& e : in)
      if (e.day == day) expected.push_back(e);
    EXPECT_EQ(scratch::read_items<event>(file_of_day()(day)), expected);
  }
}

TEST_F(split_sinks, keys_may_be_parts_of_byte_strings) {
  std::vector<std::string> const in{"de 1", "at 2", "de 3", "ch 4"};
  auto const country = [](std::string_view line) { return line.substr(0, 2); };
  auto const file = [&](std::string_view name) { return dir.path(name); };
  EXPECT_EQ(run(store, from(in) | sort() | split_by_key(country, file)), 3U);
  EXPECT_EQ(scratch::read_file(dir.path("de")), "de 1\nde 3\n");
  EXPECT_EQ(scratch::read_file(dir.path("at")), "at 2\n");
}

TEST_F(split_sinks, a_key_that_comes_again_is_named) {
  std::vector<event> const in{{1, 0}, {1, 1}, {2, 2}, {1, 3}, {3, 4}};
  auto const message =
      message_of([&] { run(store, from(in) | split_by_key(&event::day, file_of_day())); });
  EXPECT_NE(message.find("key 1 of '" + dir.path("day1") + "' comes again"), std::string::npos)
      << message;
  EXPECT_EQ(scratch::read_items<event>(dir.path("day1")), (std::vector<event>{{1, 0}, {1, 1}}));
  EXPECT_EQ(dir.names(), (std::vector<std::string>{"day1", "day2"}));
  std::vector<std::string> const names{"a", "b", "a"};
  auto const file = [&](std::string_view name) { return dir.path(name); };
  EXPECT_NE(message_of([&] {
              run(store, from(names) | split_by_key(std::identity(), file));
            }).find("key 'a'"),
            std::string::npos);
  try {
    run(store, from(in) | split_by_key(&event::day, file_of_day()));
  } catch (flow_error const& e) {
    EXPECT_THROW(e.rethrow_nested(), format_error);
  }
}

TEST_F(split_sinks, a_failed_run_leaves_complete_files) {
  scratch::write_file(part()(1), "as it was");
  auto const fail = [](int x) { return x < 150 ? x : throw std::runtime_error("broken"); };
  EXPECT_NE(message_of([&] {
              run(store, counter(0, 1000) | transform(fail) | split_by_size(part(), 400));
            }).find("broken"),
            std::string::npos);
  EXPECT_EQ(scratch::read_items<int>(part()(0)).size(), 100U);
  EXPECT_EQ(scratch::read_file(part()(1)), "as it was");
}

}  // namespace
}  // namespace outsize::stream

// Both namespaces at once, as programs have them.
namespace user_code {
namespace {

using namespace outsize;
using namespace outsize::stream;

TEST(split_sinks_names, are_not_ambiguous) {
  storage store({.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 16_MiB);
                                        })},
                 .memory_bytes = 4_MiB});
  scratch::directory const dir;
  auto const path = [&](auto i) { return dir.path(std::to_string(i)); };
  EXPECT_EQ(run(store, counter(0, 4) | split_by_size(path, 8)), 2U);
  EXPECT_EQ(run(store, counter(0, 4) | split_by_key(std::identity(), path)), 4U);
}

}  // namespace
}  // namespace user_code
