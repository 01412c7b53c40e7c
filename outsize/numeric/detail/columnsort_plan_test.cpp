// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The three passes over arrays, with every record counted as it moves; correct if all inputs of
// zeros and ones come out sorted, which tiny matrices are tested for exhaustively.

#include <outsize/numeric/detail/columnsort_plan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace outsize::numeric {
namespace {

using records = std::vector<std::uint64_t>;

// No key of the tests: what was not written shows.
constexpr std::uint64_t hole = std::numeric_limits<std::uint64_t>::max();

struct counts {
  std::uint64_t read = 0;
  std::uint64_t written = 0;
};

records sorted_extent(records const& file, columnsort_extent extent, counts& moved) {
  moved.read += extent.length;
  auto const begin = file.begin() + static_cast<std::ptrdiff_t>(extent.offset);
  records column(begin, begin + static_cast<std::ptrdiff_t>(extent.length));
  std::ranges::sort(column);
  return column;
}

void write_pieces(records& file, records const& buffer, std::vector<columnsort_piece> const& pieces,
                  counts& moved) {
  std::uint64_t sum = 0;
  for (auto const& piece : pieces) {
    ASSERT_EQ(sum, piece.buffer_offset);
    sum += piece.length;
    for (std::uint64_t i = 0; i < piece.length; ++i) {
      ASSERT_EQ(file.at(piece.file_offset + i), hole);
      file[piece.file_offset + i] = buffer.at(piece.buffer_offset + i);
    }
  }
  ASSERT_EQ(sum, buffer.size());
  moved.written += sum;
}

records merge_halves(columnsort_plan const& plan, records const& source, counts& moved) {
  records result(plan.record_count(), hole), carried;
  for (std::uint64_t j = 0; j < plan.column_count(); ++j) {
    records const column = sorted_extent(source, plan.column(j), moved);
    auto const halves = plan.halves(j);
    EXPECT_EQ(halves.carried, carried.size());
    EXPECT_EQ(halves.head + halves.tail, column.size());
    auto const middle = column.begin() + static_cast<std::ptrdiff_t>(halves.head);
    auto place = result.begin() + static_cast<std::ptrdiff_t>(halves.output_offset);
    place = std::merge(carried.begin(), carried.end(), column.begin(), middle, place);
    carried.assign(middle, column.end());
    if (j + 1 == plan.column_count()) place = std::ranges::copy(carried, place).out;
    moved.written += halves.carried + halves.head;
    if (j + 1 == plan.column_count()) moved.written += halves.tail;
  }
  return result;
}

records columnsorted(columnsort_plan const& plan, records const& source) {
  counts moved;
  records dealt(plan.column_records() * plan.column_count(), hole);
  for (std::uint64_t j = 0; j < plan.column_count(); ++j) {
    records const column = sorted_extent(source, plan.column(j), moved);
    records piles(column.size());
    column_deal const deal = plan.deal(j);
    deal.apply<std::uint64_t>(column, piles, deal.all_rows());
    write_pieces(dealt, piles, plan.dealt_pieces(j), moved);
  }
  records returned(plan.record_count(), hole);
  for (std::uint64_t c = 0; c < plan.column_count(); ++c)
    write_pieces(returned, sorted_extent(dealt, plan.dealt_column(c), moved),
                 plan.returned_pieces(c), moved);
  records result = merge_halves(plan, returned, moved);
  EXPECT_EQ(moved.read, 3 * plan.record_count());
  EXPECT_EQ(moved.written, 3 * plan.record_count());
  return result;
}

void expect_sorted(columnsort_plan const& plan, records const& source) {
  records want = source;
  std::ranges::sort(want);
  ASSERT_EQ(columnsorted(plan, source), want)
      << "N " << plan.record_count() << ", r " << plan.column_records();
}

/// Each column of the source gets that many ones; their order is lost in step 1.
records zeros_and_ones(columnsort_plan const& plan, std::vector<std::uint64_t> const& ones) {
  records source(plan.record_count(), 0);
  for (std::uint64_t j = 0; j < ones.size(); ++j)
    std::fill_n(source.begin() + static_cast<std::ptrdiff_t>(plan.column(j).offset), ones[j], 1);
  return source;
}

void expect_all_zero_one_inputs_sorted(columnsort_plan const& plan) {
  std::vector<std::uint64_t> ones(plan.column_count(), 0);
  for (std::size_t j = 0; j < ones.size();) {
    ASSERT_NO_FATAL_FAILURE(expect_sorted(plan, zeros_and_ones(plan, ones)));
    for (j = 0; j < ones.size() && ones[j] == plan.column(j).length; ++j) ones[j] = 0;
    if (j < ones.size()) ++ones[j];
  }
}

TEST(columnsort_plan, sorts_all_zero_one_inputs) {
  // Least heights and one more, divisible or not, with full and short last columns.
  for (std::uint64_t r : {2U, 3U, 4U, 7U})
    for (std::uint64_t n = 0; n <= 2 * r; ++n)
      ASSERT_NO_FATAL_FAILURE(expect_all_zero_one_inputs_sorted({n, r}));
  for (std::uint64_t r : {8U, 9U, 10U})
    for (std::uint64_t n = 2 * r + 1; n <= 3 * r; n += r / 4)
      ASSERT_NO_FATAL_FAILURE(expect_all_zero_one_inputs_sorted({n, r}));
  for (std::uint64_t n : {55U, 57U}) expect_all_zero_one_inputs_sorted({n, 18});
}

TEST(columnsort_plan, sorts_random_zeros_and_ones) {
  std::uint64_t const seed = 21;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE("seed 21, round " + std::to_string(round));
    std::uint64_t const s = 2 + random() % 9, r = 2 * (s - 1) * (s - 1) + random() % 5;
    columnsort_plan const plan(r * s - random() % r, r);
    std::vector<std::uint64_t> ones;
    for (std::uint64_t j = 0; j < s; ++j) ones.push_back(random() % (plan.column(j).length + 1));
    ASSERT_NO_FATAL_FAILURE(expect_sorted(plan, zeros_and_ones(plan, ones)));
  }
}

TEST(columnsort_plan, sorts_keys_with_duplicates) {
  std::uint64_t const seed = 22;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE("seed 22, round " + std::to_string(round));
    std::uint64_t const n = random() % 3000;
    std::uint64_t const r = columnsort_plan::least_column_records(n) + random() % 3;
    records source(n);
    std::uint64_t const keys = round % 2 == 0 ? hole : 1 + random() % 50;
    for (auto& key : source) key = random() % keys;
    ASSERT_NO_FATAL_FAILURE(expect_sorted({n, r}, source));
  }
}

TEST(columnsort_plan, finds_the_least_column) {
  for (std::uint64_t n = 0; n < 2000; ++n) {
    std::uint64_t r = 1;
    for (;; ++r) {
      std::uint64_t const s = (n + r - 1) / r;
      if (s <= 1 || r >= 2 * (s - 1) * (s - 1)) break;
    }
    ASSERT_EQ(columnsort_plan::least_column_records(n), r);
    EXPECT_NO_THROW(columnsort_plan(n, r));
    if (r > 1) {
      EXPECT_THROW(columnsort_plan(n, r - 1), std::invalid_argument);
    }
  }
}

TEST(columnsort_plan, names_heights_in_its_refusal) {
  try {
    columnsort_plan const plan(1000000, 1000);
    FAIL();
  } catch (std::invalid_argument const& error) {
    EXPECT_STREQ(
        error.what(),
        "columnsort of 1000000 records: columns of r = 1000 records make s = 1000 columns, "
        "need r >= 2 (s - 1)^2; the least r is 12500");
  }
  EXPECT_THROW(columnsort_plan(0, 0), std::invalid_argument);
  EXPECT_THROW(columnsort_plan(std::uint64_t{1} << 60, 1), std::invalid_argument);
}

TEST(columnsort_plan, aligns_all_pieces_if_it_may_choose_the_column) {
  std::uint64_t const block = 16, most = 5008;
  std::size_t found = 0;
  for (std::uint64_t n = 0; n < 240'000; n += n < 100 ? 9 : 3001) {
    auto const plan = columnsort_plan::aligned(n, most, block);
    std::uint64_t const least = columnsort_plan::least_aligned_column_records(n, block);
    ASSERT_EQ(plan.has_value(), least <= most) << n;
    if (!plan) continue;
    ++found;
    std::uint64_t const r = plan->column_records(), s = plan->column_count();
    ASSERT_LE(r, most);
    ASSERT_EQ(plan->record_count(), r * s);
    ASSERT_GE(r * s, n);
    if (n > 9 * most) {
      EXPECT_LT(r * s, n + n / 16) << n;
    }
    for (std::uint64_t j = 0; s > 1 && j < s; ++j) {
      auto const halves = plan->halves(j);
      ASSERT_EQ(halves.output_offset % block + halves.head % block, 0U) << n;
      for (auto const& pieces : {plan->dealt_pieces(j), plan->returned_pieces(j)})
        for (auto const& piece : pieces)
          ASSERT_EQ(piece.file_offset % block + piece.length % block, 0U) << n;
    }
  }
  EXPECT_GE(found, 85U);  // nearly all that memory of that size can sort
  EXPECT_FALSE(columnsort_plan::aligned(200, 100, 512));
  EXPECT_EQ(columnsort_plan::aligned(10, 512, 512)->column_records(), 512U);
}

}  // namespace
}  // namespace outsize::numeric
