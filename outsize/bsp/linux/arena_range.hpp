// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Addresses of one arena: reserved for as long as it lives, with memory behind them only where and
// while it is wanted.
//
//   | open, with memory | open, none yet | open, with memory |  reserved: an access is a fault |
//   0                                                        open_bytes                    bytes
//
// The kernel chooses the place, so that sanitizers' own ranges stay free. Memory arrives filled
// with zeros, all pages at once: a read of the disk into absent pages would fault page by page.
// Invariant: memory is behind no other addresses than those populated and not dropped since, and
// those that their owner touches. One thread at a time opens and closes; disjoint parts may be
// populated and dropped by several. Layer: bsp.

#include <cstddef>
#include <cstdint>

namespace outsize::bsp::detail {

class arena_range {
 public:
  /// Reserves `bytes` addresses, aligned to 2 MiB.
  /// @param huge_pages  Whether the system should use huge pages: parts are then populated and
  ///                    dropped in multiples of 2 MiB.
  /// @throws std::bad_alloc.
  arena_range(std::uint64_t bytes, bool huge_pages);
  arena_range(arena_range const&) = delete;
  arena_range& operator=(arena_range const&) = delete;
  ~arena_range();

  std::byte* data() const noexcept { return data_; }
  std::uint64_t size() const noexcept { return bytes_; }

  /// Makes the first `bytes` accessible, and no more of it inaccessible. @throws std::bad_alloc.
  void open(std::uint64_t bytes);
  /// Makes all of it inaccessible; memory stays where it is.
  void close() noexcept;
  /// Puts memory behind open addresses, filled with zeros where there was none.
  /// @throws std::bad_alloc.
  void populate(std::uint64_t offset_bytes, std::uint64_t bytes);
  /// Gives memory back to the system; the contents are lost.
  void drop(std::uint64_t offset_bytes, std::uint64_t bytes) noexcept;

 private:
  std::byte* reserved_ = nullptr;
  std::uint64_t reserved_bytes_;
  std::byte* data_ = nullptr;
  std::uint64_t bytes_;
  std::uint64_t open_bytes_ = 0;
};

}  // namespace outsize::bsp::detail
