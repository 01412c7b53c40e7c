// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Random chains of operators yield the same as their steps in memory, from any source into any
// sink, with any number of threads and buffers and with little memory. See random_joins_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/stream/streams.hpp>
#include <outsize/testing/item_files.hpp>
#include <outsize/testing/number_models.hpp>
#include <outsize/testing/random_trials.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::stream {
namespace {

using models::by_high_bits;
using models::joined;
using models::mixed;
using models::numbers;

/// A flow, and the items that come out of it.
struct chain {
  any_flow<std::uint64_t> flow;
  numbers items;
};

/// A node that reads all items as a range before it shows the first one.
template <typename In>
class kept {
 public:
  explicit kept(In& in) { std::ranges::copy(as_range(in), std::back_inserter(items_)); }
  bool empty() const { return at_ == items_.size(); }
  std::uint64_t operator*() const { return items_[at_]; }
  kept& operator++() {
    ++at_;
    return *this;
  }

 private:
  numbers items_;
  std::size_t at_ = 0;
};

/// A graph of chains that grow by random steps.
class random_chains {
 public:
  random_chains(storage& store, std::string const& folder, std::uint64_t seed,
                std::size_t most_items)
      : random_(seed),
        most_items_(most_items),
        store_(store),
        folder_(folder),
        graph_(store, "random",
               {.channel_buffers = below(2) == 0 ? 1 + below(3) : 0,
                .channel_buffer_bytes = below(2) == 0 ? 4096U : 0U}) {}

  void grow() {
    for (std::size_t chains = 1 + below(2); chains > 0; --chains) end(some_chain(2));
  }
  graph& all() noexcept { return graph_; }
  void check() const {
    for (auto const& one : checks_) one();
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  by_high_bits some_order() { return {std::array{0U, 3U, 8U}[below(3)], below(2) == 0}; }
  std::string new_path() { return path_ = folder_ + "/" + std::to_string(++files_); }
  template <typename Op>
  static chain behind(chain& c, Op op, numbers items) {
    return {std::move(c.flow) | std::move(op), std::move(items)};
  }

  chain some_chain(std::size_t depth) {
    chain c = begin();
    for (std::size_t steps = below(7); steps > 0; --steps) {
      c = depth > 0 && below(3) == 0 ? join_step(std::move(c), depth) : step(std::move(c));
      if (c.items.size() <= 2 * most_items_) continue;
      c.items.resize(most_items_);
      c.flow = std::move(c.flow) | take(most_items_);
    }
    return c;
  }

  // ---- sources ----

  numbers some_items() {
    std::size_t const size = below(4);
    numbers all(size < 2 ? size : size == 2 ? below(100) : below(most_items_));
    std::size_t const bound = below(2) == 0 ? 20 : 1 + most_items_;
    for (auto& one : all) one = below(bound);
    return all;
  }
  chain begin() {
    numbers all = some_items();
    switch (below(6)) {
      case 0:
        return {from(numbers(all)), all};
      case 1:
        std::iota(all.begin(), all.end(), std::uint64_t{7});
        return {counter(std::uint64_t{7}, 7 + all.size()), all};
      case 2:
        return {generate([all, i = std::size_t{0}]() mutable {
                  return i < all.size() ? std::optional(all[i++]) : std::nullopt;
                }),
                all};
      case 3:
        return {from(outsize::vector<std::uint64_t>(store_, all)), all};
      case 4:
        scratch::write_items(new_path(), all);
        return {from(items<std::uint64_t>(path_)), all};
      default:
        return {from(std::vector<unsigned>(all.begin(), all.end())), all};
    }
  }

  // ---- operators behind one chain ----

  using unary_step = chain (random_chains::*)(chain);

  chain step(chain c) {
    using r = random_chains;
    static constexpr std::array<unary_step, 21> all{
        &r::transformed, &r::filtered,        &r::flattened, &r::taken,       &r::dropped,
        &r::taken_while, &r::dropped_while,   &r::scanned,   &r::paired,      &r::numbered,
        &r::in_spans,    &r::sampled,         &r::sorted,    &r::sorted_less, &r::grouped,
        &r::first_ones,  &r::without_repeats, &r::reordered, &r::indexed,     &r::parallel_work,
        &r::hosted};
    return (this->*all[below(all.size())])(std::move(c));
  }

  chain transformed(chain c) {
    numbers all = c.items;
    for (auto& x : all) x = mixed(x);
    return behind(c, transform(mixed), all);
  }
  chain filtered(chain c) {
    auto const is_wanted = [k = 2 + below(3)](std::uint64_t x) { return x % k != 0; };
    numbers all = c.items;
    std::erase_if(all, std::not_fn(is_wanted));
    return behind(c, filter(is_wanted), all);
  }
  chain flattened(chain c) {
    auto const up = [](std::uint64_t x) { return std::views::iota(x, x + x % 4); };
    numbers all;
    for (auto const x : c.items) std::ranges::copy(up(x), std::back_inserter(all));
    return behind(c, flat_map(up), all);
  }
  std::size_t some_of(chain const& c) { return below(4) == 0 ? 0 : below(2 + c.items.size()); }
  chain taken(chain c) {
    std::size_t const n = some_of(c);
    return behind(c, take(n), models::first(c.items, n));
  }
  chain dropped(chain c) {
    std::size_t const n = some_of(c);
    return behind(c, drop(n), models::without_first(c.items, n));
  }
  auto mostly() {
    return [k = 2 + below(1 + most_items_)](std::uint64_t x) { return x % k != 0; };
  }
  chain taken_while(chain c) {
    auto const is_wanted = mostly();
    numbers const all(c.items.begin(), std::ranges::find_if_not(c.items, is_wanted));
    return behind(c, take_while(is_wanted), all);
  }
  chain dropped_while(chain c) {
    auto const is_unwanted = mostly();
    numbers const all(std::ranges::find_if_not(c.items, is_unwanted), c.items.end());
    return behind(c, drop_while(is_unwanted), all);
  }
  chain scanned(chain c) {
    return behind(c, scan(std::uint64_t{1}, joined), models::prefix_sums(c.items, 1));
  }
  chain paired(chain c) {
    auto const join = [](auto const& two) { return joined(two.first, two.second); };
    return behind(c, adjacent() | transform(join), models::pairs(c.items));
  }
  chain numbered(chain c) {
    auto const join = [](auto const& one) { return joined(one.index, one.item); };
    numbers all = c.items;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = joined(5 + i, all[i]);
    return behind(c, enumerate(5) | transform(join), all);
  }
  chain in_spans(chain c) {
    std::size_t const n = 1 + below(9);
    if (below(2) == 0)
      return behind(c, window(n) | transform(models::folded), models::windows(c.items, n));
    return behind(c, chunk(50 * n, models::folded), models::chunks(c.items, 50 * n));
  }
  chain sampled(chain c) {
    std::uint64_t const seed = random_();
    numbers all;
    std::ranges::copy_if(c.items, std::back_inserter(all), detail::random_choice(0.7, seed));
    return behind(c, sample(0.7, seed), all);
  }
  chain sorted(chain c) {
    auto const less = some_order();
    numbers const all = models::sorted(c.items, less);
    auto const combine = std::bind_front(&by_high_bits::combine, less);
    switch (below(3)) {
      case 0:
        return behind(c, sort(less), all);
      case 1:
        return behind(c, sort_unique(less), models::without_repeats(all, less));
      default:
        return behind(c, reduce_by_key(less, combine), models::combined(all, less));
    }
  }
  chain sorted_less(chain c) { return behind(c, sort(), models::sorted(c.items)); }
  chain grouped(chain c) {
    auto const less = some_order();
    auto const equal = std::bind_front(&by_high_bits::are_equal, less);
    auto const combine = std::bind_front(&by_high_bits::combine, less);
    numbers const all = models::combined(c.items, less);
    if (below(2) == 0) return behind(c, fold_groups(equal, std::identity(), combine), all);
    auto const combine_all = [combine](auto& some) {
      std::uint64_t one = *some;
      for (++some; !some.empty(); ++some) one = combine(one, *some);
      return one;
    };
    return behind(c, group(equal, combine_all), all);
  }
  chain first_ones(chain c) {
    auto const less = some_order();
    std::size_t const n = some_of(c);
    numbers const all = models::first(models::sorted(c.items, less), n);
    return behind(c, top(n, less), all);
  }
  chain without_repeats(chain c) { return behind(c, unique(), models::without_repeats(c.items)); }
  chain reordered(chain c) {
    std::uint64_t const seed = random_();
    if (below(2) == 0) return behind(c, shuffle(seed), models::shuffled(c.items, seed));
    return behind(c, reverse(), numbers(c.items.rbegin(), c.items.rend()));
  }
  chain indexed(chain c) {
    numbers all(below(2 * most_items_), 77);
    for (auto const x : c.items)
      if (x < all.size()) all[x] = mixed(x);
    return behind(c, sort() | to_index(all.size(), std::identity(), mixed, 77U), all);
  }
  chain parallel_work(chain c) {
    auto const is_wanted = [](std::uint64_t x) { return x % 5 != 0; };
    auto const work = transform(mixed) | filter(is_wanted);
    numbers all = c.items;
    for (auto& x : all) x = mixed(x);
    std::erase_if(all, std::not_fn(is_wanted));
    if (below(2) == 0) return behind(c, async() | parallel(work), all);
    return behind(c, parallel(unordered, work) | sort(), models::sorted(all));
  }
  chain hosted(chain c) { return behind(c, via<kept>(), c.items); }

  // ---- two chains become one ----

  chain join_step(chain a, std::size_t depth) {
    if (below(4) > 0) return join_two(std::move(a), some_chain(depth - 1));
    auto const [x, y] = graph_.fork<2>(std::move(a.flow));
    chain left = step({x, a.items});
    return join_two(std::move(left), step({y, a.items}));
  }
  chain join_two(chain a, chain b) {
    numbers all = a.items;
    if (below(2) == 0) {
      all.insert(all.end(), b.items.begin(), b.items.end());
      return {concat(std::move(a.flow), std::move(b.flow)), all};
    }
    all.resize(std::min(all.size(), b.items.size()));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = joined(all[i], b.items[i]);
    return {zip(std::move(a.flow), std::move(b.flow)) | transform(joined), all};
  }

  // ---- sinks ----

  /// Expects later that these have become the items.
  template <typename C>
  void expect(std::shared_ptr<C> out, numbers items) {
    checks_.push_back([out = std::move(out), items = std::move(items)] {
      EXPECT_TRUE(std::equal(out->begin(), out->end(), items.begin(), items.end()));
    });
  }
  template <typename R>
  void expect_value(outcome<R> out, R value) {
    checks_.push_back([out, value] { EXPECT_EQ(out.get(), value); });
  }
  void end(chain c) {
    auto const out = std::make_shared<numbers>();
    switch (below(6)) {
      case 0:
        graph_.add(std::move(c.flow) | into(*out));
        return expect(out, c.items);
      case 1: {
        auto const v = std::make_shared<outsize::vector<std::uint64_t>>(store_);
        graph_.add(std::move(c.flow) | into(*v));
        return expect(v, c.items);
      }
      case 2:
        return expect_value(graph_.add(std::move(c.flow) | count()), std::uint64_t{c.items.size()});
      case 3:
        return expect_value(graph_.add(std::move(c.flow) | reduce(std::uint64_t{1}, joined)),
                            models::folded(c.items));
      case 4:
        return end_in_file(std::move(c));
      default:
        return end_in_runs(std::move(c));
    }
  }
  void end_in_file(chain c) {
    graph_.add(std::move(c.flow) | into(new_path()));
    checks_.push_back([path = path_, items = std::move(c.items)] {
      EXPECT_EQ(scratch::read_items<std::uint64_t>(path), items);
    });
  }
  void end_in_runs(chain c) {
    auto const less = some_order();
    auto const runs = graph_.add(std::move(c.flow) | into_runs(less));
    checks_.push_back([this, runs, items = models::sorted(c.items, less)] {
      auto const v = run(store_, from(std::move(runs.get())) | materialize());
      EXPECT_TRUE(std::equal(v.begin(), v.end(), items.begin(), items.end()));
    });
  }

  std::mt19937_64 random_;
  std::size_t most_items_;
  storage& store_;
  std::string folder_;
  std::size_t files_ = 0;
  std::string path_;  // of the last one
  graph graph_;
  std::vector<std::function<void()>> checks_;
};

void run_all(std::uint64_t first_seed, std::size_t count, std::size_t most_items) {
  scratch::directory const dir;
  models::try_all(first_seed, count, [&](storage& store, std::uint64_t seed) {
    return random_chains(store, dir.path(), seed, most_items);
  });
}

TEST(random_operators, on_few_items) { run_all(1, 120, 3000); }
TEST(random_operators, on_more_items_than_fit_in_memory) { run_all(1001, 5, 200'000); }

}  // namespace
}  // namespace outsize::stream
