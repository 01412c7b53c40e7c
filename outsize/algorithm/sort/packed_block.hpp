// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Blocks of records of varying length: the records from the front, a table of their ends from the
// back.
//
//   | rec rec rec rec … | room | end 3 | end 2 | end 1 | end 0 |     (ends: 32-bit offsets)
//
// Invariant: ends ascend, and the last one lies before the table. One thread at a time fills a
// block. Layer: algorithm.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace outsize::detail {

using length_type = std::uint32_t;

/// The bytes that `count` records of `record_bytes` together occupy in a packed block.
constexpr std::size_t packed_bytes(std::size_t record_bytes, std::size_t count) {
  return record_bytes + sizeof(length_type) * (count + 1);  // one more: room to align the table
}

/// Where record `index` of a packed block ends.
inline length_type packed_end(std::span<std::byte const> block, std::size_t index) noexcept {
  return *(reinterpret_cast<length_type const*>(block.data() + block.size()) - 1 - index);
}

/// Whether what has been read can be a packed block of `count` records, none longer than
/// `longest_bytes`: then no record lies anywhere else. @pre the table fits into the block.
inline bool can_be_packed(std::span<std::byte const> block, std::size_t count,
                          std::size_t longest_bytes) noexcept {
  std::size_t last = 0;
  bool good = true;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t const end = packed_end(block, i);
    good &= end >= last && end - last <= longest_bytes;
    last = end;
  }
  return good && last <= block.size() - count * sizeof(length_type);
}

/// A packed block while it is filled.
class packed_block {
 public:
  packed_block() = default;
  /// @param place  Aligned, and of a length, as the table asks.
  explicit packed_block(std::span<std::byte> place) noexcept : place_(place) {}

  std::size_t place_bytes() const noexcept { return place_.size(); }
  std::size_t items() const noexcept { return items_; }
  std::size_t record_bytes() const noexcept { return record_bytes_; }
  std::size_t used_bytes() const noexcept { return packed_bytes(record_bytes_, items_); }
  bool fits(std::size_t more) const noexcept {
    return packed_bytes(record_bytes_ + more, items_ + 1) <= place_.size();
  }

  /// Where the next record goes, whose length close_record() tells. @pre it fits.
  std::byte* next_record() const noexcept { return place_.data() + record_bytes_; }
  void close_record(std::size_t bytes) noexcept {
    record_bytes_ += bytes;
    auto* const table_end = reinterpret_cast<length_type*>(place_.data() + place_.size());
    *(table_end - 1 - items_++) = static_cast<length_type>(record_bytes_);
  }

  /// Moves the table so that the block has no more than `block_bytes`, clears what lies before it,
  /// and returns the block.
  /// @pre used_bytes() <= block_bytes <= that of the place, a multiple of the table's alignment.
  std::span<std::byte> shrink(std::size_t block_bytes) const noexcept {
    std::size_t const table_bytes = items_ * sizeof(length_type);
    std::memmove(place_.data() + block_bytes - table_bytes,
                 place_.data() + place_.size() - table_bytes, table_bytes);
    std::fill(place_.data() + record_bytes_, place_.data() + block_bytes - table_bytes,
              std::byte{0});
    return place_.first(block_bytes);
  }

 private:
  std::span<std::byte> place_;
  std::size_t record_bytes_ = 0;
  std::size_t items_ = 0;
};

}  // namespace outsize::detail
