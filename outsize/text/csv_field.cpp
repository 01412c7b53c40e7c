// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/text/csv_field.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <stdexcept>

#include <outsize/base/detail/byte_places.hpp>
#include <outsize/text/detail/byte_filter.hpp>

namespace outsize::text {
namespace {

using detail::csv_field_end;

std::string_view unquoted(std::string_view field, char quote, std::string& room) {
  auto text = field.substr(1);
  text = text.substr(0, detail::csv_closing_quote(text, 0, quote));
  auto inner = text.find(quote);
  if (inner == std::string_view::npos) return text;
  room.clear();
  for (; inner != std::string_view::npos; inner = text.find(quote)) {
    room.append(text.substr(0, inner + 1));
    text.remove_prefix(std::min(inner + 2, text.size()));
  }
  room.append(text);
  return room;
}

// The CR in front of a record's LF belongs to no field.
std::string_view without_end(std::string_view record) noexcept {
  if (record.ends_with('\r')) record.remove_suffix(1);
  return record;
}

std::size_t blanks_in_front(std::string_view value) noexcept {
  return static_cast<std::size_t>(std::ranges::find_if_not(value, is_blank) - value.begin());
}

}  // namespace

std::string_view csv_field(std::string_view record, std::size_t index, csv_format format,
                           std::string& room) {
  auto const rest = behind_csv_fields(without_end(record), index, format);
  return csv_value(rest.substr(0, csv_field_end(rest, 0, format)), format, room);
}

std::string_view csv_value(std::string_view field, csv_format format, std::string& room) {
  return field.starts_with(format.quote) ? unquoted(field, format.quote, room) : field;
}

void split_csv(std::string_view record, csv_format format, std::vector<std::string_view>& fields) {
  fields.clear();
  record = without_end(record);
  if (record.empty()) return;
  for (std::size_t end = csv_field_end(record, 0, format);;
       end = csv_field_end(record, 0, format)) {
    fields.push_back(record.substr(0, end));
    if (end == record.size()) return;
    record.remove_prefix(end + 1);
  }
}

std::string_view behind_csv_fields(std::string_view record, std::size_t count, csv_format format) {
  std::size_t begin = 0;
  constexpr std::size_t many_fields = 4;
  if (count >= many_fields) {  // as if nothing in front were quoted
    std::size_t const end = outsize::detail::find_nth(record, format.separator, count - 1);
    auto const fields = record.substr(0, end);
    if (end < record.size() && fields.find(format.quote) == fields.npos)
      return record.substr(end + 1);
  }
  for (; count > 0; --count) {
    begin = csv_field_end(record, begin, format) + 1;
    if (begin > record.size()) return {};
  }
  return record.substr(begin);
}

void append_csv_field(std::string& record, std::string_view value, csv_format format) {
  std::string_view const special("\r\n", 2);
  auto const must_be_quoted = [&](char byte) {
    return byte == format.separator || byte == format.quote || special.find(byte) != special.npos;
  };
  if (std::ranges::none_of(value, must_be_quoted)) {
    record += value;
    return;
  }
  record += format.quote;
  for (char const byte : value) record.append(byte == format.quote ? 2 : 1, byte);
  record += format.quote;
}

line_key one_field_key(line_key key) {
  if (key.end_field == line_key::to_end_of_line) {
    key.end_field = key.begin_field;
  } else if (key.end_field != key.begin_field) {
    throw std::invalid_argument(fmt::format("a key of CSV is one field, not {} to {}",
                                            key.begin_field + 1, key.end_field + 1));
  }
  return key;
}

std::string_view key_part(std::string_view value, line_key const& key) noexcept {
  auto const blanks = blanks_in_front(value);
  auto const begin = std::min(
      (key.skip_begin_blanks ? blanks : 0) + std::min(key.begin_char, value.size()), value.size());
  auto end = value.size();
  if (key.end_char != 0) {
    end = std::min((key.skip_end_blanks ? blanks : 0) + std::min(key.end_char, value.size()),
                   value.size());
  }
  return value.substr(begin, std::max(begin, end) - begin);
}

}  // namespace outsize::text
