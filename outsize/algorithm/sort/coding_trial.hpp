// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What it would save, and take, to encode whole blocks of sorted items: found out on some of them.
//
// A sample is a block of items like those that the run will have, from several places of it. Takes
// some milliseconds at most. Functions that touch only what they are given. Layer: algorithm.

#include <algorithm>
#include <cstddef>
#include <span>

#include <outsize/algorithm/sort/byte_codec.hpp>
#include <outsize/algorithm/sort/packed_block.hpp>
#include <outsize/base/units.hpp>

namespace outsize::detail {

/// For each byte of items; seconds are of one thread.
struct coding_trial {
  double encoded_share = 1;
  double encoding_seconds = 0;
  double decoding_seconds = 0;
};

/// Encodes a block and decodes it again. `scratch` is as long as what it may take.
coding_trial try_coding(byte_coding coding, std::span<std::byte> content, block_layout layout,
                        std::span<std::byte> scratch);

/// A block of items.
struct sampled_block {
  std::span<std::byte> content;
  block_layout layout;
};

/// Puts items of `sorted`, from several places of it, into a block in `place`; none, if there is
/// not enough room for any.
template <typename Family>
sampled_block sample_items(Family const& family, typename Family::view const& sorted,
                           std::span<std::byte> place) {
  constexpr std::size_t samples = 4;
  std::size_t const item_bytes = family.item_bytes();
  std::size_t items = 0, bytes = 0;
  packed_block packed(place);
  for (std::size_t s = 0; s < samples; ++s) {
    std::size_t const end = sorted.size() * (s + 1) / samples;
    for (std::size_t i = sorted.size() * s / samples; i < end; ++i, ++items) {
      auto const key = sorted.key(i);
      std::size_t const size = family.size(key);
      std::size_t const used = item_bytes != 0 ? bytes + size : packed.used_bytes() + size;
      if (used > place.size() * (s + 1) / samples) break;
      if (item_bytes == 0 && !packed.fits(size)) break;
      Family::store(key, item_bytes != 0 ? place.data() + bytes : packed.next_record());
      if (item_bytes == 0) packed.close_record(size);
      bytes += size;
    }
  }
  std::size_t const packed_length = round_up(packed.used_bytes(), sizeof(length_type));
  auto const content = item_bytes != 0 ? place.first(bytes)
                       : items != 0    ? packed.shrink(packed_length)
                                       : place.first(0);
  return {content, {items, item_bytes}};
}

}  // namespace outsize::detail
