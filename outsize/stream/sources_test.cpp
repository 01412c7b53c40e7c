// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Flows begin at files, containers, ranges, streams and functions, and show each item once.
#include <outsize/stream/sources.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <list>
#include <optional>
#include <random>
#include <ranges>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/algorithm/sorter.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/deque.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/sequence.hpp>
#include <outsize/container/set.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/container/vector_readers.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/sorting_nodes.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/operators/zip.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/testing/item_files.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::stream {
namespace {

using words = std::vector<std::uint64_t>;
using detail::item_count;

struct sources : testing::Test {
  storage store{{.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 256_MiB);
                                        })},
                 .memory_bytes = 4_MiB,
                 .threads = 2}};
  scratch::directory dir;

  static words some(std::size_t count, std::uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    words all(count);
    for (auto& one : all) one = random();
    return all;
  }
  /// The items of a flow, which are the same by push and by pull.
  template <typename T = std::uint64_t, typename Make>
  std::vector<T> items_of(Make make) {
    std::vector<T> pushed, pulled;
    run(store, make() | transform([](auto const& item) { return T(item); }) |
                   into(std::back_inserter(pushed)));
    run(store, zip(make(), counter(std::uint64_t{0}, UINT64_MAX)) |
                   transform([](auto const& item, std::uint64_t) { return T(item); }) |
                   into(std::back_inserter(pulled)));
    EXPECT_EQ(pushed, pulled);
    return pushed;
  }
  template <typename Flow>
  static item_count size_of(Flow flow) {
    return flow.take_expression().size();
  }
};

// ---- files ----

TEST_F(sources, a_file_shows_its_items) {
  std::string const path = dir.path("in");
  for (std::size_t const count : {0U, 1U, 2048U, 300'000U}) {
    words const in = some(count);
    scratch::write_items(path, in);
    EXPECT_EQ(items_of([&] { return from(items<std::uint64_t>(path)); }), in) << count;
    EXPECT_EQ(size_of(from(items<std::uint64_t>(path))), item_count::exactly(count));
  }
}

TEST_F(sources, a_file_may_have_items_that_are_not_aligned) {
  struct odd {
    std::array<char, 7> bytes;
    bool operator==(odd const&) const = default;
  };
  std::vector<odd> in(100'000);
  for (std::size_t i = 0; i < in.size(); ++i) in[i].bytes.fill(static_cast<char>(i));
  scratch::write_items(dir.path("in"), in);
  EXPECT_EQ(items_of<odd>([&] { return from(items<odd>(dir.path("in"))); }), in);
}

TEST_F(sources, a_file_that_is_missing_is_named) {
  auto const missing = [&] { return from(items<int>(dir.path("missing"))); };
  try {
    run(store, missing() | discard());
    FAIL();
  } catch (flow_error const& e) {
    EXPECT_NE(std::string(e.what()).find(dir.path("missing")), std::string::npos) << e.what();
    EXPECT_THROW(e.rethrow_nested(), io_error);
  }
  // A sort asks for the size beforehand.
  EXPECT_THROW(run(store, missing() | sort() | discard()), io_error);
}

TEST_F(sources, a_file_that_is_cut_short_is_named) {
  scratch::write_file(dir.path("in"), std::string(8 * 1000 + 3, 'x'));
  auto const cut_short = [&] { return from(items<std::uint64_t>(dir.path("in"))); };
  try {
    run(store, cut_short() | discard());
    FAIL();
  } catch (flow_error const& e) {
    EXPECT_NE(std::string(e.what()).find(dir.path("in")), std::string::npos) << e.what();
    EXPECT_THROW(e.rethrow_nested(), format_error);
  }
  EXPECT_THROW(run(store, cut_short() | sort() | discard()), format_error);
}

TEST_F(sources, a_file_is_read_no_further_than_is_wanted) {
  scratch::write_items(dir.path("in"), some(300'000));
  EXPECT_EQ(run(store, zip(from(items<std::uint64_t>(dir.path("in"))), counter(0, 3)) | count()),
            3U);
}

// ---- containers ----

TEST_F(sources, containers_show_their_items) {
  words const in = some(200'000);
  outsize::vector<std::uint64_t> const v(store, in);
  EXPECT_EQ(items_of([&] { return from(v); }), in);
  EXPECT_EQ(size_of(from(v)), item_count::exactly(in.size()));
  deque<std::uint64_t> d(store);
  for (auto x : in) d.push_back(x);
  EXPECT_EQ(items_of([&] { return from(d); }), in);
  std::set<std::uint64_t> const sorted(in.begin(), in.end());
  set<std::uint64_t> s(store);
  for (auto x : words(in.begin(), in.begin() + 20'000)) s.insert(x);
  EXPECT_TRUE(std::ranges::equal(items_of([&] { return from(s); }),
                                 std::set<std::uint64_t>(in.begin(), in.begin() + 20'000)));
  map<std::uint64_t, std::uint64_t> m(store);
  for (std::uint64_t i = 0; i < 20'000; ++i) m.insert({i, in[i]});
  auto const value = [](auto const& entry) { return entry.second; };
  EXPECT_EQ(items_of([&] { return from(m) | transform(value); }),
            words(in.begin(), in.begin() + 20'000));
}

TEST_F(sources, containers_may_be_moved_in) {
  words const in = some(100'000);
  auto const made = [&] { return outsize::vector<std::uint64_t>(store, in); };
  EXPECT_EQ(items_of([&] { return from(made()); }), in);
  EXPECT_EQ(size_of(from(made())), item_count::exactly(in.size()));
  EXPECT_EQ(run(store, zip(from(made()), from(made())) | count()), in.size());
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

TEST_F(sources, empty_containers_show_nothing) {
  outsize::vector<std::uint64_t> const v(store);
  map<std::uint64_t, std::uint64_t> const m(store);
  EXPECT_EQ(run(store, from(v) | count()), 0U);
  EXPECT_EQ(run(store, from(m) | count()), 0U);
}

TEST_F(sources, a_container_is_read_by_one_part_of_a_graph) {
  outsize::vector<std::uint64_t> const v(store, {1, 2, 3});
  graph g(store);
  g.add(from(v) | discard());
  g.add(from(v) | discard());
  EXPECT_THROW(g.run(), plan_error);
  EXPECT_EQ(run(store, zip(from(v), from(v)) | count()), 3U);
}

// ---- ranges ----

TEST_F(sources, ranges_are_read_where_they_are_or_moved_in) {
  words const in = some(70'000);
  EXPECT_EQ(items_of([&] { return from(in); }), in);
  EXPECT_EQ(items_of([&] { return from(words(in)); }), in);
  EXPECT_EQ(items_of([&] { return from(std::span(in)); }), in);
  EXPECT_EQ(size_of(from(words(in))), item_count::exactly(in.size()));
  std::list<std::uint64_t> const l(in.begin(), in.end());
  EXPECT_EQ(items_of([&] { return from(l); }), in);
  EXPECT_EQ(items_of([&] { return from(std::list<std::uint64_t>(l)); }), in);
  EXPECT_EQ(size_of(from(l)), item_count::exactly(in.size()));
  auto const half = [](std::uint64_t x) { return x / 2; };
  words expected = in;
  for (auto& x : expected) x /= 2;
  EXPECT_EQ(items_of([&] { return from(in | std::views::transform(half)); }), expected);
  EXPECT_EQ(items_of([&] { return from(words()); }), words());
}

TEST_F(sources, ranges_may_be_of_strings_and_bools_and_single_pass) {
  std::vector<std::string> const names{"b", "", std::string(1000, 'a')};
  EXPECT_EQ(items_of<std::string>([&] { return from(names); }), names);
  EXPECT_EQ(items_of<std::string>([&] { return from(std::vector(names)); }), names);
  std::vector<bool> const bits{true, false, true};
  EXPECT_EQ(items_of<int>([&] { return from(bits); }), (std::vector<int>{1, 0, 1}));
  std::istringstream text("3 1 2");
  EXPECT_EQ(run(store, from(std::views::istream<int>(text)) | reduce(0)), 6);
}

// ---- streams ----

/// A stream with nothing but the protocol.
class countdown {
 public:
  explicit countdown(int from) : left_(from) {}
  bool empty() const { return left_ == 0; }
  int operator*() const { return left_; }
  countdown& operator++() {
    --left_;
    return *this;
  }

 private:
  int left_;
};

TEST_F(sources, streams_are_read_where_they_are_or_moved_in) {
  EXPECT_EQ(items_of<int>([] { return from(countdown(3)); }), (std::vector<int>{3, 2, 1}));
  countdown c(5'000);
  EXPECT_EQ(run(store, zip(from(c), counter(0, 10)) | count()), 10U);
  EXPECT_EQ(*c, 4'990);
  EXPECT_EQ(run(store, from(c) | count()), 4'990U);
  EXPECT_TRUE(c.empty());
}

TEST_F(sources, sorters_and_readers_are_streams) {
  words in = some(100'000);
  sorter<std::uint64_t> s(store);
  for (auto x : in) s.push(x);
  s.sort();
  words out;
  run(store, from(s) | into(std::back_inserter(out)));
  std::ranges::sort(in);
  EXPECT_EQ(out, in);
  outsize::vector<std::uint64_t> const v(store, in);
  EXPECT_EQ(items_of([&] { return from(vector_reader(v)); }), in);
  sequence<std::uint64_t> q(store);
  for (auto x : in) q.push_back(x);
  std::ranges::reverse(in);
  EXPECT_EQ(items_of([&] { return from(q.backward()); }), in);
}

// ---- functions and numbers ----

TEST_F(sources, generate_ends_with_nothing) {
  auto const up_to = [](int end) {
    return generate(
        [next = 0, end]() mutable { return next < end ? std::optional(next++) : std::nullopt; });
  };
  EXPECT_EQ(items_of<int>([&] { return up_to(0); }), std::vector<int>());
  EXPECT_EQ(items_of<int>([&] { return up_to(3); }), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(run(store, up_to(10'000) | count()), 10'000U);
}

TEST_F(sources, counter_counts) {
  EXPECT_EQ(items_of<int>([] { return counter(-2, 3); }), (std::vector<int>{-2, -1, 0, 1, 2}));
  EXPECT_EQ(items_of<int>([] { return counter(3, 3); }), std::vector<int>());
  EXPECT_EQ(items_of<int>([] { return counter(4, 3); }), std::vector<int>());
  EXPECT_EQ(size_of(counter(-2, 3)), item_count::exactly(5));
  EXPECT_EQ(size_of(counter(4, 3)), item_count::exactly(0));
  EXPECT_EQ(run(store, counter(std::uint8_t{0}, 255) | count()), 255U);
  EXPECT_EQ(run(store, counter(std::int64_t{0}, 200'000) | reduce(std::int64_t{0})),
            std::int64_t{200'000} * 199'999 / 2);
}

TEST_F(sources, counter_counts_from_the_least_number) {
  using limits = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(size_of(counter(limits::min(), limits::max())), item_count::exactly(UINT64_MAX));
  words::value_type taken = 0;
  auto const first_of = [&](std::int64_t x, int i) { taken += x == limits::min() + i; };
  run(store, zip(counter(limits::min(), limits::max()), counter(0, 70'000)) |
                 transform([&](std::int64_t x, int i) { return first_of(x, i), 0; }) | discard());
  EXPECT_EQ(taken, 70'000U);
  EXPECT_EQ(run(store, counter(std::int16_t{-32'768}, 32'767) | count()), 65'535U);
  EXPECT_EQ(run(store, counter(std::int8_t{-128}, 127) | reduce(0)), -128 - 127);
}

TEST_F(sources, that_are_pulled_one_by_one_can_be_cancelled) {
  graph g(store);
  g.add(zip(counter(std::uint64_t{0}, UINT64_MAX), counter(std::uint64_t{0}, UINT64_MAX)) |
        discard());
  auto running = g.start();
  running.cancel();
  EXPECT_THROW(running.wait(), cancelled);
}

TEST_F(sources, note_all_their_items_for_progress) {
  EXPECT_EQ(run(store, from(countdown(3)) | discard()).moved_bytes, 3 * sizeof(int));
  EXPECT_EQ(run(store, from(std::list<std::uint64_t>(5)) | discard()).moved_bytes, 40U);
  EXPECT_EQ(run(store, from(words(7)) | discard()).moved_bytes, 56U);
}

TEST_F(sources, an_exception_of_a_function_is_passed_on) {
  int calls = 0;
  auto const fail = [&]() -> std::optional<int> {
    return ++calls < 100 ? std::optional(calls) : throw std::runtime_error("broken");
  };
  try {
    run(store, generate(fail) | discard());
    FAIL();
  } catch (flow_error const& e) {
    EXPECT_NE(std::string(e.what()).find("broken"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace outsize::stream

// Both namespaces at once, as programs have them.
namespace user_code {
namespace {

using namespace outsize;
using namespace outsize::stream;

TEST(sources_names, are_not_ambiguous) {
  storage store({.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 16_MiB);
                                        })},
                 .memory_bytes = 4_MiB});
  scratch::directory const dir;
  scratch::write_items(dir.path("in"), std::vector<int>{1, 2});
  EXPECT_EQ(run(store, from(items<int>(dir.path("in"))) | count()), 2U);
  EXPECT_EQ(run(store, generate([] { return std::optional<int>(); }) | count()), 0U);
  EXPECT_EQ(run(store, counter(0, 4) | count()), 4U);
}

}  // namespace
}  // namespace user_code
