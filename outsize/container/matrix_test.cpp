// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Matrices against arrays in memory, with blocks and pools so small that everything leaves all the
// time; their I/Os against the bounds; what is left when disks fail.

#include <outsize/container/matrix.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/io/decorators/counting_file.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/effort.hpp>

namespace outsize {
namespace {

using line_of_doubles = decltype(std::declval<matrix<double>&>().row(0));
static_assert(std::ranges::random_access_range<line_of_doubles>);
static_assert(
    std::ranges::random_access_range<decltype(std::declval<matrix<double> const&>().column(0))>);

/// A matrix as it would be in memory.
template <typename T>
struct dense {
  std::uint64_t rows, columns;
  std::vector<T> items = std::vector<T>(rows * columns);

  T& operator()(std::uint64_t i, std::uint64_t j) { return items[i * columns + j]; }
  T operator()(std::uint64_t i, std::uint64_t j) const { return items[i * columns + j]; }
  friend bool operator==(dense const&, dense const&) = default;
};

template <typename T>
dense<T> product_of(dense<T> const& a, bool transpose_a, dense<T> const& b, bool transpose_b) {
  auto const at = [](dense<T> const& m, bool transposed, std::uint64_t i, std::uint64_t j) {
    return transposed ? m(j, i) : m(i, j);
  };
  dense<T> c{transpose_a ? a.columns : a.rows, transpose_b ? b.rows : b.columns};
  for (std::uint64_t i = 0; i < c.rows; ++i)
    for (std::uint64_t j = 0; j < c.columns; ++j)
      for (std::uint64_t k = 0; k < (transpose_a ? a.rows : a.columns); ++k)
        c(i, j) += at(a, transpose_a, i, k) * at(b, transpose_b, k, j);
  return c;
}

/// Whole numbers, so that all products are exact.
template <typename T>
dense<T> random_dense(std::mt19937_64& random, std::uint64_t rows, std::uint64_t columns) {
  dense<T> m{rows, columns};
  for (T& item : m.items) item = static_cast<T>(static_cast<std::int16_t>(random() % 64));
  return m;
}

template <typename T>
matrix<T> on_disk(page_pool const& pool, dense<T> const& from) {
  matrix<T> m(pool, from.rows, from.columns);
  m.fill([&](std::uint64_t i, std::uint64_t j) { return from(i, j); });
  return m;
}

template <typename T>
dense<T> in_memory(matrix<T> const& from) {
  dense<T> m{from.rows(), from.columns()};
  for (std::uint64_t i = 0; i < m.rows; ++i)
    std::ranges::copy(from.row(i), m.items.begin() + static_cast<std::ptrdiff_t>(i * m.columns));
  return m;
}

struct matrices : testing::Test {
  std::shared_ptr<io::io_tally> tally = std::make_shared<io::io_tally>();
  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>();
  std::unique_ptr<storage> store;

  void SetUp() override { make_storage(64_MiB); }
  void make_storage(std::uint64_t capacity) {
    auto const open = [this, capacity](io::request_queue&) -> io::file_ptr {
      return std::make_unique<io::counting_file>(
          std::make_unique<io::faulty_file>(io::make_memory_file("memory", capacity), plan), tally);
    };
    disk_options disk("memory", open);
    disk.capacity_bytes = capacity;  // so that it says so when it is asked
    store = std::make_unique<storage>(
        storage_options{.disks = {disk}, .memory_bytes = 2_MiB, .threads = 2});
  }
  /// Blocks of side · side items of T.
  template <typename T>
  page_pool make_pool(std::size_t side, std::size_t pages) {
    return page_pool(*store, {.page_bytes = side * side * sizeof(T),
                              .cache_pages = pages,
                              .spare_pages = 2,
                              .read_ahead_pages = 1});
  }
  std::uint64_t reads() const { return tally->reads().requests; }
  std::uint64_t writes() const { return tally->writes().requests; }

  /// All operations on matrices of random shapes.
  template <typename T>
  void run_model(std::uint64_t seed, std::size_t side, std::size_t pages, int rounds) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << pages << " pages");
    std::mt19937_64 random(seed);
    auto const pool = make_pool<T>(side, pages);
    auto const length = [&] { return random() % (random() % 4 == 0 ? 3 : 5 * side); };
    for (int round = 0; round < rounds; ++round) {
      auto const m = length(), k = length(), n = length();
      product_options const how{random() % 2 == 0, random() % 2 == 0};
      auto const a =
          how.transpose_a ? random_dense<T>(random, k, m) : random_dense<T>(random, m, k);
      auto const b =
          how.transpose_b ? random_dense<T>(random, n, k) : random_dense<T>(random, k, n);
      auto const x = on_disk(pool, a), y = on_disk(pool, b);
      ASSERT_EQ(in_memory(x), a);

      auto const expected = product_of(a, how.transpose_a, b, how.transpose_b);
      auto z = product(x, y, how);
      ASSERT_EQ(in_memory(z), expected);
      z.add_product(x, y, how);
      auto twice = on_disk(pool, expected);
      twice *= T{2};
      ASSERT_EQ(in_memory(z), in_memory(twice));
      ASSERT_EQ(in_memory(z - twice), (dense<T>{z.rows(), z.columns()}));
      z -= on_disk(pool, expected);
      ASSERT_EQ(in_memory(z), expected);
      ASSERT_EQ(in_memory(z + z), in_memory(twice));
      z += z;
      ASSERT_EQ(in_memory(z), in_memory(twice));

      auto const across = transposed(x);
      ASSERT_EQ(across.rows(), x.columns());
      for (std::uint64_t i = 0; i < a.rows; ++i)
        ASSERT_TRUE(std::ranges::equal(across.column(i), x.row(i)));
    }
  }
};

TEST_F(matrices, compute_as_arrays_in_memory_do) {
  auto const seed = std::random_device{}();
  for (std::size_t pages : {4U, 7U, 30U}) {
    run_model<double>(seed + pages, 8, pages, scratch::operations(12));
    run_model<std::uint32_t>(seed + pages, 5, pages, scratch::operations(12));
  }
  run_model<float>(seed, 4, 12, scratch::operations(10));
  run_model<std::int64_t>(seed, 1, 12, scratch::operations(10));
  run_model<std::complex<double>>(seed, 6, 12, scratch::operations(10));
  run_model<std::complex<float>>(seed, 20, 5, 5);
}

TEST_F(matrices, multiply_fractions_up_to_rounding) {
  auto const pool = make_pool<double>(16, 20);
  std::uint64_t const n = 100;
  matrix<double> a(pool, n, n), b(pool, n, n);
  a.fill([](auto i, auto j) { return 1.0 / static_cast<double>(i + j + 1); });
  b.fill([](auto i, auto j) { return std::sin(static_cast<double>(3 * i + j)); });
  auto const c = a * b;
  for (std::uint64_t i = 0; i < n; i += 7)
    for (std::uint64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::uint64_t k = 0; k < n; ++k) sum += std::as_const(a)(i, k) * std::as_const(b)(k, j);
      ASSERT_NEAR(c(i, j), sum, 1e-12);
    }
}

TEST_F(matrices, give_items_rows_and_columns_to_be_changed) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  auto const pool = make_pool<std::uint32_t>(4, 5);
  matrix<std::uint32_t> m(pool, 19, 23);
  dense<std::uint32_t> model{19, 23};
  for (int step = 0; step < 4000; ++step) {
    auto const i = random() % 19, j = random() % 23;
    auto const item = static_cast<std::uint32_t>(random());
    switch (random() % 6) {
      case 0:
        m(i, j) = model(i, j) = item;
        break;
      case 1:
        ASSERT_EQ(std::as_const(m).at(i, j), model(i, j));
        break;
      case 2:
        m.row(i)[static_cast<std::ptrdiff_t>(j)] = model(i, j) = item;
        break;
      case 3:
        ASSERT_EQ(std::as_const(m).column(j)[static_cast<std::ptrdiff_t>(i)], model(i, j));
        break;
      case 4: {
        std::ranges::sort(m.column(j));
        std::vector<std::uint32_t> column;
        for (std::uint64_t k = 0; k < 19; ++k) column.push_back(model(k, j));
        std::ranges::sort(column);
        for (std::uint64_t k = 0; k < 19; ++k) model(k, j) = column[k];
        break;
      }
      default:
        ASSERT_EQ(m.at(i, j), model(i, j));
    }
  }
  ASSERT_EQ(in_memory(m), model);
  EXPECT_EQ(std::ranges::distance(m.row(0)), 23);
  EXPECT_THROW(m.at(19, 0), std::out_of_range);
  EXPECT_THROW(std::ignore = std::as_const(m).at(0, 23), std::out_of_range);
}

TEST_F(matrices, are_read_by_several_threads) {
  auto const pool = make_pool<std::uint64_t>(4, 6);
  matrix<std::uint64_t> m(pool, 30, 30);
  m.fill([](auto i, auto j) { return 100 * i + j; });
  std::vector<std::jthread> readers;
  for (std::uint64_t t = 0; t < 3; ++t)
    readers.emplace_back([&, t] {
      for (std::uint64_t i = t; i < 30; i += 2) {
        std::uint64_t j = 0;
        for (auto const item : std::as_const(m).row(i)) ASSERT_EQ(item, 100 * i + j++);
      }
    });
}

TEST_F(matrices, are_loaded_from_vectors_and_stored_row_by_row) {
  std::mt19937_64 random(1);
  for (std::size_t pages : {4U, 8U, 40U}) {
    auto const pool = make_pool<std::uint64_t>(4, pages);
    for (auto [rows, columns] : {std::pair{17U, 33U}, {1U, 50U}, {50U, 1U}, {0U, 3U}, {8U, 8U}}) {
      auto const model = random_dense<std::uint64_t>(random, rows, columns);
      vector<std::uint64_t> from(*store, {.page_bytes = 128, .cache_pages = 6}),
          to(*store, {.page_bytes = 128, .cache_pages = 6});
      for (auto const item : model.items) from.push_back(item);
      to.push_back(5);
      matrix<std::uint64_t> m(pool, rows, columns);
      m.store(to);
      EXPECT_EQ(std::ranges::count(to.cbegin(), to.cend(), 0U), rows * columns);
      m.load(from);
      EXPECT_EQ(in_memory(m), model);
      m.store(to);
      EXPECT_TRUE(std::ranges::equal(std::ranges::subrange(to.cbegin(), to.cend()), model.items));
      from.push_back(1);
      EXPECT_THROW(m.load(from), std::invalid_argument);
    }
  }
}

TEST_F(matrices, cost_a_scan_to_be_loaded_and_stored) {
  auto const pool = make_pool<std::uint64_t>(8, 24);
  matrix<std::uint64_t> m(pool, 160, 80);  // 200 blocks, 10 in a row
  m.fill([](auto i, auto j) { return i * j; });
  vector<std::uint64_t> v(*store, {.page_bytes = 512, .cache_pages = 8});
  auto const before = reads();
  m.store(v);
  EXPECT_LE(reads() - before, 200U);
  EXPECT_GE(reads() - before, 150U);
  EXPECT_LE(writes(), 400U);
  v.flush();
  auto const read = reads();
  m.load(v);
  EXPECT_LE(reads() - read, 200U);
}

TEST_F(matrices, are_multiplied_with_as_few_ios_as_they_say) {
  for (std::size_t pages : {6U, 13U, 33U, 97U}) {
    auto const pool = make_pool<float>(4, pages);
    std::uint64_t const m = 12, k = 10, n = 9;  // blocks
    matrix<float> a(pool, 4 * m, 4 * k), b(pool, 4 * k, 4 * n);
    a.fill([](auto i, auto j) { return i + j; });
    b.fill([](auto i, auto j) { return i * j; });
    auto const read = reads(), written = writes();
    auto const c = a * b;
    std::uint64_t t = 1;
    while ((t + 3) * (t + 3) <= pages + 4) ++t;
    std::uint64_t const bound = k * (m * ((n + t - 1) / t) + n * ((m + t - 1) / t));
    EXPECT_LE(reads() - read, bound) << pages;
    EXPECT_GE(reads() - read, m * k + k * n - pages) << pages;
    EXPECT_LE(writes() - written, m * n + pages + 2) << pages;  // and those of a and b
    EXPECT_EQ(c.rows(), 4 * m);
  }
}

TEST_F(matrices, are_added_and_transposed_in_one_pass) {
  auto const pool = make_pool<float>(4, 12);
  matrix<float> a(pool, 80, 40), b(pool, 80, 40);  // 200 blocks
  a.fill([](auto i, auto j) { return i + j; });
  b.fill([](auto i, auto j) { return i * j; });
  auto const expect = [&](std::uint64_t operands, auto const& action) {
    auto const read = reads(), written = writes();
    action();
    EXPECT_LE(reads() - read, operands * 200);
    EXPECT_GE(reads() - read, operands * 200 - 14 * operands);
    EXPECT_LE(writes() - written, 200U + 14);
  };
  expect(2, [&] { a += b; });
  expect(1, [&] { a *= 3; });
  expect(2, [&] { std::ignore = a + b; });
  expect(1, [&] { std::ignore = transposed(a); });
  expect(0, [&] { a.fill([](auto, auto) { return 1; }); });
  auto const read = reads();
  EXPECT_EQ(std::accumulate(a.column(3).begin(), a.column(3).end(), 0.F), 80.F);
  EXPECT_LE(reads() - read, 20U);
}

TEST_F(matrices, take_one_of_their_items_as_a_factor) {
  auto const pool = make_pool<double>(8, 12);
  matrix<double> a(pool, 30, 30);
  a.fill([](auto, auto) { return 3; });
  a *= a(0, 0);
  EXPECT_EQ(std::as_const(a)(0, 0), 9.0);
  EXPECT_EQ(std::as_const(a)(29, 29), 9.0);
}

TEST_F(matrices, that_hold_zeros_cost_nothing) {
  auto const pool = make_pool<double>(8, 12);
  matrix<double> a(pool, 160, 160), b(pool, 160, 160);
  b += a;
  b *= 5;
  auto const c = transposed(a - b);
  EXPECT_EQ(std::as_const(c)(3, 4), 0.0);
  EXPECT_EQ(reads() + writes(), 0U);
}

TEST_F(matrices, lose_nothing_while_the_disk_delays_and_interrupts) {
  auto const seed = std::random_device{}();
  plan =
      std::make_shared<io::fault_plan>(io::fault_odds{.seed = seed,
                                                      .interrupt = 0.1,
                                                      .shorten = 0.2,
                                                      .hold = 0.1,
                                                      .max_delay = std::chrono::microseconds(20)});
  make_storage(64_MiB);
  run_model<double>(seed, 4, 9, 5);
}

TEST_F(matrices, can_be_used_on_when_operations_have_failed) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  plan = std::make_shared<io::fault_plan>(io::fault_odds{.seed = seed, .fail = 0.004});
  make_storage(64_MiB);
  auto const free_bytes = store->memory().free_bytes();
  {
    std::mt19937_64 random(seed);
    auto const pool = make_pool<double>(4, 8);
    int failed = 0;
    auto const persist = [&](auto const& action) {
      for (;;) try {
          return action();
        } catch (io_error const&) {
          ++failed;
        }
    };
    for (int round = 0; round < 20; ++round) {
      auto const a = random_dense<double>(random, 22, 18), b = random_dense<double>(random, 18, 30);
      auto const x = persist([&] { return on_disk(pool, a); });
      auto const y = persist([&] { return on_disk(pool, b); });
      auto const z = persist([&] { return transposed(x * y); });
      auto const back = persist([&] { return transposed(z); });
      EXPECT_EQ(persist([&] { return in_memory(back); }), product_of(a, false, b, false));
      EXPECT_EQ(persist([&] { return in_memory(x); }), a);
    }
    EXPECT_GT(failed, 2);
  }
  EXPECT_EQ(store->memory().free_bytes(), free_bytes);
  EXPECT_EQ(store->allocated_bytes(), 0U);
}

TEST_F(matrices, on_a_full_disk_stay_as_they_are_and_can_be_made_when_there_is_room) {
  std::mt19937_64 random(3);
  constexpr std::uint64_t side = 4, block_bytes = side * side * sizeof(double);
  make_storage(40 * block_bytes);
  auto const pool = make_pool<double>(side, 12);
  auto const a = random_dense<double>(random, 16, 16), b = random_dense<double>(random, 16, 16);
  auto x = on_disk(pool, a);  // 16 blocks of 40
  {
    auto const y = on_disk(pool, b);
    auto const bytes = store->allocated_bytes();
    EXPECT_THROW(std::ignore = x * y, out_of_space);
    EXPECT_THROW(std::ignore = x + y, out_of_space);
    EXPECT_THROW(std::ignore = transposed(x), out_of_space);
    EXPECT_THROW(matrix<double>(pool, 100, 100), out_of_space);
    EXPECT_EQ(store->allocated_bytes(), bytes) << "nothing is left of what could not be made";
    x += y;  // in the blocks that are there
    x -= y;
    EXPECT_EQ(in_memory(x), a);
    EXPECT_EQ(in_memory(y), b);
  }
  EXPECT_EQ(in_memory(x + x)(3, 5), 2 * a(3, 5)) << "there is room again";
  EXPECT_EQ(in_memory(transposed(x))(3, 5), a(5, 3));
  EXPECT_EQ(store->allocated_bytes(), 16 * block_bytes);
}

TEST_F(matrices, whose_blocks_cannot_be_written_once_are_written_the_next_time) {
  std::mt19937_64 random(3);
  auto const pool = make_pool<double>(4, 8);
  auto const a = random_dense<double>(random, 22, 18), b = random_dense<double>(random, 18, 30);
  auto const x = on_disk(pool, a), y = on_disk(pool, b);
  auto const expected = product_of(a, false, b, false);
  int failed = 0;
  for (auto const where : {io::fault_point::read, io::fault_point::write})
    for (std::uint64_t nth = 0;; nth += 1 + nth / 8) {
      std::uint64_t const at = plan->calls(where) + nth;
      plan->script(where, at, io::fault::fail(EIO));
      auto const bytes = store->allocated_bytes();
      try {
        auto const z = x * y;
        ASSERT_EQ(in_memory(z), expected);
        if (plan->calls(where) <= at) break;
      } catch (io_error const&) {
        ++failed;
      }
      ASSERT_EQ(store->allocated_bytes(), bytes);
      ASSERT_EQ(in_memory(x), a);
      ASSERT_EQ(in_memory(y), b);
    }
  EXPECT_GT(failed, 3);
}

TEST_F(matrices, refuse_what_does_not_fit) {
  auto const pool = make_pool<double>(8, 8), other = make_pool<double>(8, 8);
  matrix<double> a(pool, 10, 20), b(pool, 10, 20), square(pool, 10, 10), far(other, 20, 10);
  EXPECT_THROW(a * b, std::invalid_argument);
  EXPECT_THROW(a += square, std::invalid_argument);
  EXPECT_THROW(square.add_product(square, square), std::invalid_argument);
  EXPECT_THROW(a * far, std::invalid_argument);
  EXPECT_THROW(square.add_product(a, b), std::invalid_argument);
  try {
    std::ignore = a - square;
    FAIL() << "subtracted";
  } catch (std::invalid_argument const& e) {
    EXPECT_STREQ(e.what(), "matrix: 10 · 20 and 10 · 10 items do not go together");
  }
  square.add_product(a, b, {.transpose_b = true});
  using long_item = std::complex<double>;
  auto const narrow = make_pool<double>(1, 8);
  EXPECT_THROW(matrix<long_item>(narrow, 1, 1), std::invalid_argument);
  swap(a, b);
  b = std::move(square);
  EXPECT_EQ(b.rows(), 10U);
}

TEST_F(matrices, say_so_when_their_pool_is_held_by_others) {
  auto const pool = make_pool<std::uint64_t>(4, 4);
  matrix<std::uint64_t> a(pool, 8, 8);
  a.fill([](auto i, auto j) { return i + j; });
  std::vector<detail::page_pin> held;
  {
    matrix<std::uint64_t> others(pool, 16, 4);
    others.fill([](auto, auto) { return 1; });
    auto row = others.row(0);
    *row.begin() = 2;
    auto const b = a * a;  // what lives ends, and is had again
    EXPECT_EQ(*row.begin(), 2U);
    EXPECT_EQ(b(7, 7), 8 * 49 + 2 * 7 * 28 + 140U);
  }
}

}  // namespace
}  // namespace outsize
