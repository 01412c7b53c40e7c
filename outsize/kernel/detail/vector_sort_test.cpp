// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The vector kernels against std::sort.

#include <outsize/kernel/detail/vector_sort.hpp>

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

namespace outsize::detail {
namespace {

template <typename T>
void expect_sorts(std::vector<T> keys) {
  auto want = keys;
  std::ranges::sort(want);
  vector_sort(keys);
  EXPECT_EQ(keys, want);
}

TEST(vector_sort, sorts_integers_of_any_number_and_distribution) {
  std::mt19937_64 random(7);
  for (std::size_t count : {0, 1, 2, 15, 16, 17, 1000, 30000, 300'000})  // the last in two levels
    for (std::uint64_t distinct : {std::uint64_t{1}, std::uint64_t{3}, ~std::uint64_t{0}}) {
      std::vector<std::uint64_t> wide(count);
      std::vector<std::uint32_t> narrow(count);
      for (auto& k : wide) k = random() % distinct;
      for (auto& k : narrow) k = static_cast<std::uint32_t>(random() % distinct);
      expect_sorts(wide);
      expect_sorts(narrow);
    }
}

TEST(vector_sort, sorts_keys_in_clusters_and_even_ones_after_them) {
  std::mt19937_64 random(10);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    bool const in_clusters = round / 20 == 1;  // longer than digits are left alone
    std::uint64_t const kept = in_clusters ? 0xE0000000000FFFFF : ~std::uint64_t{0};
    std::vector<std::uint64_t> wide(500 + random() % 5000);
    std::vector<std::uint32_t> narrow(wide.size());
    std::vector<word_pair> pairs(wide.size());
    for (std::size_t i = 0; i < wide.size(); ++i) {
      wide[i] = random() & kept;
      narrow[i] = static_cast<std::uint32_t>(random()) & (in_clusters ? 0xE000000F : ~0U);
      pairs[i] = {random(), random() & kept};
    }
    expect_sorts(wide);
    expect_sorts(narrow);
    expect_sorts(pairs);
  }
}

TEST(vector_sort, sorts_word_pairs_as_numbers) {
  std::mt19937_64 random(8);
  for (std::size_t count : {0, 1, 2, 31, 1000, 30000, 300'000})  // the last in two levels
    for (std::uint64_t distinct : {std::uint64_t{1}, std::uint64_t{3}, ~std::uint64_t{0}}) {
      std::vector<word_pair> keys(count);
      for (auto& k : keys) k = {random() % distinct, random() % distinct};
      auto want = keys;
      std::ranges::sort(want, {}, [](word_pair const& k) { return std::tuple(k.high, k.low); });
      vector_sort(keys);
      EXPECT_EQ(keys, want);
    }
}

TEST(vector_sort, sorts_entries_by_prefix_and_then_by_place) {
  std::mt19937_64 random(9);
  for (std::size_t count : {0, 1, 20, 5000, 100'000}) {
    std::vector<prefix_entry> entries(count);
    for (auto& e : entries) e = {random(), random() % 50 * (~std::uint64_t{0} / 49)};
    auto want = entries;
    auto const key = [](prefix_entry const& e) { return std::tuple(e.prefix, e.place); };
    std::ranges::sort(want, {}, key);
    vector_sort(entries);
    EXPECT_TRUE(std::ranges::equal(entries, want, {}, key, key));
  }
}

/// While there is one, the machine has the instructions of these targets alone.
class limited_machine {
 public:
  explicit limited_machine(std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ~limited_machine() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
  }
  limited_machine(limited_machine const&) = delete;
  limited_machine& operator=(limited_machine const&) = delete;
};

/// Random words of which some have few values: the former go by digits, the latter by the kernel.
template <typename T, typename Make>
void expect_sorts_words(std::size_t count, Make make) {
  std::mt19937_64 random(count);
  for (std::uint64_t const kept : {~std::uint64_t{0}, std::uint64_t{0xE0000000000FFFFF}}) {
    std::vector<T> items(count);
    for (T& item : items) item = make(random() & kept, random());
    expect_sorts(items);
  }
}

TEST(vector_sort, sorts_with_the_instructions_of_any_machine) {
  // Better targets have lower bits, and whoever has one has the worse ones, too. The library has no
  // kernel for items of two words without any vectors.
  std::int64_t const all = hwy::SupportedTargets() & ~(HWY_EMU128 | HWY_SCALAR);
  for (std::int64_t left = all; left != 0; left &= left - 1) {
    SCOPED_TRACE(hwy::TargetName(left & -left));
    limited_machine const limited(left);
    for (std::size_t const count : {2, 40, 3000, 100'000}) {
      expect_sorts_words<std::uint64_t>(count, [](auto word, auto) { return word; });
      expect_sorts_words<std::uint32_t>(
          count, [](auto word, auto) { return static_cast<std::uint32_t>(word); });
      expect_sorts_words<word_pair>(
          count, [](auto word, auto other) { return word_pair{.low = other, .high = word}; });
      std::mt19937_64 random(count);
      std::vector<prefix_entry> entries(count);
      for (auto& e : entries) e = {.place = random(), .prefix = random() % 100};
      auto want = entries;
      auto const key = [](prefix_entry const& e) { return std::tuple(e.prefix, e.place); };
      std::ranges::sort(want, {}, key);
      vector_sort(entries);
      EXPECT_TRUE(std::ranges::equal(entries, want, {}, key, key));
    }
  }
}

}  // namespace
}  // namespace outsize::detail
