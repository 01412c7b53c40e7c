// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Files of any length come out sorted, with the I/O that was promised, or not at all.

#include <outsize/numeric/columnsort.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::numeric {
namespace {

using keys = std::vector<std::uint64_t>;

class columnsorts : public testing::Test {
 protected:
  void write(char const* name, keys const& values) {
    scratch::write_file(folder_.path(name),
                        {reinterpret_cast<char const*>(values.data()), 8 * values.size()});
  }
  keys read(char const* name) {
    std::string const bytes = scratch::read_file(folder_.path(name));
    keys values(bytes.size() / 8);
    std::copy_n(bytes.begin(), 8 * values.size(), reinterpret_cast<char*>(values.data()));
    return values;
  }
  storage_options options(std::size_t threads = 2) const {
    return {.disks = {folder_.path()}, .memory_bytes = 64_MiB, .threads = threads};
  }
  /// Sorts "in" into "out" and compares.
  columnsort_report expect_sorts(keys in, columnsort_options const& how, std::size_t threads = 2) {
    write("in", in);
    storage store(options(threads));
    auto const report = columnsort(store, folder_.path("in"), folder_.path("out"), how);
    std::sort(in.begin(), in.end());
    EXPECT_EQ(read("out"), in);
    EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
    EXPECT_EQ(folder_.names(), (std::vector<std::string>{"in", "out"}));
    return report;
  }
  static keys random_keys(std::size_t count, std::uint64_t least_distinct = UINT64_MAX) {
    std::mt19937_64 random(count);
    keys values(count);
    for (auto& v : values) v = random() % least_distinct;
    return values;
  }

  scratch::directory folder_;
};

TEST_F(columnsorts, sort_files_of_any_length) {
  for (std::size_t count : {0, 1, 511, 512, 4095, 4096, 4097, 40'000, 65'536, 65'537, 200'000})
    for (std::size_t threads : {1, 2, 8})
      expect_sorts(random_keys(count), {.memory_bytes = 2_MiB}, threads);
}

TEST_F(columnsorts, sort_with_columns_of_any_legal_height) {
  for (std::uint64_t r : {4096, 8192, 10'000, 16'384, 20'480, 30'001})
    expect_sorts(random_keys(100'000), {.memory_bytes = 4_MiB, .column_records = r});
}

TEST_F(columnsorts, sort_the_greatest_key_few_keys_and_sorted_ones) {
  keys greatest(50'001, UINT64_MAX);
  greatest[77] = 5;
  expect_sorts(greatest, {.memory_bytes = 1_MiB});
  expect_sorts(random_keys(50'000, 3), {.memory_bytes = 1_MiB});
  keys sorted = random_keys(50'000);
  std::sort(sorted.rbegin(), sorted.rend());
  expect_sorts(sorted, {.memory_bytes = 1_MiB});
}

TEST_F(columnsorts, moves_every_byte_three_times_each_way) {
  // 8 columns of 8 * 512 records: no padding.
  auto const report =
      expect_sorts(random_keys(8 * 4096), {.memory_bytes = 8 * 4096 * 8, .column_records = 4096});
  EXPECT_EQ(report.passes, 3U);
  EXPECT_EQ(report.column_count, 8U);
  EXPECT_EQ(report.read_bytes, 3U * 8 * 4096 * 8);
  EXPECT_EQ(report.written_bytes, 3U * 8 * 4096 * 8);
}

TEST_F(columnsorts, move_whole_blocks_whatever_the_memory) {
  // What is written in bytes that are no whole blocks goes through the page cache.
  std::size_t const count = 300'000;
  keys const values = random_keys(count);
  for (std::uint64_t memory : {1'500'000, 2'400'000, 3'100'000}) {
    auto const report = expect_sorts(values, {.memory_bytes = memory});
    EXPECT_EQ(report.column_records % (report.column_count * 512), 0U) << memory;
    EXPECT_EQ(report.column_records % 1024, 0U) << memory;
    EXPECT_LT(report.written_bytes, 3 * 8 * (count + count / 8)) << memory;
    EXPECT_LT(report.read_bytes, 3 * 8 * (count + count / 8)) << memory;
  }
}

TEST_F(columnsorts, say_how_much_memory_they_need) {
  // With 512 KiB there are no pieces of whole blocks, though columns would be high enough. With the
  // least for them whole columns are padding.
  keys const values = random_keys(132'000);
  write("in", values);
  storage store(options());
  std::uint64_t need = 0;
  try {
    columnsort(store, folder_.path("in"), folder_.path("out"), {.memory_bytes = 512_KiB});
    ADD_FAILURE() << "the memory is too little";
  } catch (budget_error const& e) {
    need = e.need_bytes();
  }
  EXPECT_EQ(need, 8 * 8 * 18 * 512U);
  expect_sorts(values, {.memory_bytes = need});
}

TEST_F(columnsorts, tell_how_far_they_are) {
  std::vector<pass_progress> told;
  write("in", random_keys(8 * 4096));
  storage store(options());
  columnsort(store, folder_.path("in"), folder_.path("out"),
             {.memory_bytes = 8 * 4096 * 8,
              .column_records = 4096,
              .on_progress = [&](pass_progress const& p) { told.push_back(p); }});
  ASSERT_GE(told.size(), 3U);  // at the end of each pass
  EXPECT_EQ(told.back().pass, 3U);
  EXPECT_EQ(told.back().done_bytes, 3U * 8 * 4096 * 8);
  EXPECT_EQ(told.back().done_bytes, told.back().total_bytes);
}

TEST_F(columnsorts, may_have_one_name_for_input_and_output) {
  keys values = random_keys(30'000);
  write("in", values);
  storage store(options());
  columnsort(store, folder_.path("in"), folder_.path("in"), {.memory_bytes = 1_MiB});
  std::sort(values.begin(), values.end());
  EXPECT_EQ(read("in"), values);
}

TEST_F(columnsorts, refuse_before_anything_runs) {
  write("in", random_keys(100'000));
  storage store(options());
  auto const sort_with = [&](columnsort_options const& o) {
    columnsort(store, folder_.path("in"), folder_.path("out"), o);
  };
  EXPECT_THROW(sort_with({.memory_bytes = 64_KiB}), budget_error);
  EXPECT_THROW(sort_with({.column_records = 512}), std::invalid_argument);  // r < 2 (s - 1)²
  scratch::write_file(folder_.path("in"), "12345");
  try {
    sort_with({});
    ADD_FAILURE() << "accepted half a record";
  } catch (std::invalid_argument const& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("5 bytes"));
  }
  EXPECT_THROW(columnsort(store, folder_.path("none"), folder_.path("out")), io_error);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"in"});
}

TEST_F(columnsorts, leave_nothing_behind_when_they_are_stopped) {
  write("in", random_keys(100'000));
  storage store(options());
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(columnsort(store, folder_.path("in"), folder_.path("out"),
                          {.memory_bytes = 2_MiB, .stop = source.get_token()}),
               cancelled);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"in"});
  EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
}

}  // namespace
}  // namespace outsize::numeric
