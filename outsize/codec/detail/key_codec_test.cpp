// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// What is encoded comes back, from a place that it shares with its items; nothing else is taken for
// a block.

#include <outsize/codec/detail/key_codec.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <outsize/base/units.hpp>

namespace outsize::detail {
namespace {

template <typename T>
T item_of(std::uint64_t key, std::uint64_t other) {
  if constexpr (std::is_same_v<T, word_pair>) {
    return {other, key};
  } else {
    return static_cast<T>(key);
  }
}

template <typename T>
struct sorted_keys : testing::Test {
  std::mt19937_64 random{20261122};

  /// Sorted items with keys of up to `key_bits` bits.
  std::vector<T> items(std::size_t count, unsigned key_bits, unsigned other_bits) {
    auto const below = [&](unsigned bits) { return bits == 0 ? 0 : random() >> (64 - bits); };
    std::vector<T> all;
    for (std::size_t i = 0; i < count; ++i)
      all.push_back(item_of<T>(below(key_bits), below(other_bits)));
    std::ranges::sort(all, std::less<>());
    return all;
  }

  /// Encodes all items in blocks, decodes each in place, and returns what comes of it.
  std::vector<T> there_and_back(std::vector<T> const& in, std::size_t block_bytes,
                                std::size_t held_bytes, std::size_t alignment,
                                std::size_t each_time = std::numeric_limits<std::size_t>::max()) {
    std::vector<T> out;
    blocks = bytes = 0;
    for (std::size_t done = 0; done < in.size();) {
      std::vector<std::byte> block(block_bytes, std::byte{0xAA});
      key_encoder<T> encoder(block, held_bytes, alignment);
      std::size_t taken = 0;
      for (;;) {
        auto const rest = std::span(in).subspan(done + taken);
        auto const part = rest.first(std::min(each_time, rest.size()));
        std::size_t const more = encoder.append(part);
        taken += more;
        if (more < part.size() || part.empty()) break;
      }
      EXPECT_EQ(encoder.items(), taken);
      EXPECT_GT(taken, 0U);
      if (taken == 0) return out;
      std::size_t const used = encoder.close();
      EXPECT_EQ(used % alignment, 0U);
      EXPECT_LE(used, block_bytes);
      std::vector<T> held(held_bytes / sizeof(T));
      auto const memory = std::as_writable_bytes(std::span(held)).first(held_bytes);
      auto const place = memory.last(used);
      std::memcpy(place.data(), block.data(), used);
      EXPECT_TRUE(decode_keys(std::span<std::byte const>(place), std::span(held).first(taken)));
      out.insert(out.end(), held.begin(), held.begin() + static_cast<std::ptrdiff_t>(taken));
      done += taken;
      bytes += used;
      ++blocks;
    }
    return out;
  }

  std::size_t blocks = 0;
  std::size_t bytes = 0;
};

using key_types = testing::Types<std::uint32_t, std::uint64_t, word_pair>;
TYPED_TEST_SUITE(sorted_keys, key_types);

TYPED_TEST(sorted_keys, come_back_whatever_their_bits_and_number) {
  for (unsigned bits = 0; bits <= 8 * sizeof(std::uint64_t); ++bits) {
    unsigned const key_bits = std::min<unsigned>(bits, sizeof(TypeParam) == 4 ? 32 : 64);
    for (std::size_t count : {1, 2, 255, 256, 257, 3000}) {
      auto const in = this->items(count, key_bits, 64 - bits);
      EXPECT_TRUE(this->there_and_back(in, 64_KiB, 96_KiB, 64) == in) << bits << ' ' << count;
    }
  }
}

TYPED_TEST(sorted_keys, come_back_from_blocks_of_every_length) {
  auto const in = this->items(3000, 40, 20);
  for (std::size_t block : {256, 320, 1024, 8192})
    for (std::size_t held : {block, block + 64, block * 3 / 2 / 64 * 64, 4 * block}) {
      EXPECT_TRUE(this->there_and_back(in, block, held, 64) == in) << block << ' ' << held;
      EXPECT_TRUE(this->there_and_back(in, block, held, 32, 7) == in) << block << ' ' << held;
    }
}

TYPED_TEST(sorted_keys, may_be_the_least_and_the_greatest) {
  std::vector<TypeParam> in;
  for (std::uint64_t key : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}})
    for (std::uint64_t other : {std::uint64_t{0}, ~std::uint64_t{0}})
      in.push_back(item_of<TypeParam>(key, other));
  EXPECT_TRUE(this->there_and_back(in, 1024, 2048, 64) == in);
}

TYPED_TEST(sorted_keys, take_fewer_bytes_the_closer_they_are) {
  constexpr bool two_words = std::is_same_v<TypeParam, word_pair>;
  auto const equal = this->items(100'000, 0, 0);
  this->there_and_back(equal, 64_KiB, 8_MiB, 64);
  EXPECT_LT(this->bytes, equal.size() * sizeof(TypeParam) / (two_words ? 200 : 400) * 2);
  // Differences of 2^28 / 10^5, and the largest of 256 is some six times the mean.
  auto const apart = this->items(100'000, 28, 16);
  this->there_and_back(apart, 64_KiB, 8_MiB, 64);
  EXPECT_LT(this->bytes, apart.size() * (two_words ? 4 : 2));
  double const share = encoded_share(std::span<TypeParam const>(apart));
  double const truly =
      static_cast<double>(this->bytes) / static_cast<double>(apart.size() * sizeof(TypeParam));
  EXPECT_NEAR(share, truly, 0.1 * truly);
}

TYPED_TEST(sorted_keys, grow_by_little_where_nothing_can_be_saved) {
  if constexpr (!std::is_same_v<TypeParam, std::uint32_t>) {
    std::vector<TypeParam> in;  // each difference takes all bits
    for (std::size_t i = 0; i < 256; ++i)
      in.push_back(item_of<TypeParam>(i << 56, this->random() | 1));
    this->there_and_back(in, 64_KiB, 96_KiB, 1);
    EXPECT_LE(this->bytes, in.size() * sizeof(TypeParam) + 32);
  }
}

TYPED_TEST(sorted_keys, fill_a_block_as_far_as_they_can_be_held) {
  auto const equal = this->items(10'000, 0, 0);
  std::vector<std::byte> block(4096);
  key_encoder<TypeParam> encoder(block, 8192, 64);
  std::size_t const taken = encoder.append(equal);
  EXPECT_LE(taken * sizeof(TypeParam), 8192U);
  EXPECT_GE(taken * sizeof(TypeParam), 7900U);
  EXPECT_LE(encoder.close(), 256U);
}

TYPED_TEST(sorted_keys, are_not_decoded_from_anything_else) {
  auto const in = this->items(2000, 30, 64);
  std::vector<std::byte> block(64_KiB);
  key_encoder<TypeParam> encoder(block, 96_KiB, 64);
  ASSERT_EQ(encoder.append(in), in.size());
  block.resize(encoder.close());
  std::vector<TypeParam> out(in.size() + 1);
  auto const decode = [&](std::span<std::byte const> given, std::size_t count) {
    return decode_keys(given, std::span(out).first(count));
  };
  EXPECT_TRUE(decode(block, in.size()));
  EXPECT_FALSE(decode(block, in.size() - 1));
  EXPECT_FALSE(decode(block, in.size() + 1));
  EXPECT_FALSE(decode(block, 0));
  EXPECT_FALSE(decode(std::span(block).first(15), 1));
  EXPECT_FALSE(decode({}, 1));
  EXPECT_FALSE(decode(std::vector<std::byte>(64), 1));
  EXPECT_TRUE(decode(std::vector<std::byte>(64), 0));

  // Whatever is changed: either it is noticed or something is decoded, and nothing else is touched.
  std::size_t noticed = 0;
  for (int i = 0; i < 2000; ++i) {
    auto broken = block;
    std::size_t const near_the_end = std::min<std::size_t>(64, broken.size());
    std::size_t const at = i % 2 == 0 ? this->random() % broken.size()
                                      : broken.size() - 1 - this->random() % near_the_end;
    broken[at] ^= static_cast<std::byte>(1 + this->random() % 255);
    noticed += decode(broken, in.size()) ? 0 : 1;
  }
  EXPECT_GT(noticed, 300U);
}

}  // namespace
}  // namespace outsize::detail
