// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The terminating zero is found by arithmetic on all eight bytes at once.
#include <outsize/text/detail/text_prefix.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>

#include <outsize/base/detail/byte_words.hpp>

namespace outsize::text {
namespace {

std::size_t constexpr code_bytes = sizeof(std::uint64_t);

std::uint64_t filtered_prefix(std::string_view text, byte_filter const& filter,
                              std::size_t& length) noexcept {
  std::uint64_t code = 0;
  length = 0;
  for (char const byte : text) {
    int const value = filter[byte];
    if (value == byte_filter::ignored) continue;
    code = (code << 8) | static_cast<unsigned>(value);
    if (++length == code_bytes) return code;
  }
  return length == 0 ? 0 : code << (8 * (code_bytes - length));
}

}  // namespace

std::size_t bytes_before_zero(std::uint64_t code) noexcept {
  std::uint64_t constexpr low_bits = 0x7f7f7f7f7f7f7f7f;
  std::uint64_t const zero_bytes = ~(((code & low_bits) + low_bits) | code | low_bits);
  return static_cast<std::size_t>(std::countl_zero(zero_bytes)) / 8;
}

key_code terminated_prefix(std::string_view text, byte_filter const* filter) noexcept {
  std::size_t length = std::min(text.size(), code_bytes);
  std::uint64_t const code = filter != nullptr ? filtered_prefix(text, *filter, length)
                                               : outsize::detail::leading_word(text);
  std::size_t const zero = bytes_before_zero(code);
  if (zero >= code_bytes - 1) return {code, 64};
  int const bits = static_cast<int>(8 * (zero + 1));
  if (zero < length) return {code | (~std::uint64_t{0} >> bits), 64};
  return {code, bits};
}

}  // namespace outsize::text
