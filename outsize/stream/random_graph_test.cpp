// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Random graphs of forks, joins, filters and sorts yield the same as their steps in memory, with
// any number of threads and buffers and with little memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <random>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/filter.hpp>
#include <outsize/stream/operators/parallel.hpp>
#include <outsize/stream/operators/sorting_nodes.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/operators/zip.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>
#include <outsize/testing/number_models.hpp>

namespace outsize::stream {
namespace {

using models::joined;
using models::mixed;
using models::numbers;

/// A graph that grows by random steps, and beside each open end the items that come there.
class random_graph {
 public:
  random_graph(storage& store, std::uint64_t seed, std::size_t most_items)
      : random_(seed),
        most_items_(most_items),
        graph_(store, "random",
               {.channel_buffers = below(2) == 0 ? 1 + below(3) : 0,
                .channel_buffer_bytes = below(2) == 0 ? 4096U : 0U}) {}

  void grow(std::size_t steps) {
    begin();
    for (std::size_t i = 0; i < steps; ++i) {
      if (below(8) == 0) {
        begin();
      } else {
        step();
      }
    }
    while (!open_.empty()) end();
  }
  graph& all() noexcept { return graph_; }
  void check() const {
    for (auto const& [out, expected] : results_) EXPECT_EQ(out, expected);
  }

 private:
  struct end_of_flow {
    port<std::uint64_t> at;
    numbers items;
  };

  std::size_t below(std::size_t n) { return random_() % n; }

  end_of_flow take() {
    std::swap(open_[below(open_.size())], open_.back());
    auto one = std::move(open_.back());
    open_.pop_back();
    return one;
  }
  template <typename Flow>
  void put(Flow&& f, numbers items) {
    if constexpr (detail::is_port<std::remove_cvref_t<Flow>>) {
      open_.push_back({f, std::move(items)});
    } else if (below(2) == 0) {
      open_.push_back({std::forward<Flow>(f) | async(), std::move(items)});
    } else {
      auto const [only] = graph_.fork<1>(std::forward<Flow>(f));
      open_.push_back({only, std::move(items)});
    }
  }

  void begin() {
    numbers items(below(5) == 0 ? below(3) : below(most_items_));
    for (auto& one : items) one = random_() % (1 + most_items_);
    inputs_.push_back(items);
    auto const [only] = graph_.fork<1>(from(inputs_.back()));
    open_.push_back({only, std::move(items)});
  }

  void step() {
    if (open_.empty()) return begin();
    switch (below(10)) {
      case 0:
        return transform_one();
      case 1:
        return filter_one();
      case 2:
        return sort_one(std::less<>());
      case 3:
        return sort_one(std::greater<>());
      case 4:
        return unique_one();
      case 5:
        return fork_one();
      case 6:
        return route_one();
      case 7:
        return parallel_one();
      case 8:
        return zip_two();
      default:
        return concat_two();
    }
  }

  void transform_one() {
    auto [at, items] = take();
    for (auto& x : items) x = mixed(x);
    put(at | transform(mixed), std::move(items));
  }
  void filter_one() {
    auto [at, items] = take();
    std::uint64_t const bound = most_items_ * below(11) / 10;
    bool const by_place = below(3) == 0;  // so that one path lags far behind another
    auto const wanted = [bound, by_place, n = std::uint64_t{0}](std::uint64_t x) mutable {
      return by_place ? ++n > bound : x < bound;
    };
    numbers left;
    for (auto w = wanted; auto x : items)
      if (w(x)) left.push_back(x);
    put(at | filter(wanted), std::move(left));
  }
  template <typename Less>
  void sort_one(Less less) {
    auto [at, items] = take();
    std::ranges::sort(items, less);
    if (below(3) != 0) return put(at | sort(less), std::move(items));
    items.erase(std::unique(items.begin(), items.end()), items.end());
    put(at | sort_unique(less), std::move(items));
  }
  void unique_one() {
    auto [at, items] = take();
    items.erase(std::unique(items.begin(), items.end()), items.end());
    put(at | unique(), std::move(items));
  }
  void fork_one() {
    auto [at, items] = take();
    for (auto const& one : graph_.fork<3>(at.begin_flow())) open_.push_back({one, items});
  }
  void route_one() {
    auto [at, items] = take();
    auto const parts = graph_.route<2>(at.begin_flow(), [](std::uint64_t x) { return x % 2; });
    std::array<numbers, 2> of;
    for (auto const x : items) of[x % 2].push_back(x);
    for (std::size_t i = 0; i < 2; ++i) open_.push_back({parts[i], std::move(of[i])});
  }
  void parallel_one() {
    auto [at, items] = take();
    auto const is_wanted = [](std::uint64_t x) { return x % 5 != 0; };
    numbers left;
    for (auto const x : items)
      if (is_wanted(mixed(x))) left.push_back(mixed(x));
    put(at | parallel(transform(mixed) | filter(is_wanted)), std::move(left));
  }
  void zip_two() {
    if (open_.size() < 2) return;
    auto a = take(), b = take();
    numbers both(std::min(a.items.size(), b.items.size()));
    for (std::size_t i = 0; i < both.size(); ++i) both[i] = joined(a.items[i], b.items[i]);
    put(zip(a.at, b.at) | transform(joined), std::move(both));
  }
  void concat_two() {
    if (open_.size() < 2) return;
    auto a = take(), b = take();
    if (a.items.size() + b.items.size() > 2 * most_items_) return end(a), end(b);
    a.items.insert(a.items.end(), b.items.begin(), b.items.end());
    put(concat(a.at, b.at), std::move(a.items));
  }
  void end() {
    auto const one = take();
    end(one);
  }
  void end(end_of_flow const& one) {
    auto& [out, expected] = results_.emplace_back(numbers(), one.items);
    graph_.add(one.at.begin_flow() | into(std::back_inserter(out)));
  }

  std::mt19937_64 random_;
  std::size_t most_items_;
  std::list<numbers> inputs_;
  std::list<std::pair<numbers, numbers>> results_;
  graph graph_;
  std::vector<end_of_flow> open_;
};

storage_options options(std::size_t threads, std::uint64_t memory_bytes) {
  return {.disks = {disk_options(
              "memory", [](io::request_queue&) { return io::make_memory_file("memory", 1_GiB); })},
          .memory_bytes = memory_bytes,
          .threads = threads};
}

void run_random(std::uint64_t seed, std::size_t steps, std::size_t most_items) {
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  std::size_t const threads = std::array{1U, 2U, 8U}[random() % 3];
  std::uint64_t const memory_bytes = (4 << 20) << (random() % 3);
  storage store(options(threads, memory_bytes));
  random_graph r(store, seed, most_items);
  r.grow(1 + random() % steps);
  r.all().run();
  r.check();
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

TEST(random_graphs, of_few_items) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) run_random(seed, 12, 2'000);
}
TEST(random_graphs, of_more_items_than_fit_in_memory) {
  for (std::uint64_t seed = 1001; seed <= 1020; ++seed) run_random(seed, 12, 300'000);
}

}  // namespace
}  // namespace outsize::stream
