// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Words of short records against the prefixes that record_order makes of the same keys.

#include <outsize/record/detail/record_word.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

namespace outsize::detail {
namespace {

using kind = record_format::kind;

struct key_type {
  kind type;
  std::size_t bytes;
};
constexpr std::array key_types{
    key_type{kind::bytes, 1}, key_type{kind::bytes, 3}, key_type{kind::bytes, 8},
    key_type{kind::u8, 1},    key_type{kind::u16, 2},   key_type{kind::u32, 4},
    key_type{kind::u64, 8},   key_type{kind::i8, 1},    key_type{kind::i16, 2},
    key_type{kind::i32, 4},   key_type{kind::i64, 8},   key_type{kind::f32, 4},
    key_type{kind::f64, 8}};

template <std::size_t Bytes>
void expect_order_of_prefixes() {
  std::mt19937_64 random(Bytes);
  std::vector<short_record<Bytes>> records(60);
  for (auto& record : records)
    for (auto& byte : record) byte = static_cast<std::byte>(random() % 3 * 0x7F);
  auto const text = [](auto const& record) {
    return std::string_view(reinterpret_cast<char const*>(record.data()), record.size());
  };
  for (auto const [type, bytes] : key_types)
    for (std::size_t offset = 0; offset + bytes <= Bytes; ++offset)
      for (bool const reverse : {false, true}) {
        SCOPED_TRACE(testing::Message() << "type " << static_cast<int>(type) << " at " << offset);
        record_order const order({kind::bytes, Bytes}, {{offset, bytes, type, reverse}});
        ASSERT_TRUE(record_word::serves(order));
        record_word const words(order);
        for (auto const& a : records)
          for (auto const& b : records)
            ASSERT_EQ(words.word(a) < words.word(b), order.prefix(text(a)) < order.prefix(text(b)));
      }
}

TEST(record_word, orders_records_as_their_keys_do) {
  expect_order_of_prefixes<8>();
  expect_order_of_prefixes<12>();
  expect_order_of_prefixes<16>();
}

TEST(record_word, serves_one_key_that_it_holds) {
  record_format const sixteen{kind::bytes, 16};
  EXPECT_TRUE(record_word::serves(record_order(sixteen, {{8, 8, kind::u64}})));
  EXPECT_FALSE(record_word::serves(record_order(sixteen, {{0, 9, kind::bytes}})));
  EXPECT_FALSE(record_word::serves(record_order(sixteen, {{0, 1, kind::u8}, {1, 1, kind::u8}})));
  EXPECT_FALSE(record_word::serves(record_order({kind::bytes, 7}, {{0, 1, kind::u8}})));
}

}  // namespace
}  // namespace outsize::detail
