// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Blocks of items of one length and of many: what is encoded comes back where block and items share
// one piece of memory, is never longer than it was, and no bytes make decoding go astray.

#include <outsize/codec/detail/byte_codec.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/codec/detail/packed_block.hpp>

namespace outsize::detail {
namespace {

using bytes = std::vector<std::byte>;
using strings = std::vector<std::string>;

struct plain_block {
  bytes content;
  block_layout layout;
};

/// The second and further ones of equal records take no bytes if they are `shared`.
plain_block packed(strings const& records, bool shared = false) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < records.size(); ++i)
    sum += shared && i > 0 && records[i] == records[i - 1] ? 0 : records[i].size();
  bytes place(round_up<std::size_t>(packed_bytes(sum, records.size()), 4));
  packed_block block(place);
  std::string_view last;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!shared || i == 0 || records[i] != records[i - 1]) last = records[i];
    EXPECT_TRUE(block.append(last));
  }
  return {place, {records.size(), 0}};
}

plain_block fixed(strings const& records, std::size_t item_bytes) {
  bytes content;
  for (auto const& r : records)
    for (std::size_t i = 0; i < item_bytes; ++i)
      content.push_back(static_cast<std::byte>(i < r.size() ? r[i] : ' '));
  return {content, {records.size(), item_bytes}};
}

strings in_block(plain_block const& b) {
  strings all;
  std::size_t const item = b.layout.item_bytes;
  packed_table const table(b.content);
  for (std::size_t i = 0; i < b.layout.items; ++i)
    all.emplace_back(
        reinterpret_cast<char const*>(b.content.data()) + (item != 0 ? i * item : table.begin(i)),
        item != 0 ? item : table.length(i));
  return all;
}

/// Encodes and decodes in one piece of `held_bytes`; returns what was used, 0 if it was left.
std::size_t expect_comes_back(plain_block const& b, byte_coding coding, std::size_t held_bytes,
                              std::size_t alignment) {
  bytes to(held_bytes);
  std::size_t const used = encode_block(coding, b.content, b.layout, to, held_bytes, alignment);
  EXPECT_TRUE(used == 0 || used < b.content.size());
  EXPECT_EQ(used % alignment, 0U);
  if (used == 0) return 0;
  bytes held(held_bytes, std::byte{0xAA});
  std::copy_n(to.begin(), used, held.end() - static_cast<std::ptrdiff_t>(used));
  plain_block back{{}, b.layout};
  bool const good = decode_block(std::span<std::byte const>(held).last(used),
                                 std::span(held).first(b.content.size()), b.layout);
  EXPECT_TRUE(good);
  back.content.assign(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(b.content.size()));
  EXPECT_EQ(in_block(back), in_block(b));
  return used;
}

strings random_records(std::mt19937_64& random, std::size_t count, std::size_t most_bytes,
                       unsigned letters) {
  strings all(count);
  for (auto& r : all) {
    r.resize(random() % (most_bytes + 1));
    for (char& c : r) c = static_cast<char>('a' + random() % letters);
  }
  std::ranges::sort(all);
  return all;
}

TEST(byte_codec, gives_back_what_it_was_given) {
  std::uint64_t const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    auto const records = random_records(random, random() % 200, random() % 400,
                                        1 + static_cast<unsigned>(random() % 26));
    std::size_t const alignment = std::size_t{1} << (random() % 8);
    for (byte_coding const coding : byte_codings) {
      for (auto const& b :
           {packed(records), packed(records, true), fixed(records, 1 + random() % 50)}) {
        // As much as is always enough; so little that decoding may have no room.
        std::size_t const enough = 2 * b.content.size() + 400;
        expect_comes_back(b, coding, enough, alignment);
        expect_comes_back(b, coding, b.content.size() + random() % 64, alignment);
      }
    }
  }
}

TEST(byte_codec, leaves_out_what_items_have_in_common) {
  strings urls;
  for (int i = 0; i < 1000; ++i)
    urls.push_back("https://example.org/a/long/path/to/page" + std::to_string(10'000 + i));
  auto const b = packed(urls);
  for (byte_coding const coding : byte_codings)
    EXPECT_LT(expect_comes_back(b, coding, b.content.size() + 100, 64), b.content.size() / 4);
  // Of 44 bytes and a place in the table, two numbers and one or two digits are left.
  EXPECT_LT(expect_comes_back(b, byte_coding::prefixes, b.content.size() + 100, 64),
            urls.size() * 7 / 2);
}

TEST(byte_codec, leaves_more_than_255_bytes_in_common_in_part) {
  auto const b = packed(strings(20, std::string(1000, 'x')));
  EXPECT_GT(expect_comes_back(b, byte_coding::prefixes, b.content.size() + 100, 64), 0U);
}

TEST(byte_codec, refuses_what_would_not_become_shorter) {
  std::mt19937_64 random(1);
  bytes noise(4096);
  for (auto& b : noise) b = static_cast<std::byte>(random());
  bytes to(8192);
  for (byte_coding const coding : byte_codings) {
    EXPECT_EQ(encode_block(coding, noise, {64, 64}, to, 8192, 64), 0U);
    EXPECT_EQ(encode_block(coding, std::span(noise).first(1), {1, 1}, to, 8192, 64), 0U);
    EXPECT_EQ(encode_block(coding, {}, {0, 1}, to, 8192, 64), 0U);
  }
}

TEST(byte_codec, fits_what_it_says_fits) {
  for (std::size_t held : {256, 512, 4096, 65'536, 1 << 21}) {
    for (std::size_t alignment : {64, 4096}) {
      std::size_t const most = most_content_bytes(held, alignment);
      EXPECT_EQ(most % alignment, 0U);
      if (most == 0) continue;
      EXPECT_GE(most + held / 256 + 64 + 2 * alignment, held);
      plain_block const b{bytes(most, std::byte{'x'}), {most / 8, 8}};
      for (byte_coding const coding : byte_codings) {
        std::size_t const used = expect_comes_back(b, coding, held, alignment);
        EXPECT_TRUE(used != 0 || most <= std::max<std::size_t>(alignment, 256)) << most;
      }
    }
  }
  EXPECT_EQ(most_content_bytes(50, 64), 0U);
}

TEST(byte_codec, refuses_blocks_that_are_no_such_blocks) {
  std::uint64_t const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  auto const records = random_records(random, 100, 60, 2);
  std::size_t refused = 0, rounds = 0;
  for (byte_coding const coding : byte_codings) {
    for (auto const& b : {packed(records), fixed(records, 40)}) {
      bytes to(b.content.size());
      std::size_t const used =
          encode_block(coding, b.content, b.layout, to, 2 * b.content.size(), 1);
      if (coding == byte_coding::columns && b.layout.item_bytes == 0) {
        EXPECT_EQ(used, 0U);  // no columns
        continue;
      }
      ASSERT_GT(used, 0U);
      bytes out(b.content.size());
      EXPECT_FALSE(decode_block(std::span(to).first(used - 1), out, b.layout));
      EXPECT_FALSE(decode_block(std::span(to).first(3), out, b.layout));
      auto fewer = b.layout;
      --fewer.items;
      if (coding == byte_coding::prefixes || b.layout.item_bytes != 0) {
        EXPECT_FALSE(decode_block(std::span(to).first(used), out, fewer));
      }
      for (int i = 0; i < 500; ++i, ++rounds) {
        bytes damaged(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(used));
        damaged[random() % used] ^= static_cast<std::byte>(1 + random() % 255);
        plain_block back{bytes(b.content.size()), b.layout};
        bool const good = decode_block(damaged, back.content, b.layout);
        refused += good ? 0 : 1;
        if (good) {
          EXPECT_EQ(in_block(back).size(), records.size());  // within the block
        }
      }
    }
  }
  EXPECT_GT(refused, rounds / 10);
}

}  // namespace
}  // namespace outsize::detail
