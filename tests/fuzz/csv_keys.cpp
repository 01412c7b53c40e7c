// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Keys of CSV records order them as the same keys order the values by themselves.
//
//   byte 0       the separator
//   up to LF     the key
//   up to NUL    a record, and the rest: another one

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <outsize/text/csv_field.hpp>
#include <outsize/text/line_order.hpp>

#include "csv_model.hpp"
#include "fuzz_target.hpp"

namespace outsize::fuzz {
namespace {

using text::line_key;

bool is_one_record(std::string_view record, csv_format format) {
  detail::csv_scanner scanner(format);
  return scanner.scan(record) == detail::csv_scanner::not_found &&
         scanner.found_fault(true) == detail::csv_scanner::fault::none;
}

/// The value that the key is about, by the model.
std::string value_of(std::string_view record, line_key const& key, csv_format format) {
  auto const values = csv_values(record, format);
  return key.begin_field < values.size() ? values[key.begin_field] : std::string();
}

/// A byte that does not come in the text; there is one in all that is short.
char absent_from(std::string_view text) {
  char byte = '\0';
  while (text.find(byte) != text.npos) ++byte;
  return byte;
}

std::string part_of(std::string const& value, line_key key) {
  key.begin_field = key.end_field = 0;
  auto const part = text::key_part(value, key);
  require(part == text::key_span(value, key, absent_from(value)),
          "a key is the same part of a value and of a line that is one field");
  return std::string(part);
}

int sign(int order) { return int{order > 0} - int{order < 0}; }

/// Whole lines that compare as the parts of the values do.
text::line_order order_of_parts(line_key const& key) {
  return text::line_order({.keys = {{.order = key.order}}, .stable = true});
}

void check_order(text::line_order const& order, line_key const& key, std::string const& a,
                 std::string const& b, csv_format format) {
  auto const first = part_of(value_of(a, key, format), key);
  auto const second = part_of(value_of(b, key, format), key);
  auto const parts = order_of_parts(key);
  require(sign(order.compare(a, b)) == sign(parts.compare(first, second)),
          "records are ordered as the parts of their values");
  require(order.prefix(a) == parts.prefix(first), "so are their prefixes");
  require(sign(order.compare(a, b)) == -sign(order.compare(b, a)), "an order has two sides");
  require(order.compare(a, a) == 0 && order.equal_keys(a, a), "a record equals itself");
  require(order.prefix(a) >= order.prefix(b) || order.compare(a, b) < 0, "prefixes do not lie");
}

}  // namespace

void check(std::string_view input) {
  constexpr std::size_t most_record_bytes = 200;  // so that there is a byte it does not have
  input_bytes bytes(input);
  auto const format = chosen_format(bytes.take());
  auto const key_text = bytes.take_until('\n');
  std::string const a(bytes.take_until('\0').substr(0, most_record_bytes));
  std::string const b(bytes.rest().substr(0, most_record_bytes));
  if (!is_one_record(a, format) || !is_one_record(b, format)) return;
  try {
    auto const key = text::one_field_key(text::parse_key(key_text));
    text::line_order const order({.keys = {key}, .stable = true, .csv = format});
    check_order(order, key, a, b, format);
  } catch (std::invalid_argument const& e) {
    require(*e.what() != '\0', "a refusal says why");
  }
}

std::vector<std::string> seeds() {
  auto const seed = [](std::string const& key, std::string const& a, std::string const& b) {
    return std::string(1, '\0') + key + '\n' + a + '\0' + b;
  };
  return {seed("2", R"(x,"a,b")", R"(x,"a,c")"),
          seed("1n", "10,a", "\"9\"\r"),
          seed("2.2,2.3b", R"(a," ""bc")", R"(a,"  ""bd")"),
          seed("1fr,1", "Abc,1", "\"abc\",2"),
          seed("3M", "a,b,\"feb\"", "a,b,JAN"),
          seed("1V", "a-1.10", "\"a-1.9\""),
          seed("2h", "x,\"2K\"", "x,1G"),
          seed("1g", "1e3,\"\"\"\"", "\"-inf\""),
          seed("1R", "\"a\nb\"", "c"),
          seed("1di", "\"a, b\"", "\"a; b\"")};
}

std::size_t mutation_count() { return 100'000; }

}  // namespace outsize::fuzz
