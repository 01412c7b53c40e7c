// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Every record against the definition, for random and named matrices and records of 1 to 32 bytes,
// also when ranges of tiles are moved separately.

#include <outsize/numeric/detail/tiled_permutation.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace outsize::numeric {
namespace {

struct wide_record {
  std::uint64_t number = 0;
  std::array<std::uint64_t, 36> payload{};
};

template <class Record>
Record record_of(std::uint64_t number) {
  if constexpr (std::is_same_v<Record, wide_record>)
    return {number, {}};
  else if constexpr (std::is_same_v<Record, std::complex<double>>)
    return static_cast<double>(number);
  else
    return static_cast<Record>(number);
}

std::uint64_t number_of(wide_record const& record) { return record.number; }
std::uint64_t number_of(std::complex<double> const& record) {
  return static_cast<std::uint64_t>(record.real());
}
std::uint64_t number_of(std::uint64_t record) { return record; }

template <class Record>
void expect_permuted(affine_map const& map) {
  tiled_permutation const tiles(map.a, sizeof(Record));
  std::vector<Record> source(tiles.record_count()), target(tiles.record_count());
  for (std::uint64_t x = 0; x < source.size(); ++x) source[x] = record_of<Record>(x);
  std::uint64_t const middle = tiles.tile_count() / 3;
  for (tile_range const part : {tile_range{middle, tiles.tile_count()}, tile_range{0, middle}})
    tiles.apply<Record>(map.c, source, target, part);
  for (std::uint64_t x = 0; x < source.size(); ++x)
    ASSERT_EQ(number_of(target[map.apply(x)]), sizeof(Record) == 1   ? x & 0xff
                                               : sizeof(Record) == 2 ? x & 0xffff
                                                                     : x)
        << map.a.text();
}

bit_matrix random_regular(unsigned size, std::mt19937_64& random) {
  for (;;) {
    bit_matrix result(size);
    for (unsigned i = 0; i < size; ++i) result.set_row(i, random() & low_bits(size));
    if (result.rank() == size) return result;
  }
}

TEST(tiled_permutation, moves_every_record_to_its_place) {
  std::uint64_t const seed = 7;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE("seed 7, round " + std::to_string(round));
    auto const size = static_cast<unsigned>(random() % 15);
    affine_map const map{random_regular(size, random), random() & low_bits(size)};
    expect_permuted<std::uint64_t>(map);
    expect_permuted<std::uint32_t>(map);
    expect_permuted<std::uint16_t>(map);
    expect_permuted<std::uint8_t>(map);
    expect_permuted<std::complex<double>>(map);
    if (size < 10) expect_permuted<wide_record>(map);
  }
}

TEST(tiled_permutation, moves_the_named_permutations) {
  for (unsigned size : {1U, 9U, 16U})
    for (auto const& a : {bit_matrix::identity(size), bit_matrix::bit_reversal(size),
                          bit_matrix::gray_code(size), bit_matrix::inverse_gray_code(size),
                          bit_matrix::transposition(size / 2, size - size / 2)})
      expect_permuted<std::uint64_t>({a, low_bits(size) / 3});
}

TEST(tiled_permutation, refuses_a_singular_matrix) {
  EXPECT_THROW(tiled_permutation(bit_matrix(4), 8), std::invalid_argument);
}

}  // namespace
}  // namespace outsize::numeric
