// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How arenas are cut. Values and a function of values. Layer: bsp.

#include <cstdint>

namespace outsize::bsp::detail {

struct arena_shape {
  std::uint64_t context_bytes = 0;  ///< The most that one may use: whole pieces.
  std::uint64_t arena_bytes = 0;    ///< Addresses.
  std::uint32_t piece_bytes = 0;
  std::uint32_t grain_bytes = 0;

  std::uint32_t grains_per_piece() const noexcept { return piece_bytes / grain_bytes; }
};

/// Pieces of a 64th of the context, from 64 KiB to 2 MiB; longer ones where there would be more
/// than 16 384, as the mappings of a process are limited.
arena_shape shape_of(std::uint64_t context_bytes);

}  // namespace outsize::bsp::detail
