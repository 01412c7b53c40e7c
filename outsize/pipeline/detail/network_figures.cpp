// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/pipeline/detail/network_figures.hpp>

#include <fmt/format.h>
#include <algorithm>

#include <outsize/base/printable_text.hpp>
#include <outsize/base/units.hpp>

namespace outsize::pipeline::detail {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

double busy_per_replica(network_report::stage const& s) {
  return s.busy_seconds / static_cast<double>(std::max<std::size_t>(1, s.most_at_once));
}

}  // namespace

stage_shares shares_of(network_report const& r, network_report::stage const& s) {
  double const whole = r.seconds * static_cast<double>(std::max<std::size_t>(1, s.most_at_once));
  if (!(whole > 0)) return {};
  return {s.busy_seconds / whole, s.input_wait_seconds / whole, s.other_wait_seconds / whole};
}

std::optional<std::size_t> bottleneck_of(network_report const& r) {
  std::optional<std::size_t> slowest;
  double most = 0;
  for (std::size_t i = 0; i < r.stages.size(); ++i) {
    double const busy = busy_per_replica(r.stages[i]);
    if (!(busy > most)) continue;
    most = busy;
    slowest = i;
  }
  return slowest;
}

std::string memory_line(memory_report const& memory) {
  return fmt::format("{} of {} of memory", format_bytes(memory.total_bytes - memory.free_bytes),
                     format_bytes(memory.total_bytes));
}

double threads_share(network_report const& r) {
  double busy = 0;
  for (auto const& s : r.stages) {
    bool const counts_for_nothing = s.kind == "asynchronous" || s.kind == "external" ||
                                    (s.kind == "stage" && s.thread == "own");
    if (!counts_for_nothing) busy += s.busy_seconds;
  }
  double const whole = r.seconds * static_cast<double>(r.threads);
  return whole > 0 ? busy / whole : 0;
}

std::string format_rate(std::uint64_t bytes, double seconds) {
  if (!(seconds > 0)) return "-";
  double const rate = std::min(static_cast<double>(bytes) / seconds, 0x1p63);
  return format_bytes(static_cast<std::uint64_t>(rate)) + "/s";
}

std::string format_seconds(double seconds) {
  if (!(seconds > 0)) return "0 s";
  if (seconds >= 99.95) return fmt::format("{:.0f} s", seconds);
  if (seconds >= 9.995) return fmt::format("{:.1f} s", seconds);
  if (seconds >= 0.9995) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 9.95e-3) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds >= 0.9995e-3) return fmt::format("{:.1f} ms", seconds * 1e3);
  return fmt::format("{:.0f} us", seconds * 1e6);
}

std::string format_share(double share) { return fmt::format("{:.0f}%", share * 100); }

std::vector<std::string_view> characters_of(std::string_view text) {
  std::vector<std::string_view> characters;
  while (!text.empty()) {
    std::size_t const bytes = utf8_character_bytes(text);
    characters.push_back(bytes == 0 ? replacement : text.substr(0, bytes));
    text.remove_prefix(std::max<std::size_t>(1, bytes));
  }
  return characters;
}

std::string shortened(std::string_view text, std::size_t most) {
  auto const characters = characters_of(text);
  bool const whole = characters.size() <= most;
  std::string line;
  for (std::size_t i = 0; i < (whole ? characters.size() : most - 1); ++i) {
    line += is_printable(characters[i]) ? characters[i] : " ";
  }
  if (!whole) line += "…";
  return line;
}

std::string xml_text(std::string_view text) {
  std::string out;
  for (char const c : shortened(text, text.size() + 1)) {
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

std::string memory_of(network_report::stage const& s) {
  return s.granted_bytes == 0
             ? ""
             : fmt::format("{} of {}", format_bytes(s.used_bytes), format_bytes(s.granted_bytes));
}

std::string circumstances(network_report const& r, network_report::stage const& s,
                          std::string_view separator) {
  std::string out = s.kind;
  if (s.thread != "shared") {
    out += separator;
    out += s.thread == "own" ? "own thread" : s.thread;
  }
  if (s.replicas > 1) {
    out += separator;
    out += r.has_run ? fmt::format("{} of {} at once", s.most_at_once, s.replicas)
                     : fmt::format("{} at once", s.replicas);
  }
  if (s.granted_bytes > 0) (out += separator) += memory_of(s);
  return out;
}

std::string pool_size(network_report const& r, network_report::pool const& p) {
  std::string out = fmt::format("{} × {}", p.count, format_bytes(p.buffer_bytes));
  if (r.has_run && p.count > p.first_count)
    out += fmt::format(", grew by {}", p.count - p.first_count);
  return out;
}

std::set<std::size_t> last_stages(network_report const& r) {
  std::set<std::size_t> stages;
  for (auto const& c : r.connections)
    if (!c.from_pool && c.to == r.stages.size()) stages.insert(c.from);
  return stages;
}

}  // namespace outsize::pipeline::detail
