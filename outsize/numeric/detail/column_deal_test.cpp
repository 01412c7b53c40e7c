// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Against dealing record by record into as many vectors, whole and by ranges of rows.

#include <outsize/numeric/detail/column_deal.hpp>

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

namespace outsize::numeric {
namespace {

template <class Record>
Record record_of(std::uint64_t number) {
  if constexpr (std::is_integral_v<Record>)
    return static_cast<Record>(number);
  else
    return {number};
}

template <class Record>
void expect_dealt(std::uint64_t count, std::uint64_t piles, std::uint64_t phase,
                  std::uint64_t cut) {
  std::vector<std::vector<Record>> model(piles);
  std::vector<Record> source, want;
  for (std::uint64_t i = 0; i < count; ++i) {
    source.push_back(record_of<Record>(i));
    model[(phase + i) % piles].push_back(source.back());
  }
  for (auto const& pile : model) want.insert(want.end(), pile.begin(), pile.end());

  column_deal const deal(count, piles, phase);
  std::vector<Record> target(count);
  cut = std::min(cut, deal.row_count());
  for (row_range const rows : {row_range{cut, deal.row_count()}, row_range{0, cut}})
    deal.apply<Record>(source, target, rows);
  ASSERT_EQ(target, want) << count << " records, " << piles << " piles, phase " << phase;
}

TEST(column_deal, deals_every_small_column) {
  for (std::uint64_t piles = 1; piles <= 10; ++piles)
    for (std::uint64_t phase = 0; phase < piles; ++phase)
      for (std::uint64_t count = 0; count < 35; ++count)
        for (std::uint64_t cut : {0U, 1U, 2U, 99U})
          ASSERT_NO_FATAL_FAILURE(expect_dealt<std::uint64_t>(count, piles, phase, cut));
}

TEST(column_deal, deals_records_of_any_size) {
  std::uint64_t const seed = 19;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE("seed 19, round " + std::to_string(round));
    std::uint64_t const piles = 1 + random() % 100, count = random() % 10000;
    std::uint64_t const phase = random() % piles, cut = random() % 200;
    ASSERT_NO_FATAL_FAILURE(expect_dealt<std::uint32_t>(count, piles, phase, cut));
    ASSERT_NO_FATAL_FAILURE(expect_dealt<std::uint64_t>(count, piles, phase, cut));
    using wide = std::array<std::uint64_t, 13>;
    ASSERT_NO_FATAL_FAILURE(expect_dealt<wide>(count / 10, piles, phase, cut));
  }
}

}  // namespace
}  // namespace outsize::numeric
