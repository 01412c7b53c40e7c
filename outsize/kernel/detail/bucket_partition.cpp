// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/kernel/detail/bucket_partition.hpp>

#include <algorithm>
#include <bit>

namespace outsize::detail {

std::optional<bucket_rule> bucket_rule::from_sample(std::span<std::uint64_t> sample,
                                                    std::size_t most) {
  most = std::clamp<std::size_t>(most, 2, most_buckets);
  std::ranges::sort(sample);
  // A few outliers must not spread the rest over few buckets.
  std::uint64_t const low = sample[sample.size() / 32];
  std::uint64_t const high = sample[sample.size() - 1 - sample.size() / 32];
  bucket_rule rule{.least = low};
  auto const bits = static_cast<unsigned>(std::bit_width(high - low));
  auto const wanted = static_cast<unsigned>(std::bit_width(most) - 1);
  rule.shift = bits > wanted ? bits - wanted : 0;
  rule.count = static_cast<std::size_t>((high - low) >> rule.shift) + 1;
  std::size_t fullest = 0;
  for (std::size_t begin = 0; begin < sample.size();) {
    std::size_t end = begin + 1;
    while (end < sample.size() && rule(sample[end]) == rule(sample[begin])) ++end;
    fullest = std::max(fullest, end - begin);
    begin = end;
  }
  if (fullest > sample.size() / 2) return std::nullopt;
  return rule;
}

}  // namespace outsize::detail
