// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Checksums of what was written to a disk, by place: in memory, as what lies on the disk beside the
// bytes would be wrong together with them where an old block comes back.
//
// Invariant: pieces are disjoint. Every function may be called from any thread. Layer: block.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <outsize/base/detail/process_locks.hpp>
#include <outsize/base/memory_budget.hpp>

namespace outsize::block {

/// The checksum (XXH3, 64 bits) of bytes written to a block. CPU: O(bytes).
std::uint64_t checksum_of(std::span<std::byte const> written) noexcept;

/// Bytes that were written together, and their checksum.
struct checked_piece {
  std::uint64_t offset_bytes;
  std::size_t length_bytes;
  std::uint64_t checksum;
  friend bool operator==(checked_piece const&, checked_piece const&) = default;
};

/// The pieces of one disk.
///
/// CPU:     O(log pieces) for each piece.
/// Memory:  piece_bytes for each, from a budget, of which `reserve_bytes` at once; what is taken
///          besides is given back.
/// Checked: checksum_table_test.cpp.
class checksum_table {
 public:
  /// What a piece costs: a node of a map, as it comes from the heap.
  static constexpr std::size_t piece_bytes = 80;

  /// @throws budget_error.
  checksum_table(memory_budget& memory, std::uint64_t reserve_bytes);

  /// From now on these are what was written last; what was there is forgotten.
  /// @pre they are disjoint. @throws budget_error, std::bad_alloc; nothing is known of the places
  /// then.
  void set(std::span<checked_piece const> pieces);
  /// The pieces that lie in a range as a whole, by place.
  std::vector<checked_piece> within(std::uint64_t offset_bytes, std::uint64_t length_bytes) const;
  /// Forgets all pieces that touch a range.
  void forget(std::uint64_t offset_bytes, std::uint64_t length_bytes) noexcept;

  std::size_t size() const;

 private:
  struct content {
    std::size_t length_bytes;
    std::uint64_t checksum;
  };

  void reserve(std::uint64_t pieces);
  void erase(std::uint64_t offset_bytes, std::uint64_t length_bytes) noexcept;

  memory_budget& budget_;
  mutable outsize::detail::process_mutex mutex_;  // guards what follows
  grant reserved_;
  std::vector<grant> more_;                  // as it was needed
  std::map<std::uint64_t, content> pieces_;  // by their offsets
};

}  // namespace outsize::block
