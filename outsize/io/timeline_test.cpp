// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/timeline.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include <outsize/io/memory_file.hpp>
#include <outsize/io/statistics.hpp>

namespace outsize::io {
namespace {

using kind = timed_event::kind;

std::int64_t now_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

TEST(timeline, notes_what_counters_count) {
  timeline all;
  statistics first, second;
  auto const before = now_ns();
  first.add_request(operation::read, 1, 5);  // nobody asked for it yet
  first.note_in(&all, "first");
  second.note_in(&all, "second");
  first.add_request(operation::read, 10, 100);
  second.add_request(operation::write, 20, 200);
  second.add_wait(300);
  first.note_in(nullptr);
  first.add_request(operation::read, 10, 100);

  EXPECT_EQ(all.tracks(), (std::vector<std::string>{"first", "second"}));
  auto const events = all.events();
  ASSERT_EQ(events.size(), 3U);
  std::array const expected{timed_event{0, kind::read, 0, 100, 10},
                            timed_event{1, kind::write, 0, 200, 20},
                            timed_event{1, kind::wait, 0, 300, 0}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(events[i].track, expected[i].track);
    EXPECT_EQ(events[i].what, expected[i].what);
    EXPECT_EQ(events[i].bytes, expected[i].bytes);
    EXPECT_EQ(events[i].end_ns - events[i].begin_ns, expected[i].end_ns);
    EXPECT_GE(events[i].end_ns, before);
    EXPECT_LE(events[i].end_ns, now_ns());
  }
  EXPECT_EQ(first.snapshot().read_count, 3U) << "what is noted is counted too";
}

TEST(timeline, has_each_request_of_a_file) {
  timeline all;
  statistics counter;
  counter.note_in(&all, "file");
  auto const file = make_memory_file("file", 4096, {.own_thread = true});
  file->count_into(&counter);
  std::array<std::byte, 512> bytes{};
  for (std::uint64_t at = 0; at < 4096; at += 512) file->write(at, bytes)->wait();
  file->read(512, bytes)->wait();
  std::uint64_t read = 0, written = 0;
  for (timed_event const& e : all.events()) {
    if (e.what == kind::read) read += e.bytes;
    if (e.what == kind::write) written += e.bytes;
    EXPECT_LE(e.begin_ns, e.end_ns);
  }
  EXPECT_EQ(read, 512U);
  EXPECT_EQ(written, 4096U);
}

TEST(timeline, loses_nothing_with_many_threads) {
  timeline all;
  statistics counter;
  counter.note_in(&all, "file");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) counter.add_request(operation::write, 2, 3);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(all.events().size(), 4000U);
  EXPECT_EQ(all.dropped(), 0U);
}

TEST(timeline, keeps_a_million_events_and_counts_the_rest) {
  timeline all;
  for (int i = 0; i < 1'000'003; ++i) all.add({});
  EXPECT_EQ(all.events().size(), 1'000'000U);
  EXPECT_EQ(all.dropped(), 3U);
}

}  // namespace
}  // namespace outsize::io
