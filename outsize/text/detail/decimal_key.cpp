// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A key is cut into sign, digits and unit once; everything else looks at the pieces. The code of a
// number orders by sign, then by the count of digits in front of the point, then by leading digits:
//
//     decimal   | 1 not negative | 6 integer digits | 57 the first 17 digits |
//     human     | 5 unit + 16 | the upper 59 bits of decimal |
//
// and is complemented, the sign bit aside, for negative numbers.
#include <outsize/text/detail/decimal_key.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

#include <outsize/text/detail/byte_filter.hpp>

namespace outsize::text {
namespace {

// GNU sort 9.1 takes this byte for a separator of thousands in the C locale too, and skips it.
char constexpr gap = '\x80';

struct decimal {
  bool negative = false;           // never for zero
  bool has_gaps = false;           // there are gaps in front of the point
  std::string_view integer;        // without leading zeros, with the gaps
  std::size_t integer_digits = 0;  // of `integer`, without the gaps
  std::string_view fraction;       // without trailing zeros
  char unit = '\0';                // the byte behind the number; none for zero or after gaps

  bool is_zero() const noexcept { return integer_digits == 0 && fraction.empty(); }
};

std::string_view take_digits(std::string_view& text) noexcept {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  std::string_view const digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

void take_integer(std::string_view& text, decimal& number) noexcept {
  std::size_t first = 0;
  while (first < text.size() && text[first] == '0') ++first;
  std::size_t end = first;
  while (end < text.size() && is_digit(text[end])) ++end;
  number.integer_digits = end - first;
  if (end < text.size() && text[end] == gap) {
    number.has_gaps = true;
    for (; end < text.size() && (is_digit(text[end]) || text[end] == gap); ++end) {
      bool const leading = number.integer_digits == 0 && (text[end] == '0' || text[end] == gap);
      if (leading) first = end + 1;
      number.integer_digits += std::size_t{!leading && text[end] != gap};
    }
  }
  number.integer = text.substr(first, end - first);
  text.remove_prefix(end);
}

decimal parse(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  bool const minus = text.starts_with('-');
  if (minus) text.remove_prefix(1);

  decimal number;
  take_integer(text, number);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    number.fraction = take_digits(text);
    while (number.fraction.ends_with('0')) number.fraction.remove_suffix(1);
  }
  if (!number.is_zero()) {
    number.negative = minus;
    if (!text.empty() && !number.has_gaps) number.unit = text.front();
  }
  return number;
}

// Compares integers of equally many digits.
int compare_over_gaps(std::string_view a, std::string_view b) noexcept {
  auto const next_digit = [](std::string_view& text) -> int {
    while (text.starts_with(gap)) text.remove_prefix(1);
    if (text.empty()) return 0;
    char const digit = text.front();
    text.remove_prefix(1);
    return digit;
  };
  while (!a.empty() || !b.empty()) {
    if (int const order = next_digit(a) - next_digit(b)) return order;
  }
  return 0;
}

int compare_magnitudes(decimal const& a, decimal const& b) noexcept {
  if (a.integer_digits != b.integer_digits) return a.integer_digits < b.integer_digits ? -1 : 1;
  int const order = a.has_gaps || b.has_gaps ? compare_over_gaps(a.integer, b.integer)
                                             : a.integer.compare(b.integer);
  if (order != 0) return order;
  return a.fraction.compare(b.fraction);
}

int compare(decimal const& a, decimal const& b) noexcept {
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  return a.negative ? compare_magnitudes(b, a) : compare_magnitudes(a, b);
}

int power_of_unit(char unit, bool fold) noexcept {
  std::string_view constexpr units = "KMGTPEZY";
  std::size_t const place = units.find(fold || unit == 'k' ? to_upper(unit) : unit);
  return place == std::string_view::npos ? 0 : static_cast<int>(place) + 1;
}

int unit_rank(decimal const& number, bool fold) noexcept {
  int const power = power_of_unit(number.unit, fold);
  return number.negative ? -power : power;
}

constexpr std::size_t code_digits = 17;

constexpr auto powers_of_ten = [] {
  std::array<std::uint64_t, code_digits + 1> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

std::uint64_t leading_digits(decimal const& number) noexcept {
  std::uint64_t value = 0;
  std::size_t room = code_digits;
  for (std::string_view const digits : {number.integer, number.fraction}) {
    for (char const digit : digits) {
      if (room == 0) return value;
      if (digit == gap) continue;
      value = value * 10 + static_cast<std::uint64_t>(digit - '0');
      --room;
    }
  }
  return value * powers_of_ten[room];
}

std::uint64_t code(decimal const& number) noexcept {
  std::uint64_t constexpr sign = std::uint64_t{1} << 63;
  std::size_t constexpr most_integer_digits = 63;
  std::uint64_t magnitude = std::uint64_t{most_integer_digits} << 57;
  if (number.integer_digits < most_integer_digits) {
    magnitude = (std::uint64_t{number.integer_digits} << 57) | leading_digits(number);
  }
  return number.negative ? ~(magnitude | sign) : magnitude | sign;
}

}  // namespace

int compare_decimal(std::string_view a, std::string_view b) noexcept {
  return compare(parse(a), parse(b));
}

std::uint64_t decimal_prefix(std::string_view text) noexcept { return code(parse(text)); }

int compare_human(std::string_view a, std::string_view b, bool fold) noexcept {
  decimal const left = parse(a);
  decimal const right = parse(b);
  int const units = unit_rank(left, fold) - unit_rank(right, fold);
  return units != 0 ? units : compare(left, right);
}

std::uint64_t human_prefix(std::string_view text, bool fold) noexcept {
  decimal const number = parse(text);
  int const unit = 16 + unit_rank(number, fold);
  return (static_cast<std::uint64_t>(unit) << 59) | (code(number) >> 5);
}

}  // namespace outsize::text
