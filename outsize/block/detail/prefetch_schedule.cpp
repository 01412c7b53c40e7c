// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/detail/prefetch_schedule.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>

#include <outsize/base/assert.hpp>

namespace outsize::block {
namespace {

/// Disks that write what waits for them, each at its speed, in a time that goes by when it must.
class queued_writing {
 public:
  explicit queued_writing(std::span<std::uint64_t const> speeds) : disks_(speeds.size()) {
    auto const fastest = static_cast<double>(std::ranges::max(speeds));
    for (std::size_t d = 0; d < speeds.size(); ++d)
      disks_[d].block_ticks = static_cast<std::uint64_t>(
          std::ceil(ticks * std::min(fastest / static_cast<double>(speeds[d]), most_ratio)));
  }

  std::size_t waiting() const noexcept { return waiting_; }
  void push(std::uint32_t on, std::uint32_t block) {
    auto& to = disks_[on];
    if (to.queue.empty()) to.ready_at = now_ + to.block_ticks;
    to.queue.push_back(block);
    ++waiting_;
  }
  /// Lets the time go by until a block has been written; calls written(block) for each that has.
  /// @pre some wait.
  template <typename F>
  void step(F written) {
    now_ = UINT64_MAX;
    for (auto const& d : disks_)
      if (!d.queue.empty()) now_ = std::min(now_, d.ready_at);
    for (auto& d : disks_) {
      if (d.queue.empty() || d.ready_at != now_) continue;
      written(d.queue.front());
      d.queue.pop_front();
      d.ready_at += d.block_ticks;
      --waiting_;
    }
  }

 private:
  static constexpr double ticks = 1 << 16;       // that the fastest disk takes for a block
  static constexpr double most_ratio = 1 << 16;  // of speeds; beyond it nothing changes

  struct disk {
    std::deque<std::uint32_t> queue = {};
    std::uint64_t ready_at = 0;  // if some wait, the first
    std::uint64_t block_ticks = 0;
  };

  std::vector<disk> disks_;
  std::uint64_t now_ = 0;
  std::size_t waiting_ = 0;
};

}  // namespace

std::vector<std::uint32_t> prefetch_schedule(std::span<std::uint32_t const> disk_of,
                                             std::span<std::uint64_t const> speeds,
                                             std::size_t buffer_count) {
  OUTSIZE_ASSERT(!speeds.empty() && buffer_count > 0 && disk_of.size() <= UINT32_MAX);
  std::vector<std::uint32_t> order;
  order.reserve(disk_of.size());
  if (speeds.size() == 1) {
    order.resize(disk_of.size());
    std::iota(order.begin(), order.end(), 0U);
    return order;
  }

  queued_writing disks(speeds);
  auto const note = [&](std::uint32_t block) { order.push_back(block); };
  for (std::size_t i = disk_of.size(); i-- > 0;) {
    if (disks.waiting() == buffer_count) disks.step(note);
    disks.push(disk_of[i], static_cast<std::uint32_t>(i));
  }
  while (disks.waiting() > 0) disks.step(note);
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace outsize::block
