// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// The report as text; network_dot.cpp and network_svg.cpp have the pictures, network_trace.cpp the
// trace.
// Layer: pipeline.

#include <outsize/pipeline/network_report.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <string_view>

#include <outsize/base/units.hpp>
#include <outsize/pipeline/detail/network_figures.hpp>

namespace outsize::pipeline {
namespace {

using detail::format_rate;
using detail::format_seconds;
using detail::shortened;
using row = std::vector<std::string>;

constexpr std::size_t text_columns = 100;
constexpr std::size_t name_columns = 32;

/// Columns that are aligned, the first `left` of them to the left. The first one, which holds
/// names, is shortened if the others leave it too little.
std::string table(std::vector<row> rows, std::size_t left) {
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (row const& r : rows)
    for (std::size_t c = 0; c < r.size(); ++c)
      widths[c] = std::max(widths[c], detail::characters_of(r[c]).size());
  std::size_t others = 0;
  for (std::size_t c = 1; c < widths.size(); ++c) others += 2 + widths[c];
  std::size_t const room = text_columns - std::min(text_columns - 10, 2 + others);
  widths[0] = std::min({widths[0], room, name_columns});

  std::string out;
  for (row const& r : rows) {
    std::string line = fmt::format("  {:<{}}", shortened(r[0], widths[0]), widths[0]);
    for (std::size_t c = 1; c < r.size(); ++c) {
      line += "  ";
      line += c < left ? fmt::format("{:<{}}", r[c], widths[c])
                       : fmt::format("{:>{}}", r[c], widths[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

std::string pool_table(network_report const& r) {
  std::vector<row> rows{{"pool", "buffer", "count"}};
  if (r.has_run) rows[0].insert(rows[0].end(), {"grew by", "buffers sent"});
  for (auto const& p : r.pools) {
    rows.push_back({p.name, format_bytes(p.buffer_bytes), fmt::format("{}", p.count)});
    if (!r.has_run) continue;
    rows.back().push_back(fmt::format("{}", p.count - std::min(p.count, p.first_count)));
    rows.back().push_back(fmt::format("{}", p.buffers_sent));
  }
  return table(std::move(rows), 1);
}

std::string stage_table(network_report const& r) {
  std::vector<row> rows{{"stage", "kind", "thread", "at once"}};
  for (auto const& s : r.stages)
    rows.push_back({s.name, s.kind, shortened(s.thread, name_columns),
                    r.has_run ? fmt::format("{} of {}", s.most_at_once, s.replicas)
                              : fmt::format("{}", s.replicas)});
  return table(std::move(rows), 3);
}

std::string work_table(network_report const& r) {
  std::vector<row> rows{
      {"stage", "buffers", "bytes", "when busy", "overall", "busy", "no input", "other wait"}};
  auto const time = [](double seconds, double share) {
    return fmt::format("{} {:>4}", format_seconds(seconds), detail::format_share(share));
  };
  for (auto const& s : r.stages) {
    auto const shares = detail::shares_of(r, s);
    rows.push_back({s.name, fmt::format("{}", s.buffers), format_bytes(s.bytes),
                    format_rate(s.bytes, s.busy_seconds), format_rate(s.bytes, r.seconds),
                    time(s.busy_seconds, shares.busy),
                    time(s.input_wait_seconds, shares.input_wait),
                    time(s.other_wait_seconds, shares.other_wait)});
  }
  return table(std::move(rows), 1);
}

/// What feeds stage `i`; "home" is named where its buffers go there.
std::vector<std::string> neighbours(network_report const& r, std::size_t i) {
  std::vector<std::string> names;
  bool goes_home = false;
  for (auto const& c : r.connections) {
    if (c.to == i)
      names.push_back(c.from_pool ? "pool " + shortened(r.pools[c.from].name, name_columns)
                                  : shortened(r.stages[c.from].name, name_columns));
    goes_home = goes_home || (!c.from_pool && c.from == i && c.to == r.stages.size());
  }
  if (names.empty()) names.emplace_back("nothing");
  for (std::size_t n = 0; n + 1 < names.size(); ++n) names[n] += ',';
  if (goes_home) names.emplace_back("-> home");
  return names;
}

std::string connection_list(network_report const& r) {
  std::size_t width = 0;
  for (auto const& s : r.stages)
    width = std::max(width, detail::characters_of(shortened(s.name, name_columns)).size());
  std::string out;
  for (std::size_t i = 0; i < r.stages.size(); ++i) {
    out += fmt::format("  {:<{}} <-", shortened(r.stages[i].name, name_columns), width);
    std::size_t const indent = width + 5;
    std::size_t column = indent;
    for (std::string const& name : neighbours(r, i)) {
      std::size_t const length = detail::characters_of(name).size() + 1;
      if (column + length > text_columns) {
        out += fmt::format("\n{:{}}", "", indent);
        column = indent;
      }
      out += ' ' + name;
      column += length;
    }
    out += '\n';
  }
  return out;
}

/// `text` in lines, further ones below `indent` spaces.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    std::size_t const end = std::min(text.find(' '), text.size());
    std::string_view const word = text.substr(0, end);
    std::size_t const length = detail::characters_of(word).size();
    if (column > indent && column + 1 + length > text_columns) {
      out += fmt::format("\n{:{}}", "", indent);
      column = indent;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += length;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + '\n';
}

std::string notes(network_report const& r) {
  std::string out;
  for (auto const& s : r.stages)
    if (!s.note.empty())
      out +=
          "  " +
          wrapped(shortened(s.name, name_columns) + ": " + shortened(s.note, s.note.size() + 1), 4);
  return out.empty() ? out : "\nnotes\n" + out;
}

std::string advice(network_report const& r, network_report::stage const& s) {
  double const share = detail::shares_of(r, s).busy;
  double const threads = detail::threads_share(r);
  if (s.kind == "asynchronous" && share >= 0.5)
    return "it waits for the disk (or whatever ends its steps), so try larger buffers, a greater "
           "depth or more disks";
  if (threads >= 0.85)
    return fmt::format(
        "the threads together were busy for {} of the time, so try more of them, or make it faster",
        detail::format_share(threads));
  if (share < 0.5 && r.pools.empty()) return "even it waited for most of the time";
  if (share < 0.5)
    return "even it waited for most of the time, so try more buffers, or larger ones";
  if (s.kind == "external") return "it is driven by the caller's thread, which sets the pace";
  if (s.kind == "node")
    return "a node runs once, so move work into the stages around it or fork its lines";
  if (s.most_at_once < s.replicas)
    return "it may run more often at once than it did, so try more buffers or threads";
  return "try to replicate it, if its calls do not depend on each other, or to divide it";
}

std::string verdict_on(network_report const& r) {
  auto const slowest = detail::bottleneck_of(r);
  if (!slowest) return "No stage was busy for any time that could be measured.\n";
  auto const& s = r.stages[*slowest];
  return wrapped(fmt::format("The bottleneck is \"{}\", busy for {} of the time: {}.",
                             shortened(s.name, name_columns),
                             detail::format_share(detail::shares_of(r, s).busy), advice(r, s)),
                 0);
}

}  // namespace

std::string network_report::explain() const {
  std::string out = fmt::format("network {}: {} thread{}, ", shortened(name, 60), threads,
                                threads == 1 ? "" : "s");
  out += has_run ? format_seconds(seconds) + '\n' : "not run yet\n";
  if (!pools.empty()) out += '\n' + pool_table(*this);
  if (stages.empty()) return out + "\nIt has no stages.\n";
  out += '\n' + stage_table(*this);
  out += "\nwhat feeds what\n" + connection_list(*this);
  std::string const division = memory.total_bytes > 0 ? '\n' + memory.explain() : "";
  if (!has_run) return out + division;
  out += '\n' + work_table(*this);
  out +=
      "  Shares are of the run, times the most at once. Other waits: for room, a thread or a "
      "turn.\n";
  return out + notes(*this) + '\n' + verdict_on(*this) + division;
}

}  // namespace outsize::pipeline
