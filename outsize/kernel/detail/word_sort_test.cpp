// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Sorting by words against std::stable_sort: all sizes of items, spreads of words and numbers of
// items, from none to what takes several levels.

#include <outsize/kernel/detail/word_sort.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

namespace outsize::detail {
namespace {

template <std::size_t Bytes>
struct item {
  std::uint32_t order;
  std::array<unsigned char, 8> key;  // anywhere, for items of any alignment
  std::array<unsigned char, Bytes - 12> rest;
};

struct by_key {
  template <typename T>
  std::uint64_t word(T const& i) const {
    std::uint64_t word;
    std::memcpy(&word, i.key.data(), sizeof word);
    return word;
  }
  template <typename T>
  bool operator()(T const& a, T const& b) const {
    return word(a) < word(b);
  }
};

enum class spread { wide, narrow, few, equal, clustered, one_far, mostly_one, sorted, reversed };
constexpr std::array all_spreads{spread::wide,       spread::narrow,    spread::few,
                                 spread::equal,      spread::clustered, spread::one_far,
                                 spread::mostly_one, spread::sorted,    spread::reversed};

std::uint64_t word_of(spread how, std::size_t i, std::size_t count, std::mt19937_64& random) {
  switch (how) {
    case spread::wide:
      return random();
    case spread::narrow:
      return random() % 3000 + 77;
    case spread::few:
      return random() % 5 << 60;
    case spread::equal:
      return 42;
    case spread::clustered:
      return (random() % 8) << 61 | random() % 1'000'000;
    case spread::one_far:
      return i == count / 2 ? UINT64_MAX : random() % 1'000'000;
    case spread::mostly_one:
      return random() % 4 != 0 ? 1000 : random();
    case spread::sorted:
      return i / 3;
    case spread::reversed:
      return count - i / 3;
  }
  return 0;
}

template <std::size_t Bytes>
void expect_sorts_as_std_does(std::size_t count) {
  using T = item<Bytes>;
  for (spread how : all_spreads) {
    SCOPED_TRACE(testing::Message()
                 << Bytes << " bytes, " << count << " items, spread " << static_cast<int>(how));
    std::mt19937_64 random(count);
    std::vector<T> items(count);
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t const word = word_of(how, i, count, random);
      items[i].order = static_cast<std::uint32_t>(i);
      std::memcpy(items[i].key.data(), &word, sizeof word);
    }
    auto want = items;
    std::ranges::stable_sort(want, by_key{});
    auto const same = [](T const& a, T const& b) { return a.order == b.order && a.key == b.key; };
    std::vector<T> to(count);
    word_sort<T, by_key> kernel{by_key{}};
    if (count <= cache_items<T>) {
      auto in_place = items;
      kernel.sort_in_cache(in_place);
      EXPECT_TRUE(std::ranges::equal(in_place, want, same));
    }
    kernel.sort_into(items, to);
    EXPECT_TRUE(std::ranges::equal(to, want, same));
  }
}

TEST(word_sort, equals_a_stable_sort_however_words_are_spread) {
  for (std::size_t count : {0, 1, 2, 3, 10, 100, 3000, 20'000}) {
    expect_sorts_as_std_does<12>(count);
    expect_sorts_as_std_does<16>(count);
    expect_sorts_as_std_does<20>(count);
    expect_sorts_as_std_does<32>(count);
  }
}

TEST(word_sort, takes_several_levels_for_more_than_a_cache_holds) {
  expect_sorts_as_std_does<16>(cache_items<item<16>> * 5 + 3);
  expect_sorts_as_std_does<32>(cache_items<item<32>> * 21 + 1);
}

}  // namespace
}  // namespace outsize::detail
