// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A sequence: new items come at one end, old ones leave at the other, and all are read in either
// direction.

#include <cstdint>
#include <iostream>

#include <outsize/base/units.hpp>
#include <outsize/container/sequence.hpp>

struct event {
  std::uint64_t time;
  std::int64_t change;
};

int main() {
  using namespace outsize;
  storage store({.memory_bytes = 8_MiB});

  // The events of the last 200,000 ticks.
  outsize::sequence<event> log(store);
  for (std::uint64_t time = 0; time < 300'000; ++time) {
    log.push_back({time, std::int64_t(time % 7) - 3});
    if (log.size() > 200'000) log.pop_front();
  }

  std::uint64_t expected = 100'000;
  for (auto const& e : log.forward())
    if (e.time != expected++) return 1;

  // Back from the end, to the first of three events that went down by 3.
  int falls = 0;
  for (auto const& e : log.backward())
    if (e.change == -3 && ++falls == 3) {
      std::cout << "the third fall from the end was at " << e.time << '\n';
      break;
    }

  std::cout << log.size() << " events from " << log.front().time << " to " << log.back().time
            << '\n';
}
