// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/printable_text.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace outsize {
namespace {

/// The number of a valid character.
std::uint32_t code_point(std::string_view character) noexcept {
  auto const byte = [&](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(character[i])};
  };
  std::size_t const bytes = character.size();
  if (bytes == 1) return byte(0);
  std::uint32_t value = byte(0) & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) value = value << 6U | (byte(i) & 0x3FU);
  return value;
}

struct code_range {
  std::uint32_t first;
  std::uint32_t last;
};

constexpr std::array not_shown{
    code_range{0x00, 0x1F},     code_range{0x7F, 0x9F},      // controls: C0, DEL, C1
    code_range{0x61C, 0x61C},                                // marks of direction
    code_range{0x200E, 0x200F}, code_range{0x2028, 0x202E},  // ends of lines, embeddings, overrides
    code_range{0x2066, 0x2069}};                             // isolates

}  // namespace

std::size_t utf8_character_bytes(std::string_view text) noexcept {
  auto const first = static_cast<unsigned char>(text[0]);
  std::size_t const bytes = first < 0x80                    ? 1
                            : first >= 0xC2 && first < 0xE0 ? 2
                            : first >= 0xE0 && first < 0xF0 ? 3
                            : first >= 0xF0 && first < 0xF5 ? 4
                                                            : 0;
  if (bytes > text.size()) return 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  if (bytes < 3) return bytes;
  // Overlong forms, surrogates and numbers past the last character begin with special pairs.
  auto const second = static_cast<unsigned char>(text[1]);
  bool const is_none = (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
                       (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
  return is_none ? 0 : bytes;
}

bool is_printable(std::string_view character) noexcept {
  auto const code = code_point(character);
  return std::ranges::none_of(
      not_shown, [code](auto range) { return range.first <= code && code <= range.last; });
}

std::string printable(std::string_view text) {
  std::string out;
  append_printable(out, text);
  return out;
}

namespace detail {

std::size_t printable_bytes(std::string_view text) noexcept {
  std::size_t shown = 0;
  while (shown < text.size() && text[shown] != '\\') {
    std::size_t const bytes = utf8_character_bytes(text.substr(shown));
    if (bytes == 0 || !is_printable(text.substr(shown, bytes))) break;
    shown += bytes;
  }
  return shown;
}

std::string_view escape_byte(char byte, char (&room)[4]) noexcept {
  constexpr std::string_view named = "\n\t\r\\", names = "ntr\\";
  room[0] = '\\';
  if (auto const at = named.find(byte); at != std::string_view::npos) {
    room[1] = names[at];
    return {room, 2};
  }
  auto const value = static_cast<unsigned char>(byte);
  room[1] = static_cast<char>('0' + (value >> 6U));
  room[2] = static_cast<char>('0' + (value >> 3U & 7U));
  room[3] = static_cast<char>('0' + (value & 7U));
  return {room, 4};
}

}  // namespace detail
}  // namespace outsize
