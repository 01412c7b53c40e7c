// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What it would save, and take, to encode sorted items: found out on some of them.
//
// A sample is a block of items like those that the run will have, from several places of it. It is
// encoded and decoded twice, and the shorter time counts: the first may have to wait for memory
// that nobody used before. Takes some milliseconds. Functions that touch only what they are given.
// Layer: algorithm.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <span>

#include <outsize/base/machine.hpp>
#include <outsize/base/units.hpp>
#include <outsize/codec/detail/byte_codec.hpp>
#include <outsize/codec/detail/key_codec.hpp>
#include <outsize/codec/detail/packed_block.hpp>

namespace outsize::detail {

/// For each byte of a plain block; seconds are of one thread.
struct coding_trial {
  double encoded_share = 1;
  double encoding_seconds = 0;
  double decoding_seconds = 0;
};

/// The processor time of this thread, in seconds, for two things done one after the other, twice:
/// the shorter of each. `decode` is given what `encode` has returned, unless that is 0.
struct coding_times {
  double encoding;
  double decoding;
};
template <typename Encode, typename Decode>
coding_times time_twice(Encode const& encode, Decode const& decode) {
  using seconds = std::chrono::duration<double>;
  constexpr double never = std::numeric_limits<double>::max();
  coding_times least{never, never};
  for (int time = 0; time < 2; ++time) {
    auto const begin = thread_processor_time();
    std::size_t const used = encode();
    auto const encoded = thread_processor_time();
    bool const good = used != 0 && decode(used);
    auto const decoded = thread_processor_time();
    least.encoding = std::min(least.encoding, seconds(encoded - begin).count());
    least.decoding = std::min(least.decoding, good ? seconds(decoded - encoded).count() : 0.0);
  }
  return least;
}

/// Encodes a block and decodes it again. `scratch` is as long as what it may take.
coding_trial try_coding(byte_coding coding, std::span<std::byte> content, block_layout layout,
                        std::span<std::byte> scratch);

/// The same for integer keys, in two pieces of memory.
template <typename T>
coding_trial try_key_codec(std::span<T const> sorted, std::span<std::byte> code,
                           std::span<std::byte> items) {
  std::size_t const count = std::min(sorted.size(), items.size() / sizeof(T));
  auto const sample = sorted.subspan((sorted.size() - count) / 2, count);
  std::size_t taken = 0;
  double const bytes = static_cast<double>(std::max<std::size_t>(count, 1) * sizeof(T));
  auto const times = time_twice(
      [&] {
        key_encoder<T> encoder(code, code.size() + items.size(), 1);
        taken = encoder.append(sample);
        return encoder.close();
      },
      [&](std::size_t used) {
        std::span const to(reinterpret_cast<T*>(items.data()), taken);
        return decode_keys<T>(code.first(used), to);
      });
  return {encoded_share(sorted), times.encoding / bytes, times.decoding / bytes};
}

/// A block of items, and how many bytes these have, repeated ones too.
struct sampled_block {
  std::span<std::byte> content;
  block_layout layout;
  std::size_t bytes_of_items = 0;

  double plain_share() const noexcept {
    if (bytes_of_items == 0) return 1;
    return static_cast<double>(content.size()) / static_cast<double>(bytes_of_items);
  }
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
      if (item_bytes != 0) {
        family.store(key, place.data() + bytes);
        bytes += size;
      } else if constexpr (!Family::fixed_size) {
        if (!packed.append(key.record())) break;
      }
    }
  }
  std::size_t const packed_length = round_up(packed.used_bytes(), sizeof(length_type));
  auto const content = item_bytes != 0 ? place.first(bytes)
                       : items != 0    ? packed.shrink(packed_length)
                                       : place.first(0);
  return {content, {items, item_bytes}, item_bytes != 0 ? bytes : packed.record_bytes()};
}

}  // namespace outsize::detail
