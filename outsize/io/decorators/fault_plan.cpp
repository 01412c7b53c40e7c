// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/decorators/fault_plan.hpp>

#include <algorithm>

namespace outsize::io {

fault_plan::fault_plan(fault_odds const& odds) : odds_(odds), random_(odds.seed) {}

void fault_plan::script(fault_point where, std::uint64_t first, fault what, std::uint64_t count) {
  std::lock_guard lock(mutex_);
  script_.push_back({where, first, count, what});
}

void fault_plan::fail_from_now_on(fault_point where, int error_number) {
  script(where, calls(where), fault::fail(error_number), std::uint64_t{1} << 62);
}

void fault_plan::end_script() {
  std::lock_guard const lock(mutex_);
  script_.clear();
}

std::optional<fault> fault_plan::next(fault_point where, std::size_t length_bytes) {
  std::lock_guard lock(mutex_);
  std::uint64_t const number = calls_[static_cast<std::size_t>(where)]++;
  auto const found = std::ranges::find_if(script_, [&](scripted const& s) {
    return s.where == where && number >= s.first && number - s.first < s.count;
  });
  std::optional<fault> what;
  if (found != script_.end()) {
    what = found->what;
  } else if (where == fault_point::read || where == fault_point::write) {
    what = draw(length_bytes);
  }
  if (what) ++injected_;
  return what;
}

/// @pre mutex_ is held.
std::optional<fault> fault_plan::draw(std::size_t length_bytes) {
  // A fixed number of draws for each call, so that changing one probability leaves the others'
  // faults.
  std::uniform_real_distribution<double> unit(0, 1);
  std::array<double, 6> chance{};
  for (double& c : chance) c = unit(random_);
  if (chance[0] < odds_.fail) return fault::fail(odds_.error_number);
  if (chance[1] < odds_.interrupt) return fault::interrupt();
  fault what;
  if (chance[2] < odds_.shorten && length_bytes > 1)
    what.at_most_bytes =
        1 + static_cast<std::size_t>(chance[3] * static_cast<double>(length_bytes - 1));
  if (chance[4] < odds_.hold)
    what.delay = std::chrono::microseconds(
        static_cast<std::int64_t>(chance[5] * static_cast<double>(odds_.max_delay.count())));
  if (what.at_most_bytes == 0 && what.delay.count() == 0) return std::nullopt;
  return what;
}

std::uint64_t fault_plan::calls(fault_point where) const {
  std::lock_guard lock(mutex_);
  return calls_[static_cast<std::size_t>(where)];
}

std::uint64_t fault_plan::injected() const {
  std::lock_guard lock(mutex_);
  return injected_;
}

}  // namespace outsize::io
