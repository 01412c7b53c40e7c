// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Classes of bytes in the C locale, whatever the program's locale is, and the translation that the
// options d, i and f apply to a key before it is compared. Layer: text. Constant tables only,
// usable from any number of threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <outsize/text/ordering.hpp>

namespace outsize::text {

/// Returns whether `byte` is one of 0 to 9.
constexpr bool is_digit(char byte) noexcept { return byte >= '0' && byte <= '9'; }

/// Returns whether `byte` is one of A to Z and a to z.
constexpr bool is_letter(char byte) noexcept {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/// Returns whether `byte` separates fields when no separator is given.
constexpr bool is_blank(char byte) noexcept { return byte == ' ' || byte == '\t' || byte == '\n'; }

/// Returns the capital letter for a small one, and any other byte as it is.
constexpr char to_upper(char byte) noexcept {
  return byte >= 'a' && byte <= 'z' ? static_cast<char>(byte - 'a' + 'A') : byte;
}

/// For every byte its value after translation, or `ignored` if it does not count.
class byte_filter {
 public:
  static constexpr int ignored = -1;

  /// The table for the letters d, i and f.
  constexpr byte_filter(bool dictionary, bool printable, bool fold) noexcept : value_{} {
    for (std::size_t index = 0; index < value_.size(); ++index) {
      auto const byte = static_cast<char>(static_cast<unsigned char>(index));
      bool const dropped = dictionary  ? !is_digit(byte) && !is_letter(byte) && !is_blank(byte)
                           : printable ? index < ' ' || index > '~'
                                       : false;
      unsigned char const folded = static_cast<unsigned char>(fold ? to_upper(byte) : byte);
      value_[index] = dropped ? std::int16_t{ignored} : std::int16_t{folded};
    }
  }

  /// The value of `byte`, or `ignored`.
  constexpr int operator[](char byte) const noexcept {
    return value_[static_cast<unsigned char>(byte)];
  }

 private:
  std::array<std::int16_t, 256> value_;
};

/// Returns the table for the letters d, i and f of `order`, or nullptr if it has none of them.
byte_filter const* filter_of(ordering const& order) noexcept;

/// Reads text byte by byte, as it is. Advancing at the end has no effect.
class raw_cursor {
 public:
  raw_cursor(char const* begin, char const* end) noexcept : at_(begin), end_(end) {}

  bool done() const noexcept { return at_ == end_; }
  /// The current byte; 0 at the end, so that classes of bytes can be asked without a further test.
  char value() const noexcept { return done() ? '\0' : *at_; }
  void next() noexcept {
    if (!done()) ++at_;
  }
  char const* position() const noexcept { return at_; }
  /// The same place in the text that ends at `end`, which is not in front of it.
  raw_cursor until(char const* end) const noexcept { return {at_, end}; }

 private:
  char const* at_;
  char const* end_;
};

/// Reads text byte by byte through a filter, as raw_cursor does without one.
class filtered_cursor {
 public:
  filtered_cursor(char const* begin, char const* end, byte_filter const& filter) noexcept
      : at_(begin), end_(end), filter_(&filter) {
    settle();
  }

  bool done() const noexcept { return at_ == end_; }
  char value() const noexcept { return done() ? '\0' : static_cast<char>((*filter_)[*at_]); }
  void next() noexcept {
    if (done()) return;
    ++at_;
    settle();
  }
  char const* position() const noexcept { return at_; }
  filtered_cursor until(char const* end) const noexcept { return {at_, end, *filter_}; }

 private:
  void settle() noexcept {
    while (at_ != end_ && (*filter_)[*at_] == byte_filter::ignored) ++at_;
  }

  char const* at_;
  char const* end_;
  byte_filter const* filter_;
};

}  // namespace outsize::text
