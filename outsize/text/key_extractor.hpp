// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The keys of a line without the rest of it, and the order of what is left. Layer: text.
//
// Several keys are joined by the byte that ends lines: as no line contains it, they stay apart, and
// the order of the joined text is an order of lines with that byte as separator. Keys of CSV become
// a record of their own, in which equal values are written alike. One thread at a time.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/text/line_order.hpp>

namespace outsize::text {

/// Extracts what `-k` and its companions look at.
class key_extractor {
 public:
  /// @throws std::invalid_argument as line_order.
  key_extractor(line_order_options const& options, char delimiter);

  /// The keys of `line`, or all of it if there are no keys; valid until the next call and as long
  /// as `line`.
  std::string_view extract(std::string_view line);

  bool has_keys() const noexcept { return !keys_.empty(); }

  /// The order of extracted texts. They compare equal if and only if the lines' keys do.
  line_order const& order() const noexcept { return order_; }

  /// The extracted text as it is shown: keys with a separator between them, a space if there is
  /// none; of CSV the record. Valid until the next call and as long as `text`.
  std::string_view shown(std::string_view text);

 private:
  std::vector<line_key> keys_;
  std::optional<char> separator_;
  std::optional<csv_format> csv_;
  char delimiter_;
  line_order order_;
  std::string joined_;
  std::string room_;  // for a value that is written otherwise

  std::string_view extract_values(std::string_view record);
};

}  // namespace outsize::text
