// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Sorts a file of items by one of their members. Memory, disks and threads are found by themselves.

#include <cstdint>
#include <iostream>
#include <outsize/algorithm/sort.hpp>
#include <vector>

struct event {
  std::uint64_t time;
  std::uint32_t user, kind;
};

int main() {
  using namespace outsize;
  std::vector<event> events;
  for (std::uint32_t i = 0; i < 1000; ++i) events.push_back({i * 7919 % 1000, i, 0});
  sort(events, into("events.bin"), by(&event::user));  // makes a file, in the order of users

  auto const report = sort(items<event>("events.bin"), into("sorted.bin"), by(&event::time));
  std::cout << report.items << " events, " << report.input_bytes << " bytes\n";
}
