// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A page of a sort tells its figures, and names stages as users do.
#include <outsize/algorithm/sort_page.hpp>

#include <gtest/gtest.h>

#include <map>
#include <string>

#include <outsize/base/units.hpp>

namespace outsize {
namespace {

std::map<std::string, std::string> facts_of(sort_report const& report) {
  auto const page = page_of(report, "");
  return {page.facts.begin(), page.facts.end()};
}

TEST(sort_page, tells_the_figures_of_a_sort) {
  auto const facts = facts_of({.items = 1000,
                               .input_bytes = 8000,
                               .output_items = 990,
                               .run_items = 995,
                               .runs = 7,
                               .encoded_runs = 3,
                               .run_disk_bytes = 4_KiB,
                               .passes = 2,
                               .merges = 1,
                               .fan_in = 4,
                               .memory_bytes = 3_MiB});
  EXPECT_EQ(facts.at("items"), "1000");
  EXPECT_EQ(facts.at("items written"), "990");
  EXPECT_EQ(facts.at("runs"), "7 of 995 items, 4 KiB on disk, 3 encoded");
  EXPECT_EQ(facts.at("passes"), "2, 1 merge before the last");
  EXPECT_EQ(facts.at("memory allowed"), "3 MiB");
}

TEST(sort_page, leaves_out_what_is_not_known) {
  auto const facts = facts_of({.items = 5, .output_items = 5});
  EXPECT_FALSE(facts.contains("items written"));
  EXPECT_FALSE(facts.contains("block"));
  EXPECT_TRUE(facts.at("runs").starts_with("none"));
}

TEST(sort_page, names_stages_as_users_do) {
  sort_report report;
  report.networks.resize(1);
  report.networks[0].stages.resize(2);
  report.networks[0].stages[0].name = "producer";
  report.networks[0].stages[1].name = "sort";
  auto const page = page_of(report, "a title");
  EXPECT_EQ(page.title, "a title");
  ASSERT_EQ(page.networks.size(), 1U);
  EXPECT_EQ(page.networks[0].stages[0].name, "read input");
  EXPECT_EQ(page.networks[0].stages[1].name, "sort");
}

}  // namespace
}  // namespace outsize
