// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sequences walked along together, from one piece of memory to the next: the loop of all algorithms
// that go over pages.
//
//   a:  | · · · · | · · · · | ·          cursors.hpp: pages, or what other iterators yield
//   b:      | · · · · · · · · | · · ·
//       └ 1 ┘ └2┘ └ 3 ┘ …                pieces: pointers and a count
//
// By one thread a piece is visited as soon as it is there. In parallel some pieces, of as many
// pages as the caches let stay, are a batch: it is cut into a slice for each thread of the storage,
// while the pages behind it are read and those before it written. Slices of a batch are in order,
// so that what they yield can be put together in order too.
//
// Invariant: the pieces of a batch are valid until the next one begins. The caller's thread alone
// moves cursors. Layer: container.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/container/scan/cursors.hpp>
#include <outsize/container/scan/policy.hpp>

namespace outsize::detail {

template <typename I>
std::uint64_t count_between(I const& first, I const& last) {
  OUTSIZE_ASSERT(first <= last);
  return static_cast<std::uint64_t>(last - first);
}

/// Items that are visited at once: `count` from the `index`-th of the sequence on. In each batch
/// slots go up with indices, and one slot is visited by one thread.
struct slice {
  std::size_t slot;
  std::uint64_t index;
  std::size_t count;
};

/// The threads of the first cursor that is in pages.
template <typename Cursor, typename... Cursors>
executor& team_of(Cursor const& cursor, Cursors const&... others) {
  executor* const team = cursor.team();
  if constexpr (sizeof...(others) > 0) {
    if (team == nullptr) return team_of(others...);
  }
  OUTSIZE_ASSERT(team != nullptr);
  return *team;
}

/// Slots that slices of a walk may have.
template <typename... Cursors>
std::size_t slots_of(sequential_policy, Cursors const&...) {
  return 1;
}
template <typename... Cursors>
std::size_t slots_of(parallel_policy, Cursors const&... cursors) {
  return team_of(cursors...).threads();
}

/// Walks along `count` items of all cursors: calls `visit(slice, place of each cursor…)` for each
/// piece, and after each batch `after()`, until that says false.
template <typename Visit, typename After, typename... Cursors>
void walk(sequential_policy, std::uint64_t count, Visit&& visit, After&& after,
          Cursors&... cursors) {
  for (std::uint64_t done = 0; done < count;) {
    (cursors.begin_batch(), ...);
    auto const n = static_cast<std::size_t>(
        std::min({count - done, static_cast<std::uint64_t>(cursors.rest())...}));
    visit(slice{0, done, n}, cursors.at()...);
    (cursors.skip(n), ...);
    done += n;
    if (!after()) return;
  }
}

template <typename Visit, typename After, typename... Cursors>
void walk(parallel_policy, std::uint64_t count, Visit&& visit, After&& after, Cursors&... cursors) {
  executor& team = team_of(cursors...);
  struct piece {
    std::uint64_t begin, end;
    std::tuple<decltype(cursors.at())...> places;
  };
  std::vector<piece> batch;
  for (std::uint64_t begin = 0, end = 0; begin < count; begin = end) {
    batch.clear();
    (cursors.begin_batch(), ...);
    while (end < count && (cursors.goes_on() && ...)) {
      auto const n = std::min({count - end, static_cast<std::uint64_t>(cursors.rest())...});
      batch.push_back({end, end + n, {cursors.at()...}});
      (cursors.skip(static_cast<std::size_t>(n)), ...);
      end += n;
    }
    auto const slots =
        static_cast<std::size_t>(std::min<std::uint64_t>(team.threads(), end - begin));
    team.parallel_for(slots, [&](std::size_t slot) {
      std::uint64_t const from = begin + (end - begin) * slot / slots;
      std::uint64_t const to = begin + (end - begin) * (slot + 1) / slots;
      for (piece const& p : batch) {
        std::uint64_t const first = std::max(from, p.begin), last = std::min(to, p.end);
        if (first >= last) continue;
        auto const offset = static_cast<std::ptrdiff_t>(first - p.begin);
        std::apply(
            [&](auto const&... places) {
              visit(slice{slot, first, static_cast<std::size_t>(last - first)},
                    (places + offset)...);
            },
            p.places);
      }
    });
    if (!after()) return;
  }
}

/// The same to the end.
template <typename Policy, typename Visit, typename... Cursors>
void walk_all(Policy policy, std::uint64_t count, Visit&& visit, Cursors&... cursors) {
  walk(
      policy, count, visit, [] { return true; }, cursors...);
}

}  // namespace outsize::detail
