// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Where the pieces of a sample come from.

#include <outsize/algorithm/detail/sort/presorted/input_sample.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::detail {
namespace {

constexpr std::size_t unit = 4096;

std::string numbered_units(std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += std::string(unit, static_cast<char>(i));
  return all;
}

class input_sample_of : public ::testing::Test {
 protected:
  io::file& file_of(std::size_t units) {
    scratch::write_file(dir_.path("in"), numbered_units(units));
    return *(file_ = io::open_file(dir_.path("in"), store_.file_queue()));
  }

  scratch::directory dir_;
  storage store_{{.disks = {dir_.path()}, .memory_bytes = 4_MiB, .threads = 1}};
  io::file_ptr file_;
};

TEST_F(input_sample_of, a_file_has_pieces_from_the_beginning_to_the_end) {
  io::file& file = file_of(200);
  memory_budget& budget = store_.memory();
  {
    input_sample const sample(file, 200 * unit, 2 * unit, unit, budget);
    EXPECT_TRUE(sample.is_complete());
    auto const pieces = sample.pieces();
    ASSERT_EQ(pieces.size(), input_sample::places);
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      ASSERT_EQ(pieces[p].size(), 2 * unit);
      auto const first = static_cast<std::size_t>(pieces[p][0]);
      EXPECT_EQ(first, 198 * p / 63) << "a multiple of the unit, at equal distances";
      EXPECT_EQ(static_cast<std::size_t>(pieces[p][unit]), first + 1);
    }
  }
  EXPECT_EQ(budget.free_bytes(), budget.total_bytes());
}

TEST_F(input_sample_of, a_short_file_is_the_file_again_and_again) {
  io::file& file = file_of(2);
  memory_budget& budget = store_.memory();
  input_sample const sample(file, 2 * unit, 2 * unit, unit, budget);
  EXPECT_TRUE(sample.is_complete());
  for (auto const piece : sample.pieces()) EXPECT_EQ(piece[unit], std::byte{1});
}

TEST_F(input_sample_of, a_file_that_has_become_shorter_is_not_complete) {
  io::file& file = file_of(10);
  memory_budget& budget = store_.memory();
  EXPECT_FALSE(input_sample(file, 20 * unit, unit, unit, budget).is_complete());
}

}  // namespace
}  // namespace outsize::detail
