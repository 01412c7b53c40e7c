// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Formats and keys as users write them, and the order of random records against a model that
// decodes every key on its own.
#include <outsize/record/record_format.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <outsize/testing/index_places.hpp>

namespace outsize {
namespace {

static_assert(deepening_order<record_order>);

using kind = record_format::kind;
using testing::HasSubstr;

template <typename Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (std::invalid_argument const& error) {
    return error.what();
  }
  return "accepted";
}

std::string refused_format(std::string_view text) {
  return refusal([&] { record_format::parse(text); });
}

std::string refused_key(std::string_view text) {
  return refusal([&] { record_key::parse(text); });
}

template <typename Number>
std::string little(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  if constexpr (std::endian::native == std::endian::big) std::ranges::reverse(bytes);
  return bytes;
}

TEST(record_format, reads_every_format) {
  EXPECT_EQ(record_format::parse("u32"), (record_format{kind::u32, 4}));
  EXPECT_EQ(record_format::parse("i64"), (record_format{kind::i64, 8}));
  EXPECT_EQ(record_format::parse("f32"), (record_format{kind::f32, 4}));
  EXPECT_EQ(record_format::parse("bytes:100"), (record_format{kind::bytes, 100}));
}

TEST(record_format, names_the_format_it_refuses) {
  for (auto const* text : {"", "u63", "u8", "bytes", "bytes:", "bytes:0", "bytes:-1", "bytes:4x",
                           "bytes:99999999999999999999", "u64 "}) {
    EXPECT_THAT(refused_format(text), HasSubstr("'" + std::string(text) + "'"));
  }
}

TEST(record_format, reads_keys) {
  EXPECT_EQ(record_key::parse("0:10"), (record_key{0, 10, kind::bytes, false}));
  EXPECT_EQ(record_key::parse("12:4:f32"), (record_key{12, 4, kind::f32, false}));
  EXPECT_EQ(record_key::parse("7:2:i16:r"), (record_key{7, 2, kind::i16, true}));
  EXPECT_EQ(record_key::parse("7:3:bytes:r"), (record_key{7, 3, kind::bytes, true}));
}

TEST(record_format, names_the_key_it_refuses) {
  for (auto const* text : {"", "1", "1:", ":1", "1:0", "-1:2", "a:2", "1:2:u16:x", "1:2:u16:r:r",
                           "1:2:", "1:2:word", "0:4:u16", "0:9:f64"}) {
    EXPECT_THAT(refused_key(text), HasSubstr("'" + std::string(text) + "'"));
  }
  EXPECT_THAT(refused_key("0:4:u16"), HasSubstr("u16 has 2 bytes, not 4"));
}

TEST(record_format, refuses_a_key_beyond_the_record_with_both_numbers) {
  auto const wide = [](std::string_view key) {
    return refusal([&] { record_order({kind::bytes, 100}, {record_key::parse(key)}); });
  };
  EXPECT_EQ(wide("90:10"), "accepted");
  EXPECT_THAT(wide("91:10"), AllOf(HasSubstr("91:10"), HasSubstr("100")));
  EXPECT_THAT(wide("101:1"), HasSubstr("101:1"));
  EXPECT_THAT(wide("18446744073709551615:2"), HasSubstr("18446744073709551615:2"));
}

TEST(record_format, orders_floats_by_total_order) {
  record_order const order(record_format::parse("f64"));
  using limits = std::numeric_limits<double>;
  double const ascending[] = {-std::nan(""),
                              -limits::infinity(),
                              -limits::max(),
                              -1.0,
                              -limits::denorm_min(),
                              -0.0,
                              0.0,
                              limits::denorm_min(),
                              1.5,
                              limits::infinity(),
                              std::nan("")};
  for (std::size_t i = 0; i + 1 < std::size(ascending); ++i) {
    auto const a = little(ascending[i]);
    auto const b = little(ascending[i + 1]);
    EXPECT_LT(order.compare(a, b), 0) << ascending[i] << " " << ascending[i + 1];
    EXPECT_LT(order.prefix(a), order.prefix(b));
    EXPECT_FALSE(order.equal_keys(a, b));
  }
}

TEST(record_format, orders_signed_numbers) {
  record_order const order(record_format::parse("i32"));
  EXPECT_LT(order.compare(little(std::int32_t{-1}), little(std::int32_t{0})), 0);
  EXPECT_LT(order.compare(little(std::numeric_limits<std::int32_t>::min()), little(-1)), 0);
  EXPECT_TRUE(order.prefix_is_whole_key());
}

TEST(record_format, without_keys_orders_by_all_bytes) {
  record_order const order(record_format::parse("bytes:12"));
  EXPECT_TRUE(order.is_byte_order());
  EXPECT_FALSE(order.prefix_is_whole_key());
  EXPECT_LT(order.compare("abcdefgh000a", "abcdefgh000\xff"), 0);
  EXPECT_EQ(order.prefix("abcdefgh000a"), 0x6162636465666768U);
}

TEST(record_format, reversal_of_the_whole_turns_every_key) {
  record_order const order({kind::bytes, 2}, {{0, 1, kind::bytes, true}, {1, 1}}, true);
  EXPECT_LT(order.compare("ax", "bx"), 0);
  EXPECT_LT(order.compare("ay", "ax"), 0);
}

/// Decodes one key by the machine's own types.
template <typename Number>
int model_numbers(std::string_view a, std::string_view b) {
  Number left;
  Number right;
  std::memcpy(&left, a.data(), sizeof left);
  std::memcpy(&right, b.data(), sizeof right);
  return left < right ? -1 : static_cast<int>(right < left);
}

int model_key(record_key const& key, std::string_view a, std::string_view b) {
  auto const left = a.substr(key.offset_bytes, key.length_bytes);
  auto const right = b.substr(key.offset_bytes, key.length_bytes);
  int order = 0;
  switch (key.type) {
    case kind::u8:
      order = model_numbers<std::uint8_t>(left, right);
      break;
    case kind::u16:
      order = model_numbers<std::uint16_t>(left, right);
      break;
    case kind::u32:
      order = model_numbers<std::uint32_t>(left, right);
      break;
    case kind::u64:
      order = model_numbers<std::uint64_t>(left, right);
      break;
    case kind::i8:
      order = model_numbers<std::int8_t>(left, right);
      break;
    case kind::i16:
      order = model_numbers<std::int16_t>(left, right);
      break;
    case kind::i32:
      order = model_numbers<std::int32_t>(left, right);
      break;
    case kind::i64:
      order = model_numbers<std::int64_t>(left, right);
      break;
    default:
      order = left.compare(right);
      break;
  }
  return key.reverse ? -order : order;
}

int sign(int value) { return value < 0 ? -1 : static_cast<int>(value > 0); }

record_key random_key(std::mt19937_64& random, std::size_t item_bytes) {
  constexpr std::size_t widths[] = {0, 1, 2, 4, 8, 1, 2, 4, 8};
  auto const type = random() % std::size(widths);
  auto const length = widths[type] != 0 ? widths[type] : 1 + random() % item_bytes;
  return {random() % (item_bytes - length + 1), length, static_cast<kind>(type), random() % 2 == 0};
}

TEST(record_format, agrees_with_a_model_on_random_keys_and_records) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2000; ++round) {
    std::size_t const item_bytes = 8 + random() % 20;
    std::vector<record_key> keys;
    do keys.push_back(random_key(random, item_bytes));
    while (random() % 2 == 0);
    record_order const order({kind::bytes, item_bytes}, keys);
    std::string a(item_bytes, '\0');
    for (auto& byte : a) byte = static_cast<char>(random() % 3 == 0 ? random() : random() % 2);
    std::string b = a;
    for (auto& byte : b) {
      if (random() % 8 == 0) byte = static_cast<char>(random());
    }

    int model = 0;
    for (auto const& key : keys) model = model != 0 ? model : model_key(key, a, b);
    ASSERT_EQ(sign(order.compare(a, b)), sign(model));
    ASSERT_EQ(sign(order.compare(b, a)), -sign(model));
    ASSERT_EQ(order.equal_keys(a, b), model == 0);
    auto const before = order.prefix(a) < order.prefix(b);
    auto const after = order.prefix(b) < order.prefix(a);
    ASSERT_TRUE(!before || model < 0);
    ASSERT_TRUE(!after || model > 0);
    ASSERT_TRUE(!order.prefix_is_whole_key() || (before || after) == (model != 0));
  }
}

/// Few different bytes, most of them as those of the first record.
std::vector<std::string> similar_records(std::mt19937_64& random, std::size_t item_bytes) {
  std::string common(item_bytes, '\0');
  for (auto& byte : common) byte = static_cast<char>(random());
  auto const rarely = 1 + random() % (4 * item_bytes);
  std::vector<std::string> records(random() % 300, common);
  for (auto& r : records)
    for (auto& byte : r)
      if (random() % rarely == 0) byte = "\0\1\x80\xff"[random() % 4];
  return records;
}

TEST(record_format, sorts_records_of_any_keys_by_what_follows_equal_prefixes) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 500; ++round) {
    std::size_t const item_bytes = 8 + random() % 60;
    std::vector<record_key> keys;
    do keys.push_back(random_key(random, item_bytes));
    while (random() % 2 == 0);
    record_order const order({kind::bytes, item_bytes}, keys, random() % 2 == 0);
    auto const records = similar_records(random, item_bytes);
    ASSERT_EQ(scratch::index_places(order, records), scratch::stable_places(order, records));
  }
}

TEST(record_format, sees_what_records_have_in_common_at_once) {
  record_order const order({kind::bytes, 100}, {{.offset_bytes = 2, .length_bytes = 40},
                                                {50, 4, kind::i32, true},
                                                {.offset_bytes = 60, .length_bytes = 5}});
  std::string const a(100, 'a');
  auto const common = [&](std::size_t differing, std::size_t depth) {
    std::string b = a;
    b[differing] = 'b';
    return order.common_depth(a, b, {.bytes = depth}).bytes;
  };
  EXPECT_EQ(common(0, 8), 49) << "no key has the byte";
  EXPECT_EQ(common(12, 8), 10);
  EXPECT_EQ(common(53, 8), 40) << "numbers are alike as a whole, or not at all";
  EXPECT_EQ(common(53, 42), 42);
  EXPECT_EQ(common(61, 42), 45);
  EXPECT_TRUE(order.is_whole_key({.bytes = 49}));
  EXPECT_FALSE(order.is_whole_key({.bytes = 48}));
}

}  // namespace
}  // namespace outsize
