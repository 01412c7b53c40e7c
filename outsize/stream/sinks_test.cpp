// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Flows end in files, containers, iterators and values, which have all of their items afterwards.
#include <outsize/stream/sinks.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/bulk_priority_queue.hpp>
#include <outsize/container/deque.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/priority_queue.hpp>
#include <outsize/container/queue.hpp>
#include <outsize/container/set.hpp>
#include <outsize/container/stack.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/sorting_nodes.hpp>
#include <outsize/stream/operators/take.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/sources.hpp>
#include <outsize/testing/item_files.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::stream {
namespace {

using words = std::vector<std::uint64_t>;

struct sinks : testing::Test {
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
  /// A flow of 20 000 items that fails at the last but one.
  static auto failing() {
    return counter(std::uint64_t{0}, 20'000) | transform([](std::uint64_t x) {
             return x < 19'998 ? x : throw std::runtime_error("broken");
           });
  }
};

// ---- files ----

TEST_F(sinks, a_file_has_the_items) {
  for (std::size_t const count : {0U, 1U, 2047U, 2048U, 2049U, 300'000U}) {
    words const in = some(count);
    run(store, from(in) | into(dir.path("out")));
    EXPECT_EQ(scratch::read_items<std::uint64_t>(dir.path("out")), in) << count;
  }
}

TEST_F(sinks, a_report_tells_the_bytes_of_files) {
  words const in = some(300'000);
  scratch::write_items(dir.path("in"), in);
  graph g(store, "copy");
  g.add(from(items<std::uint64_t>(dir.path("in"))) | into(dir.path("out")));
  auto const& r = g.run();
  EXPECT_EQ(r.predicted_file_bytes, 2 * in.size() * sizeof in[0]);
  EXPECT_GE(r.file_bytes, r.predicted_file_bytes);
  EXPECT_LE(r.file_bytes, r.predicted_file_bytes + 64_KiB);  // whole sectors
  EXPECT_EQ(r.predicted_disk_bytes, 0U);
  EXPECT_GT(r.phases[0].stages[0].used_bytes, 0U);
  EXPECT_LE(r.phases[0].stages[0].used_bytes, store.memory().total_bytes());
}

TEST_F(sinks, a_file_is_named_by_any_kind_of_string) {
  std::string const out = dir.path("out");
  std::string changeable = out;
  words const in = some(3);
  run(store, from(in) | into(out));
  run(store, from(in) | into(changeable));
  run(store, from(in) | into(out.c_str()));
  EXPECT_EQ(scratch::read_items<std::uint64_t>(out), in);
  EXPECT_EQ(dir.names(), std::vector<std::string>{"out"});
}

TEST_F(sinks, a_file_takes_items_longer_than_a_page) {
  using page = std::array<std::uint32_t, 8192>;  // 32 KiB
  std::vector<page> in(20);
  for (std::uint32_t i = 0; i < in.size(); ++i) in[i].fill(i);
  run(store, from(in) | into(dir.path("out")));
  EXPECT_EQ(scratch::read_items<page>(dir.path("out")), in);
  struct odd {
    std::array<char, 5001> bytes;
    bool operator==(odd const&) const = default;
  };
  std::vector<odd> in2(500);
  for (std::size_t i = 0; i < in2.size(); ++i) in2[i].bytes.fill(static_cast<char>(i));
  run(store, from(in2) | into(dir.path("out")));
  EXPECT_EQ(scratch::read_items<odd>(dir.path("out")), in2);
}

TEST_F(sinks, a_file_may_be_the_one_that_is_read) {
  scratch::write_items(dir.path("in"), some(100'000));
  run(store, from(items<std::uint64_t>(dir.path("in"))) |
                 transform([](std::uint64_t x) { return x + 1; }) | into(dir.path("in")));
  words expected = some(100'000);
  for (auto& x : expected) ++x;
  EXPECT_EQ(scratch::read_items<std::uint64_t>(dir.path("in")), expected);
}

TEST_F(sinks, a_failed_run_leaves_the_old_file) {
  scratch::write_file(dir.path("old"), "as it was");
  EXPECT_THROW(run(store, failing() | into(dir.path("old"))), flow_error);
  EXPECT_THROW(run(store, failing() | into(dir.path("new"))), flow_error);
  EXPECT_EQ(scratch::read_file(dir.path("old")), "as it was");
  EXPECT_EQ(dir.names(), std::vector<std::string>{"old"});
}

TEST_F(sinks, a_file_that_cannot_be_made_is_named) {
  words const in = some(3);
  try {
    run(store, from(in) | into(dir.path("no/such/folder")));
    FAIL();
  } catch (flow_error const& e) {
    EXPECT_NE(std::string(e.what()).find("no/such/folder"), std::string::npos) << e.what();
    EXPECT_THROW(e.rethrow_nested(), io_error);
  }
}

TEST_F(sinks, several_files_at_once) {
  words const in = some(100'000);
  graph g(store);
  auto [a, b] = g.fork<2>(from(in));
  g.add(a | into(dir.path("a")));
  g.add(b | sort() | into(dir.path("b")));
  g.run();
  EXPECT_EQ(scratch::read_items<std::uint64_t>(dir.path("a")), in);
  words sorted = in;
  std::ranges::sort(sorted);
  EXPECT_EQ(scratch::read_items<std::uint64_t>(dir.path("b")), sorted);
}

// ---- containers ----

TEST_F(sinks, a_vector_has_the_items_in_place_of_older_ones) {
  outsize::vector<std::uint64_t> out(store);
  for (std::size_t const count : {1000U, 0U, 1U, 4096U, 700'000U, 5U}) {
    words const in = some(count);
    run(store, from(in) | into(out));
    ASSERT_EQ(out.size(), count);
    EXPECT_TRUE(std::ranges::equal(out.forward(), in)) << count;
  }
}

TEST_F(sinks, a_vector_has_some_items_after_an_error) {
  outsize::vector<std::uint64_t> out(store);
  EXPECT_THROW(run(store, failing() | into(out)), flow_error);
  ASSERT_LE(out.size(), 19'998U);
  for (std::uint64_t i = 0; i < out.size(); ++i) ASSERT_EQ(std::as_const(out)[i], i);
}

TEST_F(sinks, a_container_that_is_read_cannot_be_written) {
  outsize::vector<std::uint64_t> both(store, {1, 2, 3});
  EXPECT_THROW(run(store, from(both) | into(both)), plan_error);
  EXPECT_EQ(both.size(), 3U);
}

TEST_F(sinks, priority_queues_are_filled_and_drained) {
  words const in = some(50'000);
  priority_queue<std::uint64_t, std::greater<>> q(store, {}, {.memory_bytes = 256_KiB});
  run(store, from(in) | into(q));
  EXPECT_EQ(q.size(), in.size());
  words out, expected(in);
  std::ranges::sort(expected);
  run(store, from(q.drain()) | take(1000) | into(std::back_inserter(out)));
  EXPECT_TRUE(std::ranges::equal(out, std::span(expected).first(1000)));
  EXPECT_LT(q.size(), in.size());

  bulk_priority_queue<std::uint64_t> bulk(store, {}, {.memory_bytes = 256_KiB});
  run(store, from(in) | into(bulk));
  EXPECT_EQ(bulk.size(), in.size());
  EXPECT_EQ(bulk.top(), expected.back());
}

TEST_F(sinks, deques_stacks_and_queues_have_the_items) {
  words const in = some(200'000);
  deque<std::uint64_t> d(store);
  d.push_back(7);
  run(store, from(in) | into(d));
  EXPECT_TRUE(std::ranges::equal(d.forward(), in));
  stack<std::uint64_t> s(store);
  run(store, from(in) | into(s));
  queue<std::uint64_t> q(store);
  run(store, from(in) | into(q));
  ASSERT_EQ(s.size(), in.size());
  ASSERT_EQ(q.size(), in.size());
  for (std::size_t i = 0; i < in.size(); ++i, s.pop(), q.pop()) {
    ASSERT_EQ(std::as_const(s).top(), in[in.size() - 1 - i]);
    ASSERT_EQ(std::as_const(q).front(), in[i]);
  }
}

TEST_F(sinks, maps_and_sets_have_the_items) {
  words const in = some(20'000);
  set<std::uint64_t> s(store);
  run(store, from(in) | into(s));
  EXPECT_TRUE(std::ranges::equal(s, std::set<std::uint64_t>(in.begin(), in.end())));
  map<std::uint64_t, std::uint64_t> m(store);
  auto const pair_of = [](std::uint64_t x) { return std::pair(x % 5000, x); };
  run(store, from(in) | transform(pair_of) | into(m));
  std::map<std::uint64_t, std::uint64_t> expected;
  for (auto x : in) expected.insert(pair_of(x));
  ASSERT_EQ(m.size(), expected.size());
  for (auto const& [key, value] : expected) ASSERT_EQ(m.at(key), value);
}

TEST_F(sinks, containers_in_memory_have_the_items_and_strings) {
  words const in = some(5000);
  words out{1, 2, 3};
  run(store, from(in) | into(out));
  EXPECT_EQ(out, in);
  std::vector<std::string> const names{"c", "a", "b", std::string(300, 'x')};
  std::vector<std::string> sorted;
  std::set<std::string> distinct;
  run(store, from(names) | sort() | into(sorted));
  run(store, from(names) | sort() | into(distinct));
  EXPECT_EQ(sorted, (std::vector<std::string>{"a", "b", "c", std::string(300, 'x')}));
  EXPECT_EQ(distinct, std::set<std::string>(names.begin(), names.end()));
}

// ---- iterators and values ----

TEST_F(sinks, iterators_are_assigned_the_items) {
  words const in = some(5000);
  words out(in.size());
  run(store, from(in) | into(out.begin()));
  EXPECT_EQ(out, in);
  std::vector<std::uint64_t> copy(in.size());
  run(store, from(in) | into(copy.data()));
  EXPECT_EQ(copy, in);
  std::vector<std::string> strings;
  run(store, from(std::vector<std::string>{"b", "a"}) | sort() | into(std::back_inserter(strings)));
  EXPECT_EQ(strings, (std::vector<std::string>{"a", "b"}));
}

TEST_F(sinks, values_are_yielded) {
  words const in = some(100'000);
  EXPECT_EQ(run(store, from(in) | count()), in.size());
  EXPECT_EQ(run(store, from(words()) | count()), 0U);
  EXPECT_EQ(run(store, from(in) | reduce(std::uint64_t{3})),
            std::accumulate(in.begin(), in.end(), std::uint64_t{3}));
  auto const longer = [](std::string a, std::string_view b) {
    return b.size() > a.size() ? std::string(b) : a;
  };
  EXPECT_EQ(run(store, from(std::vector<std::string>{"aa", "bbb", "c"}) | sort() |
                           reduce(std::string(), longer)),
            "bbb");
  graph g(store);
  auto const value = g.add(from(in) | count());
  g.run();
  EXPECT_EQ(value.get(), in.size());
}

TEST_F(sinks, discard_reads_to_the_end) {
  std::uint64_t seen = 0;
  run(store, counter(0, 5000) | transform([&](int) { return ++seen; }) | discard());
  EXPECT_EQ(seen, 5000U);
}

TEST_F(sinks, materialize_yields_a_vector) {
  for (std::size_t const count : {0U, 1U, 700'000U}) {
    words const in = some(count);
    auto const out = run(store, from(in) | materialize());
    static_assert(std::same_as<decltype(out), outsize::vector<std::uint64_t> const>);
    EXPECT_TRUE(std::ranges::equal(out.forward(), in)) << count;
  }
  words const in = some(1000);
  graph g(store);
  auto const made = g.add(from(in) | sort() | materialize());
  g.run();
  made.get().push_back(5);
  EXPECT_EQ(made.get().size(), 1001U);
}

TEST_F(sinks, materialize_leaves_nothing_after_an_error) {
  std::uint64_t const before = store.allocated_bytes();
  graph g(store);
  auto const made = g.add(counter(std::uint64_t{0}, 700'000) | transform([](std::uint64_t x) {
                            return x < 699'998 ? x : throw std::runtime_error("broken");
                          }) |
                          materialize());
  EXPECT_THROW(g.run(), flow_error);
  EXPECT_EQ(store.allocated_bytes(), before);
}

}  // namespace
}  // namespace outsize::stream

// Both namespaces at once, as programs have them.
namespace user_code {
namespace {

using namespace outsize;
using namespace outsize::stream;

TEST(sinks_names, are_not_ambiguous) {
  storage store({.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 16_MiB);
                                        })},
                 .memory_bytes = 4_MiB});
  scratch::directory const dir;
  std::vector<int> const a{1, 3};
  std::vector<int> out;
  outsize::vector<int> paged(store);
  run(store, from(a) | into(dir.path("out")));
  run(store, from(a) | into(out));
  run(store, from(a) | into(paged));
  run(store, from(a) | into(std::back_inserter(out)));
  EXPECT_EQ(run(store, from(a) | count()), 2U);
  EXPECT_EQ(run(store, from(a) | reduce(0)), 4);
  EXPECT_EQ(run(store, from(a) | reduce(0, std::plus<>())), 4);
  EXPECT_EQ(run(store, from(a) | materialize()).size(), 2U);
  EXPECT_EQ(out, (std::vector<int>{1, 3, 1, 3}));
}

}  // namespace
}  // namespace user_code
