// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A file whose items are in order already, or in exactly the opposite order, is copied: each byte
// is read once and written once.
//
//   sample the input ──in order?──► read ─► check each buffer, reverse it if need be ─► write
//          │ no                                   │ not in order after all
//          ▼                                      ▼
//        sort                                   sort, from the beginning
//
// A sample of 64 places refuses at the first one nearly every input that is not in order; what is
// copied in vain costs time, but is never wrong, as the output has no name yet. One thread at a
// time. Layer: algorithm.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include <outsize/algorithm/sort/sort_options.hpp>
#include <outsize/block/storage.hpp>

namespace outsize::detail {

/// What must be known about items that lie side by side, as the user gave them.
struct item_checks {
  std::size_t item_bytes;
  /// Whether sorting these items would leave them as they are; or, for `descending`, whether it
  /// would turn them round exactly.
  std::function<bool(std::span<std::byte const> items, bool descending)> in_order;
  /// Copies the items in the opposite order.
  std::function<void(std::span<std::byte const> from, std::byte* to)> reverse;
};

/// Copies `input` to `output`, if its items are in order or can be turned round.
///
/// @param bytes  The size of `input`, a multiple of the item's.
/// @return What was done; nothing if this is no case for a copy, and then nothing remains of it.
///
/// I/Os:    4 MiB or less to find out; then `bytes` read and written once.
/// Memory:  32 MiB or an eighth of options.memory_bytes, whichever is less.
/// @throws io_error, out_of_space, cancelled, as a sort.
std::optional<sort_report> copy_if_in_order(storage& store, item_checks const& checks,
                                            std::string const& input, std::string const& output,
                                            std::uint64_t bytes, sort_options const& options);

}  // namespace outsize::detail
