// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sorting numbers where they lie in memory, by all threads.
//
// Items are split in two around a pivot, then each half again, until there is a stretch for each
// thread, which sorts it by vector_sort. All threads split at once, each a piece of its own; what
// is on the wrong side of the border then changes places:
//
//   pieces:     | less | not less ||| less | not less ||| less | not less |
//   border:                      ^         <--------->    <---->  exchanged
//
// Nothing is allocated but for bookkeeping, and no memory is used that has not been before. Not
// stable, which does not show: equal items are equal bytes. Layer: kernel. Source: Tsigas,
// Zhang: A simple, fast parallel implementation of Quicksort, PDP 2003 (pieces instead of blocks).

#include <cstdint>
#include <span>

#include <outsize/base/executor.hpp>
#include <outsize/kernel/detail/ordered_bits.hpp>
#include <outsize/kernel/detail/vector_sort.hpp>

namespace outsize::detail {

/// Sorts values whose bits are given, in the order that `bits` tells. Not inlined anywhere, as the
/// items may have another type for the caller.
void parallel_sort(std::span<std::uint32_t> values, ordered_bits bits, executor& threads);
void parallel_sort(std::span<std::uint64_t> values, ordered_bits bits, executor& threads);
void parallel_sort(std::span<word_pair> items, ordered_words const& words, executor& threads);

}  // namespace outsize::detail
