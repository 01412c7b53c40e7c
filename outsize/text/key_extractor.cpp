// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/text/key_extractor.hpp>

#include <algorithm>

#include <outsize/text/csv_field.hpp>

namespace outsize::text {
namespace {

/// The order of texts that consist of these keys and `delimiter` between them.
line_order order_of_extracted(line_order_options options, std::vector<line_key> const& keys,
                              char delimiter) {
  options.stable = true;
  options.unique = false;
  if (keys.empty()) return line_order(options);
  options.global = {};
  bool const is_csv = options.csv.has_value();
  if (!is_csv && keys.size() == 1 && keys[0].order.is_default()) {
    options.keys.clear();
    options.global.reverse = keys[0].order.reverse;
    return line_order(options);
  }
  options.separator = delimiter;
  for (std::size_t i = 0; i < keys.size(); ++i)
    options.keys[i] = {.begin_field = i, .end_field = i, .order = keys[i].order};
  if (!is_csv && keys.size() == 1) options.keys[0].end_field = line_key::to_end_of_line;
  return line_order(options);
}

}  // namespace

key_extractor::key_extractor(line_order_options const& options, char delimiter)
    : keys_(complete_keys(options)),
      separator_(options.separator),
      csv_(options.csv),
      delimiter_(delimiter),
      order_(order_of_extracted(options, keys_, delimiter)) {}

std::string_view key_extractor::extract(std::string_view line) {
  if (keys_.empty()) return line;
  if (csv_) return extract_values(line);
  if (keys_.size() == 1) return key_span(line, keys_[0], separator_);
  joined_.clear();
  for (line_key const& key : keys_) {
    if (&key != &keys_.front()) joined_ += delimiter_;
    joined_ += key_span(line, key, separator_);
  }
  return joined_;
}

std::string_view key_extractor::extract_values(std::string_view record) {
  joined_.clear();
  for (line_key const& key : keys_) {
    if (&key != &keys_.front()) joined_ += csv_->separator;
    append_csv_field(joined_, key_part(csv_field(record, key.begin_field, *csv_, room_), key),
                     *csv_);
  }
  return joined_;
}

std::string_view key_extractor::shown(std::string_view text) {
  if (keys_.size() < 2 || csv_) return text;
  joined_ = text;
  std::ranges::replace(joined_, delimiter_, separator_.value_or(' '));
  return joined_;
}

}  // namespace outsize::text
