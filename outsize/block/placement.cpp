// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/placement.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <outsize/base/assert.hpp>
#include <outsize/base/detail/mixed_bits.hpp>

namespace outsize::block {
namespace {

/// The SplitMix64 generator: portable, so that the same seed places alike everywhere.
class generator {
 public:
  explicit generator(std::uint64_t state) : state_(state) {}

  /// Below `bound`, which is so small that the remainder favours none.
  std::size_t below(std::size_t bound) {
    return detail::mixed_bits(state_ += detail::mixed_step) % bound;
  }

 private:
  std::uint64_t state_;
};

/// A disk and the number of its turns in a cycle.
struct share {
  std::uint32_t disk;
  std::uint64_t turns;
};

void cancel_common_factor(std::vector<share>& shares) {
  std::uint64_t factor = 0;
  for (share const& s : shares) factor = std::gcd(factor, s.turns);
  for (share& s : shares) s.turns /= factor;
}

/// The weights in lowest terms; rounded where a cycle of them would be too long to lay out.
std::vector<share> shares_of(std::span<std::uint32_t const> disks,
                             std::span<std::uint64_t const> weights) {
  constexpr std::uint64_t most_turns = 256;  // rounds by a fifth of a percent of the fastest
  std::vector<share> shares;
  for (std::uint32_t const disk : disks) {
    OUTSIZE_ASSERT(disk < weights.size() && weights[disk] > 0);
    shares.push_back({disk, weights[disk]});
  }
  cancel_common_factor(shares);
  auto const most = std::ranges::max(shares, {}, &share::turns).turns;
  if (most <= most_turns) return shares;
  double const scale = static_cast<double>(most_turns) / static_cast<double>(most);
  for (share& s : shares)
    s.turns =
        static_cast<std::uint64_t>(std::max(1.0, std::round(static_cast<double>(s.turns) * scale)));
  cancel_common_factor(shares);
  return shares;
}

/// Each turn is given to the disk that is furthest behind what is due to it, of equals to the first
/// ("smooth weighted round robin"): so turns of one disk are far apart.
std::vector<std::uint32_t> cycle_of(std::span<share const> shares) {
  std::int64_t total = 0;
  for (share const& s : shares) total += static_cast<std::int64_t>(s.turns);
  std::vector<std::int64_t> due(shares.size());
  std::vector<std::uint32_t> cycle(static_cast<std::size_t>(total));
  for (auto& disk : cycle) {
    for (std::size_t i = 0; i < shares.size(); ++i)
      due[i] += static_cast<std::int64_t>(shares[i].turns);
    auto const next = std::ranges::max_element(due);
    disk = shares[static_cast<std::size_t>(next - due.begin())].disk;
    *next -= total;
  }
  return cycle;
}

/// Goes round and round.
class cycling final : public placement {
 public:
  cycling(std::vector<std::uint32_t> disks, std::vector<std::uint32_t> cycle, std::size_t first)
      : placement(std::move(disks)), cycle_(std::move(cycle)), position_(first) {}

  std::uint32_t next_disk() override {
    std::uint32_t const disk = cycle_[position_];
    position_ = position_ + 1 == cycle_.size() ? 0 : position_ + 1;
    return disk;
  }

 private:
  std::vector<std::uint32_t> cycle_;
  std::size_t position_;
};

/// Draws each turn at random.
class drawing final : public placement {
 public:
  drawing(std::vector<std::uint32_t> disks, std::vector<std::uint32_t> cycle, generator random)
      : placement(std::move(disks)), cycle_(std::move(cycle)), random_(random) {}

  std::uint32_t next_disk() override { return cycle_[random_.below(cycle_.size())]; }

 private:
  std::vector<std::uint32_t> cycle_;
  generator random_;
};

std::vector<std::uint32_t> first_disks(std::size_t count) {
  std::vector<std::uint32_t> disks(count);
  std::iota(disks.begin(), disks.end(), 0U);
  return disks;
}

}  // namespace

std::unique_ptr<placement> make_placement(placement_options const& options,
                                          std::span<std::uint64_t const> weights,
                                          std::uint64_t seed, std::uint64_t sequence_number) {
  OUTSIZE_ASSERT(!weights.empty());
  auto disks = options.disks.empty() ? first_disks(weights.size()) : options.disks;
  auto shares = shares_of(disks, weights);
  generator random(seed ^ (sequence_number * 0xd1342543de82ef95U));
  if (options.kind == placement_kind::randomized_cycling)
    for (std::size_t i = shares.size(); i > 1; --i)
      std::swap(shares[i - 1], shares[random.below(i)]);

  auto cycle = cycle_of(shares);
  std::size_t const length = cycle.size();
  // Sequences start on different disks, lest short ones all fall on the first.
  std::size_t const in_turn = sequence_number % length;
  switch (options.kind) {
    case placement_kind::striping:
      return std::make_unique<cycling>(std::move(disks), std::move(cycle), in_turn);
    case placement_kind::fully_randomized:
      return std::make_unique<drawing>(std::move(disks), std::move(cycle), random);
    case placement_kind::single_disk:
      return std::make_unique<cycling>(std::move(disks), std::vector{cycle[in_turn]}, 0);
    case placement_kind::simple_randomized:
    case placement_kind::randomized_cycling:
      break;
  }
  // A random order has no random beginning where a fast disk comes first in all of them.
  return std::make_unique<cycling>(std::move(disks), std::move(cycle), random.below(length));
}

}  // namespace outsize::block
