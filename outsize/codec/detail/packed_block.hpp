// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Blocks of records of varying length: the records from the front, a table of their ends from the
// back. A record that is the one before it once more has an end, and no bytes of its own:
//
//   records:   return 0, return 0, return 1
//   | return 0 | return 1 | room | 16, 24 | 8, 16 | 8, 8 |
//                                  place where it ends, bytes of all records so far; 32 bits each
//
// Invariant: both numbers ascend, the last place lies before the table, and no record begins in
// front of the block. One thread at a time fills a block. Layer: codec.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>

#include <outsize/base/detail/byte_words.hpp>
#include <outsize/base/units.hpp>

namespace outsize::detail {

using length_type = std::uint32_t;
/// The longest record: so that a block that holds it with its table has such a length, too.
inline constexpr std::size_t most_record_bytes = 2_GiB;

/// An entry of the table.
struct record_end {
  length_type place;        ///< Where the record ends.
  length_type total_bytes;  ///< Of all records up to this one, repeated ones too.
};

/// The bytes that `count` records, which take `stored_bytes` together, occupy in a packed block.
constexpr std::size_t packed_bytes(std::size_t stored_bytes, std::size_t count) {
  // And room to align the table.
  return stored_bytes + sizeof(record_end) * count + sizeof(length_type);
}

/// The table of a packed block, and what it says.
class packed_table {
 public:
  packed_table() = default;
  /// @pre the end of `block` is aligned for the table.
  explicit packed_table(std::span<std::byte const> block) noexcept
      : end_(reinterpret_cast<record_end const*>(block.data() + block.size())) {}
  explicit packed_table(void const* block_end) noexcept
      : end_(static_cast<record_end const*>(block_end)) {}

  record_end operator[](std::size_t i) const noexcept { return *(end_ - 1 - i); }
  /// Of records before number i.
  std::size_t bytes_before(std::size_t i) const noexcept {
    return i == 0 ? 0 : (*this)[i - 1].total_bytes;
  }
  std::size_t length(std::size_t i) const noexcept {
    return (*this)[i].total_bytes - bytes_before(i);
  }
  std::size_t begin(std::size_t i) const noexcept { return (*this)[i].place - length(i); }
  /// Whether record i, which is not the first, has no bytes of its own.
  bool is_repeated(std::size_t i) const noexcept {
    return (*this)[i].place == (*this)[i - 1].place && length(i) == length(i - 1);
  }

 private:
  record_end const* end_ = nullptr;
};

/// Whether what has been read can be a packed block of `count` records, none longer than
/// `longest_bytes`: then no record lies anywhere else. @pre the table fits into the block.
inline bool can_be_packed(std::span<std::byte const> block, std::size_t count,
                          std::size_t longest_bytes) noexcept {
  packed_table const table(block);
  record_end last{};
  bool good = true;
  for (std::size_t i = 0; i < count; ++i) {
    record_end const end = table[i];
    std::size_t const length = std::size_t{end.total_bytes} - last.total_bytes;
    good &= end.place >= last.place && end.total_bytes >= last.total_bytes;
    good &= length <= longest_bytes && length <= end.place;
    last = end;
  }
  return good && last.place <= block.size() - count * sizeof(record_end);
}

/// A packed block while it is filled.
class packed_block {
 public:
  packed_block() = default;
  /// @param place  Aligned, and of a length, as the table asks.
  explicit packed_block(std::span<std::byte> place) noexcept : place_(place) {}

  std::size_t place_bytes() const noexcept { return place_.size(); }
  std::size_t items() const noexcept { return items_; }
  /// Of all records, repeated ones too.
  std::size_t record_bytes() const noexcept { return last_end_.total_bytes; }
  std::size_t used_bytes() const noexcept { return packed_bytes(last_end_.place, items_); }
  bool fits(std::size_t more) const noexcept {
    return packed_bytes(last_end_.place + more, items_ + 1) <= place_.size();
  }

  /// Adds a record, if there is room. Of one at the same place of memory as the last one, there is
  /// only said that it is there again: that place holds what it did.
  bool append(std::string_view record) noexcept {
    bool const again = items_ > 0 && record.data() == last_.data() && record.size() == last_.size();
    std::size_t const stored = again ? 0 : record.size();
    if (!fits(stored) || record.size() > most_total_bytes - last_end_.total_bytes) return false;
    if (!again) copy_short(record, place_.data() + last_end_.place);
    last_ = record;
    last_end_.place += static_cast<length_type>(stored);
    last_end_.total_bytes += static_cast<length_type>(record.size());
    *(reinterpret_cast<record_end*>(place_.data() + place_.size()) - ++items_) = last_end_;
    return true;
  }

  /// Moves the table so that the block has no more than `block_bytes`, clears what lies before it,
  /// and returns the block.
  /// @pre used_bytes() <= block_bytes <= that of the place, a multiple of the table's alignment.
  std::span<std::byte> shrink(std::size_t block_bytes) const noexcept {
    std::size_t const table_bytes = items_ * sizeof(record_end);
    std::memmove(place_.data() + block_bytes - table_bytes,
                 place_.data() + place_.size() - table_bytes, table_bytes);
    std::fill(place_.data() + last_end_.place, place_.data() + block_bytes - table_bytes,
              std::byte{0});
    return place_.first(block_bytes);
  }

 private:
  static constexpr std::size_t most_total_bytes = std::numeric_limits<length_type>::max();

  std::span<std::byte> place_;
  std::size_t items_ = 0;
  record_end last_end_{};
  std::string_view last_;  // where it came from
};

}  // namespace outsize::detail
