// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/kernel/detail/merge_part.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include <outsize/kernel/detail/slice_merge.hpp>
#include <outsize/kernel/detail/typed_view.hpp>

namespace outsize::detail {
namespace {

/// What a merge asks of a family, for numbers.
struct family {
  using item = std::uint64_t;
  using view = typed_view<item>;
  static constexpr bool merges_by_copying = true;

  std::less<> less() const { return {}; }
  slice_merge<item> make_merge() const { return {}; }
};
using part = merge_part<family::view>;

/// Sources in pieces that lie apart, and what they hold in order.
struct sources {
  std::vector<std::vector<std::uint64_t>> memory;
  std::vector<std::uint64_t> merged;
  part all;

  sources(std::uint64_t seed, std::size_t k) {
    std::mt19937_64 random(seed);
    for (std::size_t s = 0; s < k; ++s) {
      std::vector<std::uint64_t> items(1 + random() % 500);
      for (auto& i : items) i = random() % 300;
      std::ranges::sort(items);
      merged.insert(merged.end(), items.begin(), items.end());
      auto const middle = items.begin() + static_cast<std::ptrdiff_t>(random() % items.size());
      memory.emplace_back(items.begin(), middle);
      memory.emplace_back(middle, items.end());
    }
    for (std::size_t s = 0; s < k; ++s) {
      all.sources.emplace_back();
      for (std::size_t m : {2 * s, 2 * s + 1})
        if (!memory[m].empty())
          all.sources.back().push_back(
              {family::view(std::span<std::uint64_t const>(memory[m])), 0, memory[m].size()});
    }
    std::ranges::sort(merged);
  }
};

struct place {
  std::span<std::byte> rest;
  std::span<std::byte> room() const {
    return rest.first(std::min(7 * sizeof(std::uint64_t), rest.size()));
  }
  void used(std::size_t bytes) { rest = rest.subspan(bytes); }
};

TEST(merge_part, comes_in_order_by_keys_and_by_copies) {
  family const items;
  for (std::size_t k : {1, 2, 3, 20}) {
    sources const in(k, k);
    std::vector<std::uint64_t> by_key;
    auto emit = [&](std::uint64_t key) { by_key.push_back(key); };
    merge_keys(items, in.all, emit);
    EXPECT_EQ(by_key, in.merged) << k;

    std::vector<std::uint64_t> copied(in.merged.size());
    place to{std::as_writable_bytes(std::span(copied))};
    merge_items(items, in.all, to);
    EXPECT_TRUE(to.rest.empty());
    EXPECT_EQ(copied, in.merged) << k;
  }
}

TEST(merge_part, is_copied_in_no_order_without_a_comparison) {
  sources const in(9, 5);
  std::vector<std::uint64_t> copied(in.merged.size());
  auto* const begin = reinterpret_cast<std::byte*>(copied.data());
  EXPECT_EQ(copy_items(in.all, begin) - begin,
            static_cast<std::ptrdiff_t>(copied.size() * sizeof(std::uint64_t)));
  std::ranges::sort(copied);
  EXPECT_EQ(copied, in.merged);
}

}  // namespace
}  // namespace outsize::detail
