// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The benchmarks memory-division-…: programs whose objects share a storage, with no word about
// memory, or with figures by hand.
//
//   memory_division SCENARIO auto|PERCENT BYTES MEMORY_BYTES THREADS DIRECTORY
//
// PERCENT of the memory are for the sorters, or in a scenario without any for the vectors, and the
// rest for the containers, likewise divided among those of a kind. BYTES are those of the largest
// object. Prints one JSON object; exit code 3: such figures do not fit together.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/algorithm/sort.hpp>
#include <outsize/algorithm/sorter.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/container/deque.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/queue.hpp>
#include <outsize/container/set.hpp>
#include <outsize/container/stack.hpp>
#include <outsize/container/unordered_map.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/scan/sort_containers.hpp>
#include <outsize/stream/streams.hpp>

namespace {

using namespace outsize;
using number = std::uint64_t;

struct entry {
  number key, value;
  friend auto operator<=>(entry const&, entry const&) = default;
};

constexpr number mixed(number i) noexcept { return (i + 1) * 0x9e3779b97f4a7c15ULL; }

/// How much the objects of a scenario may have, as options.
class division {
 public:
  /// `percent` 0: nobody says anything.
  division(std::uint64_t memory_bytes, unsigned percent)
      : for_sorters_(memory_bytes / 100 * percent),
        for_others_(percent == 0 ? 0 : memory_bytes / 16 * 15 - for_sorters_),
        page_bytes_(std::clamp<std::uint64_t>(memory_bytes / 128, 4_KiB, 2_MiB)) {}

  sort_options sorters(unsigned among) const {
    return {.memory_bytes = for_sorters_ / among, .rewindable = true};
  }
  /// For the larger of two sorts of a graph that run at once, while two others do.
  sort_options larger_of_a_graph() const { return named(for_sorters_ / 2); }
  sort_options smaller_of_a_graph() const { return named(for_others_ / 2); }
  page_options vectors(unsigned among) const { return pages(for_others_ / among); }
  page_options favoured_vectors(unsigned among) const { return pages(for_sorters_ / among); }
  map_options maps(unsigned among) const {
    if (for_others_ == 0) return {};
    std::size_t const bytes = for_others_ / among;
    return {.leaf_cache_bytes = bytes / 8 * 6,
            .node_cache_bytes = std::max<std::size_t>(bytes / 8, 160_KiB),
            .spare_leaves = std::max<std::size_t>(bytes / 8 / 4_KiB, 4)};
  }
  unordered_map_options tables(unsigned among) const {
    if (for_others_ == 0) return {};
    std::size_t const bytes = for_others_ / among;
    return {.cache_pages = bytes / 8 * 6 / 8_KiB,
            .spare_pages = std::max<std::size_t>(bytes / 8 / 8_KiB, 4),
            .pending_bytes = bytes / 16};
  }

 private:
  page_options pages(std::uint64_t bytes) const {
    if (bytes == 0) return {};
    std::uint64_t const pages = bytes / page_bytes_;
    return {.page_bytes = page_bytes_,
            .cache_pages = std::max<std::size_t>(pages / 2, 4),
            .spare_pages = std::max<std::size_t>(pages / 2, 1)};
  }

  /// Blocks are short where there is too little for those that are chosen.
  static sort_options named(std::uint64_t bytes) {
    return {.memory_bytes = bytes, .block_bytes = bytes > 0 && bytes < 2_MiB ? 4_KiB : 0};
  }

  std::uint64_t for_sorters_, for_others_, page_bytes_;
};

struct scene {
  storage& store;
  division const& by;
  number count;  ///< Of numbers, in all bytes.
};

void require(bool is_right) {
  if (!is_right) throw std::logic_error("the result is wrong");
}

void fill(sorter<number>& s, number of) {
  for (number i = 0; i < of; ++i) s.push(mixed(i));
}
void read(sorter<number>& s, number of) {
  number last = 0, sum = 0, seen = 0;
  for (; !s.empty(); ++s, ++seen) {
    require(last <= *s);
    last = *s;
    sum += *s;
  }
  for (number i = 0; i < of; ++i) sum -= mixed(i);
  require(seen == of && sum == 0);
}

void sort_to_the_back(scene const& in) {
  vector<number> v(in.store, in.by.vectors(2)), w(in.store, in.by.vectors(2));
  for (number i = 0; i < in.count; ++i) v.push_back(mixed(i));
  sort(in.store, v, std::back_inserter(w), {}, in.by.sorters(1));
  require(w.size() == in.count);
  number last = 0;
  for (number const x : std::as_const(w)) {
    require(last <= x);
    last = x;
  }
}

void two_sorters(scene const& in) {
  sorter<number> a(in.store, {}, in.by.sorters(2)), b(in.store, {}, in.by.sorters(2));
  for (number i = 0; i < in.count; ++i) {
    a.push(mixed(i));
    if (i % 2 == 0) b.push(mixed(i / 2));
  }
  a.sort();
  b.sort();
  number last = 0;
  for (; !a.empty(); ++a) {
    require(last <= *a);
    last = *a;
    for (; !b.empty() && *b < last; ++b) continue;
  }
}

void sorter_to_map_to_sorter(scene const& in) {
  number const some = in.count / 8;
  sorter<number> first(in.store, {}, in.by.sorters(2));
  fill(first, some);
  first.sort();
  map<number, number> m(in.store, in.by.maps(1));
  for (; !first.empty(); ++first) m.insert({*first, *first + 1});
  sorter<number> second(in.store, {}, in.by.sorters(2));
  for (auto const& [key, value] : m) second.push(value - 1);
  second.sort();
  read(second, some);
}

void eight_containers(scene const& in) {
  number const each = in.count / 16;
  vector<number> v(in.store, in.by.favoured_vectors(5));
  deque<number> d(in.store, in.by.favoured_vectors(5));
  stack<number> s(in.store, in.by.favoured_vectors(5));
  queue<number> q(in.store, in.by.favoured_vectors(5));
  vector<std::uint32_t> w(in.store, in.by.favoured_vectors(5));
  map<number, number> m(in.store, in.by.maps(3));
  set<number> t(in.store, in.by.maps(3));
  unordered_map<number, number> u(in.store, in.by.tables(3));
  for (number i = 0; i < each; ++i) {
    v.push_back(i);
    d.push_back(i);
    s.push(i);
    q.push(i);
    w.push_back(static_cast<std::uint32_t>(i));
  }
  std::mt19937_64 draw(1);
  for (int i = 0; i < 4'000; ++i) {
    number const at = draw() % each;
    v[at] += 1;
    require(d[at] == at && w[at] == static_cast<std::uint32_t>(at) && s.top() == each - 1);
    q.push(q.front());
    q.pop();
    m.insert_or_assign(at, v[at]);
    u.insert_or_assign(at, v[at]);
    t.insert(at);
    require(m.at(at) == u.find(at)->second && t.contains(at));
  }
}

void map_while_scanning(scene const& in) {
  vector<number> v(in.store, in.by.vectors(2));
  for (number i = 0; i < in.count; ++i) v.push_back(i);
  sorter<entry> s(in.store, {}, in.by.sorters(1));
  number const entries = in.count / 8;
  for (number i = 0; i < entries; ++i) s.push({mixed(i), i});
  s.sort();
  map<number, number> m(in.store, in.by.maps(2));
  number sum = 0;
  auto reader = std::as_const(v).begin();
  for (; !s.empty(); ++s)
    for (int i = 0; i < 8; ++i, ++reader) {
      if (i == 0) m.insert({s->key, s->value});
      sum += *reader;
    }
  require(m.size() == entries && sum == 8 * entries * (8 * entries - 1) / 2);
}

void count_while_sorting(scene const& in) {
  unordered_map<number, number> counts(in.store, in.by.tables(1));
  sorter<number> s(in.store, {}, in.by.sorters(1));
  number const keys = in.count / 200;
  for (number i = 0; i < in.count; ++i) {
    s.push(mixed(i));
    if (i % 64 == 0) ++counts[mixed(i) % keys];
  }
  s.sort();
  read(s, in.count);
  number sum = 0;
  for (auto const& each : counts) sum += each.second;
  require(sum == (in.count + 63) / 64);
}

void sort_in_a_loop(scene const& in) {
  sorter<number> outer(in.store, {}, in.by.sorters(2));
  fill(outer, in.count);
  outer.sort();
  for (number i = 0; !outer.empty(); ++outer, ++i) {
    if (i % (in.count / 4) != 0) continue;
    vector<number> v(in.store, in.by.vectors(2)), w(in.store, in.by.vectors(2));
    for (number k = 0; k < in.count / 8; ++k) v.push_back(mixed(k));
    sort(in.store, v, std::back_inserter(w), {}, in.by.sorters(2));
    require(w.size() == v.size() && w[0] <= w[1]);
  }
}

void container_after_a_sorter(scene const& in) {
  sorter<number> s(in.store, {}, in.by.sorters(1));
  fill(s, in.count);
  s.sort();
  read(s, in.count);
  vector<number> v(in.store, in.by.vectors(2));
  map<number, number> m(in.store, in.by.maps(2));
  for (number i = 0; i < in.count / 8; ++i) {
    v.push_back(i);
    m.insert({i, i});
  }
  require(m.size() == v.size());
}

void small_containers(scene const& in) {
  for (number i = 0; i < 10'000; ++i) {
    vector<number> v(in.store, in.by.favoured_vectors(64));
    v.push_back(i);
    map<number, number> m(in.store, in.by.maps(16));
    m.insert({i, i});
    require(v[0] + m.at(i) == 2 * i);
  }
}

/// Twelve nodes: two flows of different lengths are sorted and joined, and the pairs that are found
/// are sorted in two ways.
void graph_of_twelve_nodes(scene const& in) {
  auto const keys = [](number i) { return entry{mixed(i), i}; };
  auto const fewer_keys = [](number i) { return entry{mixed(3 * i), i}; };
  auto const by_key = by(&entry::key);
  stream::graph g(in.store, "twelve nodes");
  auto many = stream::counter(number{0}, in.count) | stream::transform(keys) |
              stream::sort(by_key, in.by.larger_of_a_graph());
  auto few = stream::counter(number{0}, in.count / 3) | stream::transform(fewer_keys) |
             stream::sort(by_key, in.by.smaller_of_a_graph());
  auto const both = [](entry const& a, entry const& b) { return entry{a.value, b.value}; };
  auto [a, b] = g.fork<2>(
      stream::merge_join(std::move(many), std::move(few), &entry::key, &entry::key, both) |
      stream::filter([](entry const& e) { return e.key == 3 * e.value; }));
  auto const in_order = g.add(a | stream::sort(by(&entry::key), in.by.larger_of_a_graph()) |
                              stream::unique() | stream::count());
  auto const numbers =
      g.add(b | stream::transform(&entry::value) |
            stream::sort(std::greater<>(), in.by.smaller_of_a_graph()) | stream::reduce(number{0}));
  g.run();
  number const pairs = in.count / 3;
  require(in_order.get() == pairs && numbers.get() == pairs * (pairs - 1) / 2);
}

std::map<std::string_view, std::function<void(scene const&)>> const scenarios{
    {"sort-back", sort_to_the_back},         {"two-sorters", two_sorters},
    {"sorter-map", sorter_to_map_to_sorter}, {"eight-containers", eight_containers},
    {"map-scan", map_while_scanning},        {"count-sort", count_while_sorting},
    {"sort-in-loop", sort_in_a_loop},        {"after-sorter", container_after_a_sorter},
    {"small-containers", small_containers},  {"graph", graph_of_twelve_nodes},
};

void run(std::vector<std::string_view> const& words) {
  if (words.size() != 7 || !scenarios.contains(words[1]))
    throw std::invalid_argument(
        "usage: memory_division SCENARIO auto|PERCENT BYTES MEMORY_BYTES THREADS DIRECTORY");
  auto const number_of = [&](std::size_t i) { return std::strtoull(words[i].data(), nullptr, 10); };
  std::uint64_t const memory_bytes = number_of(4);
  storage store({.disks = {disk_options(std::string(words[6]))},
                 .memory_bytes = memory_bytes,
                 .threads = number_of(5)});
  division const by(memory_bytes, words[2] == "auto" ? 0 : static_cast<unsigned>(number_of(2)));
  auto const begin = std::chrono::steady_clock::now();
  scenarios.at(words[1])({store, by, number_of(3) / sizeof(number)});
  std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - begin;
  auto const moved = store.total_statistics();
  fmt::print(
      "{{\"seconds\": {}, \"io_wait_seconds\": {}, \"read_bytes\": {}, \"written_bytes\": {}, "
      "\"budget_peak_bytes\": {}, \"work_seconds\": 0, \"verified\": {}}}\n",
      taken.count(), static_cast<double>(moved.wait_ns) * 1e-9, moved.read_bytes, moved.write_bytes,
      store.memory().peak_bytes(), store.memory().peak_bytes() <= memory_bytes);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run({argv, argv + argc});
    return 0;
  } catch (budget_error const& e) {
    fmt::print(stderr, "memory_division: {}\n", e.what());
    return 3;
  } catch (std::exception const& e) {
    fmt::print(stderr, "memory_division: {}\n", e.what());
    return 2;
  }
}
