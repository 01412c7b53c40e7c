// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The kinds of items that the suite on sorts is run on: for each kernel of sorting and merging one
// that comes to it, with its input, what must come out by std::stable_sort, and the sort.
//
// Kinds are made once and never change. Layer: tests.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <outsize/algorithm/sort_options.hpp>
#include <outsize/block/storage.hpp>

namespace outsize::conformance {

/// What becomes of items that compare equal.
enum class way : std::uint8_t { plain, stable, unique, combining };

/// One sort: of the bytes `input`, in a folder of its own.
struct job {
  storage& store;
  std::string const& folder;
  std::string const& input;
  way how;
  sort_options options;
};

struct outcome {
  std::string bytes;
  sort_report report;
};

/// A kind of item: the bytes of its input, those that must come out, and the sort.
struct kind {
  char const* name;
  std::string input;
  std::function<std::string(std::string const& input, way how)> expect;
  std::function<outcome(job const&)> sort;
  /// Too little for all items; with four times as much nothing spills.
  std::uint64_t memory_bytes;
  std::size_t least_block_bytes = 512;  ///< The shortest of which the memory can hold the index.
  bool combines = true;                 ///< Whether there is a sort that combines such items.
  std::size_t case_stride = 1;          ///< Of so many cases one is tried, where sorts take long.
};

/// Adds numbers, which come from ranges: their sorts do with little memory.
void add_number_kinds(std::vector<kind>& kinds);

/// Adds items of several fields, which do too.
void add_item_kinds(std::vector<kind>& kinds);

/// Adds records, lines and byte strings, most of which come from files.
void add_text_kinds(std::vector<kind>& kinds);

}  // namespace outsize::conformance
