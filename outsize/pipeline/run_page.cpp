// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/pipeline/run_page.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/pipeline/detail/chart_axes.hpp>
#include <outsize/pipeline/detail/network_figures.hpp>

namespace outsize::pipeline {
namespace {

constexpr double chart_width = 900, chart_height = 120;

// Pictures of networks are drawn for white paper; in the dark their colours are turned.
constexpr std::string_view style = R"(<style>
:root{color-scheme:light dark;--paper:#fff;--text:#1f2933;--faint:#52606d;--line:#dde3e9;
--slowest:#fff0f0;--read:#2e6fb5;--written:#c0562b;--busy:#2e9e5b}
@media(prefers-color-scheme:dark){:root{--paper:#171717;--text:#e3e7eb;--faint:#9aa5b1;
--line:#333a42;--slowest:#452626;--read:#6ea8e6;--written:#e88a5f;--busy:#5cc389}
.network svg{filter:invert(.91) hue-rotate(180deg)}}
body{font-family:system-ui,'DejaVu Sans',Verdana,sans-serif;font-size:14px;margin:24px;
color:var(--text);background:var(--paper)}
h1{font-size:24px;overflow-wrap:anywhere}h2{font-size:17px;margin-top:32px}
table{border-collapse:collapse;margin:8px 0}
td,th{padding:3px 12px;font-size:13px;text-align:right;border-bottom:1px solid var(--line)}
td:first-child,th:first-child,.facts td,.note{text-align:left}
.facts td{overflow-wrap:anywhere}.facts td:first-child,th{color:var(--faint);font-weight:normal}
.facts td:first-child{white-space:nowrap;vertical-align:top}
tr.slowest td{background:var(--slowest)}
.listing td{white-space:nowrap}.listing td,.listing th{padding:3px 7px}
svg{max-width:100%;height:auto}.network{margin:20px 0}
.axis{font-size:11px;fill:var(--faint)}.grid{stroke:var(--line)}.curve{fill-opacity:.25}
</style>)";

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

/// Lines for nothing, half and the most, and times.
void add_grid(std::string& out, double seconds, std::string_view most) {
  for (double const share : {0.0, 0.5, 1.0}) {
    double const y = chart_height * share;
    fmt::format_to(std::back_inserter(out), "<path class=\"grid\" d=\"M0 {}H{}\"/>\n", y,
                   chart_width);
  }
  detail::add_axis_text(out, 0, -5, "start", most);
  detail::add_times(out, 0, chart_width, chart_height + 16, seconds);
}

/// A chart of some curves over time, on one scale.
std::string chart(io::load_series const& load, std::span<curve const> curves,
                  std::string (*scale)(double most_per_second)) {
  auto const bins = load.bins();
  double most = 0;
  for (curve const& c : curves)
    for (auto const& b : bins) most = std::max(most, b.*c.of);
  if (most == 0) return "<p>nothing was measured</p>\n";
  std::string out = fmt::format("<svg viewBox=\"0 -18 {} {}\" width=\"{}\" role=\"img\">\n",
                                chart_width, chart_height + 38, chart_width);
  add_grid(out, static_cast<double>(bins.size()) * load.bin_seconds(),
           scale(most / load.bin_seconds()));
  double x = chart_width;
  for (curve const& c : curves) {
    fmt::format_to(std::back_inserter(out),
                   "<path class=\"curve\" d=\"{0}\" style=\"fill:{1};stroke:{1}\"/>\n"
                   "<text class=\"axis\" x=\"{2}\" y=\"-5\" text-anchor=\"end\" "
                   "style=\"fill:{1}\">■ {3}</text>\n",
                   path_of(bins, c.of, most), c.colour, x, c.name);
    x -= 90;
  }
  return out + "</svg>\n";
}

/// A table. Columns in which only the heading is filled are left out, those from `notes` on are
/// text.
class table {
 public:
  table(std::vector<std::string> headings, std::size_t notes)
      : headings_(std::move(headings)), notes_(notes), is_used_(headings_.size(), false) {}

  void add(std::vector<std::string> cells, bool is_slowest = false) {
    for (std::size_t c = 0; c < cells.size(); ++c) is_used_[c] = is_used_[c] || !cells[c].empty();
    rows_.emplace_back(std::move(cells), is_slowest);
  }

  std::string html(std::string_view kind = "") const {
    std::string out = kind.empty() ? "<table>" : fmt::format("<table class=\"{}\">", kind);
    out += "<tr>" + cells_of(headings_, "th") + "</tr>\n";
    for (auto const& [cells, is_slowest] : rows_)
      out += (is_slowest ? "<tr class=\"slowest\">" : "<tr>") + cells_of(cells, "td") + "</tr>\n";
    return out + "</table>\n";
  }

 private:
  template <typename Cells>
  std::string cells_of(Cells const& cells, std::string_view kind) const {
    std::string out;
    for (std::size_t c = 0; c < cells.size(); ++c)
      if (is_used_[c])
        fmt::format_to(std::back_inserter(out), "<{0}{1}>{2}</{0}>", kind,
                       c >= notes_ ? " class=\"note\"" : "", detail::xml_text(cells[c]));
    return out;
  }

  std::vector<std::string> headings_;
  std::size_t notes_;
  std::vector<bool> is_used_;
  std::vector<std::pair<std::vector<std::string>, bool>> rows_ = {};
};

std::string bytes_or_none(std::uint64_t bytes) { return bytes == 0 ? "" : format_bytes(bytes); }

std::string table_of(network_report const& r) {
  table rows(
      {"stage", "items", "bytes", "busy", "waits for input", "other waits", "memory", "notes"}, 7);
  auto const slowest = detail::bottleneck_of(r);
  for (std::size_t i = 0; i < r.stages.size(); ++i) {
    auto const& s = r.stages[i];
    rows.add({s.name, s.items == 0 ? "" : fmt::format("{}", s.items), bytes_or_none(s.bytes),
              detail::format_seconds(s.busy_seconds), detail::format_seconds(s.input_wait_seconds),
              detail::format_seconds(s.other_wait_seconds), detail::memory_of(s), s.note},
             slowest == i);
  }
  return rows.html();
}

std::string table_of(std::span<run_page::volume const> volumes) {
  table rows({"volume", "predicted", "measured", "notes"}, 3);
  for (auto const& v : volumes)
    rows.add({v.name, v.predicted_bytes ? format_bytes(*v.predicted_bytes) : "",
              format_bytes(v.measured_bytes), v.note});
  return rows.html();
}

std::string table_of(run_page::listing const& l) {
  table rows(l.headings, l.headings.size());
  for (auto const& cells : l.rows) rows.add(cells);
  return rows.html("listing");
}

std::string heading(std::string_view text) {
  return fmt::format("<h2>{}</h2>\n", detail::xml_text(text));
}

}  // namespace

std::string run_page::html() const {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>{0}</title>\n{1}\n"
      "</head><body>\n<h1>{0}</h1>\n<table class=\"facts\">\n",
      detail::xml_text(title), style);
  for (auto const& [name, value] : facts)
    out += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", detail::xml_text(name),
                       detail::xml_text(value));
  out += "</table>\n";
  for (figure const& f : figures) {
    out += heading(f.title) + f.svg;
    if (!f.note.empty()) out += fmt::format("<p>{}</p>\n", detail::xml_text(f.note));
  }
  out += heading("Disks");
  constexpr curve disks[] = {{"written", "var(--written)", &io::load_totals::written_bytes},
                             {"read", "var(--read)", &io::load_totals::read_bytes}};
  out += chart(load, disks,
               [](double most) { return format_bytes(static_cast<std::uint64_t>(most)) + "/s"; });
  constexpr curve processors[] = {{"busy", "var(--busy)", &io::load_totals::cpu_seconds}};
  out += heading("Processors") +
         chart(load, processors, [](double most) { return fmt::format("{:.1f} busy", most); });
  if (!volumes.empty()) out += heading("Volume of I/O") + table_of(volumes);
  for (listing const& l : listings) out += heading(l.title) + table_of(l);
  if (!networks.empty()) out += heading("Networks");
  for (network_report const& n : networks)
    out += "<div class=\"network\">\n" + n.svg() + table_of(n) + "</div>\n";
  return out + "</body></html>\n";
}

}  // namespace outsize::pipeline
