// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Merging of two sorted spans of keys without branches that depend on them. Layer: numeric.

#include <cstdint>
#include <span>

namespace outsize::numeric {

/// Merges `a` and `b` into `to`, which has room for both and overlaps neither.
/// CPU:     one comparison for each key; spans of one length are merged from both ends at once, so
///          that the processor works on two keys at a time.
void merge_halves(std::span<std::uint64_t const> a, std::span<std::uint64_t const> b,
                  std::span<std::uint64_t> to) noexcept;

}  // namespace outsize::numeric
