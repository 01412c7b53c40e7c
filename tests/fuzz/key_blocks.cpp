// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Blocks of encoded keys: whatever the bytes, they are decoded to as many items as was said or
// refused, in memory that block and items share; and any sorted items come back from their blocks.

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <outsize/codec/detail/key_codec.hpp>

#include "fuzz_target.hpp"

namespace outsize::fuzz {
namespace {

using detail::word_pair;

/// Bytes as a block of `count` items in `held_bytes`; a sanitizer sees what lies outside.
template <typename T>
void check_any_block(std::string_view bytes, std::size_t count) {
  std::vector<T> held(count + bytes.size() / sizeof(T) + 2);
  auto const memory = std::as_writable_bytes(std::span(held));
  auto const block = memory.last(bytes.size());
  std::memcpy(block.data(), bytes.data(), bytes.size());
  bool const decoded =
      detail::decode_keys(std::span<std::byte const>(block), std::span(held).first(count));
  require(decoded || std::memcmp(block.data(), bytes.data(), bytes.size()) == 0,
          "a block that is refused stays as it is");
}

template <typename T>
std::vector<T> items_in(std::string_view bytes) {
  std::vector<T> items(bytes.size() / sizeof(T));
  if (!items.empty()) std::memcpy(items.data(), bytes.data(), items.size() * sizeof(T));
  std::ranges::sort(items, std::less<>());
  return items;
}

template <typename T>
void check_items(std::string_view bytes, std::size_t block_bytes) {
  auto const items = items_in<T>(bytes);
  std::size_t const held_bytes = block_bytes + block_bytes / 2 / 64 * 64;
  std::vector<std::byte> block(block_bytes);
  for (std::size_t done = 0; done < items.size();) {
    detail::key_encoder<T> encoder(block, held_bytes, 64);
    std::size_t const taken = encoder.append(std::span(items).subspan(done));
    require(taken > 0, "a block takes an item");
    std::size_t const used = encoder.close();
    std::vector<T> held(held_bytes / sizeof(T));
    auto const place = std::as_writable_bytes(std::span(held)).last(used);
    std::memcpy(place.data(), block.data(), used);
    require(detail::decode_keys(std::span<std::byte const>(place), std::span(held).first(taken)),
            "what was encoded can be decoded");
    require(std::equal(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(taken),
                       items.begin() + static_cast<std::ptrdiff_t>(done)),
            "what was encoded comes back");
    done += taken;
  }
}

template <typename T>
std::string encoded(std::vector<T> const& items) {
  std::string block(1024, '\0');
  detail::key_encoder<T> encoder(std::as_writable_bytes(std::span(block)), 8192, 64);
  encoder.append(items);
  block.resize(encoder.close());
  return block;
}

}  // namespace

void check(std::string_view input) {
  input_bytes bytes(input);
  std::uint8_t const what = bytes.take();
  std::size_t const size = bytes.take();
  bool const any = what % 2 == 0;
  std::size_t const block_bytes = 64 * (4 + size % 40);
  switch (what / 2 % 3) {
    case 0:
      return any ? check_any_block<std::uint32_t>(bytes.rest(), size)
                 : check_items<std::uint32_t>(bytes.rest(), block_bytes);
    case 1:
      return any ? check_any_block<std::uint64_t>(bytes.rest(), size)
                 : check_items<std::uint64_t>(bytes.rest(), block_bytes);
    default:
      return any ? check_any_block<word_pair>(bytes.rest(), size)
                 : check_items<word_pair>(bytes.rest(), block_bytes);
  }
}

std::vector<std::string> seeds() {
  std::vector<std::uint32_t> const small{1, 2, 3, 1000, 1'000'000};
  std::vector<std::uint64_t> const large{1, 2, 3, 1'000'000, ~std::uint64_t{0}};
  std::vector<word_pair> const pairs{{7, 1}, {9, 1}, {0, 2}, {~std::uint64_t{0}, 1'000'000}};
  return {std::string("\0\5", 2) + encoded(small),
          std::string("\2\5", 2) + encoded(large),
          std::string("\4\4", 2) + encoded(pairs),
          "\1\1abcdefghijklmnopqrstuvwxyz",
          "\3\2abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
          "\5\2abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"};
}

std::size_t mutation_count() { return 100'000; }

}  // namespace outsize::fuzz
