// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Keys of lines and of records: what is parsed, printed and parsed again is the same, lies in every
// line, and makes a total preorder.
//
//   up to LF     the key
//   byte         the separator; from 128: blanks
//   up to LF     a line, and the rest: another one

#include <fmt/format.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <outsize/record/record_format.hpp>
#include <outsize/text/line_order.hpp>

#include "fuzz_target.hpp"

namespace outsize::fuzz {
namespace {

using text::line_key;

std::string letters(text::ordering const& order) {
  std::string all;
  for (char const letter : std::string_view("dfghiMnRrV")) {
    text::ordering alone;
    text::set_option(alone, letter);
    auto both = order;
    text::set_option(both, letter);
    if (both == order) all += letter;
  }
  return all;
}

std::string printed(line_key const& key) {
  auto made = fmt::format("{}.{}{}{}", key.begin_field + 1, key.begin_char + 1, letters(key.order),
                          key.skip_begin_blanks ? "b" : "");
  if (key.end_field != line_key::to_end_of_line)
    made +=
        fmt::format(",{}.{}{}", key.end_field + 1, key.end_char, key.skip_end_blanks ? "b" : "");
  return made;
}

std::string printed(record_key const& key) {
  constexpr std::string_view types[] = {"bytes", "u8",  "u16", "u32", "u64", "i8",
                                        "i16",   "i32", "i64", "f32", "f64"};
  return fmt::format("{}:{}:{}{}", key.offset_bytes, key.length_bytes,
                     types[static_cast<std::size_t>(key.type)], key.reverse ? ":r" : "");
}

/// The parsed key, if it is one. @throws broken_promise.
template <typename Parse>
auto parse(std::string_view text, Parse const& parse_key)
    -> std::optional<decltype(parse_key(text))> {
  try {
    auto const key = parse_key(text);
    require(parse_key(printed(key)) == key, "a key printed and parsed again is the same");
    return key;
  } catch (std::invalid_argument const& e) {
    auto const shown = text.substr(0, text.find('\0'));  // as far as what() can show it
    require(std::string_view(e.what()).find(shown) != std::string_view::npos,
            "the message about a key names it");
    return std::nullopt;
  }
}

void check_span(line_key const& key, std::string_view line, std::optional<char> separator) {
  auto const span = text::key_span(line, key, separator);
  require(span.data() >= line.data() && span.data() + span.size() <= line.data() + line.size(),
          "a key lies in its line");
}

int sign(int order) { return int{order > 0} - int{order < 0}; }

/// Follows two records for as long as the order says that they are alike.
template <deepening_order Order>
void check_depths(Order const& order, std::string_view a, std::string_view b) {
  if (order.prefix(a) != order.prefix(b)) return;
  auto depth = order.prefix_depth(order.prefix(a));
  while (!order.is_whole_key(depth)) {
    auto const word = order.deeper_prefix(a, depth);
    auto const other = order.deeper_prefix(b, depth);
    if (word != other) {
      require((word < other) == (order.compare(a, b) < 0), "further prefixes do not lie");
      return;
    }
    auto const deeper = order.deeper_depth(word, depth);
    auto const common = order.common_depth(a, b, depth);
    require(deeper >= depth && common >= depth, "nothing that was alike becomes different");
    if (deeper == depth && common == depth) return;
    depth = deeper == depth ? common : deeper;
  }
  require(order.compare(a, b) == 0, "what is alike in all that counts is equal");
}

void check_order(line_key const& key, std::string_view a, std::string_view b,
                 std::optional<char> separator) {
  for (bool const stable : {false, true}) {
    text::line_order const order({.separator = separator, .keys = {key}, .stable = stable});
    require(sign(order.compare(a, b)) == -sign(order.compare(b, a)), "an order has two sides");
    require(order.compare(a, a) == 0, "a line equals itself");
    require(order.prefix(a) >= order.prefix(b) || order.compare(a, b) < 0, "prefixes do not lie");
    require(stable || a == b || order.compare(a, b) != 0, "ties are decided by the bytes");
    require(order.equal_keys(a, b) == (order.compare(a, b) == 0) || !stable,
            "equal keys compare equal");
    check_depths(order, a, b);
    check_depths(order, b, a);
  }
}

}  // namespace

void check(std::string_view input) {
  input_bytes bytes(input);
  auto const key_text = bytes.take_until('\n');
  auto const choice = bytes.take();
  auto const separator = choice < 128 ? std::optional(static_cast<char>(choice)) : std::nullopt;
  auto const a = bytes.take_until('\n');
  auto const b = bytes.rest();
  parse(key_text, [](std::string_view text) { return record_key::parse(text); });
  auto const key = parse(key_text, [](std::string_view text) { return text::parse_key(text); });
  if (!key) return;
  check_span(*key, a, separator);
  check_span(*key, b, separator);
  try {
    require_compatible(key->order);
  } catch (std::invalid_argument const&) {
    return;
  }
  check_order(*key, a, b, separator);
}

std::vector<std::string> seeds() {
  return {"2,2n\n,a,10\nb,9",
          "1.2b,3.4br\n\xff  one two three\none  two four",
          "2V\n\xff"
          "a 1.10~rc\na 1.9",
          "1g\n\xff-1e5\nnan",
          "1h\n,1.5K\n2M",
          "1M\n\xff  feb\nJAN",
          "1Rf\n\xff"
          "abc\nABC",
          "1di\n,a-b\na b",
          "0:8:u64:r\n,\n",
          "10:3\n,\n",
          "18446744073709551616.99999999999999999999,5\n,a\nb"};
}

std::size_t mutation_count() { return 60'000; }

}  // namespace outsize::fuzz
