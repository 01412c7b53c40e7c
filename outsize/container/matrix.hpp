// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A dense matrix on disk, in square blocks: sums, products and transposition that move little more
// than they must, and its items one by one.
//
// The matrices that are computed with together share the memory of a page_pool, a page of which is
// a block: a product keeps as large a part of its result there as fits, since that is what decides
// how often the factors are read. Blocks that nothing was written to hold zeros; they cost no I/O,
// and no time.
//
// Threads: one at a time uses all matrices of a pool, but const access to items may have company.
// Products are computed by the storage's team. Layer: container.
// Source: Hong, Kung: I/O complexity: the red-blue pebble game, STOC 1981; the interface: STXXL's
// matrix.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/detail/owned.hpp>
#include <outsize/container/detail/blocks/matrix_items.hpp>
#include <outsize/container/detail/blocks/matrix_kernel.hpp>
#include <outsize/container/detail/blocks/matrix_pages.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/container/vector_readers.hpp>
#include <outsize/page/page_pool.hpp>

namespace outsize {

/// Which factors of a product are taken transposed; they are not moved for that.
struct product_options {
  bool transpose_a = false;
  bool transpose_b = false;
};

/// Rows · columns items on disk, zero at first.
///
///     page_pool pool = matrix_pool(store);
///     matrix<double> a(pool, n, n), b(pool, n, n);
///     a.fill([](auto i, auto j) { return 1.0 / double(i + j + 1); });
///     …
///     matrix<double> c = a * b;
///     for (double x : std::as_const(c).row(7)) …
///
/// With s · s items in a block, m = rows / s and n = columns / s, rounded up, and P blocks in the
/// pool:
///
/// I/Os:    An item: none if its block is in memory, otherwise a read, and a write if a changed
///          block must leave. A row or column: n or m reads; all rows in turn m · n, if n blocks
///          fit in the pool. fill(): m · n writes. +=, -=, *=, +, -, transposed(): a read for each
///          block of each operand, and m · n writes. Products: see add_product(). load(), store():
///          m · n and a scan of the vector, if its rows fit in half of the pool, 2n blocks.
/// Memory:  The pool's; 17 bytes for each block. Disk: that of the blocks that were written to.
/// Errors:  std::invalid_argument where sizes or pools do not fit, and nothing has been done then.
///          io_error where a block cannot be read, or another written for it: of an access to an
///          item everything is as it was; of a whole operation some blocks of the matrix that it
///          changes have been done and others not, and what those hold that were at work is not
///          known. out_of_space, budget_error where one is made; budget_error of an operation too,
///          if constant iterators keep so many blocks that less than three are left for it.
/// Checked: matrix_test.cpp.
template <matrix_item T>
class matrix {
 public:
  using value_type = T;
  using size_type = std::uint64_t;
  using iterator = matrix_iterator<T>;
  using const_iterator = matrix_const_iterator<T>;

  /// Zeros. Asks whether the disks have space for all blocks. @throws std::invalid_argument if an
  /// item is longer than a page of the pool, or there are more items than there can be;
  /// out_of_space, budget_error, io_error.
  matrix(page_pool const& pool, size_type rows, size_type columns)
      : items_(std::make_unique<items>(pool, rows, columns)) {}
  matrix(matrix&&) noexcept = default;
  matrix& operator=(matrix&&) noexcept = default;

  size_type rows() const noexcept { return pages().rows(); }
  size_type columns() const noexcept { return pages().columns(); }
  page_pool const& pool() const noexcept { return pages().pool(); }
  /// Rows and columns of a block.
  std::size_t block_rows() const noexcept { return pages().block_rows(); }
  std::size_t block_columns() const noexcept { return pages().block_columns(); }

  // ---- items ----

  /// @pre i < rows(), j < columns(). References are valid as those of a vector in a pool, and until
  /// the next operation on a whole matrix.
  T& operator()(size_type i, size_type j) {
    OUTSIZE_ASSERT(i < rows() && j < columns());
    return items_->at(i, j);
  }
  T operator()(size_type i, size_type j) const {
    OUTSIZE_ASSERT(i < rows() && j < columns());
    return std::as_const(*items_).value(i, j);
  }
  /// @throws std::out_of_range, besides.
  T& at(size_type i, size_type j) {
    check(i, j);
    return (*this)(i, j);
  }
  T at(size_type i, size_type j) const {
    check(i, j);
    return (*this)(i, j);
  }

  /// The items of a row, or of a column, by iterators with random access. They stay valid if the
  /// matrix is moved. @pre i < rows(); j < columns().
  std::ranges::subrange<iterator> row(size_type i) { return line(items_.get(), {i, false}); }
  std::ranges::subrange<const_iterator> row(size_type i) const {
    return line<items const>(items_.get(), {i, false});
  }
  std::ranges::subrange<iterator> column(size_type j) { return line(items_.get(), {j, true}); }
  std::ranges::subrange<const_iterator> column(size_type j) const {
    return line<items const>(items_.get(), {j, true});
  }

  // ---- all items ----

  /// Makes item (i, j) what function(i, j) returns; it is called block by block, in this thread. If
  /// it throws, blocks are filled, or as they were, but that at work has values that are not known.
  template <typename Function>
  void fill(Function const& function) {
    detail::for_each_block(items_->pages(), replaced, {}, false,
                           [&](detail::block_extent const& at, std::byte* into, auto const&) {
                             for (std::size_t i = 0; i < at.rows; ++i)
                               for (std::size_t j = 0; j < at.columns; ++j)
                                 as_items(into)[i * at.stride + j] = static_cast<T>(
                                     function(at.first_row + i, at.first_column + j));
                           });
  }
  /// Makes the items those of `from`, row by row. @throws std::invalid_argument if it has not
  /// rows() · columns() items.
  void load(vector<T> const& from);
  /// Makes `to` hold the items, row by row.
  void store(vector<T>& to) const;

  matrix& operator+=(matrix const& other) {
    change_with(other, [](T const& x, T const& y) { return detail::sum_of(x, y); });
    return *this;
  }
  matrix& operator-=(matrix const& other) {
    change_with(other, [](T const& x, T const& y) { return detail::difference_of(x, y); });
    return *this;
  }
  /// Multiplies each item; the factor may be one of them.
  matrix& operator*=(T factor) {
    detail::for_each_block(items_->pages(), kept, {}, true,
                           [&](detail::block_extent const& at, std::byte* into, auto const&) {
                             each_item(at, [&](std::size_t k) {
                               T& item = as_items(into)[k];
                               item = detail::product_of(item, factor);
                             });
                           });
    return *this;
  }

  /// Adds a · b, or the product of the transposed ones. @throws std::invalid_argument if the shapes
  /// do not fit, if one of them is this matrix, or of another pool.
  ///
  /// I/Os:    With k blocks between rows and columns, and tiles of the result of t · t blocks,
  ///          t = ⌊√(P + 4)⌋ - 2: k · (m · ⌈n / t⌉ + n · ⌈m / t⌉) reads at most, and m · n more if
  ///          it is not zero; m · n writes. So with B items in a block and M in the pool
  ///          O(rows · columns · between / (B · √M)), which is the least but for a constant factor.
  /// CPU:     2 · rows · columns · between operations by the team, while the next blocks are read.
  void add_product(matrix const& a, matrix const& b, product_options const& options = {}) {
    detail::matrix_operand const left{&a.pages(), options.transpose_a};
    detail::matrix_operand const right{&b.pages(), options.transpose_b};
    if (left.columns() != right.rows() || left.rows() != rows() || right.columns() != columns())
      throw std::invalid_argument("matrix: a product of " + shape(left) + " and " + shape(right) +
                                  " items is not one of " + shape({&pages()}));
    if (this == &a || this == &b)
      throw std::invalid_argument("matrix: a product is added to one of its factors");
    check_pool(a);
    check_pool(b);
    detail::add_product(
        items_->pages(), left, right, pool().store().threads(),
        [](std::byte* c, std::byte const* x, std::byte const* y, detail::block_product const& how) {
          detail::add_product(as_items(c), as_items(x), as_items(y), how);
        });
  }

  friend void swap(matrix& a, matrix& b) noexcept { std::swap(a.items_, b.items_); }

  // ---- new matrices, in the pool of the first operand ----

  friend matrix operator+(matrix const& a, matrix const& b) {
    return combination(a, b, [](T const& x, T const& y) { return detail::sum_of(x, y); });
  }
  friend matrix operator-(matrix const& a, matrix const& b) {
    return combination(a, b, [](T const& x, T const& y) { return detail::difference_of(x, y); });
  }
  friend matrix operator*(matrix const& a, matrix const& b) { return product(a, b); }
  /// As add_product() to zeros.
  friend matrix product(matrix const& a, matrix const& b, product_options const& options = {}) {
    matrix result(a.pool(), options.transpose_a ? a.columns() : a.rows(),
                  options.transpose_b ? b.rows() : b.columns());
    result.add_product(a, b, options);
    return result;
  }
  friend matrix transposed(matrix const& a) {
    matrix result(a.pool(), a.columns(), a.rows());
    std::array const from{detail::matrix_operand{&a.pages(), true}};
    detail::for_each_block(
        result.items_->pages(), replaced, from, true,
        [&](detail::block_extent const& at, std::byte* into, auto const& sources) {
          if (sources[0] == nullptr) return set_zero(at, into);
          detail::transpose_block(as_items(into), at.stride, as_items(sources[0]),
                                  a.block_columns(), at.columns, at.rows);
        });
    return result;
  }

 private:
  using items = detail::matrix_items<T>;
  static constexpr auto kept = detail::page_row::content::kept;
  static constexpr auto replaced = detail::page_row::content::replaced;

  static T* as_items(std::byte* bytes) { return reinterpret_cast<T*>(bytes); }
  static T const* as_items(std::byte const* bytes) { return reinterpret_cast<T const*>(bytes); }

  detail::matrix_pages const& pages() const noexcept { return std::as_const(*items_).pages(); }

  void check(size_type i, size_type j) const {
    if (i >= rows() || j >= columns())
      throw std::out_of_range("matrix: item (" + std::to_string(i) + ", " + std::to_string(j) +
                              ") of " + shape({&pages()}));
  }
  static std::string shape(detail::matrix_operand const& of) {
    return std::to_string(of.rows()) + " · " + std::to_string(of.columns());
  }
  void check_pool(matrix const& other) const {
    if (!pool().is_same(other.pool()))
      throw std::invalid_argument("matrix: the operands have different pools");
  }
  void check_same_shape(matrix const& other) const {
    if (rows() != other.rows() || columns() != other.columns())
      throw std::invalid_argument("matrix: " + shape({&pages()}) + " and " +
                                  shape({&other.pages()}) + " items do not go together");
    check_pool(other);
  }

  template <typename Items>
  static auto line(Items* of, detail::matrix_line which) {
    using place = std::conditional_t<std::is_const_v<Items>, const_iterator, iterator>;
    std::uint64_t const lines = which.is_column ? of->pages().columns() : of->pages().rows();
    std::uint64_t const length = which.is_column ? of->pages().rows() : of->pages().columns();
    OUTSIZE_ASSERT(which.number < lines);
    return std::ranges::subrange<place>(place(of, which, 0), place(of, which, length));
  }

  /// The places of the items of a block, one after the other.
  template <typename With>
  static void each_item(detail::block_extent const& at, With const& with) {
    for (std::size_t i = 0; i < at.rows; ++i)
      for (std::size_t k = i * at.stride; k < i * at.stride + at.columns; ++k) with(k);
  }
  static void set_zero(detail::block_extent const& at, std::byte* into) {
    each_item(at, [&](std::size_t k) { as_items(into)[k] = T{}; });
  }

  template <typename Function>
  void change_with(matrix const& other, Function const& function) {
    check_same_shape(other);
    std::array const from{detail::matrix_operand{&other.pages()}};
    detail::for_each_block(
        items_->pages(), kept, from, true,
        [&](detail::block_extent const& at, std::byte* into, auto const& sources) {
          if (sources[0] == nullptr) return;
          each_item(at, [&](std::size_t k) {
            as_items(into)[k] = function(as_items(into)[k], as_items(sources[0])[k]);
          });
        });
  }
  template <typename Function>
  static matrix combination(matrix const& a, matrix const& b, Function const& function) {
    a.check_same_shape(b);
    matrix result(a.pool(), a.rows(), a.columns());
    std::array const from{detail::matrix_operand{&a.pages()}, detail::matrix_operand{&b.pages()}};
    detail::for_each_block(
        result.items_->pages(), replaced, from, true,
        [&](detail::block_extent const& at, std::byte* into, auto const& sources) {
          auto const item = [&](std::size_t s, std::size_t k) {
            return sources[s] == nullptr ? T{} : as_items(sources[s])[k];
          };
          each_item(at,
                    [&](std::size_t k) { as_items(into)[k] = function(item(0, k), item(1, k)); });
        });
    return result;
  }

  detail::owned<items> items_;
};

template <matrix_item T>
void matrix<T>::load(vector<T> const& from) {
  if (from.size() != rows() * columns())
    throw std::invalid_argument("matrix: " + std::to_string(from.size()) + " items are not " +
                                shape({&pages()}));
  std::optional<vector_reader<T>> in;
  auto const read = [&](std::span<T> into) {
    for (std::size_t done = 0; done < into.size();) {
      auto const some = in->pull().first(std::min(in->pull().size(), into.size() - done));
      std::ranges::copy(some, into.begin() + static_cast<std::ptrdiff_t>(done));
      done += some.size();
      in->skip(some.size());
    }
  };
  detail::replace_strips(items_->pages(), [&](detail::matrix_strip const& strip) {
    bool const whole = strip.columns == columns();  // whole rows: then all strips have them
    for (std::size_t i = 0; i < strip.rows; ++i) {
      std::uint64_t const first = (strip.first_row + i) * columns() + strip.first_column;
      if (!in || !whole) in.emplace(from, first, from.size());
      strip.for_each_piece(i, [&](std::size_t block, std::size_t item, std::size_t count) {
        read({as_items(strip.blocks[block]) + item, count});
      });
    }
  });
}

template <matrix_item T>
void matrix<T>::store(vector<T>& to) const {
  to.resize(rows() * columns());
  std::array<T, 256> const zeros{};
  std::optional<vector_writer<T>> out;
  detail::read_strips(pages(), [&](detail::matrix_strip const& strip) {
    bool const whole = strip.columns == columns();  // whole rows: then all strips have them
    for (std::size_t i = 0; i < strip.rows; ++i) {
      std::uint64_t const first = (strip.first_row + i) * columns() + strip.first_column;
      if (!out || !whole) out.emplace(to, first, whole ? to.size() : first + strip.columns);
      strip.for_each_piece(i, [&](std::size_t block, std::size_t item, std::size_t count) {
        if (strip.blocks[block] != nullptr)
          return out->push({as_items(strip.blocks[block]) + item, count});
        for (std::size_t done = 0; done < count; done += zeros.size())
          out->push(std::span(zeros).first(std::min(count - done, zeros.size())));
      });
    }
  });
}

}  // namespace outsize
