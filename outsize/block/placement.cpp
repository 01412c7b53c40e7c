// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/placement.hpp>

#include <numeric>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>

namespace outsize::block {
namespace {

/// A step of the SplitMix64 generator: portable, so that the same seed places alike everywhere.
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/// Goes round and round a fixed order of the disks.
class cycling final : public placement {
 public:
  explicit cycling(std::vector<std::uint32_t> order) : order_(std::move(order)) {}

  std::uint32_t next_disk() override {
    std::uint32_t const disk = order_[position_];
    position_ = position_ + 1 == order_.size() ? 0 : position_ + 1;
    return disk;
  }

 private:
  std::vector<std::uint32_t> order_;
  std::size_t position_ = 0;
};

}  // namespace

std::unique_ptr<placement> make_placement(placement_kind kind, std::uint32_t disk_count,
                                          std::uint64_t seed, std::uint64_t sequence_number) {
  OUTSIZE_ASSERT(disk_count > 0);
  std::vector<std::uint32_t> order(disk_count);
  switch (kind) {
    case placement_kind::striping:
      // Sequences start on different disks, lest short ones all fall on the first.
      std::iota(order.begin(), order.end(),
                static_cast<std::uint32_t>(sequence_number % disk_count));
      for (auto& disk : order) disk %= disk_count;
      break;
    case placement_kind::randomized_cycling: {
      std::uint64_t state = seed ^ (sequence_number * 0xd1342543de82ef95U);
      std::iota(order.begin(), order.end(), 0U);
      for (std::uint32_t i = disk_count; i > 1; --i)
        std::swap(order[i - 1], order[next_random(state) % i]);
      break;
    }
  }
  return std::make_unique<cycling>(std::move(order));
}

}  // namespace outsize::block
