// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The bytes that a graph moves, counted beneath the storage, beside those of its steps one after
// another: the generation of a random graph (STXXL 2008, Listings 6 and 7).
#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/decorators/counting_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/scan/algorithms.hpp>
#include <outsize/scan/sort_containers.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/filter.hpp>
#include <outsize/stream/operators/sorting_nodes.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>

namespace outsize {
namespace {

struct edge {
  std::uint32_t from, to;
  auto operator<=>(edge const&) const = default;
};
constexpr std::uint64_t edges = 4'000'000;

/// Random edges of a graph with few vertices, so that some repeat.
struct random_edge {
  std::mt19937_64 random{1};
  edge operator()() {
    std::uint64_t const x = random();
    return {static_cast<std::uint32_t>(x >> 50), static_cast<std::uint32_t>(x) >> 18};
  }
};

struct counted {
  std::shared_ptr<io::io_tally> tally = std::make_shared<io::io_tally>();
  storage store{{.disks = {disk_options("counted",
                                        [this](io::request_queue&) -> io::file_ptr {
                                          return std::make_unique<io::counting_file>(
                                              io::make_memory_file("counted", 1_GiB), tally);
                                        })},
                 .memory_bytes = 8_MiB,
                 .threads = 2}};

  /// Bytes moved, in multiples of all edges.
  double volume() const {
    return static_cast<double>(tally->reads().bytes + tally->writes().bytes) /
           static_cast<double>(edges * sizeof(edge));
  }
};

bool is_loop(edge const& e) { return e.from == e.to; }

TEST(stream_io, of_a_random_graph_is_three_times_its_edges) {
  counted c;
  vector<edge> clean(c.store);
  auto const source = [next = random_edge(), left = edges]() mutable -> std::optional<edge> {
    if (left-- == 0) return std::nullopt;
    return next();
  };
  stream::run(c.store, stream::generate(source) |
                           stream::filter([](edge const& e) { return !is_loop(e); }) |
                           stream::sort(std::less<>(), {.codec = run_codec::none}) |
                           stream::unique() | stream::into(clean));
  clean.flush();
  EXPECT_LE(c.volume(), 3.0);

  counted by_steps;
  vector<edge> same(by_steps.store);
  same.resize(edges);
  generate(same, random_edge());
  sort(same, std::less<>(), {.codec = run_codec::none});
  same.erase(unique(same.begin(), same.end()), same.end());
  same.erase(remove_if(same.begin(), same.end(), is_loop), same.end());
  same.flush();
  EXPECT_GT(by_steps.volume(), 6.0);
  EXPECT_TRUE(same == clean);
}

}  // namespace
}  // namespace outsize
