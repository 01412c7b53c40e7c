// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Files of any power of two are transformed as FFTW and the definition say, with the I/O that was
// promised, or not at all.

#include <outsize/numeric/fft.hpp>

#include <fftw3.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>
#include <numbers>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/decorators/fault_plan.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/numeric/detail/fft_loads.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::numeric {
namespace {

using number = std::complex<double>;
using numbers = std::vector<number>;

std::string_view bytes_of(numbers const& x) {
  return {reinterpret_cast<char const*>(x.data()), x.size() * sizeof(number)};
}

numbers random_numbers(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  numbers x(count);
  for (auto& value : x) value = {normal(random), normal(random)};
  return x;
}

numbers by_fftw(numbers x, bool inverse) {
  auto* const data = reinterpret_cast<fftw_complex*>(x.data());
  fftw_plan const plan = fftw_plan_dft_1d(static_cast<int>(x.size()), data, data,
                                          inverse ? FFTW_BACKWARD : FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  if (inverse)
    for (auto& value : x) value /= static_cast<double>(x.size());
  return x;
}

double relative_error(numbers const& got, numbers const& want) {
  if (got.size() != want.size()) return INFINITY;
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    difference += std::norm(got[i] - want[i]);
    size += std::norm(want[i]);
  }
  return std::sqrt(difference / size);
}

class ffts : public testing::Test {
 protected:
  storage_options options(std::size_t threads = 2) const {
    return {.disks = {folder_.path()}, .memory_bytes = 16_MiB, .threads = threads};
  }
  void write(char const* name, numbers const& x) {
    scratch::write_file(folder_.path(name), bytes_of(x));
  }
  numbers read(char const* name) const {
    std::string const bytes = scratch::read_file(folder_.path(name));
    numbers x(bytes.size() / sizeof(number));
    std::memcpy(x.data(), bytes.data(), x.size() * sizeof(number));
    return x;
  }
  /// Transforms "in" to "out", and checks that nothing else is left.
  fft_report transform(fft_options const& how, std::size_t threads = 2) {
    storage store(options(threads));
    auto const report = fft(store, folder_.path("in"), folder_.path("out"), how);
    EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
    EXPECT_LE(store.memory().peak_bytes(),
              how.memory_bytes != 0 ? how.memory_bytes : store.memory().total_bytes());
    EXPECT_EQ(folder_.names(), (std::vector<std::string>{"in", "out"}));
    return report;
  }

  scratch::directory folder_;
};

TEST_F(ffts, agree_with_the_definition) {
  for (std::size_t size : {1U, 2U, 8U, 256U, 2048U}) {
    numbers const x = random_numbers(size, 1);
    numbers roots(size), want(size);
    for (std::size_t i = 0; i < size; ++i)
      roots[i] = std::polar(
          1.0, -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(size));
    for (std::size_t k = 0; k < size; ++k)
      for (std::size_t j = 0; j < size; ++j) want[k] += x[j] * roots[j * k % size];
    write("in", x);
    for (std::uint64_t memory : {32_KiB, 1_MiB}) {
      transform({.memory_bytes = memory});
      EXPECT_LE(relative_error(read("out"), want), 1e-13) << size << " numbers, memory " << memory;
    }
  }
}

TEST_F(ffts, agree_with_fftw_in_any_number_of_passes) {
  std::size_t most_passes = 0;
  for (unsigned n : {9U, 12U, 13U, 16U}) {
    numbers const x = random_numbers(std::size_t{1} << n, n);
    numbers const forward = by_fftw(x, false), inverse = by_fftw(x, true);
    write("in", x);
    for (std::uint64_t memory : {32_KiB, 100_KiB, 256_KiB})
      for (std::size_t block : {0, 64}) {
        SCOPED_TRACE("2^" + std::to_string(n) + " numbers, memory " + std::to_string(memory) +
                     ", blocks " + std::to_string(block));
        auto const report = transform({.memory_bytes = memory, .block_bytes = block});
        ASSERT_LE(relative_error(read("out"), forward), 1e-13);
        most_passes = std::max(most_passes, report.passes.size());
        transform({.inverse = true, .memory_bytes = memory, .block_bytes = block});
        ASSERT_LE(relative_error(read("out"), inverse), 1e-13);
      }
  }
  EXPECT_GE(most_passes, 4U);
}

TEST_F(ffts, turn_an_impulse_into_roots_of_unity) {
  std::size_t const size = 1 << 14, place = 4711;
  numbers x(size);
  x[place] = 1;
  write("in", x);
  transform({.memory_bytes = 128_KiB});
  numbers const got = read("out");
  ASSERT_EQ(got.size(), size);
  for (std::size_t k = 0; k < size; ++k)
    ASSERT_LE(std::abs(got[k] - std::polar(1.0, -2 * std::numbers::pi *
                                                    static_cast<double>(place * k % size) / size)),
              3e-15)
        << k;
}

TEST_F(ffts, come_back_with_the_inverse_in_place_of_the_input) {
  numbers const x = random_numbers(1 << 15, 2);
  write("x", x);
  storage store(options());
  std::string const name = folder_.path("x");
  fft(store, name, name, {.memory_bytes = 256_KiB});
  fft(store, name, name, {.inverse = true, .memory_bytes = 128_KiB});
  EXPECT_LE(relative_error(read("x"), x), 1e-14);
}

TEST_F(ffts, moves_as_many_bytes_as_the_passes_need) {
  write("in", random_numbers(1 << 16, 3));
  std::uint64_t const file_bytes = std::uint64_t{16} << 16;
  for (std::uint64_t memory : {32_KiB, 64_KiB, 256_KiB, 2_MiB}) {
    auto const report = transform({.memory_bytes = memory});
    std::size_t const passes = memory == 2_MiB ? 1 : memory == 256_KiB ? 3 : report.passes.size();
    EXPECT_EQ(report.passes.size(), passes);
    EXPECT_EQ(report.read_bytes, passes * file_bytes);
    EXPECT_EQ(report.written_bytes, passes * file_bytes);
    for (auto const& p : report.passes) {
      EXPECT_EQ(p.read_bytes, file_bytes);
      EXPECT_EQ(p.written_bytes, file_bytes);
    }
  }
}

TEST_F(ffts, write_the_same_bytes_with_any_number_of_threads) {
  write("in", random_numbers(1 << 15, 4));
  for (std::size_t block : {0, 256}) {  // three passes, two passes
    fft_options const how{.memory_bytes = 256_KiB, .block_bytes = block};
    transform(how, 1);
    std::string const want = scratch::read_file(folder_.path("out"));
    for (std::size_t threads : {2, 8}) {
      transform(how, threads);
      EXPECT_TRUE(scratch::read_file(folder_.path("out")) == want) << threads << " threads";
    }
  }
}

TEST_F(ffts, say_how_far_they_are) {
  write("in", random_numbers(1 << 14, 5));
  std::vector<pass_progress> seen;
  transform(
      {.memory_bytes = 64_KiB, .on_progress = [&](pass_progress const& p) { seen.push_back(p); }});
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back().done_bytes, seen.back().total_bytes);
  EXPECT_EQ(seen.back().pass, seen.back().passes);
}

TEST_F(ffts, refuse_before_anything_runs) {
  storage store(options());
  auto const message_of = [&](std::size_t bytes) -> std::string {
    scratch::write_file(folder_.path("in"), std::string(bytes, '\0'));
    try {
      fft(store, folder_.path("in"), folder_.path("out"));
    } catch (std::invalid_argument const& e) {
      return e.what();
    }
    return "accepted";
  };
  for (std::size_t bytes : {0, 15, 17, 48, 1600})
    EXPECT_THAT(message_of(bytes),
                testing::AllOf(testing::HasSubstr(folder_.path("in")),
                               testing::HasSubstr(std::to_string(bytes) + " bytes")));
  write("in", random_numbers(1 << 12, 6));
  auto const transform_with = [&](fft_options const& o) {
    fft(store, folder_.path("in"), folder_.path("out"), o);
  };
  EXPECT_THROW(transform_with({.memory_bytes = 4_KiB}), budget_error);
  EXPECT_THROW(transform_with({.block_bytes = 48}), std::invalid_argument);
  EXPECT_THROW(transform_with({.block_bytes = 8}), std::invalid_argument);
  EXPECT_THROW(fft(store, folder_.path("none"), folder_.path("out")), io_error);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"in"});
}

TEST_F(ffts, leave_nothing_behind_when_they_are_stopped) {
  write("in", random_numbers(1 << 14, 7));
  std::stop_source source;
  source.request_stop();
  storage store(options());
  EXPECT_THROW(fft(store, folder_.path("in"), folder_.path("out"),
                   {.memory_bytes = 64_KiB, .stop = source.get_token()}),
               cancelled);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"in"});
  EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
}

/// The passes over files in memory, one request of which fails; whether that was noticed.
bool fails_with(io::fault_point where, std::uint64_t which, std::uint64_t memory, storage& store) {
  constexpr unsigned record_bits = 12;
  auto const plan = std::make_shared<io::fault_plan>();
  plan->script(where, which, io::fault::fail(EIO));
  auto const make = [&](char const* name) {
    auto file = io::make_memory_file(name, UINT64_MAX, {.own_thread = true});
    file->resize(sizeof(number) << record_bits);
    return io::faulty_file(std::move(file), plan);
  };
  auto in = make("in"), scratch = make("scratch"), out = make("out");
  fft_report report;
  report.records = std::uint64_t{1} << record_bits;
  report.memory_bytes = memory;
  auto const loads =
      choose_fft_loads({.record_bits = record_bits, .memory_bytes = memory, .threads = 2});
  try {
    detail::run_fft(store, loads, {in, &scratch, out}, {}, report);
  } catch (io_error const&) {
    return true;
  }
  return false;
}

TEST_F(ffts, end_with_the_error_of_any_request_that_fails) {
  storage store(options());
  for (std::uint64_t memory : {32_KiB, 60_KiB})
    for (auto where : {io::fault_point::read, io::fault_point::write}) {
      std::uint64_t which = 0;
      for (std::uint64_t step = 1; fails_with(where, which, memory, store); which += 5 * step++)
        ASSERT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
      EXPECT_GT(which, 100U);  // of the requests, ever fewer
    }
  EXPECT_EQ(folder_.names(), std::vector<std::string>{});
}

}  // namespace
}  // namespace outsize::numeric
