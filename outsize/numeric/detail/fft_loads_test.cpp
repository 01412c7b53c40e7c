// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Whatever the size and the memory, chunks read and write every number once, and all fits.

#include <outsize/numeric/detail/fft_loads.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>

namespace outsize::numeric {
namespace {

constexpr std::size_t number_bytes = 16;

std::string text_of(fft_limits const& limits) {
  return "2^" + std::to_string(limits.record_bits) + " numbers, memory " +
         std::to_string(limits.memory_bytes) + ", block " + std::to_string(limits.block_bytes) +
         ", " + std::to_string(limits.threads) + " threads";
}

std::vector<fft_limits> all_limits(unsigned most_bits) {
  std::vector<fft_limits> all;
  for (unsigned bits = 4; bits <= most_bits; bits += 3)
    for (std::uint64_t const memory : {256_KiB, 1_MiB, 16_MiB, 256_MiB})
      for (std::size_t const block : {std::size_t{0}, std::size_t{1024}, std::size_t{65536}})
        for (std::size_t const threads : {1, 2, 8}) all.push_back({bits, memory, block, threads});
  return all;
}

/// How often the transfers of all chunks touch each place of a file, and whether they fill buffers.
void count_touches(fft_chunked_pass const& pass, bool reads, std::vector<int>& touches) {
  for (std::uint64_t chunk = 0; chunk < pass.chunk_count(); ++chunk) {
    std::uint64_t filled = 0;
    for (fft_transfer const& t : reads ? pass.reads(chunk) : pass.writes(chunk)) {
      ASSERT_LE(t.file_offset + t.length, touches.size());
      ASSERT_LE(t.buffer_offset + t.length, pass.chunk_records());
      EXPECT_GE(t.length, reads ? pass.read_records() : pass.write_records());
      for (std::uint64_t i = 0; i < t.length; ++i) ++touches[t.file_offset + i];
      filled += t.length;
    }
    EXPECT_EQ(filled, pass.chunk_records());
  }
}

TEST(fft_loads, touch_every_number_once_in_each_pass) {
  int divided = 0;
  for (fft_limits const& limits : all_limits(16)) {
    SCOPED_TRACE(text_of(limits));
    fft_loads loads;
    try {
      loads = choose_fft_loads(limits);
    } catch (budget_error const&) {
      continue;
    }
    ++divided;
    for (auto const& pass : loads.passes) {
      for (bool const reads : {true, false}) {
        std::vector<int> touches(std::size_t{1} << limits.record_bits);
        ASSERT_NO_FATAL_FAILURE(count_touches(pass, reads, touches));
        EXPECT_EQ(touches, std::vector<int>(touches.size(), 1));
      }
    }
  }
  EXPECT_GT(divided, 100);
}

TEST(fft_loads, fit_in_the_memory) {
  int divided = 0;
  for (fft_limits const& limits : all_limits(40)) {
    SCOPED_TRACE(text_of(limits));
    fft_loads loads;
    try {
      loads = choose_fft_loads(limits);
    } catch (budget_error const&) {
      continue;
    }
    ++divided;
    for (std::size_t i = 0; i < loads.passes.size(); ++i) {
      auto const& pass = loads.passes[i];
      std::size_t const buffers = loads.pool_count(i, limits.memory_bytes);
      std::uint64_t const pool =
          buffers * round_up(pass.chunk_records() * number_bytes, page_bytes());
      EXPECT_LE(loads.kernel_bytes(i), loads.side_bytes(i));
      EXPECT_LE(loads.side_bytes(i) + loads.least_pool_bytes(i), limits.memory_bytes);
      EXPECT_LE(loads.side_bytes(i) + pool, limits.memory_bytes);
      EXPECT_GE(buffers, pass.chunks_per_load());
      EXPECT_EQ(pass.chunks_per_load() * pass.chunk_records(), pass.pass().records_per_load());
    }
  }
  EXPECT_GT(divided, 100);
}

TEST(fft_loads, refuse_blocks_that_are_no_power_of_two_and_memory_for_nothing) {
  EXPECT_THROW(choose_fft_loads({20, 1_MiB, 1000, 1}), std::invalid_argument);
  EXPECT_THROW(choose_fft_loads({20, 1_MiB, 8, 1}), std::invalid_argument);
  EXPECT_THROW(choose_fft_loads({30, 4096, 0, 1}), budget_error);
}

}  // namespace
}  // namespace outsize::numeric
