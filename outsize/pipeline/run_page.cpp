// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/pipeline/run_page.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>

#include <outsize/base/units.hpp>
#include <outsize/pipeline/detail/network_figures.hpp>

namespace outsize::pipeline {
namespace {

constexpr double chart_width = 900, chart_height = 120;

constexpr std::string_view style =
    "<style>body{font-family:system-ui,'DejaVu Sans',Verdana,sans-serif;color:#1f2933;margin:24px}"
    "table{border-collapse:collapse;margin:8px 0}td,th{padding:3px 10px;text-align:right;"
    "border-bottom:1px solid #dde3e9;font-size:13px}td:first-child,th:first-child{text-align:left}"
    "tr.slowest td{background:#fff0f0}h2{font-size:16px;margin-top:28px}"
    "svg{max-width:100%;height:auto}.axis{font-size:11px;fill:#52606d}</style>";

std::string html_text(std::string_view text) {
  std::string out;
  for (char const c : detail::shortened(text, text.size() + 1)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// One curve: a value for each bin, as a rate.
struct curve {
  std::string_view name, colour;
  double io::load_totals::*of;
};

std::string path_of(std::span<io::load_totals const> bins, double io::load_totals::*of,
                    double most) {
  std::string d = fmt::format("M0 {}", chart_height);
  double const step = chart_width / static_cast<double>(std::max<std::size_t>(1, bins.size()));
  for (std::size_t i = 0; i < bins.size(); ++i) {
    double const y = chart_height * (1 - std::min(1.0, bins[i].*of / most));
    fmt::format_to(std::back_inserter(d), "L{:.1f} {:.1f}L{:.1f} {:.1f}",
                   static_cast<double>(i) * step, y, static_cast<double>(i + 1) * step, y);
  }
  return d + fmt::format("L{} {}", chart_width, chart_height);
}

/// A chart of some curves over time, on one scale.
std::string chart(io::load_series const& load, std::span<curve const> curves,
                  std::string (*scale)(double most_per_second)) {
  auto const bins = load.bins();
  double most = 0;
  for (curve const& c : curves)
    for (auto const& b : bins) most = std::max(most, b.*c.of);
  if (most == 0) return "<p>nothing was measured</p>\n";
  std::string out = fmt::format("<svg viewBox=\"0 -16 {} {}\" width=\"{}\" role=\"img\">\n",
                                chart_width, chart_height + 36, chart_width);
  double x = 0;
  for (curve const& c : curves) {
    fmt::format_to(std::back_inserter(out),
                   "<path d=\"{}\" fill=\"{}\" fill-opacity=\"0.25\" stroke=\"{}\"/>\n"
                   "<text class=\"axis\" x=\"{}\" y=\"{}\" style=\"fill:{}\">{}</text>\n",
                   path_of(bins, c.of, most), c.colour, c.colour, x + 60, chart_height + 16,
                   c.colour, c.name);
    x += 90;
  }
  fmt::format_to(std::back_inserter(out),
                 "<text class=\"axis\" x=\"0\" y=\"-4\">{}</text>\n"
                 "<text class=\"axis\" x=\"0\" y=\"{}\">0 s</text>\n"
                 "<text class=\"axis\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text></svg>\n",
                 scale(most / load.bin_seconds()), chart_height + 16, chart_width,
                 chart_height + 16,
                 detail::format_seconds(static_cast<double>(bins.size()) * load.bin_seconds()));
  return out;
}

std::string table_of(network_report const& r) {
  std::string out =
      "<table><tr><th>stage</th><th>items</th><th>bytes</th><th>busy</th><th>waits for input</th>"
      "<th>other waits</th><th>notes</th></tr>\n";
  auto const slowest = detail::bottleneck_of(r);
  for (std::size_t i = 0; i < r.stages.size(); ++i) {
    auto const& s = r.stages[i];
    fmt::format_to(std::back_inserter(out),
                   "<tr{}><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
                   "<td>{}</td></tr>\n",
                   slowest == i ? " class=\"slowest\"" : "", html_text(s.name), s.items,
                   format_bytes(s.bytes), detail::format_seconds(s.busy_seconds),
                   detail::format_seconds(s.input_wait_seconds),
                   detail::format_seconds(s.other_wait_seconds), html_text(s.note));
  }
  return out + "</table>\n";
}

std::string table_of(std::span<run_page::volume const> volumes) {
  std::string out = "<table><tr><th>volume</th><th>predicted</th><th>measured</th></tr>\n";
  for (auto const& v : volumes)
    fmt::format_to(std::back_inserter(out), "<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                   html_text(v.name), format_bytes(v.predicted_bytes),
                   format_bytes(v.measured_bytes));
  return out + "</table>\n";
}

}  // namespace

std::string run_page::html() const {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n{1}\n"
      "</head><body>\n<h1>{0}</h1>\n<table>\n",
      html_text(title), style);
  for (auto const& [name, value] : facts)
    out += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", html_text(name), html_text(value));
  out += "</table>\n<h2>Disks</h2>\n";
  constexpr curve disks[] = {{"read", "#2e6fb5", &io::load_totals::read_bytes},
                             {"written", "#c0562b", &io::load_totals::written_bytes}};
  out += chart(load, disks,
               [](double most) { return format_bytes(static_cast<std::uint64_t>(most)) + "/s"; });
  constexpr curve processors[] = {{"processors", "#2e9e5b", &io::load_totals::cpu_seconds}};
  out += "<h2>Processors</h2>\n" +
         chart(load, processors, [](double most) { return fmt::format("{:.1f} busy", most); });
  if (!volumes.empty()) out += "<h2>Volume of I/O</h2>\n" + table_of(volumes);
  for (network_report const& n : networks)
    out += fmt::format("<h2>{}</h2>\n{}\n{}", html_text(n.name), n.svg(), table_of(n));
  return out + "</body></html>\n";
}

}  // namespace outsize::pipeline
