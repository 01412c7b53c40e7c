// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// The report as text and as trace.

#include <outsize/pipeline/network_report.hpp>

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>

#include <outsize/base/units.hpp>
#include <outsize/pipeline/detail/network_figures.hpp>

namespace outsize::pipeline {
namespace {

network_report::stage stage_named(std::string name) {
  network_report::stage s;
  s.name = std::move(name);
  s.kind = "stage";
  s.thread = "shared";
  return s;
}

/// pool blocks ─▶ read ─▶ sort ─▶ write ─▶ home
network_report small_network() {
  network_report r;
  r.name = "columnsort";
  r.threads = 4;
  r.pools.push_back({"blocks", 1 << 20, 4, 4, 0});
  r.stages = {stage_named("read"), stage_named("sort"), stage_named("write")};
  r.stages[0].kind = r.stages[2].kind = "asynchronous";
  r.stages[1].replicas = 2;
  r.connections = {{true, 0, 0}, {false, 0, 1}, {false, 1, 2}, {false, 2, 3}};
  return r;
}

network_report after_a_run() {
  network_report r = small_network();
  r.has_run = true;
  r.seconds = 4;
  r.pools[0].count = 6;
  r.pools[0].buffers_sent = 512;
  for (auto& s : r.stages) {
    s.most_at_once = 1;
    s.buffers = 512;
    s.bytes = 512 << 20;
    s.busy_seconds = 1;
    s.input_wait_seconds = 2.5;
    s.other_wait_seconds = 0.5;
  }
  return r;
}

bool contains(std::string const& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string last_sentence(network_report const& r) {
  auto const text = r.explain();
  std::string sentence = text.substr(text.rfind("\n\n") + 2);
  for (char& c : sentence)
    if (c == '\n') c = ' ';
  return sentence;
}

TEST(network_report, explains_the_structure_before_a_run) {
  EXPECT_EQ(small_network().explain(), R"(network columnsort: 4 threads, not run yet

  pool    buffer  count
  blocks   1 MiB      4

  stage  kind          thread  at once
  read   asynchronous  shared        1
  sort   stage         shared        2
  write  asynchronous  shared        1

what feeds what
  read  <- pool blocks
  sort  <- read
  write <- sort -> home
)");
}

TEST(network_report, explains_the_figures_after_a_run) {
  auto r = after_a_run();
  r.stages[1].note = "got its own thread";
  auto const text = r.explain();
  for (auto part : {"network columnsort: 4 threads, 4.00 s\n",
                    "  blocks   1 MiB      6        2           512\n",
                    "  sort   stage         shared   1 of 2\n", "  write <- sort -> home\n",
                    "  read       512  512 MiB  512 MiB/s  128 MiB/s  1.00 s  25%  2.50 s  62%  "
                    "500 ms  12%\n",
                    "\nnotes\n  sort: got its own thread\n"})
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
}

TEST(network_report, shows_how_memory_is_divided) {
  auto r = small_network();
  r.memory = {.total_bytes = 16_MiB,
              .free_bytes = 2_MiB,
              .shares = {{"sort", 14_MiB, {4_MiB, 8_MiB, 16_MiB}}}};
  EXPECT_TRUE(contains(r.explain(), "\n\n16 MiB of memory, 2 MiB free\n")) << r.explain();
  EXPECT_TRUE(contains(r.explain(), "  14 MiB     4 MiB      8 MiB      16 MiB     sort\n"));
  r = after_a_run();
  r.memory.total_bytes = 16_MiB;
  EXPECT_TRUE(contains(r.explain(), "\n16 MiB of memory, 0 bytes free\n")) << r.explain();
}

TEST(network_report, names_the_bottleneck_and_what_to_try) {
  auto r = after_a_run();
  r.stages[1].busy_seconds = 3;
  EXPECT_TRUE(contains(last_sentence(r), "The bottleneck is \"sort\", busy for 75% of the time: "));
  EXPECT_TRUE(contains(last_sentence(r), "more buffers or threads")) << "it may run twice at once";
  r.stages[1].replicas = 1;
  EXPECT_TRUE(contains(last_sentence(r), "try to replicate it"));
  r.stages[1].kind = "node";
  EXPECT_TRUE(contains(last_sentence(r), "a node runs once"));
  r.stages[1].kind = "external";
  EXPECT_TRUE(contains(last_sentence(r), "the caller's thread"));
  r.stages[0].busy_seconds = 3.5;
  EXPECT_TRUE(
      contains(last_sentence(r), "\"read\", busy for 88% of the time: it waits for the disk"));
}

TEST(network_report, blames_too_few_threads_or_buffers_before_stages) {
  auto r = after_a_run();
  r.stages[1].busy_seconds = 1.5;
  EXPECT_TRUE(contains(last_sentence(r), "even it waited for most of the time"));
  r.threads = 1;
  r.stages[1].busy_seconds = 3.6;
  EXPECT_TRUE(contains(last_sentence(r), "the threads together were busy for 90%"));
}

TEST(network_report, has_no_bottleneck_without_work) {
  auto r = small_network();
  r.has_run = true;
  EXPECT_EQ(last_sentence(r), "No stage was busy for any time that could be measured. ");
}

TEST(network_report, text_fits_a_terminal_whatever_the_names) {
  auto r = after_a_run();
  std::string const name = "a name with\nmore than enough words, and some more of them: äöü\xFF";
  r.name = r.pools[0].name = r.stages[0].thread = name;
  for (auto& s : r.stages) {
    s.name = name;
    s.note = name + name;
    s.buffers = 12345678901;
  }
  for (int i = 0; i < 9; ++i) r.connections.push_back({false, 0, 2});
  std::istringstream lines(r.explain());
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(detail::characters_of(line).size(), 100u) << line;
}

TEST(network_report, explains_cycles_and_nothing) {
  auto r = small_network();
  r.connections.push_back({false, 1, 0});
  EXPECT_TRUE(contains(r.explain(), "  read  <- pool blocks, sort\n")) << r.explain();
  EXPECT_EQ(network_report{}.explain(), "network : 0 threads, not run yet\n\nIt has no stages.\n");
}

TEST(network_report, traces_steps_in_microseconds) {
  auto r = after_a_run();
  r.trace = {{0, 1, 0, 1500, 4000}, {1, 2, 0, 4000, 5001}, {2, 2, 0, 6000, 6000}};
  EXPECT_EQ(r.chrome_trace(),
            R"({"displayTimeUnit":"ms","otherData":{"network":"columnsort"},"traceEvents":[
{"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"columnsort"}},
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"worker 1: read"}},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"worker 2"}},
{"ph":"X","pid":1,"tid":1,"name":"read","ts":1.500,"dur":2.500,"args":{"round":0}},
{"ph":"X","pid":1,"tid":2,"name":"sort","ts":4.000,"dur":1.001,"args":{"round":0}},
{"ph":"X","pid":1,"tid":2,"name":"write","ts":6.000,"dur":0.000,"args":{"round":0}}
]}
)");
}

TEST(network_report, traces_say_what_they_left_out) {
  auto r = after_a_run();
  EXPECT_FALSE(contains(r.chrome_trace(), "dropped"));
  r.trace_dropped = 7;
  EXPECT_TRUE(
      contains(r.chrome_trace(), R"("otherData":{"network":"columnsort","dropped events":"7"})"));
}

TEST(network_report, traces_escape_names) {
  auto r = after_a_run();
  r.stages[0].name = "a\"b\\c\nd\x01ö\xFF";
  r.trace = {{0, 1, 3, 0, 1}};
  EXPECT_TRUE(contains(r.chrome_trace(),
                       "\"name\":\"a\\\"b\\\\c\\u000ad\\u0001ö\xEF\xBF\xBD\",\"ts\":0.000"))
      << r.chrome_trace();
}

TEST(network_report, traces_steer_no_terminal) {
  auto r = after_a_run();
  r.name =
      "a\xC2\x9B"
      "1m\x7F\xE2\x80\xAE";
  EXPECT_TRUE(contains(r.chrome_trace(), R"("a\u009b1m\u007f\u202e")")) << r.chrome_trace();
}

TEST(network_report, traces_of_nothing_are_complete) {
  EXPECT_TRUE(network_report{}.chrome_trace().ends_with("\n]}\n"));
}

TEST(network_report, traces_networks_and_their_io_on_one_clock) {
  using kind = io::timed_event::kind;
  auto forming = after_a_run();
  forming.name = "forming";
  forming.begin_ns = 5'000;
  forming.trace = {{0, 1, 0, 1500, 4000}};
  auto merging = forming;
  merging.name = "merging";
  merging.begin_ns = 9'000;
  merging.trace_dropped = 2;
  io::timeline requests;
  requests.add_track("disk /");
  requests.add({0, kind::write, 7'000, 8'000, 64});
  requests.add({0, kind::write, 7'500, 9'000, 65});  // while the first one is under way
  requests.add({0, kind::write, 8'000, 9'500, 66});
  requests.add({0, kind::read, 4'000, 4'500, 67});
  requests.add({0, kind::wait, 9'000, 9'500, 0});
  std::vector const networks{forming, merging};
  EXPECT_EQ(
      chrome_trace(networks, requests),
      R"({"displayTimeUnit":"ms","otherData":{"networks":"2","dropped events":"2"},"traceEvents":[
{"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"forming"}},
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"worker 1: read"}},
{"ph":"X","pid":1,"tid":1,"name":"read","ts":2.500,"dur":2.500,"args":{"round":0}},
{"ph":"M","pid":2,"tid":0,"name":"process_name","args":{"name":"merging"}},
{"ph":"M","pid":2,"tid":1,"name":"thread_name","args":{"name":"worker 1: read"}},
{"ph":"X","pid":2,"tid":1,"name":"read","ts":6.500,"dur":2.500,"args":{"round":0}},
{"ph":"M","pid":3,"tid":0,"name":"process_name","args":{"name":"I/O"}},
{"ph":"M","pid":3,"tid":1000,"name":"thread_name","args":{"name":"disk /, reading 0"}},
{"ph":"X","pid":3,"tid":1000,"name":"disk /, reading","ts":0.000,"dur":0.500,"args":{"bytes":67}},
{"ph":"M","pid":3,"tid":2000,"name":"thread_name","args":{"name":"disk /, writing 0"}},
{"ph":"X","pid":3,"tid":2000,"name":"disk /, writing","ts":3.000,"dur":1.000,"args":{"bytes":64}},
{"ph":"M","pid":3,"tid":2001,"name":"thread_name","args":{"name":"disk /, writing 1"}},
{"ph":"X","pid":3,"tid":2001,"name":"disk /, writing","ts":3.500,"dur":1.500,"args":{"bytes":65}},
{"ph":"X","pid":3,"tid":2000,"name":"disk /, writing","ts":4.000,"dur":1.500,"args":{"bytes":66}},
{"ph":"M","pid":3,"tid":3000,"name":"thread_name","args":{"name":"waiting 0"}},
{"ph":"X","pid":3,"tid":3000,"name":"waiting","ts":5.000,"dur":0.500,"args":{"bytes":0}}
]}
)");
}

TEST(network_report, traces_begin_with_the_first_that_has_run) {
  auto ran = after_a_run();
  ran.begin_ns = 5'000'000'000'000;
  ran.trace = {{0, 1, 0, 1500, 4000}};
  std::vector const networks{network_report{}, ran};
  EXPECT_NE(chrome_trace(networks, io::timeline()).find("\"ts\":1.500,"), std::string::npos);
}

TEST(network_report, traces_of_nothing_that_ran_are_complete) {
  EXPECT_TRUE(chrome_trace({}, io::timeline()).ends_with("\n]}\n"));
}

}  // namespace
}  // namespace outsize::pipeline
