// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <lz4.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include <outsize/base/detail/byte_words.hpp>
#include <outsize/base/units.hpp>
#include <outsize/codec/detail/byte_codec.hpp>
#include <outsize/codec/detail/column_codec.hpp>
#include <outsize/codec/detail/packed_block.hpp>

namespace outsize::detail {
namespace {

constexpr std::size_t most_in_common = std::numeric_limits<std::uint8_t>::max() - 1;
constexpr std::byte again{std::numeric_limits<std::uint8_t>::max()};  // the record before
constexpr unsigned length_bits = 7;  // of a byte; the eighth says that there is another one
constexpr std::size_t most_length_bytes = 5;

struct block_footer {
  std::uint32_t data_bytes;
  byte_coding coding;
  std::uint8_t unused[3];
};
static_assert(sizeof(block_footer) == 8);

/// What liblz4 asks for between the end of what it decodes and the end of what it decodes from.
constexpr std::size_t lz4_margin(std::size_t data_bytes) noexcept { return (data_bytes >> 8) + 32; }

std::string_view chars(std::byte const* bytes, std::size_t count) noexcept {
  return {reinterpret_cast<char const*>(bytes), count};
}

std::byte* write_length(std::size_t length, std::byte* to) noexcept {
  for (; length >> length_bits != 0; length >>= length_bits)
    *to++ = static_cast<std::byte>(length | (1U << length_bits));
  *to++ = static_cast<std::byte>(length);
  return to;
}

/// Reads a length at `from`, which then stands behind it; nothing if there is none before `end`.
std::optional<std::size_t> read_length(std::byte const*& from, std::byte const* end) noexcept {
  std::size_t length = 0;
  for (unsigned shift = 0; from != end && shift < most_length_bytes * length_bits;
       shift += length_bits) {
    auto const byte = static_cast<std::size_t>(*from++);
    length |= (byte & ((1U << length_bits) - 1)) << shift;
    if (byte >> length_bits == 0) return length;
  }
  return std::nullopt;
}

/// What became of a block's bytes; `lead`, the most by which items were ever ahead of their code.
struct written_data {
  std::size_t bytes = 0;
  std::size_t lead = 0;
};

std::optional<written_data> write_prefixes(std::span<std::byte const> content, block_layout layout,
                                           std::span<std::byte> to) noexcept {
  bool const are_packed = layout.item_bytes == 0;
  packed_table const table(content);
  written_data written;
  std::size_t begin = 0, last_begin = 0;
  for (std::size_t i = 0; i < layout.items; ++i) {
    if (written.bytes == to.size()) return std::nullopt;
    std::byte* at = to.data() + written.bytes;
    if (are_packed && i > 0 && table.is_repeated(i)) {
      *at = again;
      ++written.bytes;
      continue;
    }
    std::size_t const bytes = are_packed ? table.length(i) : layout.item_bytes;
    std::size_t const most = std::min({most_in_common, begin - last_begin, bytes});
    std::size_t const common = common_prefix_bytes(chars(content.data() + last_begin, most),
                                                   chars(content.data() + begin, most));
    std::size_t const rest = bytes - common;
    if (written.bytes + 1 + most_length_bytes + rest > to.size()) return std::nullopt;
    *at++ = static_cast<std::byte>(common);
    if (are_packed) at = write_length(rest, at);
    std::memcpy(at, content.data() + begin + common, rest);
    written.bytes = static_cast<std::size_t>(at + rest - to.data());
    last_begin = begin;
    begin += bytes;
    if (begin > written.bytes) written.lead = std::max(written.lead, begin - written.bytes);
  }
  return written;
}

std::optional<written_data> write_lz4(std::span<std::byte const> content,
                                      std::span<std::byte> to) noexcept {
  constexpr std::size_t most = LZ4_MAX_INPUT_SIZE;
  if (content.size() > most) return std::nullopt;
  int const bytes = ::LZ4_compress_default(
      reinterpret_cast<char const*>(content.data()), reinterpret_cast<char*>(to.data()),
      static_cast<int>(content.size()), static_cast<int>(std::min(to.size(), most)));
  if (bytes <= 0) return std::nullopt;
  auto const used = static_cast<std::size_t>(bytes);
  std::size_t const ahead = content.size() + lz4_margin(used);
  return written_data{used, ahead - std::min(ahead, used)};
}

std::optional<written_data> write_data(byte_coding coding, std::span<std::byte const> content,
                                       block_layout layout, std::span<std::byte> to) noexcept {
  switch (coding) {
    case byte_coding::columns:
      if (layout.item_bytes == 0) return std::nullopt;
      if (std::size_t const bytes = write_columns(content, layout.item_bytes, to); bytes != 0)
        return written_data{bytes, lead_of_columns(layout.items, layout.item_bytes, bytes)};
      return std::nullopt;
    case byte_coding::lz4:
      return write_lz4(content, to);
    case byte_coding::prefixes:
      return write_prefixes(content, layout, to);
  }
  return std::nullopt;
}

/// Items from their prefixes and rests, one after another.
class prefix_reader {
 public:
  prefix_reader(std::span<std::byte const> data, std::span<std::byte> content,
                block_layout layout) noexcept
      : from_(data.data()),
        from_end_(data.data() + data.size()),
        to_(content),
        item_bytes_(layout.item_bytes) {}

  /// Decodes the next item; false if there is none, or no room for it.
  bool next() noexcept {
    if (from_ == from_end_) return false;
    auto const code = *from_++;
    if (code == again) return item_bytes_ == 0 && has_last_;
    has_last_ = true;
    auto const common = static_cast<std::size_t>(code);
    if (common > end_ - begin_) return false;
    std::size_t rest = item_bytes_ - common;
    if (item_bytes_ == 0) {
      auto const length = read_length(from_, from_end_);
      if (!length) return false;
      rest = *length;
    }
    if (rest > static_cast<std::size_t>(from_end_ - from_)) return false;
    if (common + rest > to_.size() - end_) return false;
    std::byte* const to = to_.data() + end_;
    copy_short(chars(to_.data() + begin_, common), to);
    if (rest <= most_short_bytes) {  // all read before any is written
      copy_short(chars(from_, rest), to + common);
    } else {
      std::memmove(to + common, from_, rest);  // perhaps only a little way
    }
    from_ += rest;
    begin_ = end_;
    end_ += common + rest;
    return true;
  }

  std::size_t end() const noexcept { return end_; }  // of the last item
  std::size_t last_bytes() const noexcept { return end_ - begin_; }
  bool at_end() const noexcept { return from_ == from_end_; }

 private:
  std::byte const* from_;
  std::byte const* from_end_;
  std::span<std::byte> to_;
  std::size_t item_bytes_;
  bool has_last_ = false;
  std::size_t begin_ = 0;  // of the last item
  std::size_t end_ = 0;
};

bool read_fixed(std::span<std::byte const> data, std::span<std::byte> content,
                block_layout layout) noexcept {
  prefix_reader reader(data, content, layout);
  for (std::size_t i = 0; i < layout.items; ++i)
    if (!reader.next()) return false;
  return reader.at_end() && reader.end() == content.size();
}

bool read_packed(std::span<std::byte const> data, std::span<std::byte> content,
                 block_layout layout) {
  // What is yet to be decoded may lie where the table belongs.
  std::vector<record_end> ends;
  ends.reserve(layout.items);
  std::size_t const table_bytes = layout.items * sizeof(record_end);
  prefix_reader reader(data, content.first(content.size() - table_bytes), layout);
  std::size_t total = 0;
  for (std::size_t i = 0; i < layout.items; ++i) {
    if (!reader.next()) return false;
    total += reader.last_bytes();
    ends.push_back({static_cast<length_type>(reader.end()), static_cast<length_type>(total)});
  }
  if (total > std::numeric_limits<length_type>::max()) return false;
  std::ranges::reverse(ends);
  auto const table = content.last(table_bytes);
  std::ranges::copy(std::as_bytes(std::span(ends)), table.begin());
  return reader.at_end();
}

bool read_lz4(std::span<std::byte const> data, std::span<std::byte> content,
              block_layout layout) noexcept {
  constexpr std::size_t most = LZ4_MAX_INPUT_SIZE;
  if (content.size() > most || data.size() > most) return false;
  int const bytes = ::LZ4_decompress_safe(
      reinterpret_cast<char const*>(data.data()), reinterpret_cast<char*>(content.data()),
      static_cast<int>(data.size()), static_cast<int>(content.size()));
  if (bytes < 0 || static_cast<std::size_t>(bytes) != content.size()) return false;
  return layout.item_bytes != 0 || can_be_packed(content, layout.items, content.size());
}

/// Whether as many bytes can be so many items.
bool is_possible(std::size_t content_bytes, block_layout layout) noexcept {
  if (layout.item_bytes == 0) return layout.items <= content_bytes / sizeof(record_end);
  return content_bytes % layout.item_bytes == 0 &&
         content_bytes / layout.item_bytes == layout.items;
}

}  // namespace

std::size_t most_content_bytes(std::size_t held_bytes, std::size_t alignment) noexcept {
  std::size_t const besides = lz4_margin(held_bytes) + sizeof(block_footer) + alignment;
  return round_down(held_bytes - std::min(held_bytes, besides), alignment);
}

std::size_t encode_block(byte_coding coding, std::span<std::byte const> content,
                         block_layout layout, std::span<std::byte> to, std::size_t held_bytes,
                         std::size_t alignment) noexcept {
  std::size_t const shorter = std::max<std::size_t>(content.size(), 1) - 1;
  std::size_t const most = round_down(std::min(to.size(), shorter), alignment);
  if (most <= sizeof(block_footer)) return 0;
  auto const room = to.first(most - sizeof(block_footer));
  auto const data = write_data(coding, content, layout, room);
  if (!data) return 0;
  std::size_t const used = round_up(data->bytes + sizeof(block_footer), alignment);
  // Where items are decoded to must stay before what is yet to be decoded.
  if (data->lead + used > held_bytes) return 0;
  block_footer const footer{static_cast<std::uint32_t>(data->bytes), coding, {}};
  std::fill(to.data() + data->bytes, to.data() + used - sizeof footer, std::byte{0});
  std::memcpy(to.data() + used - sizeof footer, &footer, sizeof footer);
  return used;
}

bool decode_block(std::span<std::byte const> block, std::span<std::byte> content,
                  block_layout layout) {
  block_footer footer;
  if (block.size() < sizeof footer || !is_possible(content.size(), layout)) return false;
  std::memcpy(&footer, block.data() + block.size() - sizeof footer, sizeof footer);
  if (footer.data_bytes > block.size() - sizeof footer) return false;
  auto const data = block.first(footer.data_bytes);
  switch (footer.coding) {
    case byte_coding::columns:
      return layout.item_bytes != 0 && read_columns(data, layout.item_bytes, content);
    case byte_coding::lz4:
      return read_lz4(data, content, layout);
    case byte_coding::prefixes:
      return layout.item_bytes != 0 ? read_fixed(data, content, layout)
                                    : read_packed(data, content, layout);
  }
  return false;
}

}  // namespace outsize::detail
