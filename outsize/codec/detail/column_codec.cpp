// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/codec/detail/column_codec.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include <outsize/base/detail/gathered_bits.hpp>
#include <outsize/base/units.hpp>

namespace outsize::detail {
namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);
constexpr unsigned byte_bits = 8;

static_assert(std::endian::native == std::endian::little, "bits are gathered from the lowest byte");

/// Of eight neighbouring columns, or the last few, how they are encoded.
struct word_shape {
  std::uint64_t least = 0;        // of each column
  std::uint64_t kept = 0;         // bits of each column
  std::uint32_t item_offset = 0;  // of the first of them
  std::uint32_t code_offset = 0;
  std::uint32_t columns = 0;
};

constexpr std::size_t most_item_bytes = 4096;

/// How all items of a block are encoded.
struct block_shape {
  std::array<word_shape, most_item_bytes / word_bytes> words;  // the first `count` of them
  std::size_t count = 0;
  std::size_t code_bytes = 0;  // of an item

  std::span<word_shape const> used() const noexcept { return std::span(words).first(count); }
};

/// Codes are stored, and loaded, eight bytes at a time.
constexpr std::size_t slack_bytes = word_bytes;

constexpr std::size_t header_bytes(std::size_t item_bytes) noexcept { return 2 * item_bytes; }

// ---- items ----

[[gnu::always_inline]] inline std::uint64_t load(std::byte const* from,
                                                 std::size_t bytes) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, from, bytes);
  return word;
}
[[gnu::always_inline]] inline void store(std::uint64_t word, std::byte* to,
                                         std::size_t bytes) noexcept {
  std::memcpy(to, &word, bytes);
}

/// How many items at the end of a block are loaded and stored no further than they go: whole words
/// of these would reach behind the block.
constexpr std::size_t guarded_items(std::size_t items, std::size_t item_bytes) noexcept {
  std::size_t const beyond = round_up(item_bytes, word_bytes) - item_bytes;
  return std::min(items, div_up(beyond, item_bytes));
}

template <typename Bits>
[[gnu::always_inline]] inline void encode_items(block_shape const& shape, std::byte const* from,
                                                std::size_t item_bytes, std::size_t items,
                                                std::byte* to) noexcept {
  std::size_t const whole = items - guarded_items(items, item_bytes);
  std::size_t i = 0;
  for (; i < whole; ++i, from += item_bytes, to += shape.code_bytes) {
    for (word_shape const& w : shape.used()) {
      if (w.kept == 0) continue;
      std::uint64_t const word = load(from + w.item_offset, word_bytes);
      store(Bits::gather(word - w.least, w.kept), to + w.code_offset, word_bytes);
    }
  }
  for (; i < items; ++i, from += item_bytes, to += shape.code_bytes) {
    for (word_shape const& w : shape.used()) {
      std::uint64_t const word = load(from + w.item_offset, w.columns);
      store(Bits::gather(word - w.least, w.kept), to + w.code_offset, word_bytes);
    }
  }
}

template <typename Bits>
[[gnu::always_inline]] inline void decode_items(block_shape const& shape, std::byte const* from,
                                                std::size_t item_bytes, std::size_t items,
                                                std::byte* to) noexcept {
  std::size_t const whole = items - guarded_items(items, item_bytes);
  std::size_t i = 0;
  for (; i < whole; ++i, from += shape.code_bytes, to += item_bytes) {
    for (word_shape const& w : shape.used()) {
      std::uint64_t const code = load(from + w.code_offset, word_bytes);
      store(Bits::scatter(code, w.kept) + w.least, to + w.item_offset, word_bytes);
    }
  }
  for (; i < items; ++i, from += shape.code_bytes, to += item_bytes) {
    for (word_shape const& w : shape.used()) {
      std::uint64_t const code = load(from + w.code_offset, word_bytes);
      store(Bits::scatter(code, w.kept) + w.least, to + w.item_offset, w.columns);
    }
  }
}

using item_coder = void (*)(block_shape const&, std::byte const*, std::size_t, std::size_t,
                            std::byte*) noexcept;
struct coders {
  item_coder encode;
  item_coder decode;
};

OUTSIZE_BMI2 void encode_by_instructions(block_shape const& shape, std::byte const* from,
                                         std::size_t item_bytes, std::size_t items,
                                         std::byte* to) noexcept {
  encode_items<bit_instructions>(shape, from, item_bytes, items, to);
}
OUTSIZE_BMI2 void decode_by_instructions(block_shape const& shape, std::byte const* from,
                                         std::size_t item_bytes, std::size_t items,
                                         std::byte* to) noexcept {
  decode_items<bit_instructions>(shape, from, item_bytes, items, to);
}

void encode_by_arithmetic(block_shape const& shape, std::byte const* from, std::size_t item_bytes,
                          std::size_t items, std::byte* to) noexcept {
  encode_items<bit_arithmetic>(shape, from, item_bytes, items, to);
}
void decode_by_arithmetic(block_shape const& shape, std::byte const* from, std::size_t item_bytes,
                          std::size_t items, std::byte* to) noexcept {
  decode_items<bit_arithmetic>(shape, from, item_bytes, items, to);
}

coders coders_for(bit_gathering how) noexcept {
  if (how == bit_gathering::fastest && has_fast_bit_instructions())
    return {encode_by_instructions, decode_by_instructions};
  return {encode_by_arithmetic, decode_by_arithmetic};
}

// ---- columns of a block ----

constexpr std::size_t strip_columns = 32;  // so many fit in registers

struct strip_range {
  std::array<std::uint8_t, strip_columns> least;
  std::array<std::uint8_t, strip_columns> greatest;
};

/// Of so many columns from place `first` on; if an item has fewer from there on, they are the next
/// item's, too. `items` are followed by enough bytes of any kind.
strip_range range_of_strip(std::uint8_t const* items, std::size_t first, std::size_t item_bytes,
                           std::size_t count) noexcept {
  // Not in the result until the end, so that the compiler keeps them in registers.
  std::uint8_t least[strip_columns], greatest[strip_columns];
  std::fill_n(least, strip_columns, std::numeric_limits<std::uint8_t>::max());
  std::fill_n(greatest, strip_columns, std::uint8_t{0});
  for (std::size_t i = 0; i < count; ++i) {
    std::uint8_t strip[strip_columns];
    std::memcpy(strip, items + i * item_bytes + first, strip_columns);
    for (std::size_t c = 0; c < strip_columns; ++c) least[c] = std::min(least[c], strip[c]);
    for (std::size_t c = 0; c < strip_columns; ++c) greatest[c] = std::max(greatest[c], strip[c]);
  }
  return {std::to_array(least), std::to_array(greatest)};
}

/// Writes the least byte of each column, and then how many bits the others need beside it.
void write_header(std::span<std::byte const> items, std::size_t item_bytes,
                  std::byte* to) noexcept {
  auto const* const bytes = reinterpret_cast<std::uint8_t const*>(items.data());
  for (std::size_t first = 0; first < item_bytes; first += strip_columns) {
    std::size_t const room = items.size() - std::min(items.size(), first + strip_columns);
    std::size_t const whole = first + strip_columns <= items.size() ? room / item_bytes + 1 : 0;
    auto [least, greatest] = range_of_strip(bytes, first, item_bytes, whole);
    std::size_t const columns = std::min(strip_columns, item_bytes - first);
    for (std::size_t at = whole * item_bytes + first; at < items.size(); at += item_bytes) {
      for (std::size_t c = 0; c < columns; ++c) {
        least[c] = std::min(least[c], bytes[at + c]);
        greatest[c] = std::max(greatest[c], bytes[at + c]);
      }
    }
    for (std::size_t c = 0; c < columns; ++c) {
      auto const differences = static_cast<unsigned>(greatest[c] - least[c]);
      to[first + c] = static_cast<std::byte>(least[c]);
      to[item_bytes + first + c] = static_cast<std::byte>(std::bit_width(differences));
    }
  }
}

/// Nothing if that is no header.
std::optional<block_shape> read_header(std::byte const* header, std::size_t item_bytes) noexcept {
  std::optional<block_shape> shape(std::in_place);
  for (std::size_t offset = 0; offset < item_bytes; offset += word_bytes) {
    word_shape& w = shape->words[shape->count++];
    w.item_offset = static_cast<std::uint32_t>(offset);
    w.code_offset = static_cast<std::uint32_t>(shape->code_bytes);
    w.columns = static_cast<std::uint32_t>(std::min(word_bytes, item_bytes - offset));
    w.least = load(header + offset, w.columns);
    std::size_t all_bits = 0;
    for (unsigned c = 0; c < w.columns; ++c) {
      auto const bits = static_cast<unsigned>(header[item_bytes + offset + c]);
      if (bits > byte_bits) return std::nullopt;
      w.kept |= ((std::uint64_t{1} << bits) - 1) << (c * byte_bits);
      all_bits += bits;
    }
    shape->code_bytes += div_up<std::size_t>(all_bits, byte_bits);
  }
  return shape;
}

}  // namespace

std::size_t write_columns(std::span<std::byte const> items, std::size_t item_bytes,
                          std::span<std::byte> to, bit_gathering how) noexcept {
  std::size_t const count = items.size() / item_bytes;
  std::size_t const most = std::min(to.size(), items.size());
  std::size_t const besides = header_bytes(item_bytes) + slack_bytes;
  if (item_bytes > most_item_bytes || count == 0 || besides > most) return 0;
  write_header(items, item_bytes, to.data());
  auto const shape = read_header(to.data(), item_bytes);
  std::size_t const bytes = besides + count * shape->code_bytes;
  if (bytes >= most) return 0;
  std::byte* const codes = to.data() + header_bytes(item_bytes);
  coders_for(how).encode(*shape, items.data(), item_bytes, count, codes);
  std::memset(to.data() + bytes - slack_bytes, 0, slack_bytes);
  return bytes;
}

std::size_t lead_of_columns(std::size_t items, std::size_t item_bytes,
                            std::size_t data_bytes) noexcept {
  std::size_t const besides = header_bytes(item_bytes) + slack_bytes;
  std::size_t const code_bytes = (data_bytes - besides) / items;
  // Codes are no longer than items: the last item is the one that comes nearest to its code.
  std::size_t const end = items * item_bytes + word_bytes;
  std::size_t const last_code = header_bytes(item_bytes) + (items - 1) * code_bytes;
  return end - std::min(end, last_code);
}

bool read_columns(std::span<std::byte const> data, std::size_t item_bytes,
                  std::span<std::byte> items, bit_gathering how) noexcept {
  std::size_t const count = items.size() / item_bytes;
  std::size_t const besides = header_bytes(item_bytes) + slack_bytes;
  if (item_bytes > most_item_bytes || count == 0 || data.size() < besides) return false;
  auto const shape = read_header(data.data(), item_bytes);
  if (!shape || data.size() - besides != count * shape->code_bytes) return false;
  coders_for(how).decode(*shape, data.data() + header_bytes(item_bytes), item_bytes, count,
                         items.data());
  return true;
}

}  // namespace outsize::detail
