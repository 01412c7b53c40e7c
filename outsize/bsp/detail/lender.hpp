// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Long messages that are read where they lie on disk: in blocks of their sender's context.
//
//   sender     writes the changed grains of the range to its context's blocks, where they would go
//              anyway when its memory is needed; goes on at once
//   receiver   reads stretches of these blocks
//
// So bytes that are on disk already are sent without a write, and no bytes are written twice. The
// blocks are not changed while messages read them (processor_context.hpp), so nobody waits for
// readers. Each call by the processor whose memory it is, which runs. Layer: bsp.
// Source: Nikseresht, Hutchinson, Maheshwari: PEMS, 2007, section 3 (direct delivery), which writes
// into the receiver's context instead.

#include <cstdint>
#include <span>
#include <vector>

#include <outsize/block/storage.hpp>
#include <outsize/bsp/detail/message_store.hpp>
#include <outsize/bsp/detail/processor_context.hpp>

namespace outsize::bsp::detail {

/// Bytes of an arena.
struct arena_stretch {
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
};

class lender {
 public:
  explicit lender(storage& store) : store_(store) {}

  /// Brings ranges to disk; returns the bytes written. I/Os: a write for each run of grains that
  /// have changed; waits for all. @throws io_error, out_of_space: these grains still count as
  /// changed.
  std::uint64_t save(context& of, std::span<arena_stretch const> ranges);
  /// Returns true if a range lies on disk as it is in memory. CPU: a checksum of it.
  static bool is_saved(context const& of, arena_stretch range);
  /// Where a range that is saved lies. @pre its processor has not run since.
  static std::vector<lent_stretch> stretches(context const& of, arena_stretch range);

 private:
  storage& store_;
};

}  // namespace outsize::bsp::detail
