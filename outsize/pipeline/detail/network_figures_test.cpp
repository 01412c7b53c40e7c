// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/pipeline/detail/network_figures.hpp>

#include <gtest/gtest.h>

#include <string>

namespace outsize::pipeline::detail {
namespace {

network_report::stage busy_stage(double seconds, std::size_t most_at_once) {
  network_report::stage s;
  s.kind = "stage";
  s.thread = "shared";
  s.most_at_once = most_at_once;
  s.busy_seconds = seconds;
  return s;
}

TEST(network_figures, shares_count_each_replica) {
  network_report r;
  r.seconds = 2;
  auto s = busy_stage(3, 2);
  s.input_wait_seconds = 1;
  EXPECT_DOUBLE_EQ(shares_of(r, s).busy, 0.75);
  EXPECT_DOUBLE_EQ(shares_of(r, s).input_wait, 0.25);
  EXPECT_DOUBLE_EQ(shares_of(r, s).other_wait, 0);
}

TEST(network_figures, shares_of_a_run_without_time_are_zero) {
  EXPECT_EQ(shares_of({}, busy_stage(1, 0)).busy, 0);
  EXPECT_EQ(threads_share({}), 0);
}

TEST(network_figures, bottleneck_is_the_busiest_per_replica) {
  network_report r;
  EXPECT_FALSE(bottleneck_of(r));
  r.stages = {busy_stage(0, 1)};
  EXPECT_FALSE(bottleneck_of(r)) << "nobody was busy";
  r.stages = {busy_stage(3, 1), busy_stage(8, 4), busy_stage(2, 0)};
  EXPECT_EQ(bottleneck_of(r), 0u);
}

TEST(network_figures, threads_are_not_kept_busy_by_those_that_wait_elsewhere) {
  network_report r;
  r.seconds = 2;
  r.threads = 2;
  r.stages = {busy_stage(3, 2), busy_stage(2, 1), busy_stage(2, 1), busy_stage(2, 1)};
  r.stages[1].kind = "asynchronous";
  r.stages[2].kind = "external";
  r.stages[3].thread = "own";
  EXPECT_DOUBLE_EQ(threads_share(r), 0.75);
}

TEST(network_figures, numbers_are_short) {
  EXPECT_EQ(format_rate(3 << 20, 2), "1.50 MiB/s");
  EXPECT_EQ(format_rate(1, 0), "-");
  EXPECT_EQ(format_rate(UINT64_MAX, 1e-9), "8 EiB/s") << "more than a number holds";
  EXPECT_EQ(format_seconds(0), "0 s");
  EXPECT_EQ(format_seconds(12e-6), "12 us");
  EXPECT_EQ(format_seconds(0.0015), "1.5 ms");
  EXPECT_EQ(format_seconds(0.34), "340 ms");
  EXPECT_EQ(format_seconds(0.9999), "1.00 s");
  EXPECT_EQ(format_seconds(12.34), "12.3 s");
  EXPECT_EQ(format_seconds(1234.5), "1234 s");
  EXPECT_EQ(format_share(0.125), "12%");
}

TEST(network_figures, bytes_that_are_no_characters_are_replaced) {
  auto const joined = [](std::string_view text) {
    std::string out;
    for (auto c : characters_of(text)) out += c;
    return out;
  };
  EXPECT_EQ(joined("Größe 😀"), "Größe 😀");
  EXPECT_EQ(characters_of("Größe 😀").size(), 7u);
  EXPECT_EQ(joined("a\xFF"
                   "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(joined("\xC3"), "\xEF\xBF\xBD") << "cut off";
  EXPECT_EQ(characters_of("\xED\xA0\x80").size(), 3u) << "half of a surrogate pair";
  EXPECT_EQ(characters_of("\xC0\xAF").size(), 2u) << "an overlong form";
}

TEST(network_figures, shortened_text_is_one_line_of_whole_characters) {
  EXPECT_EQ(shortened("read", 4), "read");
  EXPECT_EQ(shortened("reader", 4), "rea…");
  EXPECT_EQ(shortened("ööööö", 4), "ööö…");
  EXPECT_EQ(shortened("a\nb\tc", 9), "a b c");
  EXPECT_EQ(shortened("ab", 1), "…");
  EXPECT_EQ(shortened("", 1), "");
}

TEST(network_figures, circumstances_are_what_is_not_as_usual) {
  network_report r;
  network_report::stage s = busy_stage(1, 2);
  EXPECT_EQ(circumstances(r, s, ", "), "stage");
  s.thread = "own";
  s.replicas = 4;
  EXPECT_EQ(circumstances(r, s, ", "), "stage, own thread, 4 at once");
  r.has_run = true;
  s.thread = "group 1";
  EXPECT_EQ(circumstances(r, s, ", "), "stage, group 1, 2 of 4 at once");
}

TEST(network_figures, a_stage_with_several_ways_home_is_named_once) {
  network_report r;
  r.stages.resize(3);
  r.connections = {{true, 1, 0}, {false, 0, 1}, {false, 1, 3}, {false, 1, 3}, {false, 2, 3}};
  EXPECT_EQ(last_stages(r), (std::set<std::size_t>{1, 2}));
}

}  // namespace
}  // namespace outsize::pipeline::detail
