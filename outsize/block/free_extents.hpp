// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The free space of one disk's file: extents by offset, neighbours joined, lowest place first.
//
// Invariant: extents are disjoint, not empty, and no two touch. Not thread-safe: its owner locks.
// Layer: block.

#include <cstdint>
#include <map>
#include <optional>

namespace outsize::block {

/// A set of disjoint ranges of bytes; empty at first.
class free_extents {
 public:
  /// Takes the lowest `length_bytes` (> 0) that lie together and do not begin before
  /// `least_offset_bytes`; nothing if there are none. Needs memory only if it splits an extent in
  /// two. @throws std::bad_alloc; all is as before then.
  std::optional<std::uint64_t> take(std::uint64_t length_bytes,
                                    std::uint64_t least_offset_bytes = 0);
  /// Gives a range back. @pre no byte of it is free already. @throws std::bad_alloc, if it touches
  /// no free one; all is as before then.
  void give(std::uint64_t offset_bytes, std::uint64_t length_bytes);

  std::uint64_t total_bytes() const noexcept { return total_bytes_; }
  std::size_t extent_count() const noexcept { return extents_.size(); }

 private:
  std::map<std::uint64_t, std::uint64_t> extents_;  // offset → length
  std::uint64_t total_bytes_ = 0;
};

}  // namespace outsize::block
