// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How maps and sets that are trees divide their items into pages, and how many of these they keep
// in memory. All is chosen at run time. Layer: container.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include <outsize/block/placement.hpp>
#include <outsize/block/replacement.hpp>

namespace outsize {

/// How a tree keeps its items. Sizes of pages are those of a file's when one is opened.
struct map_options {
  /// What an access to an item reads or writes; rounded up to hold four items, and to a multiple of
  /// their alignment, in a file to 4 KiB at least. Scans read, and bulk construction writes, many
  /// leaves at once, so short ones do.
  std::size_t leaf_bytes = std::size_t{4} << 10;
  /// A node has about this many bytes of keys and of numbers of pages.
  std::size_t node_bytes = std::size_t{16} << 10;
  /// Of leaves in memory, at least 9, taken at once and kept. 0: up to an eighth of the storage's
  /// memory, as it is needed and others leave it.
  std::size_t leaf_cache_bytes = 0;
  /// Of nodes in memory, at least 8, likewise. 0: up to a 32nd, and 256 MiB.
  std::size_t node_cache_bytes = 0;
  std::size_t spare_leaves = 64;  ///< Buffers for changed leaves on their way to disk.
  /// Leaves of a batch of keys that are read at the same time; fewer in small caches.
  std::size_t batch_leaves = 256;
  /// How far scans read ahead, beside the cache, in memory that is taken at once and kept. 0: up to
  /// a 16th of the storage's memory, but no more than half of the leaf cache, nor than 32 MiB.
  std::size_t read_ahead_bytes = 0;
  /// Makes the policies that say which leaf, and which node, leaves for another.
  std::function<std::unique_ptr<block::replacement>()> replacement = block::make_lru_replacement;
  /// How pages are spread over the disks; by default as the storage's options say.
  std::optional<block::placement_options> placement = {};
};

}  // namespace outsize
