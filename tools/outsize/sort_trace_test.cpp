// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A sort that spills, seen from inside: stages, requests and waits.

#include <tools/outsize/sort_trace.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <outsize/algorithm/sort.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::tool {
namespace {

constexpr std::size_t count = 1'000'000;

void write_numbers(std::string const& path) {
  std::mt19937_64 random(count);
  std::ofstream file(path, std::ios::binary);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t const number = random();
    file.write(reinterpret_cast<char const*>(&number), sizeof number);
  }
}

TEST(sort_trace, shows_stages_and_requests_of_a_sort_that_spills) {
  scratch::directory folder;
  write_numbers(folder.path("in"));
  sort_trace trace(folder.path("trace.json"));
  sort_report report;
  {
    storage store({.disks = {folder.path()}, .memory_bytes = 3_MiB, .threads = 2});
    trace.watch(store);
    report = sort(store, items<std::uint64_t>(folder.path("in")), into(folder.path("out")), {},
                  {.trace = true});
  }
  ASSERT_GT(report.runs, 1U);
  trace.write(report);

  auto const seen = nlohmann::json::parse(scratch::read_file(folder.path("trace.json")));
  std::set<std::string> names;
  std::map<std::string, std::uint64_t> bytes;
  for (auto const& event : seen.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    EXPECT_GE(event.at("ts").get<double>(), 0) << event;
    EXPECT_GE(event.at("dur").get<double>(), 0) << event;
    names.insert(event.at("name"));
    if (event.at("args").contains("bytes"))
      bytes[event.at("name")] += event.at("args").at("bytes").get<std::uint64_t>();
  }
  for (auto const* name : {"read input", "sort", "write runs", "merge", "write output"})
    EXPECT_TRUE(names.contains(name)) << name;
  for (std::string const what : {", reading", ", writing"}) {
    EXPECT_GE(bytes["files" + what], count * 8);
    EXPECT_GE(bytes["disk " + folder.path() + what], report.run_items * 8);
  }
}

TEST(sort_trace, is_not_kept_unless_asked_for_but_stages_are_timed) {
  scratch::directory folder;
  write_numbers(folder.path("in"));
  storage store({.disks = {folder.path()}, .memory_bytes = 3_MiB, .threads = 2});
  auto const report =
      sort(store, items<std::uint64_t>(folder.path("in")), into(folder.path("out")));
  ASSERT_EQ(report.networks.size(), 2U);
  for (auto const& network : report.networks) EXPECT_TRUE(network.trace.empty());

  auto const json = sort_networks_json(report);
  EXPECT_EQ(json.at(0).at("name"), "sort, forming runs");
  EXPECT_EQ(json.at(1).at("name"), "sort, last merge");
  EXPECT_EQ(json.at(0).at("stages").at(0).at("name"), "read input");
  EXPECT_GT(json.at(0).at("stages").at(1).at("busy_seconds").get<double>(), 0);
}

TEST(sort_trace, of_a_copy_in_order_has_its_one_network) {
  scratch::directory folder;
  std::vector<std::uint64_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = i;
  scratch::write_file(folder.path("in"),
                      {reinterpret_cast<char const*>(numbers.data()), 8 * count});
  storage store({.disks = {folder.path()}, .memory_bytes = 3_MiB, .threads = 2});
  auto const report = sort(store, items<std::uint64_t>(folder.path("in")), into(folder.path("out")),
                           {}, {.trace = true});
  ASSERT_EQ(report.networks.size(), 1U);
  EXPECT_EQ(report.networks[0].name, "copy in order");
  EXPECT_FALSE(report.networks[0].trace.empty());
}

}  // namespace
}  // namespace outsize::tool
