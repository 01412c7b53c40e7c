// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Whole graphs yield the same as their steps in memory.
#include <outsize/stream/graph.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/stream/operators/filter.hpp>
#include <outsize/stream/operators/flat_map.hpp>
#include <outsize/stream/operators/merge_flows.hpp>
#include <outsize/stream/operators/parallel.hpp>
#include <outsize/stream/operators/sorting_nodes.hpp>
#include <outsize/stream/operators/take.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/operators/zip.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::stream {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

using numbers = std::vector<std::uint64_t>;

bool is_even(std::uint64_t x) { return x % 2 == 0; }

struct graphs : testing::Test {
  static storage_options options(std::size_t threads = 2) {
    return {.disks = {disk_options("memory",
                                   [](io::request_queue&) -> io::file_ptr {
                                     return io::make_memory_file("memory", 1_GiB);
                                   })},
            .memory_bytes = 4_MiB,
            .threads = threads};
  }
  static numbers some(std::size_t count, std::uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    numbers all(count);
    for (auto& one : all) one = random() % (2 * count + 1);
    return all;
  }
};

TEST_F(graphs, linear) {
  storage store(options());
  numbers const in = some(300'000);
  numbers out;
  auto const twice = [](std::uint64_t x) { return 2 * x; };
  run(store, from(in) | transform(twice) | filter([](std::uint64_t x) { return x % 3 != 0; }) |
                 sort() | unique() | into(std::back_inserter(out)));
  numbers expected;
  for (auto x : in)
    if (2 * x % 3 != 0) expected.push_back(2 * x);
  std::ranges::sort(expected);
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  EXPECT_EQ(out, expected);
}

TEST_F(graphs, values) {
  storage store(options());
  numbers const in = some(100'000);
  EXPECT_EQ(run(store, from(in) | reduce(std::uint64_t{0})),
            std::accumulate(in.begin(), in.end(), std::uint64_t{0}));
  EXPECT_EQ(run(store, from(in) | count()), in.size());
}

TEST_F(graphs, diamond) {
  storage store(options());
  numbers const in = some(300'000);
  graph g(store, "diamond");
  auto [a, b] = g.fork<2>(from(in));
  auto up = a | sort();
  auto down =
      b | sort(std::greater<>()) | transform([](std::uint64_t x) { return x + 1; }) | sort();
  numbers out;
  g.add(zip(up, down) | transform([](std::uint64_t x, std::uint64_t y) { return x + y; }) |
        into(std::back_inserter(out)));
  g.run();
  numbers expected = in;
  std::ranges::sort(expected);
  for (auto& x : expected) x += x + 1;
  EXPECT_EQ(out, expected);
}

/// With too little memory a graph says so, and from the first budget that is enough on never does.
TEST_F(graphs, work_with_any_memory_that_is_enough) {
  numbers const in = some(150'000);
  numbers expected = in;
  std::ranges::sort(expected);
  std::uint64_t enough = 0;
  for (std::uint64_t memory_bytes = 256_KiB; memory_bytes <= 32_MiB;
       memory_bytes += memory_bytes / 3) {
    auto o = options();
    o.memory_bytes = memory_bytes;
    storage store(o);
    graph g(store, "sweep");
    auto [a, b, c] = g.fork<3>(from(in));
    auto down = b | sort(std::greater<>()) | sort();
    numbers out;
    g.add(zip(a | sort(), down, c) |
          transform([](std::uint64_t x, std::uint64_t, std::uint64_t) { return x; }) |
          into(std::back_inserter(out)));
    try {
      g.run();
      EXPECT_EQ(out, expected) << memory_bytes;
      if (enough == 0) enough = memory_bytes;
    } catch (budget_error const& e) {
      EXPECT_EQ(enough, 0U) << memory_bytes << ": " << e.what();
    } catch (flow_error const& e) {
      EXPECT_THROW(e.rethrow_nested(), budget_error);
      EXPECT_EQ(enough, 0U) << memory_bytes << ": " << e.what();
    }
    EXPECT_LE(store.memory().peak_bytes(), memory_bytes);
    EXPECT_EQ(store.allocated_bytes(), 0U);
  }
  EXPECT_LE(enough, 8_MiB);
}

/// Parts of a level run in turn where memory for both would not do for one merge each; sizes that
/// have become known replace guesses.
TEST_F(graphs, run_fewer_parts_at_once_where_that_spares_a_pass) {
  auto o = options();
  o.memory_bytes = 16_MiB;
  storage store(o);
  graph g(store, "turns");
  auto const few = [n = 0]() mutable -> std::optional<std::uint64_t> {
    if (n == 100) return std::nullopt;
    return ++n;
  };
  auto const a = g.add(generate(few) | sort() | sort(std::greater<>()) | count());
  auto const b = g.add(generate(few) | sort() | sort(std::greater<>()) | count());
  auto const text = g.explain();  // of unknown sizes each sort can use half of the memory
  EXPECT_THAT(text, HasSubstr("phase 5"));
  EXPECT_THAT(text, Not(HasSubstr("phase 6")));
  EXPECT_EQ(g.run().phases.size(), 4U);  // two sources in turn, and then both parts together
  EXPECT_EQ(a.get() + b.get(), 200U);
}

/// Sorts that are read in one phase share the memory: each merges once.
TEST_F(graphs, sorts_that_are_read_together_leave_each_other_memory) {
  storage store(options());
  numbers const in = some(2'000'000);
  graph g(store, "two");
  auto [a, b] = g.fork<2>(from(in));
  g.add(zip(a | sort(), b | sort(std::greater<>())) | discard());
  for (auto const& sorted : g.run().boundaries) EXPECT_LE(sorted.sort.passes, 2U);
}

TEST_F(graphs, half_diamond_gets_a_store) {
  storage store(options());
  numbers const in = some(300'000);
  graph g(store, "half");
  auto [a, b] = g.fork<2>(from(in));
  numbers out;
  g.add(zip(a | sort(), b) |
        transform([](std::uint64_t x, std::uint64_t y) { return x * 31 + y; }) |
        into(std::back_inserter(out)));
  auto const& report = g.run();
  EXPECT_EQ(report.store_count(), 1U);
  numbers expected = in;
  std::ranges::sort(expected);
  for (std::size_t i = 0; i < in.size(); ++i) expected[i] = expected[i] * 31 + in[i];
  EXPECT_EQ(out, expected);
}

TEST_F(graphs, paths_of_different_lengths_from_fork_to_join_do_not_wait_for_each_other) {
  for (std::size_t const buffers : {1U, 4U}) {
    storage store(options());
    numbers const in = some(300'000);
    graph g(store, "skewed", {.channel_buffers = buffers, .channel_buffer_bytes = 4096});
    auto [a, b] = g.fork<2>(from(in));
    numbers out;
    // Of `a` nothing comes before 200 000 items have gone by, while `b` lets all through.
    auto late = a | filter([n = 0](std::uint64_t) mutable { return ++n > 200'000; });
    g.add(zip(std::move(late), b) |
          transform([](std::uint64_t x, std::uint64_t y) { return x * 31 + y; }) |
          into(std::back_inserter(out)));
    g.run();
    ASSERT_EQ(out.size(), 100'000U);
    for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], in[200'000 + i] * 31 + in[i]);
  }
}

TEST_F(graphs, parallel_keeps_the_order) {
  for (std::size_t const threads : {1U, 2U, 8U})
    for (std::size_t const buffers : {1U, 4U}) {
      storage store(options(threads));
      numbers const in = some(200'000);
      graph g(store, "parallel", {.channel_buffers = buffers, .channel_buffer_bytes = 4096});
      numbers out, any;
      auto const op = transform([](std::uint64_t x) { return x * 7; }) |
                      filter([](std::uint64_t x) { return x % 3 != 0; });
      g.add(from(in) | async() | parallel(op) | into(std::back_inserter(out)));
      g.add(from(in) | parallel(unordered, op) | into(std::back_inserter(any)));
      g.run();
      numbers expected;
      for (auto x : in)
        if (x * 7 % 3 != 0) expected.push_back(x * 7);
      EXPECT_EQ(out, expected) << threads;
      std::ranges::sort(expected);
      std::ranges::sort(any);
      EXPECT_EQ(any, expected) << threads;
    }
}

TEST_F(graphs, parallel_operators_may_leave_items) {
  numbers const in = some(100'000);
  std::vector<numbers> results;
  for (std::size_t const threads : {1U, 2U, 8U}) {
    storage store(options(threads));
    numbers out;
    run(store, from(in) | parallel(take(3)) | into(std::back_inserter(out)));
    results.push_back(out);
    std::vector<std::string> some_texts;
    auto const text = transform([](std::uint64_t x) { return std::to_string(x); });
    run(store, from(in) | text | parallel(take(1)) | into(std::back_inserter(some_texts)));
    EXPECT_EQ(some_texts.front(), std::to_string(in.front()));
  }
  EXPECT_EQ(results[0], results[1]);  // of each batch
  EXPECT_EQ(results[0], results[2]);
}

TEST_F(graphs, parallel_shares_few_items_out) {
  storage store(options(2));
  numbers const in = some(1000);
  numbers firsts;
  run(store, from(in) | parallel(take(1)) | into(std::back_inserter(firsts)));
  EXPECT_GE(firsts.size(), 4U);  // one of each batch
}

TEST_F(graphs, of_byte_strings) {
  storage store(options());
  std::vector<std::string> in;
  for (std::uint64_t x : some(60'000)) in.push_back(std::string(x % 50, 'a') + std::to_string(x));
  std::vector<std::string> out;
  graph g(store);
  auto [a, b] = g.fork<2>(from(in));
  g.add(zip(a | sort(), b) | transform([](std::string_view x, std::string_view y) {
          return std::string(x) + "/" + std::string(y);
        }) |
        into(std::back_inserter(out)));
  g.run();
  auto sorted = in;
  std::ranges::sort(sorted);
  ASSERT_EQ(out.size(), in.size());
  for (std::size_t i = 0; i < in.size(); ++i) EXPECT_EQ(out[i], sorted[i] + "/" + in[i]);
}

TEST_F(graphs, run_as_jobs) {
  storage store(options());
  numbers const in = some(100'000);
  std::vector<graph_progress> seen;
  graph g(store, "job", {.progress = [&](graph_progress const& p) { seen.push_back(p); }});
  auto const n = g.add(from(in) | sort() | count());
  auto job = g.start();
  auto const& report = job.wait();
  EXPECT_EQ(n.get(), in.size());
  EXPECT_TRUE(job.finished());
  EXPECT_EQ(report.phases.size(), 2U);
  EXPECT_EQ(report.boundaries.size(), 1U);
  ASSERT_FALSE(seen.empty());
  EXPECT_TRUE(seen.back().finished);
  EXPECT_EQ(seen.back().phase, 2U);
  EXPECT_EQ(seen.back().done_bytes, 2 * in.size() * sizeof(std::uint64_t));
  EXPECT_EQ(seen.back().remaining_seconds(), 0);
  for (auto const& p : seen) {
    EXPECT_EQ(p.total_bytes, seen.back().done_bytes);
    EXPECT_LE(p.done_bytes, p.total_bytes);
  }
}

TEST_F(graphs, correct_their_total_where_it_was_not_known) {
  storage store(options());
  numbers const in = some(100'000);
  std::vector<graph_progress> seen;
  graph g(store, "job", {.progress = [&](graph_progress const& p) { seen.push_back(p); }});
  auto const few = [](std::uint64_t x) { return x % 16 == 0; };
  auto const n = g.add(from(in) | filter(few) | sort() | count());
  g.run();
  EXPECT_EQ(seen.back().total_bytes, (in.size() + n.get()) * sizeof(std::uint64_t));
  EXPECT_EQ(seen.back().done_bytes, seen.back().total_bytes);

  seen.clear();
  graph endless(store, "of unknown length",
                {.progress = [&](graph_progress const& p) { seen.push_back(p); }});
  endless.add(generate([left = 1000]() mutable -> std::optional<std::uint64_t> {
                if (left-- == 0) return std::nullopt;
                return 1;
              }) |
              sort() | discard());
  endless.run();
  EXPECT_EQ(seen.back().total_bytes, 2000 * sizeof(std::uint64_t));
}

TEST_F(graphs, share_what_containers_leave) {
  auto const o = options();
  storage store({.disks = o.disks, .memory_bytes = 16_MiB, .threads = 2});
  vector<std::uint64_t> a(store), b(store), c(store), d(store);
  for (auto* v : {&a, &b, &c, &d}) v->push_back(1);
  graph g(store);
  auto const in_any_number = flat_map([](std::uint64_t n) { return std::array{n}; });
  auto [x, y] = g.route<2>(counter(std::uint64_t{0}, 100'000) | sort() | in_any_number,
                           [](std::uint64_t n) { return n % 2; });
  auto const n = g.add(merge(x | sort(), y | sort()) | count());
  g.run();
  EXPECT_EQ(n.get(), 100'000U);
}

TEST_F(graphs, plan_with_counts_that_nothing_can_hold) {
  storage store(options());
  auto const few = [](std::uint64_t x) { return x < 1000; };
  graph g(store);
  auto const n = g.add(counter(std::uint64_t{0}, UINT64_MAX) | take_while(few) | sort() | count());
  EXPECT_THAT(g.explain(), HasSubstr("at most 18446744073709551615 items"));
  g.run();
  EXPECT_EQ(n.get(), 1000U);
}

TEST_F(graphs, refuse_what_two_parts_would_write) {
  storage store(options());
  scratch::directory dir;
  numbers in = some(10), out;
  auto const refused = ThrowsMessage<plan_error>(HasSubstr("writes to"));
  EXPECT_THAT([&] { run(store, from(in) | into(in)); }, refused);
  std::list<std::uint64_t> list(3);
  EXPECT_THAT([&] { run(store, from(list) | into(list)); }, refused);
  graph g(store);
  g.add(from(in) | into(dir.path("out")));
  g.add(from(in) | into(dir.path("out")));
  EXPECT_THAT([&] { g.run(); }, refused);
  graph good(store);  // what is only read may be read by many
  auto const a = good.add(from(in) | count());
  auto const b = good.add(from(in) | count());
  good.run();
  EXPECT_EQ(a.get() + b.get(), 20U);
}

TEST_F(graphs, keep_items_of_several_channels_on_disk) {
  storage store(options());
  graph g(store);
  auto [a, b, c, d] = g.fork<4>(counter(std::uint64_t{0}, 50'000));
  auto const first = g.add(concat(a, b) | reduce(std::uint64_t{0}));
  auto const second = g.add(concat(c, d) | reduce(std::uint64_t{0}));
  auto const& r = g.run();
  EXPECT_EQ(first.get(), 50'000ULL * 49'999);
  EXPECT_EQ(second.get(), first.get());
  std::size_t most_spilled = 0;
  for (auto const& x : r.boundaries) most_spilled = std::max(most_spilled, x.spilled_items);
  EXPECT_GT(most_spilled, 0U);
}

TEST_F(graphs, number_parts_that_run_in_turn) {
  auto o = options();
  o.memory_bytes = 2_MiB;
  storage store(std::move(o));
  numbers const in = some(300'000);
  std::vector<graph_progress> seen;
  graph g(store, "turns", {.progress = [&](graph_progress const& p) { seen.push_back(p); }});
  for (int i = 0; i < 3; ++i) g.add(from(in) | sort() | filter(is_even) | sort() | discard());
  auto const& r = g.run();
  for (auto const& p : seen) EXPECT_LE(p.phase, p.phases);
  EXPECT_EQ(seen.back().phases, r.phases.size());
}

TEST_F(graphs, start_once) {
  storage store(options());
  graph g(store);
  numbers const in = some(1000);
  g.add(from(in) | sort() | discard());
  auto job = g.start();
  EXPECT_THROW((void)g.start(), plan_error);
  job.wait();
}

TEST_F(graphs, say_that_they_are_cancelled_whoever_sees_it_first) {
  storage store(options());
  for (std::uint64_t at = 0; at < 200'000; at += 9'973) {
    std::stop_source stop;
    graph g(store, "given up");
    g.add(counter(std::uint64_t{0}, 400'000) | inspect([&](std::uint64_t x) {
            if (x == at) stop.request_stop();
          }) |
          sort() | discard());
    EXPECT_THROW(g.run(stop.get_token()), cancelled) << at;
  }
}

TEST_F(graphs, say_how_much_is_left) {
  graph_progress p{.phase = 1, .phases = 2, .done_bytes = 25, .total_bytes = 100, .seconds = 2};
  EXPECT_EQ(p.remaining_seconds(), 6);
  p.total_bytes = 0;
  EXPECT_EQ(p.remaining_seconds(), std::nullopt);
  p.finished = true;
  EXPECT_EQ(p.remaining_seconds(), 0);
}

TEST_F(graphs, report_what_they_have_done) {
  storage store(options());
  numbers const in = some(1'000'000);
  graph g(store, "reported");
  auto [a, b] = g.fork<2>(from(in));
  g.add(zip(a | sort(std::less<>(), {.codec = run_codec::none}), b) | discard());
  auto const& r = g.run();
  EXPECT_EQ(r.phases.size(), 2U);
  EXPECT_EQ(r.store_count(), 1U);
  auto const picture = r.picture();
  EXPECT_EQ(picture.stages.size(), 4U);  // two segments, a sorter, a store
  EXPECT_EQ(picture.connections.size(), 4U);
  for (auto const& s : picture.stages) {
    EXPECT_GE(s.items, in.size()) << s.name;
    EXPECT_LE(s.used_bytes, s.granted_bytes) << s.name;
    if (s.kind == "sorter") {
      EXPECT_GE(s.used_bytes, 1_MiB);
    }
  }
  // The store, and the sort but for the items that stayed in memory.
  EXPECT_EQ(r.predicted_disk_bytes, 4 * in.size() * sizeof(std::uint64_t));
  EXPECT_LE(r.disk_bytes, r.predicted_disk_bytes + 1_MiB);
  EXPECT_GE(r.disk_bytes, r.predicted_disk_bytes / 2);
  EXPECT_THAT(r.html(),
              AllOf(HasSubstr("<h1>reported</h1>"), HasSubstr("phase 2, "), HasSubstr("sorter"),
                    HasSubstr("blocks on disks"), HasSubstr(" of 4 MiB of memory")));
  EXPECT_THAT(r.explain(), HasSubstr("store 'fork1': 1000000 items"));
}

TEST_F(graphs, that_are_cancelled_end) {
  storage store(options());
  graph g(store, "endless");
  std::atomic<bool> begun{false};
  auto const n = g.add(generate([&]() -> std::optional<std::uint64_t> {
                         begun = true;
                         return 1;
                       }) |
                       sort() | count());
  auto job = g.start();
  while (!begun) std::this_thread::yield();
  job.cancel();
  EXPECT_THROW(job.wait(), cancelled);
  EXPECT_TRUE(job.finished());
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

TEST_F(graphs, end_early_without_error) {
  storage store(options());
  numbers const in = some(300'000);
  numbers few;
  graph g(store, "early");
  auto [a, b] = g.fork<2>(from(in) | async());
  // The join ends with its shorter side.
  g.add(zip(a | async(), from(numbers(10))) |
        transform([](std::uint64_t x, std::uint64_t) { return x; }) |
        into(std::back_inserter(few)));
  auto const all = g.add(b | count());
  g.run();
  EXPECT_EQ(few, numbers(in.begin(), in.begin() + 10));
  EXPECT_EQ(all.get(), in.size());
}

TEST_F(graphs, that_cannot_be_run_say_so_before) {
  storage store(options());
  numbers out;
  {
    graph g(store, "nothing");
    EXPECT_THROW(g.run(), plan_error);
  }
  {
    graph g(store, "open");
    auto [a, b] = g.fork<2>(counter(0, 10));
    g.add(a | discard());
    EXPECT_THAT([&] { g.run(); }, ThrowsMessage<plan_error>(AllOf(HasSubstr("'fork1' ("),
                                                                  HasSubstr("graph_test.cpp:"),
                                                                  HasSubstr("leads nowhere"))));
  }
  {
    graph g(store, "twice");
    auto [a] = g.fork<1>(counter(0, 10));
    g.add(a | discard());
    EXPECT_THROW((void)a.begin_flow(), plan_error);
  }
  {
    graph g(store, "again");
    g.add(counter(0, 10) | discard());
    g.run();
    EXPECT_THROW(g.run(), plan_error);
    EXPECT_THROW(g.add(counter(0, 10) | discard()), plan_error);
  }
  {
    outsize::vector<std::uint64_t> v(store);
    graph g(store, "itself");
    g.add(from(v) | into(v));
    EXPECT_THROW(g.run(), plan_error);
  }
  {
    outsize::vector<std::uint64_t> v(store);
    graph g(store, "shared");
    g.add(from(v) | discard());
    g.add(from(v) | discard());
    EXPECT_THROW(g.run(), plan_error);
  }
  {
    graph g(store, "one"), h(store, "other");
    auto [a] = g.fork<1>(counter(0, 10));
    auto [b] = h.fork<1>(counter(0, 10));
    EXPECT_THROW((void)zip(a, b), plan_error);
    auto [c] = g.fork<1>(counter(0, 10));
    EXPECT_THROW(h.add(c | discard()), plan_error);
  }
}

TEST_F(graphs, that_fail_name_graph_phase_and_segment) {
  storage store(options());
  numbers const in = some(100'000);
  graph g(store, "bad");
  g.add(from(in) | sort() | transform([](std::uint64_t x) {
          if (x > 100) throw std::runtime_error("too large");
          return x;
        }) |
        discard());
  try {
    g.run();
    FAIL();
  } catch (flow_error const& e) {
    EXPECT_EQ(e.phase(), 2U);
    EXPECT_STREQ(e.what(), "bad, phase 2 of 2: stage 'sort | transform | discard': too large");
    EXPECT_THROW(e.rethrow_nested(), std::runtime_error);
  }
}

/// A fault in the n-th call of any function of a graph with all kinds of boundaries ends it, and
/// leaves nothing behind; so does a request to stop there.
TEST_F(graphs, fail_cleanly_wherever_it_happens) {
  numbers const in = some(60'000);
  for (std::size_t const threads : {1U, 2U, 8U}) {
    storage store(options(threads));
    std::uint64_t calls = UINT64_MAX;
    for (std::uint64_t at = 1; at < calls; at = at * 3 / 2 + 1)
      for (bool const by_request : {false, true}) {
        std::atomic<std::uint64_t> count{0};
        std::stop_source stop;
        auto const step = [&](std::uint64_t x) {
          if (++count == at) {
            if (!by_request) throw std::runtime_error("here");
            stop.request_stop();
          }
          return x;
        };
        graph g(store, "faulty", {.channel_buffers = 1, .channel_buffer_bytes = 4096});
        auto [a, b, c] = g.fork<3>(from(in) | transform(step));
        auto up = a | sort() | transform(step) | sort(std::greater<>());
        auto side = b | parallel(transform(step)) | async() | transform(step) | sort();
        g.add(
            zip(up, side, c | transform(step)) |
            transform([](std::uint64_t x, std::uint64_t y, std::uint64_t z) { return x + y + z; }) |
            transform(step) | discard());
        if (by_request) {
          try {
            g.run(stop.get_token());
            EXPECT_LT(count, at + in.size());  // too late to be noticed
          } catch (cancelled const&) {
          }
        } else {
          try {
            g.run();
            calls = count;
          } catch (flow_error const& e) {
            EXPECT_THROW(e.rethrow_nested(), std::runtime_error);
          }
        }
        EXPECT_EQ(store.allocated_bytes(), 0U);
        EXPECT_EQ(store.memory().grant_count(), 0U);
      }
  }
}

}  // namespace
}  // namespace outsize::stream
