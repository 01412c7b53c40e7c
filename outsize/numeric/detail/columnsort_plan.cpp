// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/numeric/detail/columnsort_plan.hpp>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include <outsize/base/assert.hpp>

namespace outsize::numeric {
namespace {

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) noexcept {
  return a / b + (a % b != 0 ? 1 : 0);
}

/// How many of 0 … end-1 are below c modulo s; c <= s.
std::uint64_t count_below(std::uint64_t end, std::uint64_t s, std::uint64_t c) noexcept {
  return end / s * c + std::min(end % s, c);
}

/// How many of 0 … end-1 are c modulo s.
std::uint64_t count_equal(std::uint64_t end, std::uint64_t s, std::uint64_t c) noexcept {
  return end / s + (end % s > c ? 1 : 0);
}

bool is_high_enough(std::uint64_t record_count, std::uint64_t column_records) noexcept {
  std::uint64_t const s = divide_up(record_count, column_records);
  if (s <= 1) return true;
  // Divided rather than squared: (s - 1)² may not fit.
  return s - 1 <= column_records / 2 / (s - 1);
}

/// The least r of s columns that hold so many records, if columns, their halves and their pieces,
/// r / s records each, are of whole blocks.
std::uint64_t aligned_records(std::uint64_t record_count, std::uint64_t s,
                              std::uint64_t block_records) noexcept {
  // An odd number of pieces makes whole halves if each is of an even number of blocks.
  std::uint64_t const unit = s * block_records * (s > 1 ? 1 + s % 2 : 1);
  return divide_up(divide_up(record_count, s), unit) * unit;
}

}  // namespace

columnsort_plan::columnsort_plan(std::uint64_t record_count, std::uint64_t column_records)
    : record_count_(record_count), column_records_(column_records) {
  if (column_records == 0)
    throw std::invalid_argument("columnsort: columns of no records, need at least one");
  OUTSIZE_ASSERT(record_count <= std::numeric_limits<std::uint64_t>::max() / 4 &&
                 column_records <= std::numeric_limits<std::uint64_t>::max() / 4);
  column_count_ = divide_up(record_count, column_records);
  if (!is_high_enough(record_count, column_records))
    throw std::invalid_argument(fmt::format(
        "columnsort of {} records: columns of r = {} records make s = {} columns, need r >= 2 (s - "
        "1)^2; the least r is {}",
        record_count, column_records, column_count_, least_column_records(record_count)));
}

std::uint64_t columnsort_plan::least_column_records(std::uint64_t record_count) noexcept {
  // The more records a column has the fewer columns there are: bisection applies.
  std::uint64_t low = 1, high = std::max<std::uint64_t>(record_count, 1);
  while (low < high) {
    std::uint64_t const middle = low + (high - low) / 2;
    if (is_high_enough(record_count, middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

std::optional<columnsort_plan> columnsort_plan::aligned(std::uint64_t record_count,
                                                        std::uint64_t most,
                                                        std::uint64_t block_records) {
  OUTSIZE_ASSERT(most > 0 && block_records > 0);
  std::uint64_t const count = std::max<std::uint64_t>(record_count, 1);
  std::uint64_t best_s = 0, best_r = 0;
  for (std::uint64_t s = divide_up(count, most); s <= most / block_records; ++s) {
    std::uint64_t const r = aligned_records(count, s, block_records);
    bool const is_legal = r <= most && is_high_enough(s * r, r);
    if (is_legal && (best_s == 0 || s * r < best_s * best_r)) best_s = s, best_r = r;
    if (s >= divide_up(2 * count, s * block_records)) break;  // more columns would only be emptier
  }
  if (best_s == 0) return std::nullopt;
  return columnsort_plan(best_s * best_r, best_r);
}

std::uint64_t columnsort_plan::least_aligned_column_records(std::uint64_t record_count,
                                                            std::uint64_t block_records) noexcept {
  std::uint64_t const count = std::max<std::uint64_t>(record_count, 1);
  std::uint64_t least = aligned_records(count, 1, block_records);
  for (std::uint64_t s = 2; s * block_records < least; ++s) {
    std::uint64_t const r = aligned_records(count, s, block_records);
    if (is_high_enough(s * r, r)) least = std::min(least, r);
  }
  return least;
}

columnsort_extent columnsort_plan::column(std::uint64_t j) const noexcept {
  OUTSIZE_ASSERT(j < column_count_);
  std::uint64_t const begin = j * column_records_;
  return {begin, std::min(column_records_, record_count_ - begin)};
}

columnsort_extent columnsort_plan::dealt_column(std::uint64_t c) const noexcept {
  OUTSIZE_ASSERT(c < column_count_);
  return {c * column_records_, count_equal(record_count_, column_count_, c)};
}

column_deal columnsort_plan::deal(std::uint64_t j) const {
  auto const [begin, length] = column(j);
  return {length, column_count_, begin % column_count_};
}

std::vector<columnsort_piece> columnsort_plan::dealt_pieces(std::uint64_t j) const {
  auto const [begin, length] = column(j);
  std::uint64_t const end = begin + length, s = column_count_;
  std::vector<columnsort_piece> pieces;
  for (std::uint64_t c = 0; c < s; ++c) {
    std::uint64_t const row = count_equal(begin, s, c), end_row = count_equal(end, s, c);
    std::uint64_t const place = count_below(end, s, c) - count_below(begin, s, c);
    if (row != end_row) pieces.push_back({c, place, c * column_records_ + row, end_row - row});
  }
  return pieces;
}

std::vector<columnsort_piece> columnsort_plan::returned_pieces(std::uint64_t c) const {
  std::uint64_t const s = column_count_;
  std::vector<columnsort_piece> pieces;
  for (std::uint64_t j = 0; j < s; ++j) {
    auto const [begin, length] = column(j);
    std::uint64_t const end = begin + length;
    std::uint64_t const row = count_equal(begin, s, c), end_row = count_equal(end, s, c);
    std::uint64_t const place = begin + count_below(end, s, c) - count_below(begin, s, c);
    if (row != end_row) pieces.push_back({j, row, place, end_row - row});
  }
  return pieces;
}

columnsort_halves columnsort_plan::halves(std::uint64_t j) const noexcept {
  std::uint64_t const second_half = column_records_ / 2;
  auto const [begin, length] = column(j);
  columnsort_halves result;
  result.carried = j == 0 ? 0 : second_half;
  result.head = std::min(length, column_records_ - second_half);
  result.tail = length - result.head;
  result.output_offset = begin - result.carried;
  return result;
}

}  // namespace outsize::numeric
