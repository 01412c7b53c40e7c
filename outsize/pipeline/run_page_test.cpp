// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// A page shows what it was given, escaped, and refers to nothing outside.
#include <outsize/pipeline/run_page.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace outsize::pipeline {
namespace {

using testing::HasSubstr;
using testing::Not;

run_page some_page() {
  run_page p{.title = "a <graph> & more"};
  p.facts = {{"memory", "16 MiB"}};
  p.load.add(0, {});
  p.load.add(1, {.read_bytes = 1 << 20, .written_bytes = 1 << 19, .cpu_seconds = 1.5});
  p.volumes = {{"sort", 4096, 8192}};
  network_report n;
  n.name = "phase \"1\"";
  n.has_run = true;
  n.seconds = 1;
  n.stages.resize(2);
  n.stages[0].name = "slow";
  n.stages[0].kind = n.stages[1].kind = "node";
  n.stages[0].items = 12;
  n.stages[0].busy_seconds = 0.9;
  n.stages[1].name = "quick";
  n.stages[1].busy_seconds = 0.1;
  p.networks = {n};
  return p;
}

TEST(run_page, shows_facts_curves_volumes_and_stages) {
  std::string const html = some_page().html();
  for (char const* part :
       {"a &lt;graph&gt; &amp; more", "16 MiB", "written", "1.5 busy", "4 KiB", "8 KiB",
        "phase &quot;1&quot;", "class=\"slowest\"><td>slow</td><td>12</td>", "<td>quick</td>"})
    EXPECT_THAT(html, HasSubstr(part));
  EXPECT_THAT(html, Not(HasSubstr("<graph>")));
}

TEST(run_page, shows_figures_and_tables_of_the_caller) {
  run_page page = some_page();
  page.figures = {{"A <figure>", "<svg><path d=\"M0 0\"/></svg>\n", "of & by"}};
  page.listings = {{"List", {"name", "none", "size"}, {{"<i>", "", "1"}, {"j", "", "2"}}}};
  std::string const html = page.html();
  for (char const* part :
       {"<h2>A &lt;figure&gt;</h2>\n<svg><path d=\"M0 0\"/></svg>\n<p>of &amp; by</p>",
        "<h2>List</h2>\n<table class=\"listing\"><tr><th>name</th><th>size</th></tr>",
        "<tr><td>&lt;i&gt;</td><td>1</td></tr>"})
    EXPECT_THAT(html, HasSubstr(part));
}

TEST(run_page, needs_no_other_file) {
  std::string html = some_page().html();
  // The name of the namespace of SVG is no reference.
  for (std::size_t at; (at = html.find("http://www.w3.org/2000/svg")) != std::string::npos;)
    html.erase(at, 26);
  for (char const* reference : {"http:", "https:", "src=", "href=", "@import", "<script"})
    EXPECT_THAT(html, Not(HasSubstr(reference)));
}

TEST(run_page, without_a_run_is_whole) {
  std::string const html = run_page{.title = "nothing"}.html();
  EXPECT_THAT(html, HasSubstr("nothing was measured"));
  EXPECT_TRUE(html.ends_with("</body></html>\n"));
}

}  // namespace
}  // namespace outsize::pipeline
