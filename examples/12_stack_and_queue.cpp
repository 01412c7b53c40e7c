// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Containers that grow and shrink at their ends: a stack, a queue, a deque with random access, and
// thousands of stacks that share their memory.

#include <cstdint>
#include <iostream>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/container/deque.hpp>
#include <outsize/container/page_pool.hpp>
#include <outsize/container/queue.hpp>
#include <outsize/container/stack.hpp>

int main() {
  using namespace outsize;
  storage store({.memory = 16_MiB});

  // A queue: the breadth-first numbers of a binary tree, as many as there is patience for.
  outsize::queue<std::uint64_t> frontier(store);
  frontier.push(1);
  std::uint64_t visited = 0;
  for (; visited < 500'000; ++visited) {
    std::uint64_t const node = frontier.front();
    frontier.pop();
    frontier.push(2 * node);
    frontier.push(2 * node + 1);
  }
  std::cout << visited << " nodes visited, " << frontier.size() << " wait, next is "
            << frontier.front() << '\n';

  // A stack turns the order round.
  outsize::stack<std::uint64_t> reversed(store);
  for (; !frontier.empty(); frontier.pop()) reversed.push(frontier.front());
  std::cout << "the last one was " << reversed.top() << '\n';

  // A deque has both ends, and all between.
  outsize::deque<std::uint64_t> both(store);
  for (std::uint64_t i = 0; i < 1'000'000; ++i) i % 2 == 0 ? both.push_back(i) : both.push_front(i);
  std::cout << both.front() << " .. " << both[500'000] << " .. " << both.back() << '\n';

  // Stacks that are not used need no memory of the pool that they share: here 2000 buckets.
  page_pool pool(store, {.page_bytes = 4_KiB, .cache_pages = 64});
  std::vector<outsize::stack<std::uint64_t>> buckets;
  for (int i = 0; i < 2000; ++i) buckets.emplace_back(pool);
  for (std::uint64_t i = 0; i < 1'000'000; ++i) buckets[i / 500].push(i);
  std::cout << buckets[1].size() << " items, the last is " << buckets[1].top() << '\n';
}
