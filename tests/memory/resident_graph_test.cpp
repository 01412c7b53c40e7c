// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Graphs with any budget, from the least that they run with: right, or one exact error before
// anything runs; and hardly more is resident than they were given. Each runs in a process of its
// own, with its blocks in files.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/stream/streams.hpp>
#include <outsize/testing/limited_run.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace user_code {
namespace {

using namespace outsize;
using namespace outsize::stream;
using scratch::limited_outcome;
using scratch::peak_resident_bytes;
using scratch::run_limited;

struct two {
  std::uint64_t first, second;
  bool operator==(two const&) const = default;
};

constexpr std::uint64_t count_of_items = 700'000;  // 11 MiB

two scrambled(std::uint64_t i) noexcept {
  return {i * 0x9e3779b97f4a7c15ULL, i * 0xd6e8feb86659fd93ULL};
}

/// Figure 6: two paths with two sorts each.
std::uint64_t differences_in_diamond(storage& store) {
  graph g(store, "diamond");
  auto [a, b] = g.fork<2>(counter(std::uint64_t{0}, count_of_items) | transform(scrambled));
  auto up = a | sort(by(&two::first)) | sort(by(&two::second));
  auto down = b | sort(by(&two::first, std::greater<>())) | sort(by(&two::second));
  auto const differences = g.add(zip(up, down) | filter(std::not_equal_to<>()) | count());
  g.run();
  return differences.get();
}

TEST(graph_memory, is_all_that_is_resident_with_any_budget) {
  scratch::directory dir;
  std::uint64_t memory_bytes = 64_KiB;
  std::size_t right = 0, refused = 0;
  for (; memory_bytes < 128_MiB; memory_bytes += memory_bytes / (right == 0 ? 8 : 1)) {
    auto const how = run_limited(memory_bytes, dir.path(),
                                 [](storage& store) { return differences_in_diamond(store) == 0; });
    EXPECT_LE(peak_resident_bytes(), memory_bytes + 64_MiB) << memory_bytes;  // of it and less
    if (how == limited_outcome::right) {
      ++right;
    } else {
      ASSERT_EQ(how, limited_outcome::too_little_memory) << memory_bytes;
      EXPECT_EQ(right, 0U) << memory_bytes << ": less memory was enough";
      ++refused;
    }
  }
  EXPECT_GE(right, 5U);
  EXPECT_GE(refused, 1U);
}

}  // namespace
}  // namespace user_code
