// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Runs go from one graph to the next.
#include <outsize/stream/runs.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/filter.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/testing/counted_storage.hpp>

namespace outsize::stream {
namespace {

/// Halves the numbers and drops repeated ones until one is left.
TEST(runs, are_passed_from_one_step_of_a_loop_to_the_next) {
  scratch::counted_storage s(4_MiB);
  auto runs = run(s.store, counter(std::uint64_t{0}, 300'000) | into_runs());
  std::vector<std::uint64_t> sizes;
  while (runs.size() > 1) {
    sizes.push_back(runs.size());
    auto const half = transform([](std::uint64_t x) { return x / 2; });
    runs = run(s.store, from(std::move(runs)) | half | unique() | into_runs());
  }
  EXPECT_EQ(sizes.front(), 300'000U);
  EXPECT_EQ(sizes.size(), 19U);
  EXPECT_EQ(run(s.store, from(std::move(runs)) | reduce(std::uint64_t{7})), 7U);
  EXPECT_EQ(s.store.allocated_bytes(), 0U);
}

TEST(runs, of_one_flow_are_kept_for_two_graphs) {
  scratch::counted_storage s(4_MiB);
  graph g(s.store);
  auto [a, b] = g.fork<2>(counter(std::uint64_t{0}, 100'000));
  auto up = g.add(a | into_runs());
  auto down = g.add(b | into_runs(std::greater<>()));
  g.run();
  std::vector<std::uint64_t> out;
  run(s.store, from(std::move(down.get())) | into(std::back_inserter(out)));
  ASSERT_EQ(out.size(), 100'000U);
  EXPECT_EQ(out.front(), 99'999U);
  EXPECT_EQ(run(s.store, from(std::move(up.get())) | count()), 100'000U);
}

}  // namespace
}  // namespace outsize::stream
