// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/prefetch_schedule.hpp>

#include <algorithm>
#include <deque>
#include <numeric>

#include <outsize/base/assert.hpp>

namespace outsize::block {

std::vector<std::uint32_t> prefetch_schedule(std::span<std::uint32_t const> disk_of,
                                             std::uint32_t disk_count, std::size_t buffer_count) {
  OUTSIZE_ASSERT(disk_count > 0 && buffer_count > 0 && disk_of.size() <= UINT32_MAX);
  std::vector<std::uint32_t> order;
  order.reserve(disk_of.size());
  if (disk_count == 1) {
    order.resize(disk_of.size());
    std::iota(order.begin(), order.end(), 0U);
    return order;
  }

  std::vector<std::deque<std::uint32_t>> waiting(disk_count);
  std::size_t waiting_count = 0;
  auto const write_step = [&] {
    for (auto& queue : waiting) {
      if (queue.empty()) continue;
      order.push_back(queue.front());
      queue.pop_front();
      --waiting_count;
    }
  };
  for (std::size_t i = disk_of.size(); i-- > 0;) {
    if (waiting_count == buffer_count) write_step();
    waiting[disk_of[i]].push_back(static_cast<std::uint32_t>(i));
    ++waiting_count;
  }
  while (waiting_count > 0) write_step();
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace outsize::block
