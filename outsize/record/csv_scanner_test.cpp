// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/record/csv_scanner.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace outsize::detail {
namespace {

using fault = csv_scanner::fault;

struct outcome {
  std::vector<std::string> records;
  fault what = fault::none;
  std::size_t place = 0;

  bool operator==(outcome const&) const = default;
};

// Gives the scanner stretches of random lengths.
outcome scanned(std::string_view text, csv_format format, char end, std::mt19937_64& random) {
  outcome found;
  csv_scanner scanner(format, end);
  std::string record;
  while (!text.empty()) {
    auto const bytes = text.substr(0, 1 + random() % 5);
    auto const place = scanner.scan(bytes);
    record += bytes.substr(0, place);
    text.remove_prefix(place == csv_scanner::not_found ? bytes.size() : place + 1);
    found.what = scanner.found_fault(false);
    if (found.what != fault::none) break;
    if (place == csv_scanner::not_found) continue;
    found.records.push_back(record);
    record.clear();
  }
  if (found.what == fault::none) found.what = scanner.found_fault(true);
  if (found.what != fault::none) {
    found.place = scanner.fault_place();
  } else if (!record.empty()) {
    found.records.push_back(record);
  }
  return found;
}

// The same by the grammar, field by field.
outcome modelled(std::string_view text, csv_format format, char end) {
  outcome found;
  std::size_t at = 0, begin = 0;
  auto const is = [&](std::size_t place, char byte) {
    return place < text.size() && text[place] == byte;
  };
  auto const is_other_end = [&](std::size_t place) { return end != '\n' && is(place, '\n'); };
  while (at < text.size()) {
    if (is(at, format.quote)) {
      auto const open = at++;
      while (at < text.size() && (!is(at, format.quote) || is(at + 1, format.quote)))
        at += is(at, format.quote) ? 2 : 1;
      if (at >= text.size()) return {found.records, fault::unclosed, open - begin};
      ++at;
      auto const ends = at == text.size() || is(at, format.separator) || is(at, end) ||
                        is_other_end(at) ||
                        (is(at, '\r') && (at + 1 == text.size() || is(at + 1, '\n')));
      if (!ends) return {found.records, fault::behind_quote, at - begin};
    }
    while (at < text.size() && !is(at, format.separator) && !is(at, end) && !is_other_end(at)) ++at;
    if (is_other_end(at)) return {found.records, fault::other_end, at - begin};
    if (is(at, end) || at == text.size()) {
      found.records.emplace_back(text.substr(begin, at - begin));
      begin = at + 1;
    } else if (at + 1 == text.size()) {
      found.records.emplace_back(text.substr(begin));
    }
    ++at;
  }
  return found;
}

TEST(csv_scanner, agrees_with_the_grammar_on_any_text) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  std::string_view const alphabet = "a,;\"\n\r";
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 12, ' ');
    for (char& byte : text) byte = alphabet[random() % alphabet.size()];
    csv_format const format = random() % 2 ? csv_format{} : csv_format{';', 'a'};
    char const end = random() % 2 ? '\n' : '\r';
    auto const expected = modelled(text, format, end);
    auto const found = scanned(text, format, end, random);
    ASSERT_EQ(found.records, expected.records) << testing::PrintToString(text);
    ASSERT_EQ(found.what, expected.what) << testing::PrintToString(text);
    ASSERT_EQ(found.place, expected.place) << testing::PrintToString(text);
  }
}

}  // namespace
}  // namespace outsize::detail
