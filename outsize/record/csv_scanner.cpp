// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/record/csv_scanner.hpp>

#include <algorithm>

namespace outsize::detail {

std::size_t csv_closing_quote(std::string_view record, std::size_t at, char quote) noexcept {
  for (;;) {
    at = std::min(record.find(quote, at), record.size());
    if (at + 1 >= record.size() || record[at + 1] != quote) return at;
    at += 2;
  }
}

std::size_t csv_field_end(std::string_view record, std::size_t at, csv_format format) noexcept {
  if (at < record.size() && record[at] == format.quote)
    at = csv_closing_quote(record, at + 1, format.quote);
  return std::min(record.find(format.separator, std::min(at, record.size())), record.size());
}

std::size_t count_csv_fields(std::string_view record, csv_format format,
                             std::size_t most) noexcept {
  std::size_t count = 1;
  for (std::size_t begin = 0; count < most; ++count) {
    begin = csv_field_end(record, begin, format) + 1;
    if (begin > record.size()) break;
  }
  return count;
}

std::size_t csv_scanner::scan(std::string_view bytes) noexcept {
  for (std::size_t at = 0; at < bytes.size() && !is_at_fault(); ++at) {
    if (state_ == state::field_begins) {
      fault_place_ = seen_bytes_ + at;
      state_ = bytes[at] == format_.quote ? state::quoted : state::plain;
      if (state_ == state::quoted) continue;
    }
    if (state_ == state::plain) at = step_over_plain(bytes, at);
    if (state_ == state::quoted) at = std::min(bytes.find(format_.quote, at), bytes.size());
    if (at == bytes.size()) break;
    if (bytes[at] == record_end_ && state_ != state::quoted) {
      *this = csv_scanner(format_, record_end_);
      return at;
    }
    step_past(bytes[at], seen_bytes_ + at);
  }
  seen_bytes_ += bytes.size();
  return not_found;
}

// To the next separator, CR where it ends records, or LF, or to the end.
std::size_t csv_scanner::step_over_plain(std::string_view bytes, std::size_t at) noexcept {
  auto const from = bytes.begin() + static_cast<std::ptrdiff_t>(at);
  auto const ends = [this](char byte) { return byte == format_.separator || byte == '\n'; };
  auto const found = record_end_ == '\n' ? std::find_if(from, bytes.end(), ends)
                                         : std::find_if(from, bytes.end(), [&](char byte) {
                                             return ends(byte) || byte == record_end_;
                                           });
  return static_cast<std::size_t>(found - bytes.begin());
}

// Past the separator behind a plain field, a quote inside of a field, or what follows that.
void csv_scanner::step_past(char byte, std::size_t place) noexcept {
  if (state_ == state::plain && byte == format_.separator) {
    state_ = state::field_begins;
  } else if (state_ == state::quoted) {
    state_ = state::quote_seen;
  } else if (state_ == state::cr_seen) {
    fault_place_ = place - 1;  // wrong is the CR that no LF follows
    state_ = state::faulty;
  } else if (byte == format_.quote) {
    state_ = state::quoted;
  } else if (byte == format_.separator) {
    state_ = state::field_begins;
  } else if (byte == '\r') {
    state_ = state::cr_seen;
  } else {
    fault_place_ = place;
    state_ = byte == '\n' ? state::other_end_seen : state::faulty;
  }
}

csv_scanner::fault csv_scanner::found_fault(bool ends) const noexcept {
  if (state_ == state::faulty) return fault::behind_quote;
  if (state_ == state::other_end_seen) return fault::other_end;
  return ends && state_ == state::quoted ? fault::unclosed : fault::none;
}

}  // namespace outsize::detail
