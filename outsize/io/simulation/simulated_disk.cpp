// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/simulation/simulated_disk.hpp>

#include <algorithm>
#include <utility>

namespace outsize::io {

simulated_disk::simulated_disk(std::unique_ptr<disk_model> model, disk_pace pace)
    : model_(std::move(model)), pace_(pace) {}

std::chrono::nanoseconds simulated_disk::elapsed() const {
  std::lock_guard lock(mutex_);
  return elapsed_;
}

disk_time simulated_disk::time() const {
  std::lock_guard lock(mutex_);
  return time_;
}

std::uint64_t simulated_disk::request_count() const {
  std::lock_guard lock(mutex_);
  return request_count_;
}

std::optional<delay_line::clock::time_point> simulated_disk::serve(disk_request asked) noexcept {
  std::lock_guard lock(mutex_);
  bool const waits = pace_ == disk_pace::real_time;
  asked.arrival = waits ? delay_line::clock::now() - start_ : std::chrono::nanoseconds(0);
  auto const done = model_->serve(asked);
  elapsed_ = std::max(elapsed_, done.end);
  time_ += done.time;
  ++request_count_;
  if (!waits) return std::nullopt;
  return start_ + done.end;
}

}  // namespace outsize::io
