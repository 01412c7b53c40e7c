// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/pass_command.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::tool {
namespace {

TEST(pass_command, writes_one_picture_and_trace_for_each_pass) {
  scratch::directory folder;
  storage store({.disks = {folder.path()}, .memory_bytes = 1_MiB, .threads = 1});
  pass_request r;
  r.work.json = folder.path("report.json");
  r.picture = folder.path("p.svg");
  r.work.trace = folder.path("t.json");
  r.work.report = folder.path("page.html");
  pass_reports("test", r, store)
      .write({.passes = 2, .networks = std::vector<pipeline::network_report>(2)});
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"p.2.svg", "p.svg", "page.html",
                                                      "report.json", "t.2.json", "t.json"}));
  EXPECT_NE(scratch::read_file(*r.work.json).find("\"passes\": 2"), std::string::npos);
}

TEST(pass_command, refuses_reports_that_cannot_be_written_before_it_works) {
  scratch::directory folder;
  pass_request r;
  r.input = folder.path("in");
  r.output = folder.path("out");
  auto const works = [&] {
    bool has_worked = false;
    try {
      run_pass_command("test", r, {.disks = {folder.path()}, .memory_bytes = 1_MiB, .threads = 1},
                       [&](outsize::storage&, numeric::pass_listener const&) {
                         has_worked = true;
                         return pass_outcome{};
                       });
    } catch (io_error const&) {
    }
    return has_worked;
  };
  EXPECT_TRUE(works());
  auto const nowhere = folder.path("no/such/folder");
  r.work.json = nowhere;
  EXPECT_FALSE(works());
  r.work.json.reset();
  r.work.trace = nowhere;
  EXPECT_FALSE(works());
  r.work.trace.reset();
  r.picture = nowhere;
  EXPECT_FALSE(works());
  r.picture.reset();
  r.work.report = nowhere;
  EXPECT_FALSE(works());
}

}  // namespace
}  // namespace outsize::tool
