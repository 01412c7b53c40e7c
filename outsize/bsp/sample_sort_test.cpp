// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Sample sort against std::stable_sort: random, few, equal, sorted and staircase keys, unequal and
// empty parts; and the bound of one member's share.

#include <outsize/bsp/sample_sort.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/bsp/virtual_processors.hpp>
#include <outsize/testing/counted_storage.hpp>

namespace outsize::bsp {
namespace {

using namespace literals;

enum class keys : std::uint8_t { random, few, equal, sorted, staircase, empty };

template <typename T>
struct key_maker;
template <>
struct key_maker<std::uint64_t> {
  static std::uint64_t make(std::uint64_t key, std::uint64_t /*place*/) { return key; }
};
template <>
struct key_maker<std::uint32_t> {
  static std::uint32_t make(std::uint64_t key, std::uint64_t /*place*/) {
    return static_cast<std::uint32_t>(key);
  }
};

struct tagged {
  std::uint32_t key, place;
  friend bool operator==(tagged const&, tagged const&) = default;
};
struct by_key {
  bool operator()(tagged const& a, tagged const& b) const { return a.key < b.key; }
};
template <>
struct key_maker<tagged> {
  static tagged make(std::uint64_t key, std::uint64_t place) {
    return {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(place)};
  }
};

template <typename T>
std::vector<std::vector<T>> inputs_of(keys kind, std::uint32_t members, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<T>> all(members);
  std::uint64_t place = 0;
  for (std::uint32_t member = 0; member < members; ++member) {
    std::uint64_t const items = kind == keys::empty ? 0 : random() % 5 == 0 ? 0 : random() % 9'000;
    for (std::uint64_t i = 0; i < items; ++i, ++place) {
      std::uint64_t key = 0;
      if (kind == keys::random) key = random();
      if (kind == keys::few) key = random() % 5;
      if (kind == keys::equal) key = 7;
      if (kind == keys::sorted) key = place;
      if (kind == keys::staircase) key = member / 2;
      all[member].push_back(key_maker<T>::make(key, place));
    }
  }
  return all;
}

template <typename T, typename Less>
void check(keys kind, std::uint64_t seed, std::uint32_t workers) {
  SCOPED_TRACE(testing::Message() << "keys " << static_cast<int>(kind) << ", seed " << seed);
  constexpr std::uint32_t members = 9;
  std::vector<std::vector<T>> const inputs = inputs_of<T>(kind, members, seed);
  std::vector<std::vector<T>> outputs(members);
  scratch::counted_storage disks(4_MiB);
  run(disks.store, members,
      [&](processor& p) {
        std::vector<T> const& in = inputs[p.rank()];
        vector<T> const sorted = sample_sort(p, vector<T>(in.begin(), in.end()), Less());
        outputs[p.rank()].assign(sorted.begin(), sorted.end());
      },
      {.context_bytes = 640_KiB, .workers = workers});
  std::vector<T> expected;
  std::vector<T> got;
  for (auto const& each : inputs) expected.insert(expected.end(), each.begin(), each.end());
  std::stable_sort(expected.begin(), expected.end(), Less());
  std::size_t const share = expected.size() / members;
  std::size_t longest = 0;
  for (auto const& each : inputs) longest = std::max(longest, each.size());
  for (auto const& each : outputs) {
    got.insert(got.end(), each.begin(), each.end());
    EXPECT_LE(each.size(), 2 * share + longest / members + 3 * members);
  }
  EXPECT_EQ(got, expected);
}

template <typename T, typename Less>
void check_all() {
  for (keys const kind :
       {keys::random, keys::few, keys::equal, keys::sorted, keys::staircase, keys::empty}) {
    for (std::uint64_t seed = 0; seed < 2; ++seed)
      check<T, Less>(kind, seed, seed % 2 == 0 ? 1 : 3);
  }
}

TEST(sample_sort, sorts_numbers) {
  check_all<std::uint64_t, std::less<>>();
  check_all<std::uint32_t, std::less<std::uint32_t>>();
}

TEST(sample_sort, sorts_by_any_order) { check_all<std::uint64_t, std::greater<>>(); }

TEST(sample_sort, leaves_equal_items_in_order) { check_all<tagged, by_key>(); }

TEST(sample_sort, tells_the_place_of_each_piece) {
  constexpr std::uint32_t members = 5;
  std::vector<std::vector<tagged>> const inputs = inputs_of<tagged>(keys::few, members, 3);
  std::vector<tagged> expected;
  for (auto const& each : inputs) expected.insert(expected.end(), each.begin(), each.end());
  std::stable_sort(expected.begin(), expected.end(), by_key());
  std::vector<tagged> got(expected.size());
  scratch::counted_storage disks(4_MiB);
  run(disks.store, members,
      [&](processor& p) {
        std::vector<tagged> const& in = inputs[p.rank()];
        sample_sort_into(
            p, vector<tagged>(in.begin(), in.end()),
            [&](std::uint64_t first, std::span<tagged const> part) {
              std::copy(part.begin(), part.end(), got.begin() + static_cast<std::ptrdiff_t>(first));
            },
            by_key());
      },
      {.context_bytes = 640_KiB, .workers = 1});
  EXPECT_EQ(got, expected);
}

TEST(sample_sort, works_alone) {
  scratch::counted_storage disks(4_MiB);
  run(disks.store, 1, [](processor& p) {
    EXPECT_EQ(sample_sort(p, vector<std::uint64_t>{3, 1, 2}), (vector<std::uint64_t>{1, 2, 3}));
  });
}

}  // namespace
}  // namespace outsize::bsp
