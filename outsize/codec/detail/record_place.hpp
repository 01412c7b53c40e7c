// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Where a record lies in a chunk, in one number that grows with the offset: sorting by it keeps
// input order. Lengths that do not fit beside the offset stand in front of the record.
//
//   | offset, 44 bits | length, 20 bits |     length all ones: | length, 32 bits | record |
//
// Pure functions. Layer: codec.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <outsize/codec/detail/packed_block.hpp>

namespace outsize::detail {

struct record_place {
  static constexpr unsigned length_bits = 20;
  static constexpr std::uint64_t long_record = (std::uint64_t{1} << length_bits) - 1;

  static constexpr bool is_long(std::size_t length) noexcept { return length >= long_record; }
  static constexpr std::uint64_t encode(std::size_t offset, std::size_t length) noexcept {
    return (std::uint64_t{offset} << length_bits) | (is_long(length) ? long_record : length);
  }
  static constexpr std::size_t offset(std::uint64_t place) noexcept { return place >> length_bits; }

  /// Of a short record without touching the chunk.
  static std::size_t length(std::byte const* chunk, std::uint64_t place) noexcept {
    std::uint64_t const length = place & long_record;
    return length != long_record ? length : record(chunk, place).size();
  }

  static std::string_view record(std::byte const* chunk, std::uint64_t place) noexcept {
    auto const* at = reinterpret_cast<char const*>(chunk) + offset(place);
    std::uint64_t const length = place & long_record;
    if (length != long_record) return {at, length};
    length_type stored;
    std::memcpy(&stored, at, sizeof stored);
    return {at + sizeof stored, stored};
  }
};

}  // namespace outsize::detail
