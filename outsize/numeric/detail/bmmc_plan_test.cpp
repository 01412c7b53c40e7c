// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// All passes of a plan run over arrays, with the blocks of each load counted, for every kind of
// matrix, memory and block size; the record of index x must end at A x ⊕ c.

#include <outsize/numeric/detail/bmmc_plan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace outsize::numeric {
namespace {

using records = std::vector<std::uint64_t>;

bit_matrix random_regular(unsigned size, std::mt19937_64& random) {
  for (;;) {
    bit_matrix result(size);
    for (unsigned i = 0; i < size; ++i) result.set_row(i, random() & low_bits(size));
    if (result.rank() == size) return result;
  }
}

bit_matrix random_bit_permutation(unsigned size, std::mt19937_64& random) {
  std::vector<unsigned> target_of(size);
  std::iota(target_of.begin(), target_of.end(), 0U);
  std::shuffle(target_of.begin(), target_of.end(), random);
  return bit_matrix::from_bit_permutation(target_of);
}

void expect_ascending_in_runs(std::vector<std::uint64_t> const& blocks, std::uint64_t run) {
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    ASSERT_LT(blocks[i - 1], blocks[i]);
    if (i % run != 0) {
      ASSERT_EQ(blocks[i - 1] + 1, blocks[i]);
    }
  }
}

/// Copies between the blocks of a file and a buffer, counting how often each block is touched.
void read_blocks(records const& file, std::vector<std::uint64_t> const& blocks, records& buffer,
                 std::vector<int>& touched) {
  std::size_t const size = buffer.size() / blocks.size();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    ++touched.at(blocks[i]);
    std::copy_n(&file.at(blocks[i] * size), size, &buffer[i * size]);
  }
}

void write_blocks(records& file, std::vector<std::uint64_t> const& blocks, records const& buffer,
                  std::vector<int>& touched) {
  std::size_t const size = buffer.size() / blocks.size();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    ++touched.at(blocks[i]);
    std::copy_n(&buffer[i * size], size, &file.at(blocks[i] * size));
  }
}

void run_pass(bmmc_pass const& pass, records const& from, records& to) {
  tiled_permutation const tiles(pass.slot_matrix(), sizeof(std::uint64_t));
  std::vector<int> read(from.size() / pass.records_per_block()), written(read.size());
  records source(pass.records_per_load()), target(source.size());
  for (std::uint64_t load = 0; load < pass.load_count(); ++load) {
    auto const source_blocks = pass.source_blocks(load), target_blocks = pass.target_blocks(load);
    ASSERT_EQ(source_blocks.size(), pass.blocks_per_load());
    ASSERT_EQ(target_blocks.size(), pass.blocks_per_load());
    ASSERT_NO_FATAL_FAILURE(expect_ascending_in_runs(source_blocks, pass.source_run_blocks()));
    ASSERT_NO_FATAL_FAILURE(expect_ascending_in_runs(target_blocks, pass.target_run_blocks()));
    read_blocks(from, source_blocks, source, read);
    permute_load<std::uint64_t>(pass, tiles, load, source, target);
    write_blocks(to, target_blocks, target, written);
  }
  ASSERT_EQ(std::ranges::count(read, 1), std::ssize(read));
  ASSERT_EQ(std::ranges::count(written, 1), std::ssize(written));
}

void expect_permuted(affine_map const& map, bmmc_memory memory) {
  SCOPED_TRACE("m " + std::to_string(memory.memory_bits) + ", b " +
               std::to_string(memory.block_bits) + ", A\n" + map.a.text());
  bmmc_plan const plan(map, memory);
  unsigned const n = map.a.size(), m = std::min(memory.memory_bits, n);
  unsigned const b = std::min(memory.block_bits, m);
  unsigned const rank = map.a.rank({b, n}, {0, b});
  ASSERT_EQ(plan.gamma_rank(), rank);
  ASSERT_EQ(plan.passes().size(), rank == 0 ? 1 : (rank + m - b - 1) / (m - b));

  records file(std::uint64_t{1} << n), other(file.size(), ~std::uint64_t{0});
  std::iota(file.begin(), file.end(), std::uint64_t{0});
  for (auto const& pass : plan.passes()) {
    ASSERT_EQ(pass.records_per_load(), std::uint64_t{1} << m);
    ASSERT_EQ(pass.records_per_block(), std::uint64_t{1} << b);
    ASSERT_NO_FATAL_FAILURE(run_pass(pass, file, other));
    file.swap(other);
    std::ranges::fill(other, ~std::uint64_t{0});
  }
  for (std::uint64_t x = 0; x < file.size(); ++x) ASSERT_EQ(file[map.apply(x)], x);
}

TEST(bmmc_plan, needs_the_number_of_passes_that_theory_predicts) {
  std::uint64_t const seed = 11;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 600; ++round) {
    SCOPED_TRACE("seed 11, round " + std::to_string(round));
    auto const n = static_cast<unsigned>(random() % 13);
    auto const m = static_cast<unsigned>(1 + random() % 13);
    auto const b = static_cast<unsigned>(random() % m);
    bit_matrix const a =
        round % 2 == 0 ? random_regular(n, random) : random_bit_permutation(n, random);
    ASSERT_NO_FATAL_FAILURE(expect_permuted({a, random() & low_bits(n)}, {m, b}));
  }
}

TEST(bmmc_plan, does_the_named_permutations_with_every_memory_and_block) {
  unsigned const n = 10;
  for (auto const& a : {bit_matrix::identity(n), bit_matrix::bit_reversal(n),
                        bit_matrix::gray_code(n), bit_matrix::inverse_gray_code(n),
                        bit_matrix::transposition(3, 7), bit_matrix::transposition(5, 5)})
    for (unsigned m = 1; m <= n + 1; ++m)
      for (unsigned b = 0; b < m; ++b)
        ASSERT_NO_FATAL_FAILURE(expect_permuted({a, 0b1010010110}, {m, b}));
}

TEST(bmmc_plan, moves_single_blocks_through_a_memory_of_one_block) {
  // γ = 0: whole blocks move, and a permutation within them.
  ASSERT_NO_FATAL_FAILURE(expect_permuted({bit_matrix::transposition(0, 6), 37}, {3, 3}));
  std::vector<unsigned> const target_of{1, 2, 0, 5, 4, 3};
  expect_permuted({bit_matrix::from_bit_permutation(target_of), 1}, {3, 3});
}

TEST(bmmc_plan, reads_and_writes_neighbouring_blocks_together_where_the_load_has_room) {
  bmmc_memory const memory{14, 4};
  bmmc_plan const gray({bit_matrix::gray_code(20), 0}, memory);
  EXPECT_EQ(gray.passes()[0].source_run_blocks(), 1U << 10);
  EXPECT_EQ(gray.passes()[0].target_run_blocks(), 1U << 10);
  // One pass with 6 of 10 dimensions to spare: three for each side.
  bmmc_plan const reversal({bit_matrix::bit_reversal(20), 0}, memory);
  ASSERT_EQ(reversal.passes().size(), 1U);
  EXPECT_EQ(reversal.passes()[0].source_run_blocks(), 8U);
  EXPECT_EQ(reversal.passes()[0].target_run_blocks(), 8U);
  // Passes before the last write whole loads.
  bmmc_plan const two({bit_matrix::bit_reversal(20), 0}, {14, 9});
  ASSERT_EQ(two.passes().size(), 2U);
  EXPECT_EQ(two.passes()[0].target_run_blocks(), two.passes()[0].blocks_per_load());
}

TEST(bmmc_plan, plans_for_files_far_larger_than_memory) {
  bmmc_plan const plan({bit_matrix::bit_reversal(40), 12345}, {24, 13});
  EXPECT_EQ(plan.gamma_rank(), 13U);
  ASSERT_EQ(plan.passes().size(), 2U);
  std::uint64_t place = 987654321, slot = 0;
  std::uint64_t const want = plan.passes()[1].map().apply(plan.passes()[0].map().apply(place));
  EXPECT_EQ(want, affine_map({bit_matrix::bit_reversal(40), 12345}).apply(987654321));
  for (auto const& pass : plan.passes()) {
    // Find the load of the record, and its slot, and follow it.
    std::uint64_t const least = pass.source_space().residue(place);
    std::uint64_t const load = extract_bits(least, ~pass.source_space().pivots());
    slot = pass.slot_matrix().apply(pass.source_space().coordinates(place)) ^
           pass.slot_complement(load);
    auto const blocks = pass.target_blocks(load);
    place = blocks[slot / pass.records_per_block()] * pass.records_per_block() +
            slot % pass.records_per_block();
  }
  EXPECT_EQ(place, want);
}

TEST(bmmc_plan, refuses_what_cannot_be_done) {
  bit_matrix singular = bit_matrix::identity(6);
  singular.set_row(5, 0);
  auto const message = [](bit_matrix const& a, bmmc_memory memory) -> std::string {
    try {
      bmmc_plan const plan({a, 0}, memory);
    } catch (std::invalid_argument const& error) {
      return error.what();
    }
    return "nothing thrown";
  };
  EXPECT_EQ(message(singular, {4, 2}), "singular matrix of rank 5, need 6");
  EXPECT_EQ(message(bit_matrix::bit_reversal(6), {3, 3}),
            "BMMC permutation: a memory load of 2^3 records is a single block, need at least two");
}

}  // namespace
}  // namespace outsize::numeric
