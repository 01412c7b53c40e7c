// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Pictures show the shares that a history has, at their places, and stay small.

#include <outsize/bsp/detail/run_pictures.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace outsize::bsp::detail {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Each rank computes for 10 ms in turn, then moves for 5 ms, in each superstep.
run_history in_turns(std::uint32_t count, std::uint64_t supersteps) {
  constexpr std::int64_t ms = 1'000'000;
  run_history all{.supersteps = supersteps, .ended = count};
  std::int64_t const round_ns = 10 * ms * count;
  all.elapsed_ns = round_ns * static_cast<std::int64_t>(supersteps);
  all.end_ns.assign(count, all.elapsed_ns);
  all.processors.assign(count, {});
  auto const bins = static_cast<std::size_t>(all.elapsed_ns / (5 * ms));
  all.timeline = {.ranks_per_row = 1, .rows = count, .bin_ns = 5 * ms};
  all.timeline.computing_ns.resize(bins * count);
  all.timeline.moving_ns.resize(bins * count);
  for (std::uint64_t step = 0; step < supersteps; ++step) {
    all.spans.push_back({round_ns * static_cast<std::int64_t>(step),
                         round_ns * static_cast<std::int64_t>(step + 1)});
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      all.processors[rank].push_back({.changed_bytes = 1'000,
                                      .written_bytes = 1'000,
                                      .used_bytes = 2'000,
                                      .read_bytes = 2'000,
                                      .computing_ns = 10 * ms,
                                      .moving_ns = 5 * ms});
      std::size_t const bin = rank * bins + (step * count + rank) * 2;
      all.timeline.computing_ns[bin] = all.timeline.computing_ns[bin + 1] = 5 * ms;
      if (bin + 2 < all.timeline.moving_ns.size()) all.timeline.moving_ns[bin + 2] = 5 * ms;
    }
  }
  return all;
}

std::size_t count_of(std::string const& text, std::string const& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(run_pictures, show_when_each_processor_computes) {
  // 4 ranks, 80 ms: the picture is 830 wide and begins at 70; 10 ms are 103.75.
  std::string const svg = timeline_picture(in_turns(4, 2));
  for (char const* place :
       {"M70.0 0.0h103.8v17.0", "M173.8 18.0h103.8v17.0", "M277.5 36.0h103.8v17.0",
        "M381.2 54.0h103.8v17.0", "M485.0 0.0h103.8v17.0"})
    EXPECT_THAT(svg, HasSubstr(place));
  EXPECT_THAT(svg, HasSubstr("M173.8 0.0h51.9"));  // moves
  EXPECT_THAT(svg, HasSubstr("style=\"fill:var(--busy);fill-opacity:1.00\""));
  EXPECT_THAT(svg, Not(HasSubstr("fill-opacity:0.40")));
  EXPECT_EQ(count_of(svg, "text-anchor=\"end\">3<"), 1U);
  EXPECT_THAT(svg, HasSubstr(">80 ms<"));
}

TEST(run_pictures, stay_small_for_hundreds_of_processors) {
  run_history const all = in_turns(250, 8);
  std::string const svg = timeline_picture(all);
  EXPECT_LT(svg.size(), 600'000U);
  EXPECT_THAT(svg, HasSubstr(">0 to 3<"));
  // One of four ranks in a row computes at a time.
  EXPECT_THAT(svg, HasSubstr("fill-opacity:0.40"));
  EXPECT_THAT(svg, Not(HasSubstr("var(--busy);fill-opacity:1.00")));
}

TEST(run_pictures, name_the_ranks_of_rows_that_were_measured_together) {
  run_history all = in_turns(250, 2);
  all.timeline.ranks_per_row = 4;
  all.end_ns.assign(998, all.elapsed_ns);
  std::string const svg = timeline_picture(all);
  EXPECT_THAT(svg, HasSubstr(">0 to 15<"));
  EXPECT_THAT(svg, HasSubstr(">960 to 975<"));
  EXPECT_EQ(count_of(svg, " to "), 16U);  // every fourth of 63 rows
}

TEST(run_pictures, show_supersteps_in_groups) {
  EXPECT_EQ(superstep_groups(in_turns(3, 7), 10).size(), 7U);
  std::vector<superstep_group> const groups = superstep_groups(in_turns(3, 25), 10);
  ASSERT_EQ(groups.size(), 9U);
  EXPECT_EQ(groups[0].first, 0U);
  EXPECT_EQ(groups[0].last, 2U);
  EXPECT_EQ(groups[8].first, 24U);
  EXPECT_EQ(groups[8].last, 24U);
  EXPECT_EQ(groups[1].sum.written_bytes, 9'000U);
  EXPECT_EQ(groups[1].span.begin_ns, 90'000'000);
  EXPECT_EQ(groups[1].span.end_ns, 180'000'000);
  std::string const svg = superstep_picture(in_turns(3, 100));
  EXPECT_THAT(svg, HasSubstr(">0 to 2<"));
  EXPECT_THAT(svg, HasSubstr("M70.0 0.0h24.9v8.0"));
}

TEST(run_pictures, show_bytes_beside_the_formula) {
  run_history all = in_turns(2, 2);
  all.processors[1][0].used_bytes = 8'000;  // zeros, which are not read
  std::string const svg = byte_picture(all);
  // Superstep 0: 2000 of 12000 bytes written, 4000 read, the line at the top.
  EXPECT_THAT(svg, HasSubstr("v23.3h-40.0z"));
  EXPECT_THAT(svg, HasSubstr("v46.7h-40.0z"));
  EXPECT_THAT(svg, HasSubstr(" 0.0h42.0v1.0h-42.0z"));
  EXPECT_THAT(svg, HasSubstr("formula"));
  EXPECT_THAT(svg, Not(HasSubstr("var(--busy);fill-opacity")));  // no messages on disk
}

TEST(run_pictures, of_a_run_that_has_not_begun_are_whole) {
  run_history none{.supersteps = 1, .spans = {{}}};
  none.processors.resize(1, std::vector<superstep_counts>(1));
  none.end_ns = {0};
  none.timeline = {1, 1, 1'000'000, {0}, {0}};
  for (run_history const& all : {none, run_history()}) {
    for (std::string const& svg :
         {timeline_picture(all), superstep_picture(all), byte_picture(all)}) {
      EXPECT_TRUE(svg.starts_with("<svg "));
      EXPECT_TRUE(svg.ends_with("</svg>\n"));
      EXPECT_THAT(svg, Not(HasSubstr("nan")));
    }
  }
}

}  // namespace
}  // namespace outsize::bsp::detail
