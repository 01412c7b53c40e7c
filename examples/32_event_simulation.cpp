// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Discrete event simulation: customers of a bank, more than fit in memory, that wait for their next
// visit. The event that comes first is popped, and pushes the next one of its customer.

#include <cstdint>
#include <iostream>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/base/units.hpp>
#include <outsize/container/priority_queue.hpp>

struct event {
  std::uint64_t time;  // seconds
  std::uint32_t customer;
  std::uint32_t visits;  // so far
};

/// Seconds until the next visit, at random.
std::uint64_t pause_of(event const& e) {
  std::uint64_t x = (e.customer * 0x9E3779B97F4A7C15U) ^ (e.visits + 1) * 0xBF58476D1CE4E5B9U;
  x = (x ^ x >> 31) * 0x94D049BB133111EBU;
  return 3600 + (x >> 40);
}

int main() {
  using namespace outsize;
  storage store({.memory_bytes = 16_MiB});

  // The earliest first: std::greater, as in a std::priority_queue.
  auto const later = by(&event::time, std::greater<>());
  outsize::priority_queue<event, decltype(later)> agenda(store, later);
  for (std::uint32_t customer = 0; customer < 1'000'000; ++customer)
    agenda.push({pause_of({0, customer, 0}), customer, 0});

  std::uint64_t now = 0, visits = 0, regulars = 0;
  for (std::uint64_t const end = 200 * 86'400; agenda.top().time < end; ++visits) {
    event e = agenda.top();
    agenda.pop();
    if (e.time < now) return 1;
    now = e.time;
    if (++e.visits == 3) ++regulars;
    e.time += pause_of(e);
    agenda.push(e);
  }
  std::cout << visits << " visits, the last one after " << now << " seconds; " << regulars
            << " customers came three times or more\n";
}
