// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Items of every length whose columns need from no bit to all: both ways to gather bits make the
// same bytes, items come back where they share memory with their code, nothing outside is touched,
// and no bytes make decoding go astray.

#include <outsize/codec/detail/column_codec.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace outsize::detail {
namespace {

using bytes = std::vector<std::byte>;

constexpr bit_gathering gatherings[] = {bit_gathering::fastest, bit_gathering::by_arithmetic};

/// Items whose columns have values from ranges of their own.
bytes random_items(std::mt19937_64& random, std::size_t count, std::size_t item_bytes,
                   unsigned most_bits) {
  std::vector<std::pair<unsigned, unsigned>> ranges(item_bytes);  // first, number
  for (auto& [first, number] : ranges) {
    number =
        1 + static_cast<unsigned>(random() % (std::uint64_t{1} << (random() % (most_bits + 1))));
    first = static_cast<unsigned>(random() % (257 - number));
  }
  bytes items;
  for (std::size_t i = 0; i < count; ++i)
    for (auto const& [first, number] : ranges)
      items.push_back(static_cast<std::byte>(first + random() % number));
  return items;
}

bytes encoded(bytes const& items, std::size_t item_bytes, bit_gathering how) {
  bytes data(items.size());
  data.resize(write_columns(items, item_bytes, data, how));
  return data;
}

TEST(column_codec, gives_back_what_it_was_given) {
  std::uint64_t const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  int shorter = 0;
  for (int round = 0; round < 500; ++round) {
    std::size_t const item_bytes = 1 + random() % 40, count = 1 + random() % 300;
    bytes const items =
        random_items(random, count, item_bytes, static_cast<unsigned>(random() % 9));
    bytes const data = encoded(items, item_bytes, bit_gathering::fastest);
    EXPECT_EQ(data, encoded(items, item_bytes, bit_gathering::by_arithmetic));
    if (data.empty()) continue;
    ++shorter;
    EXPECT_LT(data.size(), items.size());
    // The code lies no further behind its items than it must, and ends with its memory.
    std::size_t const lead = lead_of_columns(count, item_bytes, data.size());
    for (bit_gathering const how : gatherings) {
      bytes held(std::max(lead + data.size(), items.size()));
      auto const place = std::span(held).subspan(lead, data.size());
      std::ranges::copy(data, place.begin());
      ASSERT_TRUE(read_columns(place, item_bytes, std::span(held).first(items.size()), how));
      held.resize(items.size());
      EXPECT_EQ(held, items);
    }
  }
  EXPECT_GT(shorter, 100);
}

TEST(column_codec, keeps_the_bits_that_columns_need) {
  // Letters of 64 kinds, ten digits, a byte that is the same everywhere, and any byte.
  std::mt19937_64 random(1);
  std::size_t const count = 1000, item_bytes = 40;
  bytes items;
  for (std::size_t i = 0; i < count; ++i) {
    for (int c = 0; c < 16; ++c) items.push_back(static_cast<std::byte>(0x20 + random() % 64));
    for (int c = 0; c < 8; ++c) items.push_back(static_cast<std::byte>('0' + random() % 10));
    for (int c = 0; c < 8; ++c) items.push_back(std::byte{7});
    for (int c = 0; c < 8; ++c) items.push_back(static_cast<std::byte>(random()));
  }
  EXPECT_EQ(encoded(items, item_bytes, bit_gathering::fastest).size(),
            2 * item_bytes + count * (16 * 6 + 8 * 4 + 8 * 8) / 8 + 8);
}

TEST(column_codec, leaves_items_that_would_not_become_shorter) {
  std::mt19937_64 random(2);
  bytes noise(64 * 100);
  for (auto& b : noise) b = static_cast<std::byte>(random());
  EXPECT_TRUE(encoded(noise, 64, bit_gathering::fastest).empty());
  EXPECT_TRUE(encoded(bytes(30), 30, bit_gathering::fastest).empty());  // for its header
  EXPECT_TRUE(encoded(bytes(100'000), 5000, bit_gathering::fastest).empty());
  bytes none;
  EXPECT_EQ(write_columns(none, 8, none), 0U);
  bytes little(50);
  EXPECT_EQ(write_columns(bytes(1000), 10, little), 20U + 8U);  // nothing but the header
  EXPECT_EQ(write_columns(bytes(1000), 10, std::span(little).first(28)), 0U);
}

TEST(column_codec, touches_nothing_behind_its_memory) {
  std::mt19937_64 random(3);
  for (std::size_t item_bytes = 2; item_bytes < 20; ++item_bytes) {
    std::size_t const count = 100;
    bytes const items = random_items(random, count, item_bytes, 4);
    bytes const data = encoded(items, item_bytes, bit_gathering::fastest);
    ASSERT_FALSE(data.empty());
    for (bit_gathering const how : gatherings) {
      bytes to(data.size() + 1 + 16, std::byte{0xAA});
      ASSERT_EQ(write_columns(items, item_bytes, std::span(to).first(data.size() + 1), how),
                data.size());
      EXPECT_TRUE(
          std::all_of(to.end() - 16, to.end(), [](auto b) { return b == std::byte{0xAA}; }));
      bytes back(items.size() + 16, std::byte{0xAA});
      ASSERT_TRUE(read_columns(data, item_bytes, std::span(back).first(items.size()), how));
      EXPECT_TRUE(
          std::all_of(back.end() - 16, back.end(), [](auto b) { return b == std::byte{0xAA}; }));
    }
  }
}

TEST(column_codec, refuses_what_cannot_be_the_code_of_so_many_items) {
  std::mt19937_64 random(4);
  bytes const items = random_items(random, 50, 20, 5);
  bytes const data = encoded(items, 20, bit_gathering::fastest);
  ASSERT_FALSE(data.empty());
  bytes back(items.size(), std::byte{0xAA});
  auto const refused = [&](std::span<std::byte const> from, std::size_t content_bytes) {
    return !read_columns(from, 20, std::span(back).first(content_bytes)) &&
           back == bytes(items.size(), std::byte{0xAA});
  };
  EXPECT_TRUE(refused(std::span(data).first(data.size() - 1), items.size()));
  EXPECT_TRUE(refused(std::span(data).first(10), items.size()));
  EXPECT_TRUE(refused({}, items.size()));
  EXPECT_TRUE(refused(data, items.size() - 20));
  EXPECT_TRUE(refused(data, 0));
  for (std::size_t column = 0; column < 20; ++column) {
    bytes damaged = data;
    damaged[20 + column] = std::byte{9};  // bits of a byte
    EXPECT_TRUE(refused(damaged, items.size()));
  }
  for (int i = 0; i < 1000; ++i) {  // any codes are some items
    bytes damaged = data;
    damaged[40 + random() % (damaged.size() - 40)] ^= static_cast<std::byte>(1 + random() % 255);
    EXPECT_TRUE(read_columns(damaged, 20, back, gatherings[i % 2]));
  }
}

}  // namespace
}  // namespace outsize::detail
