// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/text/csv_field.hpp>

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace outsize::text {
namespace {

std::string value_of(std::string_view record, std::size_t index, csv_format format = {}) {
  std::string room;
  return std::string(csv_field(record, index, format, room));
}

TEST(csv_field, is_without_its_quotes) {
  std::string_view const record = R"(a,"b,""c""",,"",d"e,"f
g")";
  EXPECT_EQ(value_of(record, 0), "a");
  EXPECT_EQ(value_of(record, 1), R"(b,"c")");
  EXPECT_EQ(value_of(record, 2), "");
  EXPECT_EQ(value_of(record, 3), "");
  EXPECT_EQ(value_of(record, 4), "d\"e");
  EXPECT_EQ(value_of(record, 5), "f\ng");
  EXPECT_EQ(value_of(record, 6), "");
  EXPECT_EQ(value_of("x;'y;z'", 1, {';', '\''}), "y;z");
}

TEST(csv_field, is_found_however_many_are_in_front) {
  for (std::size_t const quoted : {0UL, 3UL, 4UL, 9UL, 40UL, 99UL}) {
    std::string record;
    for (std::size_t i = 0; i < 100; ++i)
      record += (i > 0 ? "," : "") + (i == quoted ? R"("a,,""b")" : std::to_string(i));
    for (std::size_t i = 0; i < 103; ++i) {
      auto const want = i >= 100 ? "" : i == quoted ? R"(a,,"b)" : std::to_string(i);
      EXPECT_EQ(value_of(record, i), want);
    }
  }
}

TEST(csv_field, has_no_part_in_the_end_of_the_record) {
  EXPECT_EQ(value_of("a,b\r", 1), "b");
  EXPECT_EQ(value_of("a,\"b\"\r", 1), "b");
  EXPECT_EQ(value_of("a,\"b\r\"", 1), "b\r");
  EXPECT_EQ(value_of("\r", 0), "");
}

TEST(csv_field, is_what_was_quoted) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  std::string_view const alphabet = "ab,\"\n\r";
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::string> values(1 + random() % 4);
    std::string record;
    for (auto& value : values) {
      value.resize(random() % 6);
      for (char& byte : value) byte = alphabet[random() % alphabet.size()];
      if (&value != values.data()) record += ',';
      record += '"';
      for (char const byte : value) record.append(byte == '"' ? 2 : 1, byte);
      record += '"';
    }
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(value_of(record, i), values[i]) << testing::PrintToString(record) << ' ' << i;
  }
}

std::vector<std::string> fields_of(std::string_view record) {
  std::vector<std::string_view> fields;
  split_csv(record, {}, fields);
  return {fields.begin(), fields.end()};
}

TEST(csv_field, can_be_had_as_it_is_written) {
  using texts = std::vector<std::string>;
  EXPECT_EQ(fields_of("a,\"b,\"\"\",,c\r"), (texts{"a", "\"b,\"\"\"", "", "c"}));
  EXPECT_EQ(fields_of("a,"), (texts{"a", ""}));
  EXPECT_EQ(fields_of(""), texts{});
  EXPECT_EQ(fields_of("\r"), texts{});
  EXPECT_EQ(behind_csv_fields("\"a,b\",c,d\r", 0, {}), "\"a,b\",c,d\r");
  EXPECT_EQ(behind_csv_fields("\"a,b\",c,d\r", 1, {}), "c,d\r");
  EXPECT_EQ(behind_csv_fields("\"a,b\",c,d\r", 3, {}), "");
  EXPECT_EQ(behind_csv_fields("a,", 1, {}), "");
}

TEST(csv_field, is_quoted_if_it_must_be_and_read_again) {
  std::string record;
  std::vector<std::string> const values{"a", "", " b", "c,d", "e\"f", "g\nh", "i\r", "\""};
  for (auto const& value : values) {
    if (!record.empty()) record += ',';
    append_csv_field(record, value, {});
  }
  EXPECT_EQ(record, "a,, b,\"c,d\",\"e\"\"f\",\"g\nh\",\"i\r\",\"\"\"\"");
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(value_of(record, i), values[i]);
  std::vector<std::string_view> fields;
  split_csv(record, {}, fields);
  ASSERT_EQ(fields.size(), values.size());
  std::string room;
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(csv_value(fields[i], {}, room), values[i]);
}

TEST(csv_field, takes_any_bytes) {
  std::mt19937_64 random(1);
  std::string_view const alphabet = "a,\"\n\r";
  for (int round = 0; round < 5000; ++round) {
    std::string record(random() % 8, ' ');
    for (char& byte : record) byte = alphabet[random() % alphabet.size()];
    for (std::size_t i = 0; i < 4; ++i) EXPECT_LE(value_of(record, i).size(), record.size());
  }
}

TEST(csv_key, is_one_field) {
  EXPECT_EQ(one_field_key(parse_key("2n")), parse_key("2n,2"));
  EXPECT_EQ(one_field_key(parse_key("2")), parse_key("2,2"));
  EXPECT_EQ(one_field_key(parse_key("3.2,3.4")), parse_key("3.2,3.4"));
  EXPECT_THROW(one_field_key(parse_key("2,3")), std::invalid_argument);
  EXPECT_THROW(one_field_key(parse_key("2,1")), std::invalid_argument);
}

TEST(csv_key, may_be_a_part_of_the_value) {
  auto const part = [](std::string_view value, std::string_view key) {
    return std::string(key_part(value, one_field_key(parse_key(key))));
  };
  EXPECT_EQ(part("  abc", "1"), "  abc");
  EXPECT_EQ(part("  abc", "1b"), "abc");
  EXPECT_EQ(part("  abc", "1.2"), " abc");
  EXPECT_EQ(part("  abc", "1.2b"), "bc");
  EXPECT_EQ(part("abcdef", "1.2,1.3"), "bc");
  EXPECT_EQ(part("  abcdef", "1.2b,1.3b"), "bc");
  EXPECT_EQ(part("abc", "1.3,1.2"), "");
  EXPECT_EQ(part("abc", "1.9"), "");
  EXPECT_EQ(part("abc", "1.2,1.9"), "bc");
}

}  // namespace
}  // namespace outsize::text
