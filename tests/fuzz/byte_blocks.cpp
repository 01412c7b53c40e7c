// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Blocks of encoded items of any kind: whatever the bytes, they are decoded to as many items as was
// said, each within the block, or refused; and any items come back from their blocks.

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/codec/detail/byte_codec.hpp>
#include <outsize/codec/detail/packed_block.hpp>

#include "fuzz_target.hpp"

namespace outsize::fuzz {
namespace {

using detail::block_layout;
using detail::byte_coding;
using bytes = std::vector<std::byte>;

/// Bytes as a block for `content_bytes` of items; a sanitizer sees what lies outside.
void check_any_block(std::string_view block, std::size_t content_bytes, block_layout layout) {
  bytes held(content_bytes + block.size() / 2);
  held.resize(std::max(held.size(), block.size()));
  auto const place = std::span(held).last(block.size());
  if (!block.empty()) std::memcpy(place.data(), block.data(), block.size());
  auto const content = std::span(held).first(content_bytes);
  if (!detail::decode_block(place, content, layout) || layout.item_bytes != 0) return;
  require(detail::can_be_packed(content, layout.items, content_bytes),
          "records lie in their block");
}

/// A packed block of what lies between line feeds.
bytes packed_lines(std::string_view text, std::size_t& count) {
  bytes place(round_up<std::size_t>(9 * text.size() + 16, 4));
  detail::packed_block block(place);
  std::string_view last;
  while (!text.empty()) {
    auto const line = text.substr(0, text.find('\n'));
    if (line != last) last = line;
    block.append(last);  // from where it was before, if it is there again: it takes no bytes
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  count = block.items();
  auto const content = block.shrink(round_up<std::size_t>(block.used_bytes(), 4));
  return {content.begin(), content.end()};
}

bytes encoded(byte_coding coding, bytes const& content, block_layout layout, std::size_t held_bytes,
              std::size_t alignment) {
  bytes to(held_bytes);
  to.resize(detail::encode_block(coding, content, layout, to, held_bytes, alignment));
  return to;
}

void check_items(byte_coding coding, bytes const& content, block_layout layout,
                 std::size_t more_bytes) {
  std::size_t const held_bytes = content.size() + more_bytes;
  bytes const block = encoded(coding, content, layout, held_bytes, 1);
  require(block.size() < content.size() || content.empty(), "a block becomes shorter or stays");
  if (block.empty()) return;
  bytes held(held_bytes);
  auto const place = std::span(held).last(block.size());
  std::ranges::copy(block, place.begin());
  auto const back = std::span(held).first(content.size());
  require(detail::decode_block(place, back, layout), "what was encoded can be decoded");
  std::size_t const record_bytes = layout.item_bytes != 0 || layout.items == 0
                                       ? content.size()
                                       : detail::packed_table(content)[layout.items - 1].place;
  require(std::equal(back.begin(), back.begin() + static_cast<std::ptrdiff_t>(record_bytes),
                     content.begin()),
          "what was encoded comes back");
  if (layout.item_bytes != 0) return;
  detail::packed_table const before(content), after(back);
  for (std::size_t i = 0; i < layout.items; ++i)
    require(before[i].place == after[i].place && before[i].total_bytes == after[i].total_bytes,
            "its table comes back");
}

std::string seed_of(byte_coding coding, std::string_view text) {
  std::size_t count = 0;
  bytes const content = packed_lines(text, count);
  bytes const block = encoded(coding, content, {count, 0}, 2 * content.size(), 1);
  std::string seed{'\0', static_cast<char>(count), static_cast<char>(content.size() / 4)};
  for (std::byte const b : block) seed += static_cast<char>(b);
  return seed;
}

}  // namespace

void check(std::string_view input) {
  input_bytes in(input);
  std::uint8_t const what = in.take();
  std::size_t const number = in.take();
  std::size_t const more = in.take();
  bool const fixed = what / 2 % 2 == 1;
  auto const rest = in.rest();
  if (what % 2 == 0) {
    std::size_t const item_bytes = fixed ? 1 + more % 16 : 0;
    std::size_t const content_bytes = fixed ? number * item_bytes : 4 * std::max(more, number);
    return check_any_block(rest, content_bytes, {number, item_bytes});
  }
  auto const coding = detail::byte_codings[what / 4 % detail::byte_codings.size()];
  if (fixed) {
    std::size_t const item_bytes = 1 + number % 16;
    auto const whole = rest.substr(0, rest.size() / item_bytes * item_bytes);
    bytes content(whole.size());
    std::ranges::transform(whole, content.begin(), [](char c) { return std::byte(c); });
    return check_items(coding, content, {whole.size() / item_bytes, item_bytes}, more);
  }
  std::size_t count = 0;
  bytes const content = packed_lines(rest, count);
  check_items(coding, content, {count, 0}, more);
}

std::vector<std::string> seeds() {
  std::string const text = "/a/path/to/one\n/a/path/to/one\n/a/path/to/one/more\n/b\n\n/b\n";
  return {seed_of(byte_coding::prefixes, text),
          seed_of(byte_coding::lz4, text + text + text),
          "\1\0\100" + text + text,
          "\5\0\100" + text + text,
          "\3\7\100" + text + text,
          "\7\7\100" + text + text,
          "\13\7\100" + text + text};
}

std::size_t mutation_count() { return 100'000; }

}  // namespace outsize::fuzz
