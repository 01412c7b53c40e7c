// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A sequence, which is read in either direction, and a stack that goes to disk only if it grows.

#include <cstdint>
#include <iostream>

#include <outsize/base/units.hpp>
#include <outsize/container/migrating_stack.hpp>
#include <outsize/container/sequence.hpp>

struct event {
  std::uint64_t time;
  std::int64_t change;
};

int main() {
  using namespace outsize;
  storage store({.memory = 8_MiB});

  // The events of the last 200,000 ticks: new ones come at one end, old ones leave at the other.
  outsize::sequence<event> log(store);
  for (std::uint64_t time = 0; time < 300'000; ++time) {
    log.push_back({time, std::int64_t(time % 7) - 3});
    if (log.size() > 200'000) log.pop_front();
  }
  std::cout << log.size() << " events from " << log.front().time << " to " << log.back().time
            << '\n';

  std::int64_t level = 0;
  for (auto const& e : log.forward()) level += e.change;
  std::cout << "they change the level by " << level << '\n';

  // Back from the end, to the first of three events that went down by 3.
  int falls = 0;
  for (auto const& e : log.backward())
    if (e.change == -3 && ++falls == 3) {
      std::cout << "the third fall from the end was at " << e.time << '\n';
      break;
    }

  // The depth of a search is not known before: as long as it is small, there is no I/O at all.
  outsize::migrating_stack<std::uint64_t> path(store, 10'000);
  bool was_on_disk = false;
  for (std::uint64_t node = 0; node < 100'000; ++node) {
    path.push(node);
    was_on_disk |= !path.is_in_memory();
  }
  while (path.size() > 1'000) path.pop();
  std::cout << "top is " << path.top() << ", the path " << (was_on_disk ? "was" : "was never")
            << " on disk, and is " << (path.is_in_memory() ? "in memory" : "there still") << '\n';
}
