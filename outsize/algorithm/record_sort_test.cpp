// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// Sorting and merging files of binary records against std::stable_sort, in memory and on disk.

#include <outsize/algorithm/record_sort.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/testing/effort.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize {
namespace {

std::string random_bytes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes(count, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

/// The records of `bytes` in `order`, equal ones in input order.
std::string sorted(std::string const& bytes, record_order const& order) {
  std::size_t const length = order.format().item_bytes;
  std::vector<std::string_view> records;
  for (std::size_t i = 0; i < bytes.size(); i += length)
    records.push_back(std::string_view(bytes).substr(i, length));
  std::stable_sort(records.begin(), records.end(),
                   [&](auto a, auto b) { return order.compare(a, b) < 0; });
  std::string out;
  for (auto r : records) out += r;
  return out;
}

class record_files : public ::testing::Test {
 protected:
  scratch::directory dir_;
  storage store_{{.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = 2}};
};

TEST_F(record_files, are_sorted_in_every_format) {
  // Each direction of each kind of number; the number of bits makes no difference to that.
  struct variant {
    char const* format;
    bool reverse;
  };
  for (auto const [format, reverse] : std::initializer_list<variant>{{"u32", false},
                                                                     {"i32", true},
                                                                     {"f32", false},
                                                                     {"u64", true},
                                                                     {"i64", false},
                                                                     {"f64", true},
                                                                     {"bytes:3", false},
                                                                     {"bytes:24", true}}) {
    SCOPED_TRACE(format);
    record_order const order(record_format::parse(format), {}, reverse);
    std::size_t const count =
        (2'400'000 + scratch::operations(1'200'000)) / order.format().item_bytes;
    auto const bytes = random_bytes(count * order.format().item_bytes, count);
    scratch::write_file(dir_.path("in"), bytes);
    auto const report = sort_records(store_, {{dir_.path("in")}, dir_.path("out")}, order);
    EXPECT_EQ(report.items, count);
    EXPECT_EQ(report.input_bytes, bytes.size());
    EXPECT_GT(report.runs, 1U);
    EXPECT_TRUE(scratch::read_file(dir_.path("out")) == sorted(bytes, order));
  }
}

TEST_F(record_files, of_some_words_are_sorted_by_one_key_inside) {
  struct variant {
    std::size_t item_bytes;
    char const* key;
  };
  for (auto const [item_bytes, key] : std::initializer_list<variant>{{8, "0:4:i32"},
                                                                     {12, "8:4:f32:r"},
                                                                     {16, "0:8:u64"},
                                                                     {16, "5:1:u8"},
                                                                     {24, "16:8:f64"},
                                                                     {32, "9:3"},
                                                                     {32, "1:2:u16:r"}}) {
    SCOPED_TRACE(key);
    record_order const order({record_format::kind::bytes, item_bytes}, {record_key::parse(key)});
    std::size_t const count = 3'000'000 / item_bytes;
    auto const bytes = random_bytes(count * item_bytes, count);
    scratch::write_file(dir_.path("in"), bytes);
    auto const report = sort_records(store_, {{dir_.path("in")}, dir_.path("out")}, order);
    EXPECT_GT(report.runs, 1U);
    EXPECT_TRUE(scratch::read_file(dir_.path("out")) == sorted(bytes, order));
  }
}

TEST_F(record_files, are_sorted_by_keys_inside) {
  record_order const order(record_format::parse("bytes:12"),
                           {record_key::parse("4:1:u8:r"), record_key::parse("0:2")});
  auto const bytes = random_bytes(12 * 100'000, 7);
  scratch::write_file(dir_.path("a"), bytes.substr(0, 12 * 30'000));
  scratch::write_file(dir_.path("b"), bytes.substr(12 * 30'000));
  sort_records(store_, {{dir_.path("a"), dir_.path("b")}, dir_.path("out")}, order);
  EXPECT_TRUE(scratch::read_file(dir_.path("out")) == sorted(bytes, order));
}

TEST_F(record_files, may_have_keys_far_behind_what_is_remembered_of_a_block) {
  storage store({.disks = {dir_.path()}, .memory_bytes = 6_MiB, .threads = 2});
  for (auto const* const key : {"99990:10", "60000:4:i32:r"}) {
    SCOPED_TRACE(key);
    record_order const order(record_format::parse("bytes:100000"), {record_key::parse(key)});
    auto const bytes = random_bytes(200 * 100'000, 11);
    scratch::write_file(dir_.path("in"), bytes);
    auto const report = sort_records(store, {{dir_.path("in")}, dir_.path("out")}, order);
    EXPECT_GT(report.runs, 1U);
    EXPECT_TRUE(scratch::read_file(dir_.path("out")) == sorted(bytes, order));
  }
}

/// Numbers whose runs lie in each other's way, or not, as `pattern` says.
std::string numbers_in_pattern(std::string_view pattern, std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<std::uint64_t> items(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t const stretch = i / (count / 16);
    if (pattern == "random")
      items[i] = random();
    else if (pattern == "one stretch before the other")
      items[i] = (16 - stretch) << 40 | random() % 1000;
    else if (pattern == "drifting")
      items[i] = random() % 1'000'000 + (16 - stretch) * 100'000;
    else if (pattern == "few")
      items[i] = random() % 5;
    else  // skewed
      items[i] = std::uint64_t{1} << (random() % 64);
  }
  return {reinterpret_cast<char const*>(items.data()), count * sizeof(std::uint64_t)};
}

TEST_F(record_files, are_the_same_whether_runs_are_in_the_way_of_the_output_or_not) {
  record_order const order(record_format::parse("u64"));
  for (std::string_view const pattern :
       {"random", "one stretch before the other", "drifting", "few", "skewed"})
    for (run_codec const codec : {run_codec::none, run_codec::always}) {
      SCOPED_TRACE(std::string(pattern) + (codec == run_codec::none ? "" : ", encoded"));
      auto const bytes = numbers_in_pattern(pattern, 800'000);
      scratch::write_file(dir_.path("in"), bytes);
      storage store({.disks = {dir_.path()}, .memory_bytes = 2_MiB, .threads = 2});
      auto const report = sort_records(store, {{dir_.path("in")}, dir_.path("out")}, order,
                                       {.block_bytes = 4096, .codec = codec});
      EXPECT_GT(report.runs, 1U);
      EXPECT_TRUE(scratch::read_file(dir_.path("out")) == sorted(bytes, order));
      if (pattern == "random") {
        EXPECT_TRUE(report.output_over_runs);
        EXPECT_LT(report.peak_disk_bytes, bytes.size() / 4);
      } else if (pattern == "one stretch before the other") {
        EXPECT_FALSE(report.output_over_runs);
      }
    }
  auto const left = std::filesystem::directory_iterator(dir_.path());
  EXPECT_EQ(std::distance(begin(left), end(left)), 2);
}

TEST_F(record_files, are_sorted_by_disks_that_go_through_the_page_cache) {
  record_order const order(record_format::parse("bytes:100"), {record_key::parse("0:10")});
  auto const bytes = random_bytes(100 * 60'000, 5);
  scratch::write_file(dir_.path("in"), bytes);
  for (auto const backend : {io::backend::automatic, io::backend::threads}) {
    storage store({.disks = {dir_.path()},
                   .memory_bytes = 2_MiB,
                   .threads = 2,
                   .backend = backend,
                   .direct = false});
    for (std::size_t const block_bytes : {4096, 4160}) {
      auto const report = sort_records(store, {{dir_.path("in")}, dir_.path("out")}, order,
                                       {.block_bytes = block_bytes});
      EXPECT_GT(report.runs, 1U);
      EXPECT_FALSE(report.output_over_runs);
      EXPECT_TRUE(scratch::read_file(dir_.path("out")) == sorted(bytes, order));
    }
    EXPECT_EQ(plan_record_sort(store, {{dir_.path("in")}, dir_.path("out")}, order).room_bytes, 0U);
  }
}

TEST_F(record_files, take_no_more_beside_their_output_than_is_planned) {
  struct shape {
    std::size_t record, block;
  };
  for (auto const [record, block] : {shape{100, 32_KiB}, {5600, 32_KiB}, {6000, 16_KiB}}) {
    SCOPED_TRACE(record);
    record_order const order(record_format::parse("bytes:" + std::to_string(record)),
                             {record_key::parse("0:10")});
    auto const bytes = random_bytes(record * (32_MiB / record), 3);
    scratch::write_file(dir_.path("in"), bytes);
    sort_paths const paths{{dir_.path("in")}, dir_.path("out")};
    sort_options const options{.block_bytes = block, .codec = run_codec::none};
    storage store({.disks = {dir_.path()}, .memory_bytes = 8_MiB, .threads = 2});
    auto const plan = plan_record_sort(store, paths, order, options);
    auto const report = sort_records(store, paths, order, options);
    EXPECT_GT(report.runs, 1U);
    EXPECT_TRUE(report.output_over_runs);
    EXPECT_GT(plan.room_bytes, 0U);
    EXPECT_LE(report.peak_disk_bytes, plan.room_bytes);
    EXPECT_TRUE(scratch::read_file(dir_.path("out")) == sorted(bytes, order));
  }
}

TEST_F(record_files, are_written_over_runs_of_records_by_any_key) {
  for (auto const* const key : {"0:10", "50:20", "3:8:f64:r"}) {
    SCOPED_TRACE(key);
    record_order const order(record_format::parse("bytes:100"), {record_key::parse(key)});
    auto const bytes = random_bytes(100 * 60'000, 3);
    scratch::write_file(dir_.path("in"), bytes);
    auto const report =
        sort_records(store_, {{dir_.path("in")}, dir_.path("out")}, order, {.block_bytes = 4096});
    EXPECT_TRUE(report.output_over_runs);
    EXPECT_TRUE(scratch::read_file(dir_.path("out")) == sorted(bytes, order));
  }
}

TEST_F(record_files, are_merged) {
  record_order const order(record_format::parse("bytes:12"), {record_key::parse("0:1")});
  std::string all;
  sort_paths paths{{}, dir_.path("out")};
  for (std::uint64_t i = 0; i < 20; ++i) {
    auto const part = sorted(random_bytes(12 * (i * 500), i), order);
    paths.inputs.push_back(dir_.path(std::to_string(i)));
    scratch::write_file(paths.inputs.back(), part);
    all += part;
  }
  auto const report = merge_records(store_, paths, order);
  EXPECT_EQ(report.items, all.size() / 12);
  EXPECT_TRUE(scratch::read_file(dir_.path("out")) == sorted(all, order));
}

TEST_F(record_files, cut_short_are_refused_with_both_numbers) {
  record_order const order(record_format::parse("u64"));
  scratch::write_file(dir_.path("in"), "ten bytes!");
  try {
    sort_records(store_, {{dir_.path("in")}, dir_.path("out")}, order);
    FAIL() << "ten bytes were taken for 8-byte records";
  } catch (format_error const& e) {
    std::string const what = e.what();
    EXPECT_NE(what.find("10 bytes"), std::string::npos) << what;
    EXPECT_NE(what.find("multiple of 8"), std::string::npos) << what;
  }
  EXPECT_FALSE(std::filesystem::exists(dir_.path("out")));
}

TEST_F(record_files, plans_agree_with_what_happens) {
  for (std::size_t const record : {8, 24, 100}) {
    SCOPED_TRACE(record);
    record_order const order(record_format::parse("bytes:" + std::to_string(record)),
                             {record_key::parse("0:7")});
    std::size_t const records = 4'000'000 / record;
    scratch::write_file(dir_.path("in"), random_bytes(records * record, 3));
    sort_paths const paths{{dir_.path("in")}, dir_.path("out")};
    auto const plan = plan_record_sort(store_, paths, order);
    EXPECT_FALSE(std::filesystem::exists(dir_.path("out")));
    auto const report = sort_records(store_, paths, order);
    EXPECT_EQ(plan.runs, report.runs);
    EXPECT_EQ(plan.runs * (plan.run_bytes / record), report.run_items);
    EXPECT_GT(plan.kept_chunks, 0U);
    EXPECT_EQ(plan.passes, report.passes);
    EXPECT_EQ(plan.block_bytes, report.block_bytes);
    EXPECT_LE(report.peak_disk_bytes, plan.peak_disk_bytes);
    std::filesystem::remove(dir_.path("out"));
  }
}

}  // namespace
}  // namespace outsize
