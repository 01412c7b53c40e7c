// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// The pictures of network_report.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/pipeline/network_report.hpp>

namespace outsize::pipeline {
namespace {

network_report::stage stage_named(std::string name) {
  network_report::stage s;
  s.name = std::move(name);
  s.kind = "stage";
  s.thread = "shared";
  return s;
}

/// pool ─▶ read ─▶ work ─▶ home
network_report small_network() {
  network_report r;
  r.name = "copy";
  r.threads = 2;
  r.pools.push_back({"blocks", 1 << 20, 4, 4, 0});
  r.stages = {stage_named("read"), stage_named("work")};
  r.stages[0].kind = "asynchronous";
  r.stages[1].replicas = 2;
  r.connections = {{true, 0, 0}, {false, 0, 1}, {false, 1, 2}};
  return r;
}

network_report after_a_run() {
  network_report r = small_network();
  r.has_run = true;
  r.seconds = 2;
  r.pools[0].count = 6;
  for (auto& s : r.stages) {
    s.most_at_once = 1;
    s.bytes = 1 << 20;
    s.busy_seconds = 0.5;
    s.input_wait_seconds = 1;
    s.other_wait_seconds = 0.5;
  }
  r.stages[1].busy_seconds = 1;
  r.stages[1].thread = "own";
  return r;
}

bool contains(std::string const& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Why `text` is not well-formed; empty if it is. Knows elements, attributes and entities only.
std::string fault_of_xml(std::string_view text) {
  std::vector<std::string> open;
  while (!text.empty()) {
    std::size_t const at = text.find('<');
    std::string_view const between = text.substr(0, at);
    if (between.find('>') != std::string_view::npos) return "a bare >";
    for (std::size_t a = between.find('&'); a != std::string_view::npos;
         a = between.find('&', a + 1))
      if (!between.substr(a).starts_with("&amp;") && !between.substr(a).starts_with("&lt;") &&
          !between.substr(a).starts_with("&gt;") && !between.substr(a).starts_with("&quot;"))
        return "a bare &";
    for (char c : between)
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n') return "a control character";
    if (at == std::string_view::npos) break;
    std::size_t const end = text.find('>', at);
    if (end == std::string_view::npos) return "a tag without end";
    std::string_view tag = text.substr(at + 1, end - at - 1);
    text.remove_prefix(end + 1);
    if (tag.find('<') != std::string_view::npos) return "a bare <";
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return "an open quote";
    std::string const name(tag.substr(tag.starts_with('/') ? 1 : 0, tag.find_first_of(" /", 1)));
    if (tag.starts_with('/')) {
      if (open.empty() || "/" + open.back() != tag) return "unexpected end of " + name;
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
    if (open.empty() && text.find_first_not_of('\n') != std::string_view::npos)
      return "something after the root";
  }
  return open.empty() ? "" : "no end of " + open.back();
}

TEST(network_picture, the_check_for_xml_sees_faults) {
  EXPECT_EQ(fault_of_xml("<a b=\"c\"><d/>&amp;</a>\n"), "");
  for (auto text :
       {"<a>", "<a></b>", "<a>&</a>", "<a/><b/>", "<a b=\"></a>", "<a>\x01</a>", "<a <b/>"})
    EXPECT_NE(fault_of_xml(text), "") << text;
}

TEST(network_picture, dot_before_a_run) {
  EXPECT_EQ(small_network().dot(),
            R"(digraph network {
  label="copy"; labelloc=t; rankdir=LR; fontname="sans-serif";
  node [shape=box, style=rounded, fontname="sans-serif", fontsize=11];
  p0 [shape=cylinder, style=solid, label="blocks\n4 × 1 MiB"];
  s0 [label="read\nasynchronous"];
  s1 [label="work\nstage, 2 at once"];
  p0 -> s0 [style=dashed];
  s0 -> s1;
  h1 [shape=circle, label="", width=0.12, tooltip="home"];
  s1 -> h1 [style=dashed];
}
)");
}

TEST(network_picture, shows_how_memory_is_divided) {
  auto r = small_network();
  r.memory = {.total_bytes = 16_MiB,
              .free_bytes = 2_MiB,
              .shares = {{"so<rt", 14_MiB, {4_MiB, 8_MiB, 16_MiB}}}};
  EXPECT_TRUE(contains(r.dot(), "label=\"copy\\n14 MiB of 16 MiB of memory\"; labelloc=t"));
  EXPECT_EQ(fault_of_xml(r.svg()), "") << r.svg();
  EXPECT_TRUE(contains(r.svg(), " · 14 MiB of 16 MiB of memory<")) << r.svg();
  EXPECT_TRUE(contains(r.svg(), "so&lt;rt\n</title>")) << r.svg();
}

TEST(network_picture, dot_after_a_run_has_figures_and_a_red_bottleneck) {
  auto const text = after_a_run().dot();
  EXPECT_TRUE(contains(text, R"(label="blocks\n6 × 1 MiB, grew by 2"])")) << text;
  EXPECT_TRUE(contains(text, R"(s0 [label="read\nasynchronous\n2 MiB/s when busy\n)"
                             "busy 25%, no input 50%, other wait 25%\"];"))
      << text;
  EXPECT_TRUE(contains(text, R"(s1 [label="work\nstage, own thread, 1 of 2 at once\n)")) << text;
  EXPECT_TRUE(contains(text, ", peripheries=2, color=red, fontcolor=red];")) << text;
}

TEST(network_picture, dot_puts_clusters_together) {
  auto r = small_network();
  r.stages.insert(r.stages.begin(), stage_named("first"));
  r.stages[0].cluster = r.stages[2].cluster = "half \"a\"";
  EXPECT_TRUE(contains(r.dot(), R"(  subgraph cluster_0 {
    label="half \"a\""; style=dashed;
    s0 [label="first\nstage"];
    s2 [label="work\nstage, 2 at once"];
  }
)")) << r.dot();
}

TEST(network_picture, dot_escapes_names) {
  auto r = small_network();
  r.stages[0].name = "a\"b\\N<&lt;\n\xFF";
  EXPECT_TRUE(contains(r.dot(), "label=\"a\\\"b\\\\N<&amp;lt;\\n\xEF\xBF\xBD\\nasync")) << r.dot();
  r.stages[0].name = "a\033[31m\u009B1m";
  EXPECT_TRUE(contains(r.dot(), "label=\"a [31m 1m\\nasync")) << r.dot();
}

TEST(network_picture, svg_shows_every_part) {
  auto r = after_a_run();
  r.stages[0].cluster = "input";
  r.stages[1].note = "got its own thread";
  auto const text = r.svg();
  EXPECT_EQ(fault_of_xml(text), "");
  EXPECT_TRUE(text.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"")) << text;
  for (auto part : {"viewBox=\"0 0 ", ">copy<", ">blocks<", "6 × 1 MiB, grew by 2", ">read<",
                    ">work<", ">input<", "2 MiB/s when busy", "25% busy, waits 50% + 25%",
                    "stage bottleneck", "inner bottleneck", "got its own thread", ">home<",
                    "2 threads · 2.00 s · bottleneck: work", ">waits for input<"})
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
}

TEST(network_picture, svg_before_a_run_has_no_figures) {
  auto const text = small_network().svg();
  EXPECT_EQ(fault_of_xml(text), "");
  EXPECT_FALSE(contains(text, "when busy")) << text;
  EXPECT_FALSE(contains(text, ">busy<")) << text;
  EXPECT_TRUE(contains(text, "2 at once")) << text;
}

TEST(network_picture, svg_escapes_names) {
  auto r = small_network();
  r.name = r.pools[0].name = r.stages[0].name = r.stages[0].cluster = "<a> & \"b\"\x01\xFF";
  EXPECT_EQ(fault_of_xml(r.svg()), "") << r.svg();
  EXPECT_TRUE(contains(r.svg(), ">&lt;a&gt; &amp; &quot;b&quot; \xEF\xBF\xBD<")) << r.svg();
}

TEST(network_picture, long_names_are_cut_in_boxes_and_whole_in_titles) {
  auto r = small_network();
  r.stages[0].name = "a stage that has quite a long name";
  EXPECT_TRUE(contains(r.svg(), ">a stage that has q…<")) << r.svg();
  EXPECT_TRUE(contains(r.svg(), "<title>a stage that has quite a long name:")) << r.svg();
}

TEST(network_picture, a_bar_stays_in_its_box_whatever_was_measured) {
  auto r = after_a_run();
  r.stages[0].input_wait_seconds = 1000;
  r.stages[0].busy_seconds = r.stages[0].other_wait_seconds = 0;
  EXPECT_EQ(fault_of_xml(r.svg()), "");
  EXPECT_FALSE(contains(r.svg(), "width=\"80000")) << r.svg();
  EXPECT_TRUE(contains(r.svg(), "width=\"160.0\" height=\"7.0\" rx=\"0\"")) << r.svg();
}

TEST(network_picture, cycles_and_nothing_are_drawn) {
  auto r = small_network();
  r.connections.push_back({false, 1, 0});
  r.connections.push_back({false, 1, 1});
  r.connections.push_back({false, 1, 1});
  EXPECT_EQ(fault_of_xml(r.svg()), "");
  EXPECT_TRUE(contains(r.dot(), "s1 -> s0;"));
  network_report const nothing;
  EXPECT_EQ(fault_of_xml(nothing.svg()), "");
  EXPECT_TRUE(contains(nothing.dot(), "digraph network {"));
}

}  // namespace
}  // namespace outsize::pipeline
