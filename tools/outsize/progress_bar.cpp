// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/progress_bar.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cstdio>

#include <outsize/base/units.hpp>

namespace outsize::tool {
namespace {

constexpr int bar_width = 24;

char const* phase_name(sort_progress::phase phase) {
  switch (phase) {
    case sort_progress::phase::forming_runs:
      return "reading";
    case sort_progress::phase::merging_runs:
      return "merging";
    case sort_progress::phase::writing_output:
      return "writing";
    case sort_progress::phase::done:
      return "done";
  }
  return "";
}

}  // namespace

std::string progress_line(sort_progress const& now, double elapsed_seconds) {
  double const rate =
      elapsed_seconds > 0 ? static_cast<double>(now.done_bytes) / elapsed_seconds : 0;
  auto const rate_text = format_bytes(static_cast<std::uint64_t>(rate));
  if (now.total_bytes == 0)
    return fmt::format("{:<8} {}  {}/s", phase_name(now.now), format_bytes(now.done_bytes),
                       rate_text);
  double const share =
      std::min(1.0, static_cast<double>(now.done_bytes) / static_cast<double>(now.total_bytes));
  int const filled = static_cast<int>(share * bar_width);
  std::string line =
      fmt::format("{:<8} [{:#<{}}{:.<{}}] {:3.0f} %  {} of {}  {}/s", phase_name(now.now), "",
                  filled, "", bar_width - filled, share * 100, format_bytes(now.done_bytes),
                  format_bytes(now.total_bytes), rate_text);
  if (share > 0.02) line += fmt::format("  {:.0f} s left", elapsed_seconds * (1 - share) / share);
  return line;
}

void progress_bar::show(sort_progress const& now) {
  auto const moment = clock::now();
  if (moment - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = moment;
  double const elapsed = std::chrono::duration<double>(moment - begin_).count();
  fmt::print(stderr, "\r{}\x1b[K", progress_line(now, elapsed));
  std::fflush(stderr);
}

progress_bar::~progress_bar() {
  if (drawn_ != clock::time_point{}) fmt::print(stderr, "\r\x1b[K");
}

}  // namespace outsize::tool
