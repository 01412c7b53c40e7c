// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A key of a line, as `sort -k POS1[,POS2]` describes it, and where it lies in a given line.
// Layer: text. Plain values and pure functions, usable from any number of threads.
//
// POS is F[.C][OPTS]. Fields are separated by a given byte or, without one, by the empty string
// between a non-blank and a blank, so that the blanks before a field belong to it:
//
//     line "  ab cd"   fields |  ab| cd|      -k 2.2,2 is "cd", -k 2b,2.1b is "c"
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>

#include <outsize/text/ordering.hpp>

namespace outsize::text {

/// The part of a line that one comparison looks at. The default is the whole line.
struct line_key {
  static constexpr std::size_t to_end_of_line = std::numeric_limits<std::size_t>::max();

  std::size_t begin_field = 0;             ///< Fields in front of the one where the key begins.
  std::size_t begin_char = 0;              ///< Bytes of that field in front of the key.
  std::size_t end_field = to_end_of_line;  ///< Fields in front of the one where the key ends.
  std::size_t end_char = 0;        ///< Bytes of that field inside the key, may exceed it; 0: all.
  bool skip_begin_blanks = false;  ///< `begin_char` counts from the first non-blank of its field.
  bool skip_end_blanks = false;    ///< The same for `end_char`.
  ordering order = {};             ///< `order.blanks` has no meaning here.

  bool operator==(line_key const&) const = default;

  /// Returns whether the key came without options, so that the global ones apply to it.
  bool inherits() const noexcept;
};

/// Reads POS1[,POS2], as in "2.3nr,4". Throws std::invalid_argument with one line naming the key.
line_key parse_key(std::string_view text);

/// Returns the bytes of `key` in `line`, which may be empty; reads the line once, up to the key's
/// end. Without a `separator`, blanks (space, tab, newline) separate fields.
std::string_view key_span(std::string_view line, line_key const& key,
                          std::optional<char> separator) noexcept;

}  // namespace outsize::text
