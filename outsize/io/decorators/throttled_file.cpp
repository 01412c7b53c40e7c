// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/decorators/throttled_file.hpp>

#include <algorithm>
#include <utility>

namespace outsize::io {

throttled_file::throttled_file(file_ptr inner_file, throttle limits)
    : file_decorator(std::move(inner_file)),
      limits_(limits),
      line_([this](attempt work) { inner().start(std::move(work)); }) {}

void throttled_file::start(attempt work) noexcept {
  std::chrono::nanoseconds transfer{0};
  if (limits_.bytes_per_second != 0)
    transfer = std::chrono::nanoseconds(
        static_cast<std::int64_t>(1e9 * static_cast<double>(work.length_bytes) /
                                  static_cast<double>(limits_.bytes_per_second)));
  delay_line::clock::time_point due;
  {
    std::lock_guard lock(mutex_);
    channel_free_ = std::max(channel_free_, delay_line::clock::now()) + transfer;
    due = channel_free_ + limits_.latency;
  }
  line_.hold(std::move(work), due);
}

bool throttled_file::withdraw(request const& owner) noexcept {
  return line_.withdraw(owner) || inner().withdraw(owner);
}

}  // namespace outsize::io
