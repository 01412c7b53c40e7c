// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Keys as peers want them that compare bytes.

#pragma once

#include <cstdint>

/// The word whose bytes come in the order in which numbers are compared; its own inverse. The
/// peers' machines are little-endian.
inline std::uint64_t big_endian(std::uint64_t x) { return __builtin_bswap64(x); }
