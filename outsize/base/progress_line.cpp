// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/progress_line.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <outsize/base/units.hpp>

namespace outsize {

std::string progress_text(std::string_view what, std::uint64_t done_bytes,
                          std::uint64_t total_bytes, double elapsed_seconds) {
  constexpr int bar_width = 24;
  double const rate = elapsed_seconds > 0 ? static_cast<double>(done_bytes) / elapsed_seconds : 0;
  auto const rate_text = format_bytes(static_cast<std::uint64_t>(rate));
  if (total_bytes == 0)
    return fmt::format("{:<8} {}  {}/s", what, format_bytes(done_bytes), rate_text);
  double const share =
      std::min(1.0, static_cast<double>(done_bytes) / static_cast<double>(total_bytes));
  int const filled = static_cast<int>(share * bar_width);
  std::string line = fmt::format("{:<8} [{:#<{}}{:.<{}}] {:3.0f} %  {} of {}  {}/s", what, "",
                                 filled, "", bar_width - filled, share * 100,
                                 format_bytes(done_bytes), format_bytes(total_bytes), rate_text);
  if (share > 0.02) line += fmt::format("  {:.0f} s left", elapsed_seconds * (1 - share) / share);
  return line;
}

void progress_line::show(std::string_view what, std::uint64_t done_bytes,
                         std::uint64_t total_bytes) {
  auto const moment = clock::now();
  if (moment - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = moment;
  double const elapsed = std::chrono::duration<double>(moment - begin_).count();
  // A terminal that is gone is no reason to give up: what print() would throw.
  auto const text =
      fmt::format("\r{}\x1b[K", progress_text(what, done_bytes, total_bytes, elapsed));
  std::fwrite(text.data(), 1, text.size(), terminal_);
  std::fflush(terminal_);
}

progress_line::~progress_line() {
  if (drawn_ != clock::time_point{}) std::fputs("\r\x1b[K", terminal_);
}

}  // namespace outsize
