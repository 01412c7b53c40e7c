// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Byte units: literals, exact arithmetic on sizes, and their form for people. Pure functions.
// Layer: base.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace outsize {
inline namespace literals {

constexpr std::size_t operator""_KiB(unsigned long long n) {
  return static_cast<std::size_t>(n) << 10;
}
constexpr std::size_t operator""_MiB(unsigned long long n) {
  return static_cast<std::size_t>(n) << 20;
}
constexpr std::size_t operator""_GiB(unsigned long long n) {
  return static_cast<std::size_t>(n) << 30;
}

}  // namespace literals

template <typename T>
constexpr T div_up(T a, T b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

/// The least multiple of `unit` (any positive number) that is not below `value`.
template <typename T>
constexpr T round_up(T value, T unit) {
  return div_up(value, unit) * unit;
}

template <typename T>
constexpr T round_down(T value, T unit) {
  return value / unit * unit;
}

/// "1.5 MiB", "512 bytes": three significant digits for people.
std::string format_bytes(std::uint64_t bytes);
/// The same, rounded up: what is said to do must do.
std::string format_enough_bytes(std::uint64_t bytes);

/// Reads a size as sort(1) writes it: a number and an optional unit, b for bytes, K M G T P E for
/// powers of 1024 (an "iB" or "B" may follow); a bare number counts `bare_unit_bytes`.
/// @throws std::invalid_argument naming the text if it is no size or exceeds 2^64 - 1 bytes.
std::uint64_t parse_bytes(std::string_view text, std::uint64_t bare_unit_bytes = 1);

}  // namespace outsize
