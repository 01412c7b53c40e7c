// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/text/random_salt.hpp>

#include <bit>
#include <cstring>
#include <random>

namespace outsize::text {
namespace {

using eight_bytes = std::array<char, sizeof(std::uint64_t)>;

/// Little-endian, whatever the machine.
eight_bytes bytes_of(std::uint64_t number) noexcept {
  if constexpr (std::endian::native == std::endian::big) number = __builtin_bswap64(number);
  return std::bit_cast<eight_bytes>(number);
}

}  // namespace

random_salt random_salt::of_seed(std::uint64_t seed) noexcept {
  random_salt salt;
  auto const number = bytes_of(seed);
  std::memcpy(salt.bytes.data(), number.data(), number.size());
  return salt;
}

random_salt random_salt::of_system() {
  random_salt salt;
  std::random_device device;
  for (std::size_t at = 0; at < salt.bytes.size(); at += sizeof(std::uint32_t)) {
    std::uint32_t const word = device();
    std::memcpy(&salt.bytes[at], &word, sizeof word);
  }
  return salt;
}

std::uint64_t random_salt::number(std::uint64_t index) const noexcept {
  auto const text = bytes_of(index);
  return digest({text.data(), text.size()}).high;
}

std::uint64_t random_numbers::below(std::uint64_t limit) noexcept {
  // The upper half of number * limit; numbers that would make some results likelier are passed over
  // (Lemire: Fast random integer generation in an interval, 2019).
  __extension__ using wide = unsigned __int128;
  std::uint64_t const surplus = -limit % limit;
  for (;;) {
    wide const product = wide{next()} * limit;
    if (static_cast<std::uint64_t>(product) >= surplus)
      return static_cast<std::uint64_t>(product >> 64);
  }
}

}  // namespace outsize::text
