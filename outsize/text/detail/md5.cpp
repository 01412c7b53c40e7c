// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/text/detail/md5.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace outsize::detail {
namespace {

/// The integer part of 2^32 |sin(i + 1)|.
constexpr std::array<std::uint32_t, 64> sines{
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

constexpr std::array<std::array<int, 4>, 4> rotations{
    {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};

constexpr std::size_t length_place = md5::block_bytes - sizeof(std::uint64_t);

std::uint32_t little_endian(char const* bytes) noexcept {
  std::uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return std::endian::native == std::endian::little ? word : __builtin_bswap32(word);
}

std::uint64_t big_endian(std::uint32_t first, std::uint32_t second) noexcept {
  return (std::uint64_t{__builtin_bswap32(first)} << 32) | __builtin_bswap32(second);
}

}  // namespace

void md5::process(char const* block) noexcept {
  std::array<std::uint32_t, 16> words;
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = little_endian(block + 4 * i);
  auto [a, b, c, d] = state_;
  auto const step = [&](std::size_t i, std::uint32_t mixed, std::size_t word) {
    std::uint32_t const sum = a + mixed + sines[i] + words[word];
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, rotations[i / 16][i % 4]);
  };
  for (std::size_t i = 0; i < 16; ++i) step(i, (b & c) | (~b & d), i);
  for (std::size_t i = 16; i < 32; ++i) step(i, (d & b) | (~d & c), (5 * i + 1) % 16);
  for (std::size_t i = 32; i < 48; ++i) step(i, b ^ c ^ d, (3 * i + 5) % 16);
  for (std::size_t i = 48; i < 64; ++i) step(i, c ^ (b | ~d), 7 * i % 16);
  state_[0] += a;
  state_[1] += b;
  state_[2] += c;
  state_[3] += d;
}

void md5::add(std::string_view text) noexcept {
  while (!text.empty()) {
    std::size_t const used = length_ % block_bytes;
    std::size_t const count = std::min(block_bytes - used, text.size());
    if (count == block_bytes) {
      process(text.data());
    } else {
      std::memcpy(&pending_[used], text.data(), count);
      if (used + count == block_bytes) process(pending_.data());
    }
    length_ += count;
    text.remove_prefix(count);
  }
}

md5::digest md5::finish() noexcept {
  std::uint64_t const bits = length_ * 8;
  std::size_t used = length_ % block_bytes;
  pending_[used++] = static_cast<char>(0x80);
  if (used > length_place) {
    std::fill(pending_.begin() + static_cast<std::ptrdiff_t>(used), pending_.end(), '\0');
    process(pending_.data());
    used = 0;
  }
  std::fill(pending_.begin() + static_cast<std::ptrdiff_t>(used), pending_.end(), '\0');
  for (std::size_t i = 0; i < sizeof bits; ++i)
    pending_[length_place + i] = static_cast<char>(static_cast<unsigned char>(bits >> (8 * i)));
  process(pending_.data());
  return {big_endian(state_[0], state_[1]), big_endian(state_[2], state_[3])};
}

}  // namespace outsize::detail
