// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A file whose items are in order already, or in the opposite order, or nearly so, is put in order
// on its way to the output: each byte is read once and written once.
//
//   sample the input ──nearly in order?──► read ─► sort each buffer that is not ─► join ─► write
//          │ no                                                                     │
//          ▼                                                          too far away  │  join with
//        sort ◄────── too many, after all ◄────── kept in memory ◄──────────────────┘  the buffer
//                                                       │                              before
//                                                       ▼
//                                                merge into the output, from its end
//
// Join: two buffers are held back until the next one is there, so that items may be a buffer away
// from their places, and most of them two. Those that are farther away are outliers. The sample of
// 64 places says how many there may be, and refuses nearly every input that has too many; what is
// done in vain costs time, but is never wrong, as the output has no name yet.
//
// From the end of the input, everything is the same for items in the opposite order. One thread at
// a time. Layer: algorithm.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <outsize/algorithm/detail/sort/presorted/passing_order.hpp>
#include <outsize/algorithm/sort_options.hpp>
#include <outsize/block/storage.hpp>

namespace outsize::detail {

/// Copies `input` to `output` in order, if its items are nearly in order or in the opposite one.
///
/// @param bytes  The size of `input`, a multiple of the item's.
/// @return What was done; nothing if this is no case for a copy, and then nothing remains of it.
///
/// I/Os:    64 pieces of 64 KiB, or of the shortest stretch of whole items and pages if that is
///          longer, to find out; then `bytes` read and written once, and once more from the place
///          of the first outlier on.
/// Memory:  56 MiB or a quarter of options.memory_bytes, whichever is less, a fifth more to join,
///          and half of options.memory_bytes for outliers, of which only what they take is touched.
/// @throws io_error, out_of_space, budget_error, cancelled, as a sort.
std::optional<sort_report> copy_if_in_order(storage& store, item_operations const& operations,
                                            std::string const& input, std::string const& output,
                                            std::uint64_t bytes, sort_options const& options);

}  // namespace outsize::detail
