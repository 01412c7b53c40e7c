// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Three letters are few enough to be compared as one number.
#include <outsize/text/detail/month_key.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

#include <outsize/text/detail/byte_filter.hpp>

namespace outsize::text {
namespace {

constexpr std::uint32_t three_letters(char const* at) noexcept {
  std::uint32_t word = 0;
  for (int i = 0; i < 3; ++i) word = (word << 8) | static_cast<unsigned char>(to_upper(at[i]));
  return word;
}

constexpr std::array<std::uint32_t, 12> months{
    three_letters("JAN"), three_letters("FEB"), three_letters("MAR"), three_letters("APR"),
    three_letters("MAY"), three_letters("JUN"), three_letters("JUL"), three_letters("AUG"),
    three_letters("SEP"), three_letters("OCT"), three_letters("NOV"), three_letters("DEC")};

}  // namespace

int month_of(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  if (text.size() < 3) return 0;
  std::uint32_t const word = three_letters(text.data());
  for (std::size_t i = 0; i < months.size(); ++i) {
    if (months[i] == word) return static_cast<int>(i) + 1;
  }
  return 0;
}

}  // namespace outsize::text
