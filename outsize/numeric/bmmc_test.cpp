// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Files of numbered records: record x must lie at A x ⊕ c afterwards, whatever the memory and the
// threads, by as many bytes moved as the passes need; and whatever cannot be done leaves no trace.

#include <outsize/numeric/bmmc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::numeric {
namespace {

bit_matrix random_regular(unsigned size, std::mt19937_64& random) {
  for (;;) {
    bit_matrix result(size);
    for (unsigned i = 0; i < size; ++i) result.set_row(i, random() & low_bits(size));
    if (result.rank() == size) return result;
  }
}

/// Record x is x, cut or repeated to fill the record.
std::string numbered_records(std::uint64_t count, std::size_t record_bytes) {
  std::string bytes(count * record_bytes, '\0');
  for (std::uint64_t x = 0; x < count; ++x)
    for (std::size_t i = 0; i < record_bytes; i += 8)
      std::memcpy(&bytes[x * record_bytes + i], &x, std::min<std::size_t>(8, record_bytes));
  return bytes;
}

std::string permuted(std::string const& bytes, std::size_t record_bytes, affine_map const& map) {
  std::string result(bytes.size(), '\0');
  for (std::uint64_t x = 0; x < bytes.size() / record_bytes; ++x)
    std::memcpy(&result[map.apply(x) * record_bytes], &bytes[x * record_bytes], record_bytes);
  return result;
}

class bmmc : public ::testing::Test {
 protected:
  storage_options store_options(std::uint64_t memory, std::size_t threads = 2) const {
    return {.disks = {directory_.path()}, .memory_bytes = memory, .threads = threads};
  }

  /// Writes the input, permutes it to "out", and checks every byte.
  permute_report check(affine_map const& map, std::size_t record_bytes, storage_options use) {
    auto const bytes = numbered_records(std::uint64_t{1} << map.a.size(), record_bytes);
    scratch::write_file(input_, bytes);
    storage store(std::move(use));
    auto const report = permute(store, input_, output_, map, {.record_bytes = record_bytes});
    EXPECT_TRUE(scratch::read_file(output_) == permuted(bytes, record_bytes, map));
    EXPECT_LE(store.memory().peak_bytes(), store.memory().total_bytes());
    EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
    return report;
  }

  /// The message with which a permutation is refused; nothing may appear.
  std::string refusal(affine_map const& map, permute_options const& options,
                      std::uint64_t memory = 1_MiB) {
    std::filesystem::remove(output_);
    auto const names = directory_.names();
    storage store(store_options(memory));
    try {
      permute(store, input_, output_, map, options);
      ADD_FAILURE() << "was not refused";
    } catch (std::invalid_argument const& e) {
      EXPECT_EQ(directory_.names(), names);
      return e.what();
    }
    return {};
  }

  scratch::directory directory_;
  std::string input_ = directory_.path("in");
  std::string output_ = directory_.path("out");
};

TEST_F(bmmc, moves_every_record_to_its_place) {
  std::uint64_t const seed = 31;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE("seed 31, round " + std::to_string(round));
    auto const size = static_cast<unsigned>(random() % 16);
    affine_map const map{random_regular(size, random), random() & low_bits(size)};
    std::size_t const record_bytes = std::size_t{1} << random() % 7;
    check(map, record_bytes, store_options(16_KiB << random() % 7, 1 + random() % 3));
  }
}

TEST_F(bmmc, knows_the_named_permutations) {
  for (auto const& a :
       {bit_matrix::bit_reversal(15), bit_matrix::transposition(5, 10), bit_matrix::gray_code(15),
        bit_matrix::inverse_gray_code(15), bit_matrix::identity(15)})
    check({a, 0}, 8, store_options(64_KiB));
}

TEST_F(bmmc, moves_as_many_bytes_as_the_passes_need) {
  for (std::size_t const memory : {16_KiB, 32_KiB, 64_KiB, 256_KiB, 1_MiB}) {
    auto const report = check({bit_matrix::bit_reversal(15), 5}, 8, store_options(memory));
    EXPECT_EQ(report.records, 1U << 15);
    EXPECT_EQ(report.networks.size(), report.passes);
    EXPECT_EQ(report.read_bytes, report.passes * 256_KiB);
    EXPECT_EQ(report.written_bytes, report.passes * 256_KiB);
    EXPECT_LE(report.memory_bytes, memory);
    std::uint64_t const load_blocks = report.load_bytes / report.block_bytes;
    unsigned bound = 1;  // ⌈rank γ / lg(M/B)⌉
    while ((std::uint64_t{1} << report.gamma_rank) > 1 && load_blocks > 1 &&
           bound * static_cast<unsigned>(std::countr_zero(load_blocks)) < report.gamma_rank)
      ++bound;
    EXPECT_EQ(report.passes, bound);
    EXPECT_EQ(report.peak_disk_bytes, report.passes > 1 ? 256_KiB : 0);
  }
}

TEST_F(bmmc, needs_more_passes_with_less_memory) {
  affine_map const map{bit_matrix::bit_reversal(15), 0};
  EXPECT_EQ(check(map, 8, store_options(1_MiB)).passes, 1U);
  EXPECT_GT(check(map, 8, store_options(16_KiB)).passes, 1U);
}

TEST_F(bmmc, gives_the_same_bytes_with_any_threads) {
  std::mt19937_64 random(32);
  affine_map const map{random_regular(17, random), 77};
  for (std::size_t const threads : {1U, 2U, 8U})
    for (std::size_t const memory : {64_KiB, 1_MiB}) check(map, 8, store_options(memory, threads));
}

TEST_F(bmmc, may_replace_its_input) {
  affine_map const map{bit_matrix::bit_reversal(14), 0};
  auto const bytes = numbered_records(1 << 14, 8);
  scratch::write_file(input_, bytes);
  storage store(store_options(32_KiB));
  EXPECT_GT(permute(store, input_, input_, map).passes, 1U);
  EXPECT_TRUE(scratch::read_file(input_) == permuted(bytes, 8, map));
  permute(store, input_, input_, map.inverse());
  EXPECT_TRUE(scratch::read_file(input_) == bytes);
  EXPECT_EQ(directory_.names(), std::vector<std::string>{"in"});
}

TEST_F(bmmc, works_through_the_page_cache) {
  auto options = store_options(32_KiB);
  options.direct = false;
  check({bit_matrix::bit_reversal(14), 9}, 4, options);
  options.backend = io::backend::threads;
  check({bit_matrix::bit_reversal(14), 9}, 4, options);
}

TEST_F(bmmc, tells_how_far_it_is) {
  scratch::write_file(input_, numbered_records(1 << 14, 8));
  storage store(store_options(16_KiB));
  std::vector<pass_progress> told;
  auto const report = permute(store, input_, output_, {bit_matrix::bit_reversal(14), 0},
                              {.on_progress = [&](auto const& now) { told.push_back(now); }});
  ASSERT_GE(told.size(), report.passes);
  EXPECT_EQ(told.back().pass, report.passes);
  EXPECT_EQ(told.back().done_bytes, report.passes * 128_KiB);
  EXPECT_EQ(told.back().total_bytes, report.passes * 128_KiB);
}

TEST_F(bmmc, counts_the_bits_of_a_file) {
  scratch::write_file(input_, std::string(4096, 'x'));
  storage store(store_options(1_MiB));
  EXPECT_EQ(count_record_bits(store, input_, 8), 9U);
  EXPECT_EQ(count_record_bits(store, input_, 64), 6U);
  EXPECT_THROW(count_record_bits(store, input_, 3), std::invalid_argument);
  EXPECT_THROW(count_record_bits(store, directory_.path("none"), 8), io_error);
}

TEST_F(bmmc, refuses_what_is_no_power_of_two) {
  affine_map const map{bit_matrix::bit_reversal(9), 0};
  scratch::write_file(input_, std::string(4095, 'x'));
  EXPECT_EQ(refusal(map, {}), input_ + ": 4095 bytes are no whole number of records of 8 bytes");
  scratch::write_file(input_, std::string(8 * 513, 'x'));
  EXPECT_EQ(refusal(map, {}), input_ + ": the number of its records, 513, is no power of two");
  scratch::write_file(input_, "");
  EXPECT_EQ(refusal(map, {}), input_ + ": the number of its records, 0, is no power of two");
  EXPECT_EQ(refusal(map, {.record_bytes = 12}),
            "permute: records of 12 bytes are not supported; 1, 2, 4, 8, 16, 32 and 64 are");
}

TEST_F(bmmc, refuses_matrices_that_do_not_fit) {
  scratch::write_file(input_, std::string(4096, 'x'));
  EXPECT_EQ(refusal({bit_matrix::bit_reversal(8), 0}, {}),
            input_ + ": its 2^9 records need a matrix of 9 x 9 bits, not 8 x 8");
  auto singular = bit_matrix::identity(9);
  singular.set_row(3, singular.row(4));
  EXPECT_EQ(refusal({singular, 0}, {}), "permute: singular matrix of rank 8, need 9");
  EXPECT_EQ(refusal({bit_matrix::identity(9), 512}, {}),
            "permute: the complement 512 has more than the 9 bits of the matrix");
  EXPECT_NE(refusal({bit_matrix::identity(9), 0}, {.block_bytes = 1000}), "");
}

TEST_F(bmmc, refuses_too_little_memory) {
  scratch::write_file(input_, numbered_records(1 << 14, 8));
  affine_map const map{bit_matrix::bit_reversal(14), 0};
  storage store(store_options(1_MiB));
  EXPECT_THROW(permute(store, input_, output_, map, {.memory_bytes = 1000}), budget_error);
  EXPECT_THROW(permute(store, input_, output_, map, {.memory_bytes = 2_MiB}), budget_error);
  EXPECT_EQ(directory_.names(), std::vector<std::string>{"in"});
}

TEST_F(bmmc, ends_without_an_output_when_cancelled) {
  scratch::write_file(input_, numbered_records(1 << 14, 8));
  scratch::write_file(output_, "what was there");
  affine_map const map{bit_matrix::bit_reversal(14), 0};
  storage store(store_options(16_KiB));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(permute(store, input_, output_, map, {.stop = stop.get_token()}), cancelled);
  EXPECT_EQ(scratch::read_file(output_), "what was there");
  EXPECT_EQ(directory_.names(), (std::vector<std::string>{"in", "out"}));
  EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
}

TEST_F(bmmc, ends_without_an_output_when_cancelled_between_passes) {
  scratch::write_file(input_, numbered_records(1 << 14, 8));
  storage store(store_options(16_KiB));
  std::stop_source stop;
  permute_options const options{.stop = stop.get_token(),
                                .on_progress = [&](pass_progress const&) { stop.request_stop(); }};
  EXPECT_THROW(permute(store, input_, output_, {bit_matrix::bit_reversal(14), 0}, options),
               cancelled);
  EXPECT_EQ(directory_.names(), std::vector<std::string>{"in"});
}

}  // namespace
}  // namespace outsize::numeric
