// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How a priority queue divides its memory: pure arithmetic.
//
//   | slab | slab | slab | slab |   items that were pushed: open, full, or being written
//   | window | window |             the next items, and the ones after them
//   | leftovers                |    items that were in a window once
//   | frame | frame | …         |   blocks of arrays on disk, read ahead
//   | write frame | …           |   blocks of a merge on their way to disk
//   | index |  scratch            |
//
// Layer: container. Source: Bingmann, Keh, Sanders: A bulk-parallel priority queue in external
// memory with STXXL, 2015, section 3.

#include <cstddef>
#include <cstdint>
#include <string>

namespace outsize::detail {

/// The input of plan_queue().
struct queue_needs {
  std::uint64_t memory_bytes = 0;
  std::size_t block_bytes = 0;  ///< 0: as long as the memory allows.
  std::size_t item_bytes = 1;
  std::size_t block_unit_bytes = 1;  ///< Divides the lengths of blocks.
  std::size_t threads = 1;
  bool needs_scratch = false;  ///< Items are sorted out of place.
};

struct queue_plan {
  std::uint64_t memory_bytes = 0;
  std::size_t block_bytes = 0;
  std::size_t slab_bytes = 0;  ///< A multiple of block_bytes.
  std::size_t slabs = 0;
  std::size_t sorters = 0;        ///< Threads that sort out of place at once,
  std::size_t segment_bytes = 0;  ///< each so much.
  std::size_t window_items = 0;   ///< The most.
  std::size_t leftover_items = 0;
  std::size_t near_items = 0;  ///< In the heap, beside this memory.
  std::size_t frames = 0;
  std::size_t ahead = 0;  ///< Frames beyond one for each array.
  std::size_t write_frames = 0;
  std::size_t most_arrays = 0;
  std::uint64_t index_bytes = 0;

  std::size_t slab_items(std::size_t item_bytes) const noexcept { return slab_bytes / item_bytes; }
};

/// Blocks that fit into the least memory, at least.
inline constexpr std::uint64_t least_queue_blocks = 64;

/// The least memory for a queue of such items.
std::uint64_t least_queue_bytes(queue_needs needs) noexcept;

/// @throws budget_error, with the need, if there is less memory than least_queue_bytes().
queue_plan plan_queue(queue_needs const& needs, std::string const& asker);

}  // namespace outsize::detail
