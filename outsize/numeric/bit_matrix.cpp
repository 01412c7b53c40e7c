// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/numeric/bit_matrix.hpp>

#include <bit>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <outsize/base/assert.hpp>

namespace outsize::numeric {
namespace {

std::uint64_t unit(unsigned i) noexcept { return std::uint64_t{1} << i; }

unsigned rank_of(std::array<std::uint64_t, max_bit_count> rows, unsigned row_count) noexcept {
  unsigned rank = 0;
  for (unsigned i = 0; i < row_count; ++i) {
    if (rows[i] == 0) continue;
    ++rank;
    std::uint64_t const pivot = rows[i] & (~rows[i] + 1);
    for (unsigned k = i + 1; k < row_count; ++k)
      if ((rows[k] & pivot) != 0) rows[k] ^= rows[i];
  }
  return rank;
}

/// The digits of a line as a row; the number of digits is returned beside it.
std::pair<std::uint64_t, std::size_t> parse_row(std::string_view line, std::size_t line_number) {
  std::uint64_t row = 0;
  std::size_t digits = 0;
  for (char const c : line) {
    if (c == ' ' || c == '\t' || c == '\r') continue;
    if (c != '0' && c != '1')
      throw std::invalid_argument(
          fmt::format("bit matrix, line {}: '{}' is neither 0 nor 1", line_number, c));
    if (digits == max_bit_count)
      throw std::invalid_argument(
          fmt::format("bit matrix, line {}: more than {} columns", line_number, max_bit_count));
    if (c == '1') row |= unit(static_cast<unsigned>(digits));
    ++digits;
  }
  return {row, digits};
}

}  // namespace

bit_matrix::bit_matrix(unsigned size) : size_(size) {
  if (size > max_bit_count)
    throw std::invalid_argument(
        fmt::format("a bit matrix has at most {} rows, not {}", max_bit_count, size));
}

bit_matrix bit_matrix::identity(unsigned size) {
  bit_matrix result(size);
  for (unsigned i = 0; i < size; ++i) result.rows_[i] = unit(i);
  return result;
}

bit_matrix bit_matrix::bit_reversal(unsigned size) {
  bit_matrix result(size);
  for (unsigned i = 0; i < size; ++i) result.rows_[i] = unit(size - 1 - i);
  return result;
}

bit_matrix bit_matrix::transposition(unsigned row_bits, unsigned column_bits) {
  bit_matrix result(row_bits + column_bits);
  for (unsigned j = 0; j < column_bits; ++j) result.rows_[row_bits + j] = unit(j);
  for (unsigned i = 0; i < row_bits; ++i) result.rows_[i] = unit(column_bits + i);
  return result;
}

bit_matrix bit_matrix::gray_code(unsigned size) {
  bit_matrix result(size);
  for (unsigned i = 0; i < size; ++i) result.rows_[i] = unit(i) | (i + 1 < size ? unit(i + 1) : 0);
  return result;
}

bit_matrix bit_matrix::inverse_gray_code(unsigned size) {
  bit_matrix result(size);
  for (unsigned i = 0; i < size; ++i) result.rows_[i] = low_bits(size) & ~low_bits(i);
  return result;
}

bit_matrix bit_matrix::from_bit_permutation(std::span<unsigned const> target_of) {
  auto const size = static_cast<unsigned>(target_of.size());
  bit_matrix result(size);
  for (unsigned j = 0; j < size; ++j) {
    unsigned const target = target_of[j];
    if (target >= size)
      throw std::invalid_argument(
          fmt::format("bit permutation: bit {} goes to {}, need less than {}", j, target, size));
    if (result.rows_[target] != 0)
      throw std::invalid_argument(
          fmt::format("bit permutation: two bits go to bit {}, the second is {}", target, j));
    result.rows_[target] = unit(j);
  }
  return result;
}

bit_matrix bit_matrix::from_columns(std::span<std::uint64_t const> columns) {
  auto const size = static_cast<unsigned>(columns.size());
  bit_matrix result(size);
  for (unsigned j = 0; j < size; ++j)
    for (unsigned i = 0; i < size; ++i)
      if ((columns[j] >> i & 1) != 0) result.rows_[i] |= unit(j);
  return result;
}

bit_matrix bit_matrix::parse(std::string_view text) {
  bit_matrix result;
  std::size_t columns = 0;
  for (std::size_t line_number = 1; !text.empty(); ++line_number) {
    auto const end = text.find('\n');
    std::string_view const line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (line.starts_with('#')) continue;
    auto const [row, digits] = parse_row(line, line_number);
    if (digits == 0) continue;
    if (result.size_ == 0) columns = digits;
    if (digits != columns || result.size_ == columns)
      throw std::invalid_argument(
          fmt::format("bit matrix, line {}: row {} has {} columns, need {} rows of {} columns",
                      line_number, result.size_, digits, columns, columns));
    result.rows_[result.size_++] = row;
  }
  if (result.size_ != columns)
    throw std::invalid_argument(fmt::format(
        "bit matrix: {} rows of {} columns, need as many rows as columns", result.size_, columns));
  return result;
}

std::uint64_t bit_matrix::column(unsigned j) const noexcept {
  std::uint64_t result = 0;
  for (unsigned i = 0; i < size_; ++i) result |= (rows_[i] >> j & 1) << i;
  return result;
}

void bit_matrix::set(unsigned i, unsigned j, bool value) noexcept {
  OUTSIZE_ASSERT(i < size_ && j < size_);
  rows_[i] = (rows_[i] & ~unit(j)) | (value ? unit(j) : 0);
}

void bit_matrix::set_row(unsigned i, std::uint64_t row) noexcept {
  OUTSIZE_ASSERT(i < size_ && (row & ~low_bits(size_)) == 0);
  rows_[i] = row;
}

std::uint64_t bit_matrix::apply(std::uint64_t x) const noexcept {
  std::uint64_t y = 0;
  for (unsigned i = 0; i < size_; ++i)
    y |= static_cast<std::uint64_t>(std::popcount(rows_[i] & x) & 1) << i;
  return y;
}

std::vector<std::uint64_t> bit_matrix::columns() const {
  bit_matrix const t = transposed();
  return {t.rows_.begin(), t.rows_.begin() + size_};
}

bit_matrix bit_matrix::transposed() const noexcept {
  bit_matrix result;
  result.size_ = size_;
  for (unsigned j = 0; j < size_; ++j) result.rows_[j] = column(j);
  return result;
}

unsigned bit_matrix::rank() const noexcept { return rank_of(rows_, size_); }

unsigned bit_matrix::rank(index_range rows, index_range columns) const noexcept {
  OUTSIZE_ASSERT(rows.begin <= rows.end && rows.end <= size_);
  OUTSIZE_ASSERT(columns.begin <= columns.end && columns.end <= size_);
  std::array<std::uint64_t, max_bit_count> part{};
  std::uint64_t const mask = low_bits(columns.end) & ~low_bits(columns.begin);
  for (unsigned i = rows.begin; i < rows.end; ++i) part[i - rows.begin] = rows_[i] & mask;
  return rank_of(part, rows.end - rows.begin);
}

std::optional<bit_matrix> bit_matrix::try_inverse() const {
  auto rows = rows_;
  bit_matrix result = identity(size_);
  for (unsigned j = 0; j < size_; ++j) {
    unsigned pivot = j;
    while (pivot < size_ && (rows[pivot] >> j & 1) == 0) ++pivot;
    if (pivot == size_) return std::nullopt;
    std::swap(rows[j], rows[pivot]);
    std::swap(result.rows_[j], result.rows_[pivot]);
    for (unsigned i = 0; i < size_; ++i) {
      if (i == j || (rows[i] >> j & 1) == 0) continue;
      rows[i] ^= rows[j];
      result.rows_[i] ^= result.rows_[j];
    }
  }
  return result;
}

bit_matrix bit_matrix::inverse() const {
  if (auto result = try_inverse()) return *result;
  throw std::invalid_argument(fmt::format("singular matrix of rank {}, need {}", rank(), size_));
}

std::string bit_matrix::text() const {
  std::string result;
  for (unsigned i = 0; i < size_; ++i) {
    for (unsigned j = 0; j < size_; ++j) result += get(i, j) ? '1' : '0';
    result += '\n';
  }
  return result;
}

bit_matrix operator*(bit_matrix const& a, bit_matrix const& b) noexcept {
  OUTSIZE_ASSERT(a.size() == b.size());
  bit_matrix result = a;
  for (unsigned i = 0; i < a.size(); ++i) {
    std::uint64_t row = 0;
    for (std::uint64_t left = a.row(i); left != 0; left &= left - 1)
      row ^= b.row(static_cast<unsigned>(std::countr_zero(left)));
    result.set_row(i, row);
  }
  return result;
}

affine_map affine_map::inverse() const {
  bit_matrix const a_inverse = a.inverse();
  return {a_inverse, a_inverse.apply(c)};
}

affine_map compose(affine_map const& outer, affine_map const& inner) noexcept {
  return {outer.a * inner.a, outer.apply(inner.c)};
}

}  // namespace outsize::numeric
