// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// Traces in Chrome's trace event format: https://ui.perfetto.dev and chrome://tracing show them.
// Layer: pipeline.

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/base/printable_text.hpp>
#include <outsize/io/timeline.hpp>
#include <outsize/pipeline/detail/network_figures.hpp>
#include <outsize/pipeline/network_report.hpp>

namespace outsize::pipeline {
namespace {

/// @pre `character` is one of at most three bytes, as are all that cannot be shown.
unsigned code_point(std::string_view character) noexcept {
  auto const byte = [&](std::size_t at) { return static_cast<unsigned char>(character[at]); };
  if (character.size() == 1) return byte(0);
  if (character.size() == 2) return (byte(0) & 0x1fU) << 6U | (byte(1) & 0x3fU);
  return (byte(0) & 0x0fU) << 12U | (byte(1) & 0x3fU) << 6U | (byte(2) & 0x3fU);
}

/// What would steer a terminal that shows it is escaped.
std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (std::string_view const c : detail::characters_of(text)) {
    if (c == "\"" || c == "\\") {
      out += '\\';
      out += c;
    } else if (!is_printable(c)) {
      out += fmt::format("\\u{:04x}", code_point(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// Threads that ran one stage only are called after it, and so are lanes.
std::map<std::size_t, std::string> thread_names(network_report const& r) {
  std::map<std::size_t, std::size_t> only_stage;
  for (auto const& e : r.trace) {
    auto const [known, is_new] = only_stage.try_emplace(e.thread, e.stage);
    if (!is_new && known->second != e.stage) known->second = r.stages.size();
  }
  std::map<std::size_t, std::string> names;
  for (auto const& [thread, stage] : only_stage) {
    std::string const of = stage < r.stages.size() ? r.stages[stage].name : std::string();
    names[thread] = thread >= first_lane ? fmt::format("{} {}", of, thread % first_lane)
                    : of.empty()         ? fmt::format("worker {}", thread)
                                         : fmt::format("worker {}: {}", thread, of);
  }
  return names;
}

/// The text of a trace: processes, their threads, what those did. Names are quoted already.
class trace_text {
 public:
  /// `other` is what stands in "otherData".
  explicit trace_text(std::string const& other)
      : out_(fmt::format("{{\"displayTimeUnit\":\"ms\",\"otherData\":{{{}}},\"traceEvents\":[\n",
                         other)) {}

  void name_process(std::size_t process, std::string const& name) {
    add(R"({{"ph":"M","pid":{},"tid":0,"name":"process_name","args":{{"name":{}}}}})", process,
        name);
  }
  void name_thread(std::size_t process, std::size_t thread, std::string const& name) {
    add(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", process,
        thread, name);
  }

  struct place {
    std::size_t process;
    std::size_t thread;
  };
  struct stretch {
    std::int64_t begin_ns;
    std::int64_t end_ns;
  };
  /// `measure` is a number of its own that each event has, such as its round.
  void add_event(place where, std::string const& name, stretch when,
                 std::pair<char const*, std::uint64_t> measure) {
    add(R"({{"ph":"X","pid":{},"tid":{},"name":{},"ts":{:.3f},"dur":{:.3f},"args":{{"{}":{}}}}})",
        where.process, where.thread, name, static_cast<double>(when.begin_ns) * 1e-3,
        static_cast<double>(when.end_ns - when.begin_ns) * 1e-3, measure.first, measure.second);
  }

  std::string finish() && { return std::move(out_) + "\n]}\n"; }

 private:
  template <typename... T>
  void add(fmt::format_string<T...> format, T&&... values) {
    if (!std::exchange(is_first_, false)) out_ += ",\n";
    out_ += fmt::format(format, std::forward<T>(values)...);
  }

  std::string out_;
  bool is_first_ = true;
};

/// Its steps, `shift_ns` later.
void add_network(trace_text& to, std::size_t process, network_report const& r,
                 std::int64_t shift_ns) {
  to.name_process(process, json_string(r.name));
  for (auto const& [thread, called] : thread_names(r))
    to.name_thread(process, thread, json_string(called));
  std::vector<std::string> quoted;
  for (auto const& s : r.stages) quoted.push_back(json_string(s.name));
  for (auto const& e : r.trace)
    to.add_event({process, e.thread}, quoted[e.stage], {e.begin_ns + shift_ns, e.end_ns + shift_ns},
                 {"round", e.round});
}

std::string dropped_text(std::uint64_t dropped) {
  return dropped == 0 ? std::string() : fmt::format(",\"dropped events\":\"{}\"", dropped);
}

// ---- I/O ----

/// Events of one kind and track. Those that overlap get different rows: each the first that is
/// free.
struct io_rows {
  std::string name;
  std::vector<io::timed_event> events;
};

/// The reads and writes of each track, then the waits of all.
std::vector<io_rows> rows_of(io::timeline const& io) {
  using kind = io::timed_event::kind;
  auto const tracks = io.tracks();
  std::vector<io_rows> rows;
  for (std::string const& track : tracks) {
    rows.push_back({track + ", reading", {}});
    rows.push_back({track + ", writing", {}});
  }
  rows.push_back({"waiting", {}});
  for (io::timed_event const& e : io.events())
    rows[e.what == kind::wait ? rows.size() - 1 : 2 * e.track + (e.what == kind::write ? 1 : 0)]
        .events.push_back(e);
  for (io_rows& r : rows) std::ranges::stable_sort(r.events, {}, &io::timed_event::begin_ns);
  return rows;
}

void add_io(trace_text& to, std::size_t process, std::vector<io_rows> const& rows,
            std::int64_t begin_ns) {
  to.name_process(process, R"("I/O")");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::size_t const first_row = first_lane * (r + 1);
    std::string const name = json_string(rows[r].name);
    std::vector<std::int64_t> free_from_ns;
    for (io::timed_event const& e : rows[r].events) {
      auto lane = std::ranges::find_if(free_from_ns, [&](auto end) { return end <= e.begin_ns; });
      std::size_t const row = first_row + static_cast<std::size_t>(lane - free_from_ns.begin());
      if (lane == free_from_ns.end()) {
        to.name_thread(process, row,
                       json_string(fmt::format("{} {}", rows[r].name, row - first_row)));
        lane = free_from_ns.insert(lane, 0);
      }
      *lane = e.end_ns;
      to.add_event({process, row}, name, {e.begin_ns - begin_ns, e.end_ns - begin_ns},
                   {"bytes", e.bytes});
    }
  }
}

}  // namespace

std::string network_report::chrome_trace() const {
  trace_text text("\"network\":" + json_string(name) + dropped_text(trace_dropped));
  add_network(text, 1, *this, 0);
  return std::move(text).finish();
}

std::string chrome_trace(std::span<network_report const> networks, io::timeline const& io) {
  auto const rows = rows_of(io);
  std::int64_t begin_ns = INT64_MAX;
  std::uint64_t dropped = io.dropped();
  for (network_report const& r : networks) {
    if (r.has_run) begin_ns = std::min(begin_ns, r.begin_ns);
    dropped += r.trace_dropped;
  }
  for (io_rows const& r : rows)
    if (!r.events.empty()) begin_ns = std::min(begin_ns, r.events.front().begin_ns);

  trace_text text(fmt::format("\"networks\":\"{}\"{}", networks.size(), dropped_text(dropped)));
  for (std::size_t i = 0; i < networks.size(); ++i)
    add_network(text, i + 1, networks[i], networks[i].begin_ns - begin_ns);
  add_io(text, networks.size() + 1, rows, begin_ns);
  return std::move(text).finish();
}

}  // namespace outsize::pipeline
