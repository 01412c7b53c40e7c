// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// One key together with the comparison that its options ask for. Layer: text. Immutable after
// construction, and free of allocation except for long values of CSV with quotes inside, so every
// method may be called from any number of threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <outsize/kernel/byte_order.hpp>
#include <outsize/kernel/deepening_order.hpp>
#include <outsize/record/csv_scanner.hpp>
#include <outsize/text/detail/byte_filter.hpp>
#include <outsize/text/detail/text_prefix.hpp>
#include <outsize/text/line_key.hpp>
#include <outsize/text/random_salt.hpp>

namespace outsize::text {

/// What ends a field, if there is a byte that does, or how CSV is written.
struct field_format {
  field_format() = default;
  field_format(std::optional<char> ends, std::optional<csv_format> quoted = {})
      : separator(ends), csv(quoted) {}

  std::optional<char> separator = {};
  std::optional<csv_format> csv = {};
};

/// A total preorder of lines by one key.
class key_order {
 public:
  /// Takes a key that has inherited what it inherits and whose options are compatible (of CSV, a
  /// key of one field or the default), and what decides a random order.
  key_order(line_key const& key, field_format const& fields, random_salt const& salt = {}) noexcept;

  /// Returns <0, 0 or >0 as the key of line `a` comes before, with or behind that of line `b`.
  int compare(std::string_view a, std::string_view b) const noexcept;

  /// Returns the code of the key of `line`.
  key_code code(std::string_view line) const noexcept;

  // A deepening_order of one key, but for how often to look. Bytes are those that a filter lets
  // through. Of keys that do not compare by bytes, the code of the whole key is all there is.

  /// In what keys are alike that begin with this code.
  key_depth prefix_depth(std::uint64_t code) const noexcept;
  std::uint64_t deeper_prefix(std::string_view line, key_depth depth) const noexcept;
  key_depth deeper_depth(std::uint64_t deeper, key_depth depth) const noexcept;
  key_depth common_depth(std::string_view a, std::string_view b, key_depth depth) const noexcept;
  static bool is_whole_key(key_depth depth) noexcept { return byte_order::is_whole_key(depth); }

 private:
  enum class kind { bytes, filtered, decimal, human, general, month, random, version };

  static kind kind_of(ordering const& order) noexcept;
  bool is_text() const noexcept { return kind_ == kind::bytes || kind_ == kind::filtered; }
  byte_order bytes() const noexcept { return {.descending = key_.order.reverse}; }
  template <typename Use>
  auto with_key(std::string_view line, Use const& use) const noexcept;
  std::string_view find(std::string_view line) const noexcept;
  std::string_view find_csv(std::string_view line, std::string& room) const;
  int compare_found(std::string_view a, std::string_view b) const noexcept;
  key_code code_found(std::string_view text) const noexcept;
  int compare_ascending(std::string_view a, std::string_view b) const noexcept;
  key_code ascending_code(std::string_view text) const noexcept;
  int compare_text(std::string_view a, std::string_view b) const noexcept;
  std::uint64_t filtered_prefix(std::string_view text, key_depth depth) const noexcept;
  key_depth common_filtered(std::string_view a, std::string_view b) const noexcept;
  detail::md5::digest random_digest(std::string_view text) const noexcept;
  int compare_random(std::string_view a, std::string_view b) const noexcept;

  line_key key_;
  field_format fields_;
  kind kind_;
  byte_filter const* filter_;
  random_salt salt_;
  bool covers_line_;
};

}  // namespace outsize::text
