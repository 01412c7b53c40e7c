// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/timeline.hpp>

#include <exception>
#include <utility>

namespace outsize::io {
namespace {

constexpr std::size_t most_events = 1'000'000;

}  // namespace

std::size_t timeline::add_track(std::string name) {
  std::lock_guard const lock(mutex_);
  tracks_.push_back(std::move(name));
  return tracks_.size() - 1;
}

void timeline::add(timed_event const& e) noexcept {
  std::lock_guard const lock(mutex_);
  try {
    if (events_.size() < most_events) {
      events_.push_back(e);
      return;
    }
  } catch (std::exception const&) {  // no memory for it: the request has succeeded all the same
  }
  ++dropped_;
}

std::vector<std::string> timeline::tracks() const {
  std::lock_guard const lock(mutex_);
  return tracks_;
}

std::vector<timed_event> timeline::events() const {
  std::lock_guard const lock(mutex_);
  return events_;
}

std::uint64_t timeline::dropped() const {
  std::lock_guard const lock(mutex_);
  return dropped_;
}

}  // namespace outsize::io
