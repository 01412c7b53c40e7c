// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The bins of a load are few, and lose nothing.
#include <outsize/io/load_series.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <random>

namespace outsize::io {
namespace {

load_totals sum_of(load_series const& s) {
  load_totals sum;
  for (load_totals const& b : s.bins()) {
    sum.read_bytes += b.read_bytes;
    sum.written_bytes += b.written_bytes;
    sum.cpu_seconds += b.cpu_seconds;
  }
  return sum;
}

TEST(load_series, spreads_an_increase_over_its_time) {
  load_series s(8, 1);
  s.add(0.5, {.read_bytes = 100});
  s.add(2.5, {.read_bytes = 300});
  ASSERT_EQ(s.bins().size(), 3U);
  EXPECT_DOUBLE_EQ(s.bins()[0].read_bytes, 50);
  EXPECT_DOUBLE_EQ(s.bins()[1].read_bytes, 100);
  EXPECT_DOUBLE_EQ(s.bins()[2].read_bytes, 50);
}

TEST(load_series, doubles_its_bins_when_all_are_in_use) {
  load_series s(4, 1);
  for (int t = 0; t <= 4; ++t) s.add(t, {.written_bytes = 10.0 * t});
  EXPECT_DOUBLE_EQ(s.bin_seconds(), 2);
  ASSERT_EQ(s.bins().size(), 3U);  // the last one begins at 4 s
  EXPECT_DOUBLE_EQ(s.bins()[0].written_bytes, 20);
  EXPECT_DOUBLE_EQ(s.bins()[1].written_bytes, 20);
  s.add(1000, {.written_bytes = 40});
  EXPECT_LE(s.bins().size(), 4U);
}

TEST(load_series, loses_nothing) {
  std::mt19937 random(5);
  for (std::size_t const bins : {2, 6, 240}) {
    load_series s(bins, 0.01);
    double seconds = 0;
    load_totals now;
    s.add(seconds, now);
    for (int i = 0; i < 5000; ++i) {
      seconds += static_cast<double>(random() % 100) * 0.001;
      now.read_bytes += static_cast<double>(random() % 1000);
      now.written_bytes += static_cast<double>(random() % 10);
      now.cpu_seconds += static_cast<double>(random() % 7) * 0.01;
      s.add(seconds, now);
      ASSERT_LE(s.bins().size(), bins);
    }
    EXPECT_NEAR(sum_of(s).read_bytes, now.read_bytes, 1e-3);
    EXPECT_NEAR(sum_of(s).written_bytes, now.written_bytes, 1e-3);
    EXPECT_NEAR(sum_of(s).cpu_seconds, now.cpu_seconds, 1e-6);
    EXPECT_GE(s.bin_seconds() * static_cast<double>(s.bins().size()), seconds);
  }
}

}  // namespace
}  // namespace outsize::io
