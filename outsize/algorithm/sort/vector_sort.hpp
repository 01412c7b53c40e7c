// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// In-memory sorting of unsigned keys with the vector instructions of the machine (Highway), one
// thread.
//
// The instruction set is chosen at run time. Not stable, which does not show: equal keys are equal
// bytes. Layer: algorithm. Source: Wassenberg et al.: Vectorized and performance-portable
// Quicksort, 2022.

#include <cstdint>
#include <span>

namespace outsize::detail {

/// A key and where its record is: sorted by prefix, then by place.
struct prefix_entry {
  std::uint64_t place;
  std::uint64_t prefix;
};

void vector_sort(std::span<std::uint32_t> keys);
void vector_sort(std::span<std::uint64_t> keys);
void vector_sort(std::span<prefix_entry> entries);

}  // namespace outsize::detail
