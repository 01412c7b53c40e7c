// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/memory_division.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>

#include <outsize/base/assert.hpp>

namespace outsize {
namespace {

/// What a claim gets at the height λ: λ·rate, but not less than `from` nor more than `to`.
struct rising {
  std::uint64_t from, to;
  double rate;

  std::uint64_t at(double height) const noexcept {
    double const risen = height * rate;
    if (!(risen < static_cast<double>(to))) return to;  // also where 0 is multiplied by infinity
    return std::max(from, static_cast<std::uint64_t>(risen));
  }
};

/// Raises the shares to the greatest height at which they are `bytes` together, or less.
/// @pre at height 0 they are not more.
void raise(std::span<rising const> all, std::uint64_t bytes, std::span<std::uint64_t> shares) {
  auto const fits = [&](double height) {
    std::uint64_t left = bytes;
    for (rising const& r : all) {
      std::uint64_t const share = r.at(height);
      if (share > left) return false;
      left -= share;
    }
    return true;
  };
  // The bits of doubles that are not negative are in the order of the numbers, so that to halve
  // their range finds the greatest one exactly.
  auto low = std::bit_cast<std::uint64_t>(0.0);
  auto high = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
  while (low < high) {
    std::uint64_t const middle = low + (high - low + 1) / 2;
    if (fits(std::bit_cast<double>(middle)))
      low = middle;
    else
      high = middle - 1;
  }
  for (std::size_t i = 0; i < all.size(); ++i) shares[i] = all[i].at(std::bit_cast<double>(low));
}

}  // namespace

std::optional<std::vector<std::uint64_t>> divide_memory(std::uint64_t total_bytes,
                                                        std::span<memory_claim const> claims,
                                                        std::uint64_t spare_bytes) {
  std::vector<std::uint64_t> shares;
  std::uint64_t least = 0, knees = 0;
  for (memory_claim const& c : claims) {
    OUTSIZE_ASSERT(c.least <= c.knee && c.knee <= c.most && c.weight >= 0);
    if (c.least > total_bytes - least) return std::nullopt;
    least += c.least;
    knees = std::min(c.knee, UINT64_MAX - knees) + knees;
    shares.push_back(c.least);
  }
  std::uint64_t const bytes = std::max(least, total_bytes - std::min(total_bytes, spare_bytes));
  std::vector<rising> all;
  bool const are_knees_reached = knees <= bytes;
  for (memory_claim const& c : claims)
    all.push_back(are_knees_reached ? rising{c.knee, c.most, c.weight}
                                    : rising{c.least, c.knee, static_cast<double>(c.knee)});
  raise(all, bytes, shares);
  return shares;
}

}  // namespace outsize
