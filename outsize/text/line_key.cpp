// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Parsing is a walk over the text with one function for each syntactic unit; positions in the text
// count from 1, those in a line_key from 0.
#include <outsize/text/line_key.hpp>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include <outsize/base/detail/byte_places.hpp>
#include <outsize/text/detail/byte_filter.hpp>

namespace outsize::text {
namespace {

class key_parser {
 public:
  explicit key_parser(std::string_view text) : text_(text), rest_(text) {}

  line_key parse() {
    line_key key;
    key.begin_field = field("a field number");
    if (accept('.')) key.begin_char = first_char();
    options(key.order, key.skip_begin_blanks);
    if (accept(',')) {
      key.end_field = field("a field number after ','");
      if (accept('.')) key.end_char = number("a character position after '.'");
      options(key.order, key.skip_end_blanks);
    }
    if (!rest_.empty()) {
      fail(fmt::format("'{}' is neither a position nor an ordering option", rest_.front()));
    }
    return key;
  }

 private:
  bool accept(char wanted) {
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // Saturates one below `to_end_of_line`: no line has that many fields.
  std::size_t number(std::string_view what) {
    std::size_t constexpr most = line_key::to_end_of_line - 1;
    if (rest_.empty() || !is_digit(rest_.front())) fail(fmt::format("{} is missing", what));
    std::size_t value = 0;
    for (; !rest_.empty() && is_digit(rest_.front()); rest_.remove_prefix(1)) {
      auto const digit = static_cast<std::size_t>(rest_.front() - '0');
      value = value > (most - digit) / 10 ? most : value * 10 + digit;
    }
    return value;
  }

  std::size_t field(std::string_view what) {
    std::size_t const value = number(what);
    if (value == 0) fail("field numbers start at 1");
    return value - 1;
  }

  std::size_t first_char() {
    std::size_t const value = number("a character position after '.'");
    if (value == 0) fail("character positions start at 1");
    return value - 1;
  }

  void options(ordering& order, bool& skip_blanks) {
    while (!rest_.empty()) {
      if (rest_.front() == 'b') {
        skip_blanks = true;
      } else if (!set_option(order, rest_.front())) {
        return;
      }
      rest_.remove_prefix(1);
    }
  }

  [[noreturn]] void fail(std::string_view reason) const {
    throw std::invalid_argument(fmt::format("key '{}': {}", text_, reason));
  }

  std::string_view text_;
  std::string_view rest_;
};

char const* skip_blanks(char const* at, char const* end) noexcept {
  while (at < end && is_blank(*at)) ++at;
  return at;
}

char const* skip_bytes(char const* at, char const* end, std::size_t count) noexcept {
  return at + std::min(count, static_cast<std::size_t>(end - at));
}

char const* find_separator(char const* at, char const* end, char separator) noexcept {
  if (at == end) return end;
  void const* const found = std::memchr(at, separator, static_cast<std::size_t>(end - at));
  return found ? static_cast<char const*>(found) : end;
}

// So many fields are passed faster by counting their ends, 64 bytes at a time (byte_places.hpp).
constexpr std::size_t many_fields = 4;

std::string_view text_of(char const* begin, char const* end) noexcept {
  return {begin, static_cast<std::size_t>(end - begin)};
}

struct blank_fields {
  char const* field_end(char const* at, char const* end) const noexcept {
    at = skip_blanks(at, end);
    while (at < end && !is_blank(*at)) ++at;
    return at;
  }
  char const* next_field(char const* at, char const* end) const noexcept {
    return field_end(at, end);
  }
  char const* behind_many(char const* at, char const* end, std::size_t count) const noexcept {
    return at + outsize::detail::find_end_of_word(text_of(at, end), count - 1);
  }
};

struct separated_fields {
  char separator;

  char const* field_end(char const* at, char const* end) const noexcept {
    return find_separator(at, end, separator);
  }
  char const* next_field(char const* at, char const* end) const noexcept {
    at = field_end(at, end);
    return at < end ? at + 1 : end;
  }
  char const* behind_many(char const* at, char const* end, std::size_t count) const noexcept {
    at += outsize::detail::find_nth(text_of(at, end), separator, count - 1);
    return at < end ? at + 1 : end;
  }
};

template <typename Fields>
char const* skip_fields(Fields fields, char const* at, char const* end,
                        std::size_t count) noexcept {
  if (count >= many_fields) return fields.behind_many(at, end, count);
  for (; at < end && count > 0; --count) at = fields.next_field(at, end);
  return at;
}

template <typename Fields>
std::string_view span_of(std::string_view line, line_key const& key, Fields fields) noexcept {
  char const* const line_begin = line.data();
  char const* const line_end = line_begin + line.size();
  char const* const begin_field = skip_fields(fields, line_begin, line_end, key.begin_field);

  char const* begin = begin_field;
  if (key.skip_begin_blanks) begin = skip_blanks(begin, line_end);
  begin = skip_bytes(begin, line_end, key.begin_char);
  if (key.end_field == line_key::to_end_of_line) {
    return text_of(begin, line_end);
  }

  // The end's field is usually not in front of the begin's, and the walk just goes on.
  bool const goes_on = key.end_field >= key.begin_field;
  char const* end = goes_on ? begin_field : line_begin;
  end = skip_fields(fields, end, line_end, key.end_field - (goes_on ? key.begin_field : 0));
  if (key.end_char == 0) {
    end = fields.field_end(end, line_end);
  } else {
    if (key.skip_end_blanks) end = skip_blanks(end, line_end);
    end = skip_bytes(end, line_end, key.end_char);
  }
  return text_of(begin, std::max(begin, end));
}

}  // namespace

bool line_key::inherits() const noexcept {
  return order == ordering{} && !skip_begin_blanks && !skip_end_blanks;
}

line_key parse_key(std::string_view text) { return key_parser(text).parse(); }

std::string_view key_span(std::string_view line, line_key const& key,
                          std::optional<char> separator) noexcept {
  return separator ? span_of(line, key, separated_fields{*separator})
                   : span_of(line, key, blank_fields{});
}

}  // namespace outsize::text
