// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/units.hpp>

#include <fmt/format.h>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace outsize {
namespace {

constexpr std::string_view unit_letters = "KMGTPE";

/// The factor that `suffix` stands for, 0 if it is none.
std::uint64_t unit_factor(std::string_view suffix, std::uint64_t bare_unit_bytes) {
  if (suffix.empty()) return bare_unit_bytes;
  if (suffix == "b" || suffix == "B") return 1;
  bool const is_small = std::string_view("kmgt").find(suffix[0]) != std::string_view::npos;
  auto const power =
      unit_letters.find(is_small ? static_cast<char>(suffix[0] - 'a' + 'A') : suffix[0]);
  auto const rest = suffix.substr(1);
  if (power == std::string_view::npos || !(rest.empty() || rest == "iB" || rest == "B")) return 0;
  return std::uint64_t{1} << (10 * (power + 1));
}

}  // namespace

namespace {

std::string format_rounded(std::uint64_t bytes, bool up) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1023.5 && unit + 1 < unit_letters.size(); ++unit) value /= 1024;
  int const decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  double const scale = std::pow(10, decimals);
  if (up) value = std::ceil(value * scale) / scale;
  return fmt::format("{:.{}f} {}iB", value, value == std::floor(value) ? 0 : decimals,
                     unit_letters[unit]);
}

}  // namespace

std::string format_bytes(std::uint64_t bytes) { return format_rounded(bytes, false); }

std::string format_enough_bytes(std::uint64_t bytes) { return format_rounded(bytes, true); }

std::uint64_t parse_bytes(std::string_view text, std::uint64_t bare_unit_bytes) {
  std::uint64_t number = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range)
    throw std::invalid_argument(fmt::format("size '{}' is too large", text));
  std::uint64_t const factor =
      error == std::errc{} ? unit_factor({end, text.data() + text.size()}, bare_unit_bytes) : 0;
  if (factor == 0) throw std::invalid_argument(fmt::format("invalid size '{}'", text));
  if (number != 0 && factor > UINT64_MAX / number)
    throw std::invalid_argument(fmt::format("size '{}' is too large", text));
  return number * factor;
}

}  // namespace outsize
