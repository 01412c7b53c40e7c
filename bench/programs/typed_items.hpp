// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The items of the benchmarks sort-pair and sort-lambda, as `outsize gen` makes them, and their
// orders; the peers sort the same.

#include <cstdint>

namespace typed {

struct pair {
  std::uint64_t key;
  std::uint64_t payload;
};

struct triple {
  std::uint64_t id;
  std::uint32_t group;
  std::uint32_t rank;
};

/// Groups upwards or, as the run time says, downwards; in them ranks downwards; then ids upwards.
inline auto by_group(bool upwards) {
  return [upwards](triple const& a, triple const& b) {
    if (a.group != b.group) return (a.group < b.group) == upwards;
    if (a.rank != b.rank) return a.rank > b.rank;
    return a.id < b.id;
  };
}

}  // namespace typed
