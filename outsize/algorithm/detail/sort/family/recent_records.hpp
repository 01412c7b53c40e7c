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
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include <outsize/codec/detail/record_place.hpp>

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

  using hash = std::uint64_t;

  /// Of a record, or anything where nothing is looked for.
  hash hash_of(std::string_view record) const noexcept {
    return slots_.empty() ? 0 : hash_of_bytes(record);
  }
  /// The same of many, and asks the processor for what find_or_note() would compare them with.
  /// @pre there is room for their hashes.
  void look_ahead(std::span<std::string_view const> records, std::byte const* chunk,
                  std::span<hash> hashes) const noexcept;

  /// The place of the same record in the chunk. If none is known, this one is remembered as lying
  /// at `place`, where it has to be put then. @pre `record` is not long (record_place.hpp).
  std::optional<std::uint64_t> find_or_note(std::string_view record, hash of_record,
                                            std::byte const* chunk, std::uint64_t place) noexcept {
    if (slots_.empty()) return std::nullopt;
    slot& s = slot_of(of_record);
    bool const found =
        s.hash == of_record && s.place != nowhere && record_place::record(chunk, s.place) == record;
    std::uint64_t const found_place = s.place;
    if (!found) s = {of_record, place};
    finds_ += found ? 1 : 0;
    if (++looks_ == period) end_period();
    return found ? std::optional(found_place) : std::nullopt;
  }
  /// Remembers a record as lying at `place` from now on.
  void note(hash of_record, std::uint64_t place) noexcept {
    if (!slots_.empty()) slot_of(of_record) = {of_record, place};
  }

 private:
  struct slot {
    recent_records::hash hash;
    std::uint64_t place;
  };
  static constexpr std::size_t most_slots = 16384;  // 256 KiB, in a core's second cache
  static constexpr std::size_t period = 4096;       // looks, of which one in some must be a find
  static constexpr std::size_t looks_for_find = 16;

  static constexpr auto nowhere = std::numeric_limits<std::uint64_t>::max();

  static hash hash_of_bytes(std::string_view record) noexcept;
  slot& slot_of(hash of_record) const noexcept { return slots_[of_record & (slots_.size() - 1)]; }
  void end_period() noexcept;

  std::span<slot> slots_;  // empty: gives up
  std::size_t looks_ = 0;  // of this period
  std::size_t finds_ = 0;
};

}  // namespace outsize::detail
