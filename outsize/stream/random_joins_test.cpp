// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Random trees of merges, set operations and joins yield the same as their steps in memory, with
// any number of threads and buffers and with little memory. See random_operators_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <list>
#include <random>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/stream/streams.hpp>
#include <outsize/testing/number_models.hpp>
#include <outsize/testing/random_trials.hpp>

namespace outsize::stream {
namespace {

using models::by_high_bits;
using models::joined;
using models::joiner;
using models::mixed;
using models::numbers;

/// A flow, and the items that come out of it.
struct chain {
  any_flow<std::uint64_t> flow;
  numbers items;
};

/// A graph of flows that are joined at random.
class random_joins {
 public:
  random_joins(storage& store, std::uint64_t seed, std::size_t most_items)
      : random_(seed),
        most_items_(most_items),
        graph_(store, "random",
               {.channel_buffers = below(2) == 0 ? 1 + below(3) : 0,
                .channel_buffer_bytes = below(2) == 0 ? 4096U : 0U}) {}

  void grow() {
    for (std::size_t chains = 1 + below(2); chains > 0; --chains) end(some_chain(3));
  }
  graph& all() noexcept { return graph_; }
  void check() const {
    for (auto const& [out, expected] : results_) EXPECT_EQ(out, expected);
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  by_high_bits some_order() { return {std::array{0U, 3U, 8U}[below(3)], below(2) == 0}; }
  template <typename Op>
  static chain behind(chain& c, Op op, numbers items) {
    return {std::move(c.flow) | std::move(op), std::move(items)};
  }

  chain some_chain(std::size_t depth) {
    chain c = depth > 0 && below(4) > 0 ? join_two(depth - 1) : begin();
    if (c.items.size() > 2 * most_items_)
      c = behind(c, take(most_items_), models::first(c.items, most_items_));
    return step(std::move(c));
  }
  chain begin() {
    std::size_t const size = below(6);
    numbers all(size < 2 ? size : size == 2 ? below(100) : below(most_items_));
    std::size_t const bound = below(4) == 0 ? 20 : 1 + most_items_ * below(5);
    for (auto& one : all) one = below(bound);
    return {from(numbers(all)), all};
  }
  chain step(chain c) {
    numbers all = c.items;
    auto const is_wanted = [](std::uint64_t x) { return x % 8 != 0; };
    switch (below(5)) {
      case 0:
        for (auto& x : all) x = mixed(x) % (1 + most_items_);
        return behind(c, transform([n = 1 + most_items_](auto x) { return mixed(x) % n; }), all);
      case 1:
        std::erase_if(all, std::not_fn(is_wanted));
        return behind(c, parallel(filter(is_wanted)), all);
      case 2:
        return behind(c, async(), all);
      case 3:
        return behind(c, drop(3), models::without_first(all, 3));
      default:
        return c;
    }
  }

  chain join_two(std::size_t depth) {
    chain a = some_chain(depth);
    if (below(4) > 0) return join_two(std::move(a), some_chain(depth));
    auto const [x, y] = graph_.fork<2>(std::move(a.flow));
    chain left = step({x, a.items});
    return join_two(std::move(left), step({y, a.items}));
  }
  chain join_two(chain a, chain b) {
    switch (below(3)) {
      case 0:
        return join_by_hash(std::move(a), std::move(b));
      case 1:
        return join_sorted(std::move(a), std::move(b));
      default:
        return combine_sorted(std::move(a), std::move(b));
    }
  }
  chain combine_sorted(chain a, chain b) {
    auto const less = some_order();
    a = behind(a, sort(less), models::sorted(a.items, less));
    b = behind(b, sort(less), models::sorted(b.items, less));
    numbers all;
    auto const by = [&](auto algorithm) {
      algorithm(a.items, b.items, std::back_inserter(all), less, {}, {});
    };
    auto x = std::move(a.flow), y = std::move(b.flow);
    switch (below(5)) {
      case 0:
        by(std::ranges::merge);
        return {merge(less, std::move(x), std::move(y)), all};
      case 1:
        by(std::ranges::set_union);
        return {set_union(std::move(x), std::move(y), less), all};
      case 2:
        by(std::ranges::set_intersection);
        return {set_intersection(std::move(x), std::move(y), less), all};
      case 3:
        by(std::ranges::set_difference);
        return {set_difference(std::move(x), std::move(y), less), all};
      default:
        by(std::ranges::set_symmetric_difference);
        return {set_symmetric_difference(std::move(x), std::move(y), less), all};
    }
  }
  chain join_sorted(chain a, chain b) {
    by_high_bits const order{0, below(2) == 0}, keys{2 * below(2), order.is_descending};
    numbers const l = models::sorted(a.items, keys);
    numbers const r =
        models::without_repeats(models::sorted(b.items, order));  // so groups are small
    auto x = std::move(a.flow) | sort(keys);
    auto y = std::move(b.flow) | sort_unique(order);
    std::identity const id;
    switch (below(5)) {
      case 0:
        return {merge_join(std::move(x), std::move(y), id, id, joiner(), keys),
                models::join(l, r, keys)};
      case 1:
        return {left_join(std::move(x), std::move(y), id, id, joiner(), keys),
                models::join(l, r, keys, {.of_left = true})};
      case 2:
        return {full_join(std::move(x), std::move(y), id, id, joiner(), keys),
                models::join(l, r, keys, {.of_left = true, .of_right = true})};
      case 3:
        return {semi_join(std::move(x), std::move(y), id, id, keys),
                models::partners(l, r, keys, true)};
      default:
        return {anti_join(std::move(x), std::move(y), id, id, keys),
                models::partners(l, r, keys, false)};
    }
  }
  chain join_by_hash(chain a, chain b) {
    by_high_bits const keys{2 * below(2), false};
    b = behind(
        b, sort_unique() | shuffle(1) | take(1000),
        models::first(models::shuffled(models::without_repeats(models::sorted(b.items)), 1), 1000));
    auto const key = [keys](std::uint64_t x) { return keys.key(x); };
    auto x = std::move(a.flow), y = std::move(b.flow);
    switch (below(3)) {
      case 0:
        return {hash_join(std::move(x), std::move(y), key, key, joiner()),
                models::join(a.items, b.items, keys)};
      case 1:
        return {hash_semi_join(std::move(x), std::move(y), key, key),
                models::partners(a.items, b.items, keys, true)};
      default:
        return {hash_anti_join(std::move(x), std::move(y), key, key),
                models::partners(a.items, b.items, keys, false)};
    }
  }

  void end(chain c) {
    auto& [out, expected] = results_.emplace_back(numbers(), std::move(c.items));
    graph_.add(std::move(c.flow) | into(std::back_inserter(out)));
  }

  std::mt19937_64 random_;
  std::size_t most_items_;
  std::list<std::pair<numbers, numbers>> results_;
  graph graph_;
};

void run_all(std::uint64_t first_seed, std::size_t count, std::size_t most_items) {
  models::try_all(first_seed, count, [most_items](storage& store, std::uint64_t seed) {
    return random_joins(store, seed, most_items);
  });
}

TEST(random_joins, on_few_items) { run_all(1, 80, 3000); }
TEST(random_joins, on_more_items_than_fit_in_memory) { run_all(1001, 4, 200'000); }

}  // namespace
}  // namespace outsize::stream
