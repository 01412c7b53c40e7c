// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Square matrices over GF(2) with up to 64 rows, and the affine maps y = A x ⊕ c on n-bit numbers.
//
// A number is a vector: bit i of it is component i. Row i of a matrix is a word of which bit j is
// the entry (i, j), so that component i of A x is the parity of row_i & x, and the identity has
// row_i = 2^i. Addition is exclusive or. Values; safe to read from any number of threads. Layer:
// numeric.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace outsize::numeric {

/// The largest number of rows of a bit_matrix.
inline constexpr unsigned max_bit_count = 64;

/// The word with the low `bit_count` bits set; bit_count at most 64.
constexpr std::uint64_t low_bits(unsigned bit_count) noexcept {
  return bit_count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bit_count) - 1;
}

/// A half-open range of rows or columns of a matrix.
struct index_range {
  unsigned begin = 0;
  unsigned end = 0;
};

/// An n x n matrix over GF(2), n at most 64.
class bit_matrix {
 public:
  /// The 0 x 0 matrix.
  bit_matrix() = default;
  /// The n x n matrix of zeros.
  /// Errors:  std::invalid_argument if size exceeds 64.
  explicit bit_matrix(unsigned size);

  /// y = x.
  static bit_matrix identity(unsigned size);
  /// Bit i goes to bit size - 1 - i: the reordering of a radix-2 FFT.
  static bit_matrix bit_reversal(unsigned size);
  /// The transposition of a matrix of 2^row_bits rows and 2^column_bits columns, both stored row by
  /// row: the item at row · 2^column_bits + column goes to column · 2^row_bits + row.
  static bit_matrix transposition(unsigned row_bits, unsigned column_bits);
  /// x goes to its reflected Gray code x ⊕ (x >> 1).
  static bit_matrix gray_code(unsigned size);
  /// The inverse of gray_code: y_i is the parity of the bits of x from i upwards.
  static bit_matrix inverse_gray_code(unsigned size);
  /// Bit j goes to bit target_of[j].
  /// Errors:  std::invalid_argument if target_of is not a permutation of 0 … n-1.
  static bit_matrix from_bit_permutation(std::span<unsigned const> target_of);
  /// The matrix that sends unit vector j to columns[j]; columns.size() is n.
  static bit_matrix from_columns(std::span<std::uint64_t const> columns);
  /// Reads n lines of n digits 0 or 1, row 0 first and column 0 leftmost; blanks are ignored, and
  /// so are empty lines and lines that begin with '#'.
  /// Errors:  std::invalid_argument, naming the line, for other characters or a wrong shape.
  static bit_matrix parse(std::string_view text);

  unsigned size() const noexcept { return size_; }
  std::uint64_t row(unsigned i) const noexcept { return rows_[i]; }
  std::uint64_t column(unsigned j) const noexcept;
  bool get(unsigned i, unsigned j) const noexcept { return (rows_[i] >> j & 1) != 0; }
  void set(unsigned i, unsigned j, bool value) noexcept;
  void set_row(unsigned i, std::uint64_t row) noexcept;

  /// A x. Bits of x from n upwards must be zero.
  /// CPU:     O(n).
  std::uint64_t apply(std::uint64_t x) const noexcept;
  /// The columns, for sums over the set bits of a vector.
  std::vector<std::uint64_t> columns() const;
  bit_matrix transposed() const noexcept;
  /// CPU:     O(n²) word operations, as for the inverse.
  unsigned rank() const noexcept;
  /// The rank of the block of these rows and columns.
  unsigned rank(index_range rows, index_range columns) const noexcept;
  /// The inverse, or nothing if the matrix is singular.
  std::optional<bit_matrix> try_inverse() const;
  /// The inverse.
  /// Errors:  std::invalid_argument "singular matrix of rank r, need n".
  bit_matrix inverse() const;
  /// The form that parse reads, with a line feed after each row.
  std::string text() const;

  friend bool operator==(bit_matrix const&, bit_matrix const&) = default;

 private:
  unsigned size_ = 0;
  std::array<std::uint64_t, max_bit_count> rows_{};
};

/// The product: (a · b) x = a (b x). Both have the same size.
bit_matrix operator*(bit_matrix const& a, bit_matrix const& b) noexcept;

/// The map x -> a x ⊕ c.
struct affine_map {
  bit_matrix a;
  std::uint64_t c = 0;

  std::uint64_t apply(std::uint64_t x) const noexcept { return a.apply(x) ^ c; }
  /// Errors:  std::invalid_argument if `a` is singular.
  affine_map inverse() const;
  friend bool operator==(affine_map const&, affine_map const&) = default;
};

/// The map x -> outer(inner(x)).
affine_map compose(affine_map const& outer, affine_map const& inner) noexcept;

}  // namespace outsize::numeric
