// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A page of a run has its plan, its sums and its supersteps; of an unfinished one how far it came.

#include <outsize/bsp/bsp_page.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/bsp/virtual_processors.hpp>
#include <outsize/testing/counted_storage.hpp>

namespace outsize::bsp {
namespace {

using namespace literals;
using testing::HasSubstr;
using testing::Not;

run_report some_run() {
  scratch::counted_storage disks(3_MiB);
  return run(disks.store, 10,
             [](processor& p) {
               vector<std::uint64_t> numbers(40'000, p.rank() + 1);
               for (int round = 0; round < 3; ++round) p.barrier();
             },
             {.context_bytes = 448_KiB, .workers = 1});
}

TEST(bsp_page, shows_plan_sums_and_supersteps) {
  run_report const report = some_run();
  pipeline::run_page const page = page_of(report, "ten <processors>");
  std::string const html = page.html();
  for (char const* part :
       {"<title>ten &lt;processors&gt;</title>", "10, 1 at a time", "3 MiB: contexts",
        "<td>supersteps</td><td>4</td>", "Virtual processors over time", "Bytes of each superstep",
        "contexts, written", "<h2>Bytes by superstep</h2>", "<td>9</td><td>4</td>"})
    EXPECT_THAT(html, HasSubstr(part));
  ASSERT_EQ(page.volumes.size(), 4U);
  EXPECT_EQ(page.volumes[0].measured_bytes, report.total().swapped_out_bytes);
  EXPECT_GT(page.volumes[0].measured_bytes, 0U);
  EXPECT_EQ(page.volumes[0].predicted_bytes, page.volumes[0].measured_bytes);
  EXPECT_THAT(html, Not(HasSubstr("begun")));
  EXPECT_TRUE(html.ends_with("</body></html>\n"));
}

TEST(bsp_page, says_how_far_an_unfinished_run_came) {
  run_report report = some_run();
  report.history.ended = 7;
  EXPECT_THAT(page_of(report, "").html(), HasSubstr("4 begun; 7 of 10 processors ended"));
}

}  // namespace
}  // namespace outsize::bsp
