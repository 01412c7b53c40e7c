// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A queue on disk: the nodes of a binary tree in the order of their distance from the root, as many
// as there is patience for.

#include <cstdint>
#include <iostream>

#include <outsize/base/units.hpp>
#include <outsize/container/queue.hpp>

int main() {
  using namespace outsize;
  storage store({.memory_bytes = 16_MiB});

  outsize::queue<std::uint64_t> frontier(store);
  frontier.push(1);
  for (std::uint64_t visited = 1; visited <= 500'000; ++visited) {
    std::uint64_t const node = frontier.front();
    if (node != visited) return 1;
    frontier.pop();
    frontier.push(2 * node);  // the children of node k are numbered 2 k and 2 k + 1
    frontier.push(2 * node + 1);
  }

  std::cout << frontier.size() << " nodes wait, from " << frontier.front() << " to "
            << frontier.back() << '\n';
}
