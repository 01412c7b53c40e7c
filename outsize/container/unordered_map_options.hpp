// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How an unordered_map divides its items into pages, and how much of it is in memory. All is chosen
// at run time. Layer: container.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include <outsize/block/placement.hpp>
#include <outsize/block/replacement.hpp>

namespace outsize {

/// How an unordered_map keeps its items. By default it has up to five eighths of the storage's
/// memory, and 2.5 GiB, as it is needed and others leave it, and a sixteenth for oblivious
/// operations, as long as some wait. What is named is taken at once and kept.
struct unordered_map_options {
  /// What a lookup reads; rounded up to hold an item and to the disks' alignment, in a file to
  /// 4 KiB at least. A map in a file has the pages that it was made with.
  std::size_t page_bytes = std::size_t{8} << 10;
  /// Pages in memory, at least 8; a quarter as many of those for overflow, which are a quarter as
  /// long. 0: half of the storage's memory, 2 GiB at most.
  std::size_t cache_pages = 0;
  /// Buffers for changed pages on their way to disk, besides; but no more than a quarter of the
  /// pages in memory. As pages are short, many must be under way to use what a disk can do.
  std::size_t spare_pages = 64;
  /// Items for each place in the pages of the buckets, up to 1: less, and lookups need the overflow
  /// less often; more, and the map is shorter.
  double load = 0.7;
  /// Memory for oblivious operations that wait. 0: a sixteenth of the storage's, 64 MiB at most.
  std::size_t pending_bytes = 0;
  /// Makes the policy that says which page leaves for another.
  std::function<std::unique_ptr<block::replacement>()> replacement = block::make_lru_replacement;
  /// How pages are spread over the disks; by default as the storage's options say.
  std::optional<block::placement_options> placement = {};
};

}  // namespace outsize
