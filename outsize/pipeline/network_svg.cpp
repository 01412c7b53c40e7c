// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// The picture of a network as SVG, drawn here: pools are cylinders, stages are boxes, doubly
// bordered if they do not run on the shared threads, small rings are the way home. A bar in each
// stage shows how it spent the run. network_layout.hpp decides where all that lies.
// Layer: pipeline.

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include <outsize/pipeline/detail/network_figures.hpp>
#include <outsize/pipeline/detail/network_layout.hpp>
#include <outsize/pipeline/network_report.hpp>

namespace outsize::pipeline {
namespace {

using detail::format_rate;
using detail::format_share;
using detail::point;
using detail::rectangle;
using detail::shortened;
using detail::xml_text;

constexpr double pool_height = 54;
constexpr double planned_height = 52;   // of a stage before a run
constexpr double measured_height = 92;  // and after it
constexpr double header_height = 52;
constexpr double footer_height = 40;
constexpr double least_width = 660;  // of the legend

constexpr std::string_view busy_colour = "#2e9e5b";
constexpr std::string_view input_colour = "#c9ced6";
constexpr std::string_view other_colour = "#f0932b";
constexpr std::string_view bottleneck_colour = "#d63031";

std::string xml_lines(std::string_view text) {
  std::string out;
  for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1))
    out += xml_text(text.substr(0, end)) + '\n';
  return out + xml_text(text);
}

void draw_text(std::string& out, point at, std::string_view kind, std::string_view text) {
  fmt::format_to(std::back_inserter(out),
                 "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", at.x, at.y, kind,
                 xml_text(text));
}

void draw_box(std::string& out, rectangle const& r, double radius, std::string_view attributes) {
  fmt::format_to(
      std::back_inserter(out),
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{}\" {}/>\n", r.left,
      r.top, std::max(0.0, r.width), r.height, radius, attributes);
}

void draw_pool(std::string& out, network_report const& r, network_report::pool const& p,
               rectangle const& area) {
  constexpr double lid = 7;
  fmt::format_to(
      std::back_inserter(out),
      "<g><title>pool {}: {}</title>\n"
      "<path class=\"pool\" d=\"M{:.1f} {:.1f}v{:.1f}a{:.1f} {} 0 0 0 {:.1f} 0v{:.1f}\"/>\n"
      "<ellipse class=\"pool\" cx=\"{:.1f}\" cy=\"{:.1f}\" rx=\"{:.1f}\" ry=\"{}\"/>\n",
      xml_text(p.name), detail::pool_size(r, p), area.left, area.top + lid, area.height - 2 * lid,
      area.width / 2, lid, area.width, -(area.height - 2 * lid), area.left + area.width / 2,
      area.top + lid, area.width / 2, lid);
  draw_text(out, {area.left + 10, area.top + 29}, "name", shortened(p.name, 20));
  draw_text(out, {area.left + 10, area.top + 44}, "small", detail::pool_size(r, p));
  out += "</g>\n";
}

/// Time as a bar: busy, waiting for input, waiting otherwise; from the left.
void draw_bar(std::string& out, rectangle const& area, detail::stage_shares const& shares) {
  draw_box(out, area, 2, "class=\"track\"");
  double const scale =
      area.width / std::max(1.0, shares.busy + shares.input_wait + shares.other_wait);
  rectangle part{area.left, area.top, 0, area.height};
  for (auto const& [share, colour] : {std::pair{shares.busy, busy_colour},
                                      {shares.input_wait, input_colour},
                                      {shares.other_wait, other_colour}}) {
    part.width = share * scale;
    if (part.width > 0) draw_box(out, part, 0, fmt::format("fill=\"{}\"", colour));
    part.left += part.width;
  }
}

std::string work_of(network_report::stage const& s) {
  if (s.items > 0)
    return fmt::format("{} items, {}", s.items, format_rate(s.bytes, s.busy_seconds));
  return s.bytes == 0 ? fmt::format("{} buffers", s.buffers)
                      : fmt::format("{} when busy", format_rate(s.bytes, s.busy_seconds));
}

void draw_stage(std::string& out, network_report const& r, network_report::stage const& s,
                rectangle const& area, bool is_bottleneck) {
  fmt::format_to(std::back_inserter(out), "<g><title>{}: {}{}{}</title>\n", xml_text(s.name),
                 xml_text(detail::circumstances(r, s, ", ")), s.note.empty() ? "" : "; ",
                 xml_text(s.note));
  std::string const kind = fmt::format("class=\"stage{}\"", is_bottleneck ? " bottleneck" : "");
  draw_box(out, area, 6, kind);
  if (s.thread != "shared")
    draw_box(out, {area.left + 3, area.top + 3, area.width - 6, area.height - 6}, 4,
             is_bottleneck ? "class=\"inner bottleneck\"" : "class=\"inner\"");
  double const left = area.left + 12;
  draw_text(out, {left, area.top + 23}, "name", shortened(s.name, 19));
  draw_text(out, {left, area.top + 39}, "small", shortened(detail::circumstances(r, s, " · "), 30));
  if (r.has_run) {
    auto const shares = detail::shares_of(r, s);
    draw_text(out, {left, area.top + 57}, "figure", work_of(s));
    draw_bar(out, {left, area.top + 65, area.width - 24, 7}, shares);
    draw_text(out, {left, area.top + 84}, "small",
              fmt::format("{} busy, waits {} + {}", format_share(shares.busy),
                          format_share(shares.input_wait), format_share(shares.other_wait)));
  }
  out += "</g>\n";
}

/// Slanted pieces become S-curves, other corners are rounded.
std::string path_of(std::vector<point> const& corners) {
  constexpr double radius = 7;
  std::string d = fmt::format("M{:.1f} {:.1f}", corners[0].x, corners[0].y);
  auto const to = std::back_inserter(d);
  auto const sign = [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; };
  for (std::size_t i = 1; i < corners.size(); ++i) {
    point const a = corners[i - 1], b = corners[i];
    bool const upright = std::abs(a.x - b.x) < 0.05;
    if (!upright && std::abs(a.y - b.y) >= 0.05) {
      double const middle = (a.x + b.x) / 2;
      fmt::format_to(to, "C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", middle, a.y, middle, b.y,
                     b.x, b.y);
      continue;
    }
    bool const turns =
        i + 1 < corners.size() &&
        std::abs((upright ? corners[i + 1].x - b.x : corners[i + 1].y - b.y)) >= 0.05 &&
        std::abs((upright ? corners[i + 1].y - b.y : corners[i + 1].x - b.x)) < 0.05;
    if (!turns) {
      fmt::format_to(to, "L{:.1f} {:.1f}", b.x, b.y);
      continue;
    }
    point const c = corners[i + 1];
    double const r = std::min({radius, (std::abs(b.x - a.x) + std::abs(b.y - a.y)) / 2,
                               (std::abs(c.x - b.x) + std::abs(c.y - b.y)) / 2});
    fmt::format_to(to, "L{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}", b.x - r * sign(b.x - a.x),
                   b.y - r * sign(b.y - a.y), b.x, b.y, b.x + r * sign(c.x - b.x),
                   b.y + r * sign(c.y - b.y));
  }
  return d;
}

void draw_home(std::string& out, rectangle const& from) {
  double const y = from.bottom() - 11;
  fmt::format_to(std::back_inserter(out),
                 "<g><title>home</title><path class=\"edge dashed\" d=\"M{:.1f} {:.1f}h13\"/>"
                 "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" class=\"home\"/></g>\n",
                 from.right(), y, from.right() + 17, y);
}

void draw_legend(std::string& out, point at, bool has_run) {
  auto const entry = [&](std::string_view colour, std::string_view text, double width) {
    draw_box(out, {at.x, at.y - 9, 12, 10}, 2, fmt::format("fill=\"{}\"", colour));
    draw_text(out, {at.x + 18, at.y}, "small", text);
    at.x += width;
  };
  if (has_run) {
    entry(busy_colour, "busy", 64);
    entry(input_colour, "waits for input", 118);
    entry(other_colour, "waits for room, thread or turn", 200);
  }
  draw_box(out, {at.x, at.y - 9, 14, 10}, 2, "class=\"inner\"");
  draw_box(out, {at.x + 2, at.y - 7, 10, 6}, 1, "class=\"inner\"");
  draw_text(out, {at.x + 20, at.y}, "small", "not on the shared threads");
  fmt::format_to(std::back_inserter(out),
                 "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" class=\"home\"/>\n", at.x + 192,
                 at.y - 4);
  draw_text(out, {at.x + 202, at.y}, "small", "home");
}

std::string style() {
  return fmt::format(
      "<style>\n"
      "text{{font-family:system-ui,'DejaVu Sans',Verdana,sans-serif;fill:#1f2933}}\n"
      ".title{{font-size:18px;font-weight:bold}} .name{{font-size:14px;font-weight:bold}}\n"
      ".figure{{font-size:12px}} .small{{font-size:11px;fill:#52606d}}\n"
      ".stage{{fill:#fff;stroke:#3b4a5a;stroke-width:1.4}} .inner{{fill:none;stroke:#3b4a5a}}\n"
      ".stage.bottleneck{{fill:#fff5f5;stroke-width:2.2}} .bottleneck{{stroke:{}}}\n"
      ".pool{{fill:#e8f1fb;stroke:#4a7fb5;stroke-width:1.4}} .track{{fill:#f1f3f5}}\n"
      ".edge{{fill:none;stroke:#5b6b7b;stroke-width:1.5}} .dashed{{stroke-dasharray:5 3}}\n"
      ".home{{fill:#fff;stroke:#4a7fb5;stroke-width:2}}\n"
      ".cluster{{fill:#f6f8fa;stroke:#b8c2cc;stroke-dasharray:2 3}}\n"
      "</style>\n"
      "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"8\" "
      "markerHeight=\"8\" orient=\"auto\" markerUnits=\"userSpaceOnUse\">"
      "<path d=\"M0 0.5L8 4L0 7.5z\" fill=\"#5b6b7b\"/></marker></defs>\n",
      bottleneck_colour);
}

/// The connections between boxes, each once; pools come before stages.
std::vector<std::pair<std::size_t, std::size_t>> edges_of(network_report const& r) {
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for (auto const& c : r.connections) {
    std::pair const e{c.from_pool ? c.from : r.pools.size() + c.from, r.pools.size() + c.to};
    if (c.to < r.stages.size() && std::find(edges.begin(), edges.end(), e) == edges.end())
      edges.push_back(e);
  }
  return edges;
}

detail::layout layout_of(network_report const& r) {
  std::vector<detail::layout_box> boxes;
  for (std::size_t p = 0; p < r.pools.size(); ++p) boxes.push_back({pool_height, true});
  for (auto const& s : r.stages)
    boxes.push_back({r.has_run ? measured_height : planned_height, false, s.cluster});
  return detail::arrange(boxes, edges_of(r));
}

std::string headline(network_report const& r) {
  std::string out = fmt::format("{} thread{}", r.threads, r.threads == 1 ? "" : "s");
  if (r.memory.total_bytes > 0) out += " · " + detail::memory_line(r.memory);
  if (!r.has_run) return out;
  out += " · " + detail::format_seconds(r.seconds);
  if (auto const slowest = detail::bottleneck_of(r))
    out += " · bottleneck: " + shortened(r.stages[*slowest].name, 40);
  return out;
}

}  // namespace

std::string network_report::svg() const {
  auto const places = layout_of(*this);
  auto const slowest = has_run ? detail::bottleneck_of(*this) : std::nullopt;
  double const width = std::max(places.width, least_width);
  double const height = places.height + header_height + footer_height;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n<title>{2}</title>\n{3}"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      width, height, xml_text(name), style());
  draw_text(out, {24, 32}, "title", shortened(name, 60));
  out += fmt::format("<g><title>{}</title>\n",
                     xml_lines(memory.total_bytes > 0 ? memory.explain() : headline(*this)));
  draw_text(out, {24, 50}, "figure", headline(*this));
  out += "</g>\n";
  out += fmt::format("<g transform=\"translate(0 {:.0f})\">\n", header_height);
  for (auto const& o : places.outlines) {
    draw_box(out, o.area, 8, "class=\"cluster\"");
    draw_text(out, {o.area.left + 8, o.area.top + 15}, "small", shortened(o.cluster, 26));
  }
  auto const edges = edges_of(*this);
  for (std::size_t e = 0; e < edges.size(); ++e)
    out += fmt::format("<path class=\"edge{}\" marker-end=\"url(#tip)\" d=\"{}\"/>\n",
                       edges[e].first < pools.size() ? " dashed" : "", path_of(places.routes[e]));
  for (std::size_t i : detail::last_stages(*this)) draw_home(out, places.boxes[pools.size() + i]);
  for (std::size_t p = 0; p < pools.size(); ++p) draw_pool(out, *this, pools[p], places.boxes[p]);
  for (std::size_t i = 0; i < stages.size(); ++i)
    draw_stage(out, *this, stages[i], places.boxes[pools.size() + i], slowest == i);
  out += "</g>\n";
  draw_legend(out, {24, height - 18}, has_run);
  return out + "</svg>\n";
}

}  // namespace outsize::pipeline
