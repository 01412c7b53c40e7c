// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A number is scanned into up to 64 bits of digits and an exponent. Most numbers then need one
// exact multiplication or division; the others are written out anew, without decimal point and with
// a bounded number of digits, for strtold to round.
#include <outsize/text/detail/general_key.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>

#include <outsize/text/detail/byte_filter.hpp>

namespace outsize::text {
namespace {

struct general_number {
  enum class kind { none, nan, value };

  kind what = kind::none;
  long double value = 0;
  std::uint64_t nan_rank = 0;
};

// The C library's isspace, which strtold skips.
bool is_space(char byte) noexcept { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

int digit_value(char byte, int base) noexcept {
  if (is_digit(byte)) return byte - '0';
  char const letter = to_upper(byte);
  return base == 16 && letter >= 'A' && letter <= 'F' ? letter - 'A' + 10 : -1;
}

bool starts_with_word(std::string_view text, std::string_view upper_case_word) noexcept {
  return text.size() >= upper_case_word.size() &&
         std::equal(upper_case_word.begin(), upper_case_word.end(), text.begin(),
                    [](char wanted, char byte) { return to_upper(byte) == wanted; });
}

// The payload of "nan(PAYLOAD)" is a C integer literal; anything else counts as none.
std::uint64_t nan_payload(std::string_view text) noexcept {
  std::size_t length = 0;
  if (!text.starts_with('(')) return 0;
  text.remove_prefix(1);
  while (length < text.size() &&
         (is_digit(text[length]) || is_letter(text[length]) || text[length] == '_')) {
    ++length;
  }
  if (length == text.size() || text[length] != ')') return 0;
  text = text.substr(0, length);

  int base = 10;
  if (starts_with_word(text, "0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.starts_with('0')) {
    base = 8;
  }
  std::uint64_t payload = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), payload, base);
  if (end != text.data() + text.size()) return 0;
  return error == std::errc::result_out_of_range ? std::numeric_limits<std::uint64_t>::max()
                                                 : payload;
}

// NaNs order by the bytes of an x87 number in memory: significand from its low byte up, then sign.
std::uint64_t rank_of_nan(std::uint64_t payload, bool negative) noexcept {
  std::uint64_t rest = payload | (std::uint64_t{3} << 62);
  std::uint64_t rank = 0;
  for (int byte = 0; byte < 8; ++byte, rest >>= 8) rank = (rank << 8) | (rest & 0xff);
  // The two leading bits are always set, which leaves room for the sign behind the significand:
  // the last byte in memory holds them.
  return (rank & ~std::uint64_t{0xff}) | ((rank & 0x3f) << 1) | std::uint64_t{negative};
}

std::int64_t constexpr largest_exponent = 100'000'000'000'000'000;

struct significand {
  std::string_view text;             // from the first digit that is not zero to the last one
  std::uint64_t head = 0;            // value of the first `head_digits(base)` digits
  std::int64_t digits = 0;           // digits in `text`
  std::int64_t fraction_digits = 0;  // digits behind the point, zeros in front of `text` included
  bool found = false;                // there was a digit, if only zero
};

std::int64_t head_digits(int base) noexcept { return base == 16 ? 16 : 19; }

significand take_significand(std::string_view& rest, int base) noexcept {
  significand result;
  bool behind_point = false;
  std::size_t first = 0;
  std::size_t at = 0;
  for (; at < rest.size(); ++at) {
    if (rest[at] == '.' && !behind_point) {
      behind_point = true;
      continue;
    }
    int const digit = digit_value(rest[at], base);
    if (digit < 0) break;
    result.found = true;
    result.fraction_digits += std::int64_t{behind_point};
    if (digit == 0 && result.digits == 0) continue;
    if (result.digits == 0) first = at;
    if (result.digits < head_digits(base)) {
      result.head = result.head * static_cast<unsigned>(base) + static_cast<unsigned>(digit);
    }
    ++result.digits;
  }
  if (result.digits > 0) result.text = rest.substr(first, at - first);
  rest.remove_prefix(at);
  return result;
}

std::int64_t take_exponent(std::string_view rest, char letter) noexcept {
  if (rest.empty() || to_upper(rest.front()) != letter) return 0;
  rest.remove_prefix(1);
  bool const negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  std::int64_t exponent = 0;
  for (char const byte : rest) {
    if (!is_digit(byte)) break;
    exponent = std::min(exponent * 10 + (byte - '0'), largest_exponent);
  }
  return negative ? -exponent : exponent;
}

// Halfway points between two long doubles have fewer decimal digits than this, so one more digit
// can stand for all that follow.
std::size_t constexpr decisive_digits = 12'000;

// Lets strtold round a number of any length; `power` is that of the last digit of `number.text`.
long double round_digits(significand const& number, int base, std::int64_t power) noexcept {
  std::array<char, decisive_digits + 64> buffer;
  char* out = buffer.data();
  if (base == 16) {
    *out++ = '0';
    *out++ = 'x';
  }
  char* const last = out + decisive_digits;
  std::int64_t written = 0;
  for (char const byte : number.text) {
    if (byte == '.') continue;
    if (out == last) {
      *out++ = '1';
      ++written;
      break;
    }
    *out++ = byte;
    ++written;
  }
  power += (number.digits - written) * (base == 16 ? 4 : 1);
  std::int64_t constexpr beyond_range = 1'000'000;
  power = std::clamp(power, -beyond_range, beyond_range);
  *out++ = base == 16 ? 'p' : 'e';
  out = std::to_chars(out, buffer.data() + buffer.size() - 1, power).ptr;
  *out = '\0';
  return std::strtold(buffer.data(), nullptr);
}

constexpr bool has_64_bit_significand = std::numeric_limits<long double>::digits >= 64;

// Powers of ten that a significand of 64 bits holds exactly.
constexpr auto exact_powers = [] {
  std::array<long double, 28> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

long double value_of(significand const& number, int base, std::int64_t exponent) noexcept {
  if (number.digits == 0) return 0;
  bool const exact_head = has_64_bit_significand && number.digits <= head_digits(base);
  if (base == 16) {
    std::int64_t const power = exponent - 4 * number.fraction_digits;
    if (!exact_head) return round_digits(number, base, power);
    return std::ldexp(static_cast<long double>(number.head),
                      static_cast<int>(std::clamp<std::int64_t>(power, -100'000, 100'000)));
  }
  std::int64_t const power = exponent - number.fraction_digits;
  auto const distance = static_cast<std::size_t>(power < 0 ? -power : power);
  if (!exact_head || distance >= exact_powers.size()) return round_digits(number, base, power);
  auto const head = static_cast<long double>(number.head);
  return power < 0 ? head / exact_powers[distance] : head * exact_powers[distance];
}

general_number parse_general(std::string_view text) noexcept {
  using kind = general_number::kind;
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  bool const negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);

  if (starts_with_word(text, "NAN")) {
    return {kind::nan, 0, rank_of_nan(nan_payload(text.substr(3)), negative)};
  }
  if (starts_with_word(text, "INF")) {
    long double constexpr infinity = std::numeric_limits<long double>::infinity();
    return {kind::value, negative ? -infinity : infinity, 0};
  }
  int base = 10;
  significand number;
  std::string_view rest = text;
  if (starts_with_word(text, "0X")) {
    base = 16;
    rest.remove_prefix(2);
    number = take_significand(rest, base);
  }
  if (!number.found) {  // "0x" alone is a zero with something behind it
    base = 10;
    rest = text;
    number = take_significand(rest, base);
  }
  if (!number.found) return {};
  long double const value = value_of(number, base, take_exponent(rest, base == 16 ? 'P' : 'E'));
  return {kind::value, negative ? -value : value, 0};
}

}  // namespace

int compare_general(std::string_view a, std::string_view b) noexcept {
  general_number const left = parse_general(a);
  general_number const right = parse_general(b);
  if (left.what != right.what) return left.what < right.what ? -1 : 1;
  if (left.nan_rank != right.nan_rank) return left.nan_rank < right.nan_rank ? -1 : 1;
  return left.value < right.value ? -1 : int{left.value > right.value};
}

std::uint64_t general_prefix(std::string_view text) noexcept {
  general_number const number = parse_general(text);
  if (number.what == general_number::kind::none) return 0;
  if (number.what == general_number::kind::nan) return 1;
  // Adding zero makes one of the two zeros. Rounding to double keeps the order; the complement of a
  // negative number's bits is at least that of -inf, well above 1.
  auto const bits = std::bit_cast<std::uint64_t>(static_cast<double>(number.value) + 0.0);
  std::uint64_t constexpr sign = std::uint64_t{1} << 63;
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

}  // namespace outsize::text
