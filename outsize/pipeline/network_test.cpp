// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Networks give the same results for any number of threads and buffers, and always end.

#include <outsize/pipeline/network.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <outsize/base/units.hpp>
#include <outsize/testing/few_threads.hpp>

namespace outsize::pipeline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using numbers = std::vector<std::uint64_t>;

/// Numbers the buffers from 0; `count` of them.
auto counting(std::uint64_t count) {
  return [count](pooled_buffer& b) {
    if (b.round() >= count) return false;
    b.resize_to<std::uint64_t>(1);
    b.as<std::uint64_t>()[0] = b.round();
    return true;
  };
}

std::uint64_t& value(pooled_buffer const& b) { return b.as<std::uint64_t>()[0]; }

auto collecting(numbers& to) {
  return [&to](pooled_buffer& b) { to.push_back(value(b)); };
}

numbers first_numbers(std::uint64_t count) {
  numbers n(count);
  std::iota(n.begin(), n.end(), 0);
  return n;
}

/// The names of a test's networks, their threads and buffers.
struct setting {
  std::size_t threads;
  std::size_t buffers;
};

std::vector<setting> const settings = {{1, 1}, {1, 4}, {2, 1}, {2, 3}, {8, 2}, {8, 16}};

class networks : public testing::TestWithParam<setting> {
 protected:
  network_options options(bool tune = false) const {
    return {.name = "test", .threads = GetParam().threads, .tune = tune};
  }
  pool_options buffers() const { return {.buffer_bytes = 64, .count = GetParam().buffers}; }

  memory_budget memory{8_MiB};
};

INSTANTIATE_TEST_SUITE_P(threads_and_buffers, networks, testing::ValuesIn(settings),
                         [](auto const& setting_of) {
                           return fmt::format("t{}_b{}", setting_of.param.threads,
                                              setting_of.param.buffers);
                         });

TEST_P(networks, run_a_line_of_stages_in_order) {
  numbers seen;
  network n(memory, options());
  n.buffers(buffers()) | stage("count", counting(100)) |
      stage("double", [](pooled_buffer& b) { value(b) *= 2; }) | stage("collect", collecting(seen));
  n.run();
  numbers expected = first_numbers(100);
  for (auto& v : expected) v *= 2;
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(memory.free_bytes(), memory.total_bytes());
}

TEST_P(networks, end_after_a_number_of_rounds_with_the_last_one_marked) {
  numbers seen;
  std::vector<bool> last;
  network n(memory, options());
  auto pool = buffers();
  pool.rounds = 10;
  n.buffers(pool) | stage("collect", [&](pooled_buffer& b) {
    seen.push_back(b.round());
    last.push_back(b.last());
  });
  n.run();
  EXPECT_EQ(seen, first_numbers(10));
  EXPECT_EQ(std::count(last.begin(), last.end(), true), 1);
  EXPECT_TRUE(last.back());
}

TEST_P(networks, end_at_once_without_any_round) {
  network n(memory, options());
  auto pool = buffers();
  pool.rounds = 0;
  n.buffers(pool) | stage("never", [](pooled_buffer&) { FAIL(); }) |
      stage("neither", [](pooled_buffer&) { FAIL(); });
  n.run();
}

TEST_P(networks, end_after_a_buffer_that_a_source_marks_as_the_last) {
  numbers seen;
  network n(memory, options());
  n.buffers(buffers()) | stage("read", [](pooled_buffer& b) {
    b.resize_to<std::uint64_t>(1);
    value(b) = b.round();
    if (b.round() == 6) b.mark_last();
  }) | stage("collect", collecting(seen));
  n.run();
  EXPECT_EQ(seen, first_numbers(7));
}

TEST_P(networks, drop_what_a_filter_drops_and_end_early_where_nothing_more_is_wanted) {
  numbers seen;
  std::atomic<std::uint64_t> made{0};
  network n(memory, options());
  n.buffers(buffers()) | stage("count", [&](pooled_buffer& b) {
    ++made;
    return counting(1'000'000)(b);
  }) | stage("even", [](pooled_buffer& b) {
    return value(b) % 2 == 0 ? verdict::convey : verdict::drop;
  }) | stage("ten", [&](pooled_buffer& b) {
    seen.push_back(value(b));
    return seen.size() == 10 ? verdict::end : verdict::convey;
  });
  n.run();
  EXPECT_THAT(seen, ElementsAre(0, 2, 4, 6, 8, 10, 12, 14, 16, 18));
  EXPECT_LT(made.load(), 500'000U);  // far fewer; what is dropped may be filled again meanwhile
}

TEST_P(networks, keep_the_order_of_replicated_stages_or_not) {
  for (order o : {order::kept, order::free}) {
    for (std::size_t replicas : {automatic, std::size_t{3}}) {
      numbers seen;
      std::atomic<int> at_once{0}, most{0};
      network n(memory, options());
      n.buffers(buffers()) | stage("count", counting(200)) |
          stage("work",
                [&](pooled_buffer& b) {
                  most = std::max(most.load(), ++at_once);
                  if (value(b) % 7 == 0) std::this_thread::yield();
                  --at_once;
                  return value(b) % 5 == 0 ? verdict::drop : verdict::convey;
                })
              .replicate(replicas, o) |
          stage("collect", collecting(seen));
      n.run();
      if (o == order::free) std::sort(seen.begin(), seen.end());
      numbers expected;
      for (std::uint64_t v : first_numbers(200))
        if (v % 5 != 0) expected.push_back(v);
      EXPECT_EQ(seen, expected);
      EXPECT_LE(most.load(), static_cast<int>(replicas == automatic ? GetParam().threads : 3));
    }
  }
}

TEST_P(networks, run_calls_of_a_plain_stage_one_at_a_time) {
  int unguarded = 0;  // ThreadSanitizer would see overlapping calls
  network n(memory, options(true));
  n.buffers(buffers()) | stage("a", counting(300)) |
      stage("b", [&](pooled_buffer&) { ++unguarded; });
  n.run();
  EXPECT_EQ(unguarded, 300);
}

TEST_P(networks, swap_with_auxiliary_buffers) {
  numbers seen;
  network n(memory, options());
  n.buffers(buffers()) | stage("count", counting(50)) |
      stage("permute",
            [](pooled_buffer& b, pooled_buffer& auxiliary) {
              EXPECT_EQ(b.capacity_bytes(), auxiliary.capacity_bytes());
              auxiliary.resize(b.size_bytes());
              value(auxiliary) = value(b) + 1;
              b.swap_payload(auxiliary);
            })
          .replicate(2) |
      stage("collect", [&](pooled_buffer& b) {
        EXPECT_EQ(value(b), b.round() + 1);
        seen.push_back(value(b));
      });
  n.run();
  EXPECT_EQ(seen.size(), 50U);
}

TEST_P(networks, carry_values_of_the_user_with_a_buffer) {
  network n(memory, options());
  int seen = 0;
  n.buffers(buffers()) | stage("set", [](pooled_buffer& b) {
    EXPECT_EQ(b.user<std::string>(), "");
    b.user<std::string>() = fmt::format("round {}", b.round());
    return b.round() < 20;
  }) | stage("get", [&](pooled_buffer& b) {
    EXPECT_EQ(b.user<std::string>(), fmt::format("round {}", b.round()));
    ++seen;
  });
  n.run();
  EXPECT_EQ(seen, 20);
}

TEST_P(networks, tell_which_buffer_of_its_pool_one_is) {
  std::vector<std::uint64_t> own_memory(GetParam().buffers);
  numbers seen;
  network n(memory, options());
  n.buffers({.buffer_bytes = 0, .count = GetParam().buffers, .rounds = 100}) |
      stage("fill",
            [&](pooled_buffer& b) {
              own_memory.at(b.index()) = b.round();
              b.resize(8);  // of memory elsewhere
              EXPECT_TRUE(b.bytes().empty());
            }) |
      stage("collect", [&](pooled_buffer& b) { seen.push_back(own_memory[b.index()]); });
  n.run();
  EXPECT_EQ(seen, first_numbers(100));
  EXPECT_EQ(n.report().stages[0].bytes, 800U);
}

TEST_P(networks, give_each_thread_its_own_function) {
  std::atomic<int> made{0}, ended{0};
  struct guard {
    std::atomic<int>& ended;
    std::thread::id made_on = std::this_thread::get_id();
    ~guard() {
      EXPECT_EQ(made_on, std::this_thread::get_id());
      ++ended;
    }
  };
  network n(memory, options());
  n.buffers(buffers()) | stage("count", counting(50)) |
      stage("own", per_thread([&] {
              ++made;
              return [own = std::make_shared<guard>(ended)](pooled_buffer&) {
                EXPECT_EQ(own->made_on, std::this_thread::get_id());
              };
            }))
          .replicate(automatic);
  n.run();
  EXPECT_GE(made.load(), 1);
  EXPECT_EQ(made.load(), ended.load());
}

TEST_P(networks, fork_and_join_in_turns_keep_the_order) {
  numbers seen;
  network n(memory, options());
  auto lines = n.fork(n.buffers(buffers()) | stage("count", counting(100)), 3,
                      [](pooled_buffer const& b) { return b.round() % 3; });
  for (std::size_t i = 0; i < lines.size(); ++i)
    lines[i] = lines[i] | stage(fmt::format("work {}", i), [](pooled_buffer& b) { value(b) += 5; });
  n.join(lines) | stage("collect", collecting(seen));
  n.run();
  numbers expected = first_numbers(100);
  for (auto& v : expected) v += 5;
  EXPECT_EQ(seen, expected);
}

TEST_P(networks, join_whatever_comes) {
  numbers seen;
  network n(memory, options());
  std::vector<line> lines;
  for (int i = 0; i < 3; ++i)
    lines.push_back(n.buffers(buffers()) | stage(fmt::format("count {}", i), counting(40)));
  n.join(lines, order::free) | stage("collect", collecting(seen));
  n.run();
  std::sort(seen.begin(), seen.end());
  ASSERT_EQ(seen.size(), 120U);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], i / 3);
}

/// Merges the numbers of all inputs into buffers of its own.
void merge(ports& p) {
  std::vector<std::optional<pooled_buffer>> heads;
  for (std::size_t i = 0; i < p.input_count(); ++i) heads.push_back(p.accept(i));
  for (;;) {
    std::optional<std::size_t> least;
    for (std::size_t i = 0; i < heads.size(); ++i)
      if (heads[i] && (!least || value(*heads[i]) < value(*heads[*least]))) least = i;
    if (!least) return;
    pooled_buffer out = p.take();
    out.resize_to<std::uint64_t>(1);
    value(out) = value(*heads[*least]);
    p.convey(std::move(out));
    heads[*least].reset();
    heads[*least] = p.accept(*least);
  }
}

TEST_P(networks, merge_lines_that_run_at_different_rates) {
  numbers seen, expected;
  network n(memory, options());
  std::vector<line> lines;
  for (std::uint64_t i = 0; i < 5; ++i) {
    std::uint64_t const count = 10 * i;  // one is empty
    for (std::uint64_t v = 0; v < count; ++v) expected.push_back(v * (i + 1));
    lines.push_back(
        n.buffers(buffers()) | stage(fmt::format("count {}", i), counting(count)) |
        stage(fmt::format("times {}", i), [i](pooled_buffer& b) { value(b) *= i + 1; }));
  }
  auto const merged = n.node("merge", {.inputs = lines, .pools = {n.pool(buffers())}}, merge);
  merged[0] | stage("collect", collecting(seen));
  n.run();
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(seen, expected);
}

TEST_P(networks, let_a_node_divide_a_line) {
  numbers small, large;
  network n(memory, options());
  auto const parts = n.node(
      "divide", {.inputs = {n.buffers(buffers()) | stage("count", counting(60))}, .outputs = 2},
      [](ports& p) {
        while (auto b = p.accept()) {
          std::size_t const to = value(*b) < 20 ? 0 : 1;
          p.convey(std::move(*b), to);
        }
      });
  parts[0] | stage("small", collecting(small));
  parts[1] | stage("large", collecting(large)).room(1);
  n.run();
  EXPECT_EQ(small, first_numbers(20));
  EXPECT_EQ(large.size(), 40U);
}

TEST_P(networks, stop_lines_that_a_node_leaves_unread) {
  network n(memory, options());
  std::atomic<std::uint64_t> made{0};
  auto const source = n.buffers(buffers()) | stage("count", [&](pooled_buffer& b) {
                        ++made;
                        return counting(1'000'000)(b);
                      });
  auto const out = n.node("first", {.inputs = {source}}, [](ports& p) {
    auto b = p.accept();
    p.convey(std::move(*b));
  });
  numbers seen;
  out[0] | stage("collect", collecting(seen));
  n.run();
  EXPECT_EQ(seen, first_numbers(1));
  EXPECT_LT(made.load(), 1000U);
}

TEST_P(networks, share_a_thread_among_stages) {
  for (std::size_t repeat : {1U, 2U, 5U}) {
    std::set<std::thread::id> ids;
    numbers seen;
    network n(memory, options());
    line const read = n.buffers(buffers()) | stage("read", [&](pooled_buffer& b) {
                        ids.insert(std::this_thread::get_id());
                        return counting(40)(b);
                      });
    line const written = read | stage("work", [](pooled_buffer& b) { value(b) += 1; }) |
                         stage("write", [&](pooled_buffer& b) {
                           ids.insert(std::this_thread::get_id());
                           seen.push_back(value(b));
                         });
    n.same_thread({read.last_stage(), written.last_stage()}, repeat);
    n.run();
    EXPECT_EQ(ids.size(), 1U);
    EXPECT_EQ(seen.size(), 40U);
  }
}

TEST_P(networks, run_a_node_that_needs_no_buffers_and_count_what_it_notes) {
  network n(memory, options());
  std::uint64_t sum = 0;
  n.node("sum", {.outputs = 0}, [&](ports& p) {
    for (std::uint64_t i = 0; i < 100; ++i) {
      sum += i;
      p.note(1, 8);
    }
  });
  n.run();
  EXPECT_EQ(sum, 4950U);
  auto const stage = n.report().stages[0];
  EXPECT_EQ(stage.items, 100U);
  EXPECT_EQ(stage.bytes, 800U);
}

TEST_P(networks, let_a_node_look_at_all_ports_and_wait_for_any) {
  numbers seen;
  network n(memory, options());
  std::vector<line> lines;
  for (std::uint64_t i = 0; i < 3; ++i)
    lines.push_back(n.buffers(buffers()) | stage(fmt::format("count {}", i), counting(20 * i)));
  auto const mixed = n.node("mix", {.inputs = lines}, [](ports& p) {
    for (;;) {
      bool found = false, ended = true;
      for (std::size_t i = 0; i < p.input_count(); ++i) {
        if (auto b = p.try_accept(i)) {
          found = true;
          p.convey(std::move(*b));
        }
        ended = ended && p.ended(i);
      }
      if (ended) return;
      if (!found) p.wait();
    }
  });
  mixed[0] | stage("collect", collecting(seen));
  n.run();
  numbers expected = first_numbers(20);
  auto const more = first_numbers(40);
  expected.insert(expected.end(), more.begin(), more.end());
  std::ranges::sort(expected);
  std::ranges::sort(seen);
  EXPECT_EQ(seen, expected);
}

TEST_P(networks, tell_a_node_where_there_is_room) {
  numbers small, large;
  network n(memory, options());
  auto pool = buffers();
  pool.count = std::max<std::size_t>(pool.count, 3);
  auto const parts =
      n.node("deal", {.inputs = {n.buffers(pool) | stage("count", counting(60))}, .outputs = 2},
             [](ports& p) {
               while (auto b = p.accept()) {
                 std::size_t to = 2;
                 while (to == 2) {
                   for (to = 0; to < 2 && !p.has_room(to); ++to) continue;
                   if (to == 2) p.wait();
                 }
                 EXPECT_TRUE(p.wanted(to));
                 p.convey(std::move(*b), to);
               }
             });
  parts[0] | stage("small", collecting(small)).room(1);
  parts[1] | stage("large", collecting(large)).room(1);
  n.run();
  small.insert(small.end(), large.begin(), large.end());
  std::ranges::sort(small);
  EXPECT_EQ(small, first_numbers(60));
}

TEST_P(networks, wake_a_node_whose_output_wants_no_more_while_others_do) {
  numbers all;
  network n(memory, options());
  auto pool = buffers();
  pool.count = std::max<std::size_t>(pool.count, 4);
  auto const parts =
      n.node("copy", {.inputs = {n.buffers(pool) | stage("count", counting(40))}, .outputs = 2},
             [](ports& p) {
               bool first_wanted = true;
               while (auto b = p.accept()) {
                 std::size_t const to = first_wanted && value(*b) % 2 == 0 ? 0 : 1;
                 bool const wanted = p.convey(std::move(*b), to);
                 if (to == 0) first_wanted = wanted;
               }
             });
  std::uint64_t taken = 0;
  parts[0] | stage("three", [&](pooled_buffer&) {
               return ++taken == 3 ? verdict::end : verdict::convey;
             }).room(1);
  parts[1] | stage("collect", collecting(all));
  n.run();
  EXPECT_EQ(taken, 3U);
  EXPECT_GE(all.size(), 20U);
}

TEST_P(networks, know_their_stages_by_ids_whatever_the_names) {
  numbers seen;
  network n(memory, options());
  line const first = n.buffers(buffers()) | stage("same", counting(10));
  line const second = first | stage("same", [](pooled_buffer& b) { value(b) += 1; });
  line const third = second | stage("same", collecting(seen));
  n.same_thread({second.last_stage(), third.last_stage()});
  n.run();
  EXPECT_EQ(seen.back(), 10U);
  auto const stages = n.report().stages;
  EXPECT_NE(stages[0].thread, "same + same");
  EXPECT_EQ(stages[1].thread, "same + same");
  EXPECT_EQ(stages[2].thread, "same + same");
}

TEST_P(networks, let_buffers_through_a_barrier_together) {
  std::size_t const together = std::min<std::size_t>(GetParam().buffers, 4);
  numbers seen;
  std::atomic<std::uint64_t> before{0};
  network n(memory, options());
  n.buffers(buffers()) |
      stage("count",
            [&](pooled_buffer& b) {
              bool const more = counting(21)(b);
              if (more) ++before;
              return more;
            }) |
      barrier(together) | stage("collect", [&](pooled_buffer& b) {
        std::uint64_t const whole = (value(b) / together + 1) * together;
        EXPECT_GE(before.load(), std::min<std::uint64_t>(whole, 21));
        seen.push_back(value(b));
      });
  n.run();
  EXPECT_EQ(seen, first_numbers(21));
}

TEST_P(networks, take_completions_from_other_threads_and_keep_the_order) {
  numbers seen;
  std::vector<std::thread> helpers;
  network n(memory, options());
  n.buffers(buffers()) | asynchronous("read", 4, [&](pooled_buffer& b, step_completion completion) {
    if (b.round() % 3 == 0) {  // at once
      completion.done(counting(50)(b) ? verdict::convey : verdict::end);
      return;
    }
    helpers.emplace_back([&b, completion] {
      bool const more = counting(50)(b);
      if (b.round() % 2 == 0) std::this_thread::yield();
      completion.done(more ? verdict::convey : verdict::end);
    });
  }) | stage("collect", collecting(seen));
  n.run();
  for (auto& h : helpers) h.join();
  EXPECT_EQ(seen, first_numbers(50));
}

TEST_P(networks, begin_asynchronous_steps_while_all_threads_compute) {
  if (GetParam().buffers < 3) GTEST_SKIP() << "too few buffers for that";
  std::size_t const threads = GetParam().threads, wanted = std::min(GetParam().buffers, 20UL);
  std::atomic<std::size_t> begun = 0;
  network n(memory, options());
  pool_options pool = buffers();
  pool.rounds = 20;
  n.buffers(pool) | asynchronous("read", 16, [&](pooled_buffer&, step_completion c) {
    ++begun;
    c.done();
  }) | stage("compute", [&](pooled_buffer&) {
         auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
         while (begun < wanted && std::chrono::steady_clock::now() < end) std::this_thread::yield();
       }).replicate(threads);
  n.run();
  EXPECT_EQ(begun, 20U);
  EXPECT_LT(n.report().seconds, 20) << "the reads waited for the processors";
}

TEST_P(networks, run_stages_that_wait_on_threads_of_their_own) {
  numbers seen;
  network n(memory, options());
  n.buffers(buffers()) | stage("read", counting(30)).waits() |
      stage("work", [](pooled_buffer& b) { value(b) += 1; }).waits().replicate(2) |
      stage("write", collecting(seen)).waits();
  n.run();
  EXPECT_EQ(seen.size(), 30U);
  EXPECT_EQ(n.report().stages[0].thread, "own");
}

TEST_P(networks, serve_threads_from_outside) {
  numbers seen;
  network n(memory, options());
  auto const in = n.external("producer", {.pools = {n.pool(buffers())}});
  auto const out = n.external(
      "consumer",
      {.inputs = {in[0] | stage("work", [](pooled_buffer& b) { value(b) += 1; })}, .outputs = 0});
  n.start();
  std::thread consumer([&] {
    auto p = n.ports_of(out.id);
    while (auto b = p.accept()) seen.push_back(value(*b));
  });
  auto producer = n.ports_of(in.id);
  for (std::uint64_t v = 0; v < 50; ++v) {
    auto b = producer.take();
    b.resize_to<std::uint64_t>(1);
    value(b) = v;
    EXPECT_TRUE(producer.convey(std::move(b)));
  }
  producer.close();
  consumer.join();
  n.finish();
  numbers expected = first_numbers(50);
  for (auto& v : expected) ++v;
  EXPECT_EQ(seen, expected);
}

TEST_P(networks, plug_a_pipeline_into_another) {
  auto const add_two = [](line l) {
    return l | stage("one", [](pooled_buffer& b) { ++value(b); }) |
           stage("two", [](pooled_buffer& b) { ++value(b); });
  };
  numbers seen;
  network n(memory, options());
  line const twice = n.buffers(buffers()) | stage("count", counting(10)) | add_two | add_two;
  n.group("ends", twice, [&](line l) { return l | stage("collect", collecting(seen)); });
  n.run();
  EXPECT_EQ(seen.front(), 4U);
  EXPECT_EQ(n.report().stages.back().cluster, "ends");
}

TEST_P(networks, send_buffers_round_a_cycle) {
  // Each number goes round until it has been halved to nothing.
  std::uint64_t rounds = 0;
  network n(memory, options());
  auto pool = buffers();
  pool.rounds = 20;
  auto const start = n.buffers(pool) | stage("start", [](pooled_buffer& b) {
                       b.resize_to<std::uint64_t>(1);
                       value(b) = b.round();
                     });
  auto const ends = n.node("loop", {.inputs = {start}, .outputs = 2}, [&](ports& p) {
    // Works off the cycle before it takes in new numbers.
    while (auto b = p.accept(0)) {
      for (std::optional<pooled_buffer> turn = std::move(b); turn; turn = p.accept(1)) {
        if (value(*turn) == 0) {
          p.convey(std::move(*turn), 1);
          break;
        }
        p.convey(std::move(*turn), 0);
      }
    }
  });
  n.feed_back(ends[0] | stage("halve",
                              [&](pooled_buffer& b) {
                                value(b) /= 2;
                                ++rounds;
                              }),
              ends.id);
  n.recycle(ends[1]);
  n.run();
  std::uint64_t expected = 0;
  for (std::uint64_t v = 0; v < 20; ++v)
    for (std::uint64_t w = v; w > 0; w /= 2) ++expected;
  EXPECT_EQ(rounds, expected);
}

// ---- failures ----

TEST_P(networks, name_the_stage_that_failed_and_bring_every_buffer_home) {
  for (std::size_t failing = 0; failing < 4; ++failing) {
    for (std::uint64_t when : {0U, 1U, 17U}) {
      network n(memory, options());
      line l = n.buffers(buffers()) | stage("stage 0", [&](pooled_buffer& b) {
                 if (failing == 0 && b.round() == when) throw std::runtime_error("broken");
                 return counting(40)(b);
               });
      for (std::size_t s = 1; s < 4; ++s)
        l = l | stage(fmt::format("stage {}", s), [&, s](pooled_buffer& b) {
                  if (failing == s && b.round() == when) throw std::runtime_error("broken");
                }).replicate(1 + s % 2);
      try {
        n.run();
        ADD_FAILURE() << "the error was lost";
      } catch (stage_error const& e) {
        EXPECT_STREQ(e.what(), fmt::format("test: stage 'stage {}': broken", failing).c_str());
        EXPECT_THROW(e.rethrow_nested(), std::runtime_error);
      }
      EXPECT_EQ(memory.free_bytes(), memory.total_bytes());
    }
  }
}

TEST_P(networks, end_when_a_node_fails_or_a_completion_reports_an_error) {
  network nodes(memory, options());
  auto const out = nodes.node("merge",
                              {.inputs = {nodes.buffers(buffers()) | stage("count", counting(40))},
                               .pools = {nodes.pool(buffers())}},
                              [](ports& p) {
                                auto const kept = p.accept();
                                auto const taken = p.take();
                                throw std::runtime_error("broken");
                              });
  nodes.recycle(out[0]);
  EXPECT_THROW(nodes.run(), stage_error);
  EXPECT_EQ(memory.free_bytes(), memory.total_bytes());

  network reads(memory, options());
  reads.buffers(buffers()) | asynchronous("read", 2, [](pooled_buffer& b, step_completion c) {
    if (b.round() < 5) return c.done();
    c.failed(std::make_exception_ptr(std::runtime_error("broken")));
  });
  EXPECT_THROW(reads.run(), stage_error);
  EXPECT_EQ(memory.free_bytes(), memory.total_bytes());
}

TEST_P(networks, throw_what_a_stage_threw_where_its_name_means_nothing) {
  network_options how = options();
  how.errors_name_stages = false;
  network n(memory, how);
  n.buffers(buffers()) | stage("read", [](pooled_buffer& b) {
    if (b.round() == 5) throw std::out_of_range("record 5");
    return true;
  });
  EXPECT_THROW(n.run(), std::out_of_range);
}

TEST_P(networks, tell_a_node_that_works_long_of_a_failure) {
  network n(memory, options());
  std::atomic<bool> told = false;
  std::stop_source source;
  auto const out = n.node("long work", {.pools = {n.pool(buffers())}}, [&](ports& p) {
    p.check();
    source.request_stop();
    try {
      for (;;) p.check();
    } catch (poisoned const&) {
      told = true;
      throw;
    }
  });
  n.recycle(out[0]);
  EXPECT_THROW(n.run(source.get_token()), cancelled);
  EXPECT_TRUE(told);
}

TEST_P(networks, stop_when_asked_to) {
  for (std::uint64_t when : {0U, 3U, 50U}) {
    std::stop_source source;
    network n(memory, options());
    n.buffers(buffers()) | stage("count", [&](pooled_buffer& b) {
      if (b.round() == when) source.request_stop();
      return counting(UINT64_MAX)(b);
    }) | stage("pass", [](pooled_buffer&) {});
    EXPECT_THROW(n.run(source.get_token()), cancelled);
    EXPECT_EQ(memory.free_bytes(), memory.total_bytes());
  }
}

TEST_P(networks, see_a_deadlock_and_say_who_waits_for_what) {
  network n(memory, options());
  auto const lines = n.fork(n.buffers(buffers()) | stage("count", counting(100)), 2,
                            [](pooled_buffer const&) { return std::size_t{0}; });
  // It wants one of each before it lets go of any, but nothing comes to the second input.
  auto const out = n.node("pairs", {.inputs = lines}, [](ports& p) {
    std::vector<pooled_buffer> held;
    while (auto b = p.accept(0)) held.push_back(std::move(*b));
  });
  n.recycle(out[0]);
  try {
    n.run();
    ADD_FAILURE() << "no deadlock was seen";
  } catch (deadlock_error const& e) {
    EXPECT_THAT(e.what(), HasSubstr("'pairs' waits for a buffer at input 0"));
    EXPECT_THAT(e.what(), HasSubstr("'count' waits for a buffer of pool 'buffers'"));
  }
  EXPECT_EQ(memory.free_bytes(), memory.total_bytes());
}

TEST_P(networks, fail_or_stop_at_random_without_hanging) {
  std::mt19937 random(GetParam().threads * 100 + GetParam().buffers);
  for (int i = 0; i < 600; ++i) {
    std::uint64_t const when = random() % 60, where = random() % 5;
    bool const cancel = random() % 2 == 0;
    std::stop_source source;
    auto const act = [&](std::uint64_t stage_number, pooled_buffer const& b) {
      if (stage_number != where || b.round() != when) return;
      if (cancel) {
        source.request_stop();
      } else {
        throw std::runtime_error("broken");
      }
    };
    network n(memory, options(true));
    std::vector<line> lines =
        n.fork(n.buffers(buffers()) |
                   stage("count",
                         [&](pooled_buffer& b) {
                           act(0, b);
                           return counting(50)(b);
                         }) |
                   stage("work", [&](pooled_buffer& b) { act(1, b); }).replicate(3),
               2, [&](pooled_buffer const& b) { return b.round() % 2; });
    for (auto& l : lines)
      l = l | stage("swap", [&](pooled_buffer& b, pooled_buffer&) { act(2, b); });
    auto const out =
        n.node("node", {.inputs = {n.join(lines)}, .pools = {n.pool(buffers())}}, [&](ports& p) {
          while (auto b = p.accept()) {
            act(3, *b);
            auto copy = p.take();
            p.convey(std::move(copy));
          }
        });
    out[0] | stage("end", [&](pooled_buffer& b) { act(4, b); }).waits();
    try {
      n.run(source.get_token());
    } catch (stage_error const&) {
      EXPECT_FALSE(cancel);
    } catch (cancelled const&) {
      EXPECT_TRUE(cancel);
    }
    ASSERT_EQ(memory.free_bytes(), memory.total_bytes());
  }
}

// ---- what is refused before anything runs ----

class refusals : public testing::Test {
 protected:
  void expect_refused(network& n, std::string const& part) {
    try {
      n.run();
      ADD_FAILURE() << "accepted: " << part;
    } catch (std::invalid_argument const& e) {
      EXPECT_THAT(e.what(), HasSubstr(part));
    }
  }
  static void never(pooled_buffer&) { FAIL() << "it ran"; }

  memory_budget memory{1_MiB};
};

TEST_F(refusals, name_an_output_that_leads_nowhere) {
  network n(memory, {.name = "net"});
  n.node("merge", {.pools = {n.pool({})}, .outputs = 2}, [](ports&) {});
  expect_refused(n, "net: output 0 of 'merge' is not connected");
}

TEST_F(refusals, name_an_output_that_leads_to_two_places) {
  network n(memory);
  auto const l = n.buffers({}) | stage("one", never);
  l | stage("two", never);
  l | stage("three", never);
  expect_refused(n, "output 0 of 'one' leads to two places");
}

TEST_F(refusals, name_a_cycle_without_buffers) {
  network n(memory);
  n.buffers({}) | stage("fine", never);
  auto const out = n.node("turn", {.outputs = 1}, [](ports&) {});
  n.feed_back(out[0] | stage("round", never), out.id);
  expect_refused(n, "no pool leads to 'turn'");
}

TEST_F(refusals, name_a_pool_that_feeds_nothing_and_a_barrier_that_never_opens) {
  network n(memory);
  n.buffers({.name = "blocks", .count = 3}) | barrier(4) | stage("end", never);
  expect_refused(n, "'barrier of 4' waits for more than the 3 buffers of pool 'blocks'");
  network m(memory);
  m.pool({.name = "idle"});
  m.buffers({}) | stage("end", never);
  expect_refused(m, "pool 'idle' feeds no stage");
}

TEST_F(refusals, name_the_pool_that_does_not_fit_in_memory) {
  network n(memory, {.name = "net"});
  n.buffers({.name = "blocks", .buffer_bytes = 1_MiB, .count = 2}) | stage("end", never);
  try {
    n.run();
    ADD_FAILURE() << "accepted";
  } catch (budget_error const& e) {
    EXPECT_THAT(e.what(), HasSubstr("blocks"));
    EXPECT_EQ(e.need_bytes(), 2_MiB);
  }
  EXPECT_EQ(memory.free_bytes(), memory.total_bytes());
}

// ---- tuning and reports ----

TEST(network_tuning, gives_a_thread_to_a_stage_that_waits_and_buffers_to_a_starved_pool) {
  memory_budget memory(8_MiB);
  network n(memory, {.threads = 1});
  n.buffers({.buffer_bytes = 64, .rounds = 60}) | stage("sleep", [](pooled_buffer&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }) | stage("also", [](pooled_buffer&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  n.run();
  auto const r = n.report();
  EXPECT_THAT(r.stages[0].note, HasSubstr("own thread"));
  EXPECT_EQ(r.stages[0].thread, "own");
  EXPECT_LE(r.pools[0].count, 2 * r.pools[0].first_count);
}

TEST(network_tuning, changes_nothing_when_switched_off) {
  memory_budget memory(8_MiB);
  network n(memory, {.threads = 1, .tune = false});
  n.buffers({.buffer_bytes = 64, .rounds = 30}) | stage("sleep", [](pooled_buffer&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  n.run();
  auto const r = n.report();
  EXPECT_EQ(r.stages[0].note, "");
  EXPECT_EQ(r.stages[0].thread, "shared");
  EXPECT_EQ(r.pools[0].count, r.pools[0].first_count);
}

/// While it lives, this thread and those it starts share one processor with three that never rest.
class crowded_processor {
 public:
  crowded_processor() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof one, &one);
    for (int i = 0; i < 3; ++i)
      others_.emplace_back([](std::stop_token const& stop) {
        while (!stop.stop_requested()) continue;
      });
  }
  ~crowded_processor() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
  std::vector<std::jthread> others_;
};

/// What a thread computes in half a millisecond.
void compute() {
  auto const now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1'000'000'000 + t.tv_nsec;
  };
  for (auto const end = now() + 500'000; now() < end;) continue;
}

TEST(network_tuning, does_not_take_a_crowded_machine_for_waiting) {
  memory_budget memory(8_MiB);
  crowded_processor const crowd;
  network n(memory, {.threads = 1});
  n.buffers({.buffer_bytes = 64, .rounds = 60}) |
      stage("compute", [](pooled_buffer&) { compute(); });
  n.run();
  EXPECT_EQ(n.report().stages[0].note, "");
}

TEST(network_buffers, are_used_again_while_they_are_in_the_cache) {
  memory_budget memory(8_MiB);
  std::set<std::size_t> used;
  network n(memory, {.threads = 1, .tune = false});
  n.buffers({.buffer_bytes = 64, .count = 8, .rounds = 20}) | stage("one", [](pooled_buffer&) {}) |
      stage("two", [&](pooled_buffer& b) { used.insert(b.index()); });
  n.run();
  EXPECT_EQ(used.size(), 1U);
}

// ---- who is woken ----

TEST(network_threads, wake_a_group_that_found_no_place_free) {
  memory_budget memory(8_MiB);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> steps{0};
    network n(memory, {.threads = 1, .tune = false});
    n.buffers({.buffer_bytes = 64, .count = 2, .rounds = 4}) | stage("c", [&](pooled_buffer&) {
      std::this_thread::sleep_for(std::chrono::microseconds(300));
      ++steps;
    });
    // Farther downstream, so that the last step of the only place is one of the other line.
    line const ended = n.buffers({.buffer_bytes = 64, .count = 4, .rounds = 4}) |
                       stage("a", [](pooled_buffer&) {}) |
                       stage("g", [&](pooled_buffer&) { ++steps; });
    n.same_thread({ended.last_stage()});
    n.run();
    EXPECT_EQ(steps, 8);
  }
}

TEST(network_threads, are_woken_for_what_the_end_of_a_node_makes_ready) {
  memory_budget memory(8_MiB);
  for (int round = 0; round < 20; ++round) {
    numbers seen;
    network n(memory, {.threads = 2, .tune = false});
    auto const all = n.pool({.name = "pool", .buffer_bytes = 64, .count = 8});
    auto const made = n.node("make", {.inputs = {}, .pools = {all}, .outputs = 1}, [](ports& p) {
      for (std::uint64_t i = 0; i < 5; ++i) {
        auto b = p.take();
        b.resize_to<std::uint64_t>(1);
        value(b) = i;
        p.convey(std::move(b));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // until all others are idle
    });
    made[0] | barrier(4) | stage("collect", collecting(seen));
    n.run();
    EXPECT_EQ(seen, first_numbers(5));
  }
}

TEST(network_threads, are_woken_for_what_waits_for_its_turn_behind_a_node) {
  memory_budget memory(8_MiB);
  numbers seen;
  network n(memory, {.threads = 2, .tune = false});
  auto const all = n.pool({.name = "pool", .buffer_bytes = 64, .count = 8});
  auto const making = [&](std::string const& name, std::uint64_t count,
                          std::chrono::milliseconds late) {
    return n.node(name, {.inputs = {}, .pools = {all}, .outputs = 1}, [=](ports& p) {
      for (std::uint64_t i = 0; i < count; ++i) {
        auto b = p.take();
        b.resize_to<std::uint64_t>(1);
        value(b) = i;
        p.convey(std::move(b));
      }
      std::this_thread::sleep_for(late);
    })[0];
  };
  auto const one = making("one", 1, std::chrono::milliseconds(20));
  auto const three = making("three", 3, std::chrono::milliseconds(0));
  n.join({one, three}, order::kept) | stage("collect", collecting(seen));
  n.run();
  std::ranges::sort(seen);
  EXPECT_EQ(seen, (numbers{0, 0, 1, 2}));
}

TEST(network_threads, are_free_for_others_while_a_node_waits_outside) {
  memory_budget memory(1_MiB);
  network n(memory, {.threads = 1});
  std::promise<int> answer;
  int seen = 0;
  n.node("asks", {.outputs = 0},
         [&](ports& p) { seen = p.outside([&] { return answer.get_future().get(); }); });
  n.node("answers", {.outputs = 0}, [&](ports&) { answer.set_value(7); });
  n.run();
  EXPECT_EQ(seen, 7);
}

TEST(network_threads, that_wait_outside_end_with_the_network) {
  memory_budget memory(1_MiB);
  network n(memory, {.threads = 1});
  std::promise<void> over;
  std::thread ends_the_wait;
  bool went_on = false;
  n.node("outside", {.outputs = 0}, [&](ports& p) {
    p.outside([&] { over.get_future().wait(); });
    p.check();
    went_on = true;
  });
  n.node("throws", {.outputs = 0}, [&](ports&) {
    ends_the_wait = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      over.set_value();
    });
    throw std::runtime_error("enough");
  });
  EXPECT_THROW(n.run(), stage_error);
  EXPECT_FALSE(went_on);
  ends_the_wait.join();
}

TEST(network_threads, do_without_those_that_the_system_does_not_start) {
  auto const run = [] {
    memory_budget memory(8_MiB);
    std::size_t steps = 0;
    network n(memory, {.threads = 1, .tune = true});
    n.buffers({.buffer_bytes = 64, .count = 4, .rounds = 40}) | stage("waits", [&](pooled_buffer&) {
      if (steps++ == 0) allow_threads(1);
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }) | stage("works", [](pooled_buffer&) {});
    n.run();
    std::_Exit(steps == 40 ? 0 : 1);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

TEST(network_threads, that_it_cannot_do_without_are_an_error_and_it_can_run_later) {
  auto const run = [] {
    memory_budget memory(8_MiB);
    int calls = 0;
    network n(memory, {.threads = 1, .tune = false});
    auto const all = n.pool({.name = "pool", .buffer_bytes = 64, .count = 2});
    auto const made = n.node("make", {.inputs = {}, .pools = {all}, .outputs = 1}, [](ports& p) {
      for (int i = 0; i < 3; ++i) p.convey(p.take());
    });
    made[0] | stage("count", [&](pooled_buffer&) { ++calls; });
    ::rlimit before{};
    ::getrlimit(RLIMIT_NPROC, &before);
    allow_threads(1, before.rlim_max);
    try {
      n.run();
      std::_Exit(1);
    } catch (std::system_error const&) {
    }
    if (memory.free_bytes() != memory.total_bytes() || calls != 0) std::_Exit(2);
    ::setrlimit(RLIMIT_NPROC, &before);
    n.run();
    std::_Exit(calls == 3 ? 0 : 3);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

// ---- buffers ----

/// A node that conveys `count` buffers of one pool which hold those of another.
line holders(network& n, std::uint64_t count) {
  auto const outer = n.pool({.name = "outer", .buffer_bytes = 64, .count = 3});
  auto const inner = n.pool({.name = "inner", .buffer_bytes = 64, .count = 4});
  return n.node("make", {.inputs = {}, .pools = {inner, outer}, .outputs = 1}, [=](ports& p) {
    for (std::uint64_t i = 0; i < count; ++i) {
      auto b = p.take(1);
      b.user<std::shared_ptr<pooled_buffer>>() = std::make_shared<pooled_buffer>(p.take(0));
      if (!p.convey(std::move(b))) return;
    }
  })[0];
}

TEST(network_buffers, may_hold_others_as_values_of_the_user) {
  memory_budget memory(8_MiB);
  std::uint64_t calls = 0;
  network n(memory, {.threads = 2, .tune = false});
  holders(n, 100) | stage("on", [](pooled_buffer&) {}) |
      stage("count", [&](pooled_buffer&) { ++calls; });
  n.run();
  EXPECT_EQ(calls, 100U);
}

TEST(network_buffers, that_nobody_wants_may_hold_others) {
  memory_budget memory(8_MiB);
  network n(memory, {.threads = 1, .tune = false});
  holders(n, UINT64_MAX) | stage("enough", [](pooled_buffer& b) { return b.round() < 3; });
  n.run();
}

TEST(network_buffers, that_are_kept_may_be_the_last) {
  memory_budget memory(8_MiB);
  std::vector<pooled_buffer> kept;
  int calls = 0;
  network n(memory, {.threads = 1, .tune = false});
  n.buffers({.buffer_bytes = 64, .count = 4}) | stage("keep", [&](pooled_buffer& b) {
    ++calls;
    kept.push_back(std::move(b));
    if (kept.size() < 3) return true;
    kept.clear();
    return false;
  });
  n.run();
  EXPECT_EQ(calls, 3);
}

TEST(network_buffers, lie_side_by_side) {
  memory_budget memory(8_MiB);
  std::vector<pooled_buffer> all;
  std::set<std::byte*> places;
  network n(memory, {.threads = 1, .tune = false});
  n.buffers({.buffer_bytes = 5000, .count = 8, .rounds = 8}) | stage("keep", [&](pooled_buffer& b) {
    EXPECT_EQ(b.capacity_bytes(), 8192U);
    places.insert(b.memory().data());
    all.push_back(std::move(b));
    if (all.size() == 8) all.clear();
  });
  n.run();
  ASSERT_EQ(places.size(), 8U);
  EXPECT_EQ(*places.rbegin() - *places.begin(), 7 * 8192);
}

TEST(network_buffers, stay_with_a_worker_through_the_stages) {
  memory_budget memory(8_MiB);
  std::string order;  // of the stages, as they ran
  pooled_buffer kept;
  network n(memory, {.threads = 1, .tune = false});
  n.buffers({.buffer_bytes = 64, .count = 1, .rounds = 1}) | stage("a", [&](pooled_buffer&) {
    order += 'a';
    kept = {};  // c could run again, and is farther downstream
  }) | stage("b", [&](pooled_buffer&) { order += 'b'; });
  n.buffers({.buffer_bytes = 64, .count = 1, .rounds = 2}) | stage("c", [&](pooled_buffer& own) {
    order += 'c';
    if (own.round() == 0) kept = std::move(own);
  });
  n.run();
  EXPECT_EQ(order, "cabc");
}

TEST(network_reports, count_what_went_through) {
  memory_budget memory(8_MiB);
  std::uint64_t reported = 0;
  bool finished = false;
  network n(memory, {.threads = 2, .trace = true, .progress = [&](network_progress const& p) {
                       reported = p.bytes;
                       finished = p.finished;
                     }});
  n.buffers({.buffer_bytes = 64, .count = 3, .rounds = 10}) |
      stage("fill", [](pooled_buffer& b) { b.resize(16); }) | stage("drain", [](pooled_buffer&) {});
  EXPECT_FALSE(n.report().has_run);
  n.run();
  auto const r = n.report();
  EXPECT_TRUE(r.has_run);
  EXPECT_TRUE(finished);
  EXPECT_EQ(reported, 160U);
  EXPECT_EQ(r.stages[0].buffers, 10U);
  EXPECT_EQ(r.stages[1].bytes, 160U);
  EXPECT_EQ(r.pools[0].buffers_sent, 10U);
  EXPECT_EQ(r.trace.size(), 20U);
  for (auto const& e : r.trace) EXPECT_LE(e.begin_ns, e.end_ns);
}

TEST(network_reports, stop_the_network_when_who_is_told_throws) {
  for (bool const at_the_end : {false, true}) {
    memory_budget memory(8_MiB);
    network n(memory, {.threads = 1, .progress = [&](network_progress const& p) {
                         if (p.finished == at_the_end) throw std::domain_error("told");
                       }});
    n.buffers({.buffer_bytes = 64, .count = 2, .rounds = at_the_end ? 3U : UINT64_MAX}) |
        stage("drain", [](pooled_buffer&) {});
    EXPECT_THROW(n.run(), std::domain_error);
    EXPECT_EQ(memory.free_bytes(), memory.total_bytes());
  }
}

TEST(network_reports, count_the_work_of_externals_that_never_waited) {
  memory_budget memory(8_MiB);
  network n(memory, {.threads = 1, .trace = true});
  auto const out = n.external("producer", {.pools = {n.pool({.buffer_bytes = 64, .count = 2})}});
  out[0] | stage("drain", [](pooled_buffer&) {});
  n.start();
  auto p = n.ports_of(out.id);
  p.convey(p.take());
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  p.close();
  n.finish();
  auto const r = n.report();
  EXPECT_GE(r.stages[0].busy_seconds, 0.002);
  EXPECT_EQ(std::ranges::count(r.trace, std::size_t{0}, &trace_event::stage), 1);
}

TEST(network_reports, let_a_network_run_again) {
  memory_budget memory(8_MiB);
  numbers seen;
  network n(memory);
  n.buffers({.buffer_bytes = 64}) | stage("count", counting(5)) |
      stage("collect", collecting(seen));
  n.run();
  n.run();
  EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3, 4, 0, 1, 2, 3, 4));
}

// ---- what is done before and after

TEST(calls_around_a_run, come_before_all_stages_and_after_all_have_ended_well) {
  memory_budget memory(1_MiB);
  std::vector<std::string> calls;
  bool fails = false;
  network n(memory);
  n.buffers({.buffer_bytes = 64, .rounds = 1}) |
      stage("first",
            [&](pooled_buffer&) {
              calls.push_back("step");
              if (fails) throw std::runtime_error("no");
            })
          .on_run([&] { calls.push_back("start"); }, [&] { calls.push_back("end"); }) |
      stage("second", [](pooled_buffer&) {}).on_run({}, [&] { calls.push_back("second end"); });
  n.run();
  std::vector<std::string> const all{"start", "step", "end", "second end"};
  EXPECT_EQ(calls, all);
  calls.clear();
  n.run();
  EXPECT_EQ(calls, all);
  calls.clear();
  fails = true;
  EXPECT_THROW(n.run(), stage_error);
  EXPECT_EQ(calls, (std::vector<std::string>{"start", "step"}));
}

TEST(calls_around_a_run, fail_it_as_stages_do) {
  for (bool const at_start : {true, false}) {
    memory_budget memory(1_MiB);
    int steps = 0;
    std::function<void()> const nothing, fail = [] { throw std::runtime_error("no"); };
    network n(memory);
    n.buffers({.buffer_bytes = 64, .rounds = 1}) |
        stage("count", [&](pooled_buffer&) {
          ++steps;
        }).on_run(at_start ? fail : nothing, at_start ? nothing : fail);
    try {
      n.run();
      ADD_FAILURE() << "not told";
    } catch (stage_error const& e) {
      EXPECT_EQ(e.stage_name(), "count");
    }
    EXPECT_EQ(steps, at_start ? 0 : 1);
    EXPECT_EQ(memory.free_bytes(), memory.total_bytes());
  }
}

}  // namespace
}  // namespace outsize::pipeline
