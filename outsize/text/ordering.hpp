// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The one-letter options that choose how keys of lines compare, as GNU sort names them. Layer:
// text. A plain value, usable from any number of threads; which letters exclude each other is said
// here.
#pragma once

#include <string>

namespace outsize::text {

/// How a key, or without keys the whole line, compares. All false: by byte value, ascending.
struct ordering {
  bool blanks = false;  ///< b: leading blanks do not count. For line_order_options::global only;
                        ///< a line_key has a flag for each of its ends instead.
  bool dictionary = false;  ///< d: only blanks, letters and digits count.
  bool fold = false;        ///< f: lower case letters count as upper case.
  bool general = false;     ///< g: floating-point numbers, with exponent, infinities and NaN.
  bool human = false;       ///< h: decimal numbers with a unit, as in "2K" and "1G".
  bool printable = false;   ///< i: only printable characters count; d implies it.
  bool month = false;       ///< M: (unknown) < JAN < ... < DEC.
  bool numeric = false;     ///< n: decimal numbers without exponent.
  bool random = false;      ///< R: in an order that a salt decides; equal keys stay together.
  bool reverse = false;     ///< r: descending.
  bool version = false;     ///< V: text with numbers inside, as in version numbers of files.

  bool operator==(ordering const&) const = default;

  /// Returns whether no letter is set, `r` aside: such a key inherits the global letters, unless it
  /// has an `r` of its own.
  bool is_default() const noexcept;
};

/// Sets the option of `letter`; returns false, and changes nothing, if there is no such letter.
bool set_option(ordering& order, char letter) noexcept;

/// Throws std::invalid_argument, "options '-Mn' are incompatible", when no order can satisfy all
/// letters of `order`.
void require_compatible(ordering const& order);

}  // namespace outsize::text
