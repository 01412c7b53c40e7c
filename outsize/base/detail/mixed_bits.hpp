// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Numbers that look like chance, and are the same on every machine. Pure functions. Layer: base.
// Source: Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014.

#include <cstdint>

namespace outsize::detail {

/// A value of 64 bits, each of which depends on all those of the number. One to one.
constexpr std::uint64_t mixed_bits(std::uint64_t number) noexcept {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9U;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebU;
  return number ^ (number >> 31);
}

/// ⌊bits · bound / 2⁶⁴⌋: a number below `bound`, that grows with the bits.
constexpr std::uint64_t scaled_bits(std::uint64_t bits, std::uint64_t bound) noexcept {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>((wide{bits} * bound) >> 64);
}

/// What is added to the number from one draw to the next: odd, so that all numbers come.
inline constexpr std::uint64_t mixed_step = 0x9e3779b97f4a7c15U;

}  // namespace outsize::detail
