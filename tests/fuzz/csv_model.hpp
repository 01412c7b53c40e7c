// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// CSV read and written one byte after the other, as slowly and plainly as can be: what the targets
// hold the library against. Pure functions.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/record/csv_scanner.hpp>

namespace outsize::fuzz {

/// A separator that a byte of an input chooses; often a usual one.
inline csv_format chosen_format(std::uint8_t byte) {
  constexpr std::string_view usual = ",;\t|a";
  char const other = static_cast<char>(byte);
  if (byte < 128 || other == '"' || other == '\n' || other == '\r')
    return {.separator = usual[byte % usual.size()]};
  return {.separator = other};
}

/// The values of a record, which is well formed.
inline std::vector<std::string> csv_values(std::string_view record, csv_format format) {
  if (record.ends_with('\r')) record.remove_suffix(1);
  std::vector<std::string> values(1);
  bool begins = true, quoted = false;
  for (std::size_t i = 0; i < record.size(); ++i) {
    char const byte = record[i];
    if (begins && byte == format.quote) {
      quoted = true;
    } else if (quoted && byte == format.quote) {
      bool const doubled = i + 1 < record.size() && record[i + 1] == format.quote;
      if (doubled) values.back() += record[i++];
      if (!doubled) quoted = false;
    } else if (!quoted && byte == format.separator) {
      values.emplace_back();
      begins = true;
      continue;
    } else {
      values.back() += byte;
    }
    begins = false;
  }
  return values;
}

/// A record of these values, all of them in quotes.
inline std::string csv_record(std::vector<std::string> const& values, csv_format format) {
  std::string record;
  for (std::string const& value : values) {
    if (&value != values.data()) record += format.separator;
    record += format.quote;
    for (char const byte : value) record.append(byte == format.quote ? 2 : 1, byte);
    record += format.quote;
  }
  return record;
}

}  // namespace outsize::fuzz
