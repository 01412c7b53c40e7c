// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Rounds cut into any number of parts give the stable merge; restrictions keep its beginning.

#include <outsize/algorithm/detail/sort/merge_round.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include <outsize/algorithm/detail/sort/family/typed_items.hpp>

namespace outsize::detail {
namespace {

struct tagged {
  std::uint32_t key;
  std::uint32_t order;
  friend bool operator==(tagged const&, tagged const&) = default;
};
struct by_key {
  bool operator()(tagged const& a, tagged const& b) const { return a.key < b.key; }
};
using family = typed_items<tagged, by_key>;
using round_of = merge_round<family>;

/// Sequences of several views each; equal keys are frequent, and tagged with their place in the
/// input.
struct resident {
  family items{by_key{}};
  executor threads{3};
  std::vector<std::vector<tagged>> memory;
  std::vector<item_sequence<family::view>> sequences;
  std::vector<tagged> merged;

  resident(std::uint64_t seed, std::size_t k, std::size_t each) : sequences(k) {
    std::mt19937_64 random(seed);
    std::uint32_t order = 0;
    for (std::size_t s = 0; s < k; ++s) {
      std::vector<tagged> all(each + random() % 100);
      for (auto& t : all) t.key = static_cast<std::uint32_t>(random() % 200);
      std::ranges::sort(all, by_key{});
      for (auto& t : all) t.order = order++;
      merged.insert(merged.end(), all.begin(), all.end());
      auto const middle = all.begin() + static_cast<std::ptrdiff_t>(random() % all.size());
      memory.emplace_back(all.begin(), middle);
      memory.emplace_back(middle, all.end());
    }
    for (std::size_t m = 0; m < memory.size(); ++m)
      sequences[m / 2].append(family::view(std::span<tagged const>(memory[m])));
    std::ranges::stable_sort(merged, by_key{});
  }

  round_of whole() {
    return {items, threads, std::span<item_sequence<family::view> const>(sequences)};
  }
};

std::vector<tagged> merge(round_of const& r, std::size_t part_count) {
  family const items{by_key{}};
  std::vector<tagged> out;
  for (auto const& part : r.cut(part_count)) {
    EXPECT_EQ(part.first_rank, out.size());
    std::size_t const before = out.size();
    auto emit = [&](tagged const& t) { out.push_back(t); };
    merge_keys(items, part, emit);
    EXPECT_EQ(out.size() - before, part.items);
    EXPECT_EQ(part.bytes, part.items * sizeof(tagged));
  }
  return out;
}

TEST(merge_round, gives_the_stable_merge_in_any_number_of_parts) {
  for (std::size_t k : {1, 2, 5, 9}) {
    resident in(k, k, 900);
    for (std::size_t parts : {1, 2, 3, 7})
      EXPECT_EQ(merge(in.whole(), parts), in.merged) << k << ", " << parts;
  }
}

TEST(merge_round, cuts_parts_of_nearly_equal_length) {
  for (std::size_t k : {2, 3, 5, 30}) {
    resident in(20 + k, k, 4000);
    for (std::size_t count : {2, 3, 16}) {
      auto const parts = in.whole().cut(count);
      double const equal = static_cast<double>(in.merged.size()) / static_cast<double>(count);
      if (equal < 512) continue;
      ASSERT_EQ(parts.size(), count);
      for (auto const& part : parts)
        EXPECT_NEAR(static_cast<double>(part.items), equal, equal / 32 + 1) << k << ", " << count;
    }
  }
}

TEST(merge_round, keeps_the_least_items) {
  resident in(3, 4, 700);
  for (std::size_t count :
       {std::size_t{0}, std::size_t{1}, std::size_t{31}, std::size_t{1500}, in.merged.size()}) {
    auto r = in.whole();
    r.restrict_to_first(count);
    EXPECT_EQ(r.items(), count);
    EXPECT_EQ(r.bytes(), r.items() * sizeof(tagged));
    EXPECT_EQ(merge(r, 3),
              std::vector<tagged>(in.merged.begin(),
                                  in.merged.begin() + static_cast<std::ptrdiff_t>(r.items())));
  }
}

TEST(merge_round, keeps_nearly_as_many_bytes_as_are_allowed) {
  resident in(4, 4, 5000);
  for (std::size_t bytes : {std::size_t{1}, std::size_t{80}, std::size_t{100'000}}) {
    auto r = in.whole();
    r.restrict_to_bytes(bytes, 2);
    std::size_t const most = std::max<std::size_t>(1, bytes / (sizeof(tagged) + 2));
    EXPECT_LE(r.items(), most);
    EXPECT_GE(r.items(), most - most / 32);
    EXPECT_EQ(merge(r, 3),
              std::vector<tagged>(in.merged.begin(),
                                  in.merged.begin() + static_cast<std::ptrdiff_t>(r.items())));
  }
}

/// Of three kinds of keys, each comes before the next and the last before the first.
struct in_a_circle {
  bool operator()(tagged const& a, tagged const& b) const { return (a.key + 1) % 3 == b.key % 3; }
};

TEST(merge_round, gives_each_item_once_whatever_the_order_says) {
  using circular = typed_items<tagged, in_a_circle>;
  circular const items{in_a_circle{}};
  executor threads(3);
  resident in(8, 6, 3000);
  std::vector<item_sequence<circular::view>> sequences(6);
  for (std::size_t m = 0; m < in.memory.size(); ++m)
    sequences[m / 2].append(circular::view(std::span<tagged const>(in.memory[m])));
  merge_round<circular> const round(items, threads, sequences);
  std::vector<tagged> out;
  auto emit = [&](tagged const& t) { out.push_back(t); };
  for (auto const& part : round.cut(16)) {
    std::size_t const before = out.size();
    merge_keys(items, part, emit);
    EXPECT_EQ(out.size() - before, part.items);
  }
  auto const by_order = [](tagged const& a, tagged const& b) { return a.order < b.order; };
  std::ranges::sort(out, by_order);
  std::ranges::sort(in.merged, by_order);
  EXPECT_EQ(out, in.merged);
}

TEST(merge_round, keeps_what_comes_before_an_item_that_is_not_there_yet) {
  resident in(11, 3, 50);
  for (std::uint32_t key : {0U, 57U, 199U, 200U})
    for (std::size_t source = 0; source < 3; ++source) {
      // All of the source itself is before its next item, so take a key that allows for that.
      auto const& last = in.memory[2 * source + 1].back();
      if (key < last.key) continue;
      auto r = in.whole();
      r.restrict_to_before(tagged{key, 0}, source);
      std::size_t want = 0;
      for (std::size_t s = 0; s < 3; ++s)
        for (std::size_t half : {2 * s, 2 * s + 1})
          want +=
              static_cast<std::size_t>(std::ranges::count_if(in.memory[half], [&](tagged const& t) {
                return s == source || t.key < key || (t.key == key && s < source);
              }));
      EXPECT_EQ(r.items(), want) << "key " << key << ", source " << source;
    }
}

}  // namespace
}  // namespace outsize::detail
