// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Which records of a chunk came of late, so that one that comes again need not be kept twice.
//
//   hash of a record ──▶ slot: | hash | place in the chunk |     the last one with that slot
//
// Some repetitions are not found, as a slot holds one record; those that are frequent are. Where
// few are found, nothing is looked for any more. One thread at a time. Layer: algorithm.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace outsize::detail {

class recent_records {
 public:
  /// Of nothing, which finds nothing.
  recent_records() = default;
  /// In memory of memory_bytes(), aligned for words.
  explicit recent_records(std::span<std::byte> memory) noexcept;

  /// A hundredth and less of a chunk, a power of two.
  static constexpr std::size_t memory_bytes(std::size_t chunk_bytes) noexcept {
    return std::bit_floor(std::clamp(chunk_bytes / 128, sizeof(slot), most_slots * sizeof(slot)));
  }

  /// The place of the same record in the chunk. If none is known, this one is remembered as lying
  /// at `place`, where it has to be put then. @pre `record` is not long (record_place.hpp).
  std::optional<std::uint64_t> find_or_note(std::string_view record, std::byte const* chunk,
                                            std::uint64_t place) noexcept {
    if (slots_.empty()) return std::nullopt;
    return look_up(record, chunk, place);
  }
  /// Remembers a record as lying at `place` from now on.
  void note(std::string_view record, std::uint64_t place) noexcept;

 private:
  struct slot {
    std::uint64_t hash;
    std::uint64_t place;
  };
  static constexpr std::size_t most_slots = 4096;  // 64 KiB, in a core's second cache
  static constexpr std::size_t period = 4096;      // looks, of which one in some must be a find
  static constexpr std::size_t looks_for_find = 16;

  std::optional<std::uint64_t> look_up(std::string_view record, std::byte const* chunk,
                                       std::uint64_t place) noexcept;

  std::span<slot> slots_;  // empty: gives up
  std::size_t looks_ = 0;  // of this period
  std::size_t finds_ = 0;
};

}  // namespace outsize::detail
