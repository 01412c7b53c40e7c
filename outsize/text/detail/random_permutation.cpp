// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/text/detail/random_permutation.hpp>

#include <algorithm>
#include <bit>

#include <outsize/base/detail/mixed_bits.hpp>

namespace outsize::text {

random_permutation::random_permutation(random_salt const& salt, std::uint64_t size) noexcept
    : size_(size),
      half_bits_(std::max(1U, (static_cast<unsigned>(std::bit_width(size - 1)) + 1) / 2)) {
  for (std::uint64_t round = 0; round < keys_.size(); ++round) keys_[round] = salt.number(round);
}

std::uint64_t random_permutation::operator()(std::uint64_t index) const noexcept {
  do {
    index = permute_once(index);
  } while (index >= size_);
  return index;
}

std::uint64_t random_permutation::permute_once(std::uint64_t number) const noexcept {
  std::uint64_t const mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = number >> half_bits_;
  std::uint64_t right = number & mask;
  for (std::uint64_t const key : keys_) {
    std::uint64_t const mixed = left ^ (detail::mixed_bits(key + right) & mask);
    left = right;
    right = mixed;
  }
  return (left << half_bits_) | right;
}

}  // namespace outsize::text
