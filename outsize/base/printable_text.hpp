// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Text that comes from outside (names of files, words of a command line), made safe to show.
//
// A file name may hold any byte but '/' and NUL. Shown as it is, it can move the cursor, colour the
// screen, or look like another name. Messages of this library hold names as they are, since a
// program may need them; a program that prints a message calls printable() first.
//
// Pure functions, usable from any number of threads. Layer: base.

#include <cstddef>
#include <string>
#include <string_view>

namespace outsize {

/// Returns the number of bytes of the UTF-8 character at the start of `text`, which is not empty; 0
/// if no valid character begins there (overlong forms and surrogates are not valid).
std::size_t utf8_character_bytes(std::string_view text) noexcept;

/// Returns whether `character`, one valid UTF-8 character, can be shown: it is not a control
/// character (C0, DEL, C1), ends no line, and does not change the direction of writing.
bool is_printable(std::string_view character) noexcept;

/// Appends `text` to `out`, as printable() returns it.
/// @throws std::bad_alloc, or what `out` throws when it grows.
template <typename Container>
void append_printable(Container& out, std::string_view text);

/// Returns `text` on one line of valid UTF-8. Each byte of a character that is_printable() refuses,
/// and each byte that is not UTF-8, becomes an escape of C: `\n`, `\t`, `\r`, or `\` and three
/// octal digits. A backslash becomes `\\`, so different texts stay different. So does `ls -b`.
std::string printable(std::string_view text);

namespace detail {

/// How long the part at the start of `text` is that can be shown as it is.
std::size_t printable_bytes(std::string_view text) noexcept;

/// The escape of one byte, in `room`.
std::string_view escape_byte(char byte, char (&room)[4]) noexcept;

}  // namespace detail

template <typename Container>
void append_printable(Container& out, std::string_view text) {
  auto const append = [&out](std::string_view bytes) {
    for (char const byte : bytes) out.push_back(byte);
  };
  while (!text.empty()) {
    std::size_t const shown = detail::printable_bytes(text);
    append(text.substr(0, shown));
    text.remove_prefix(shown);
    if (text.empty()) return;
    char room[4];
    // All bytes of a character that cannot be shown, or one byte that is part of none.
    std::size_t const bytes = utf8_character_bytes(text);
    for (char const byte : text.substr(0, bytes == 0 ? 1 : bytes))
      append(detail::escape_byte(byte, room));
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
}

}  // namespace outsize
