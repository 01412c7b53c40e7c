// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sequences walked along together, from one piece of memory to the next: the loop of all algorithms
// that go over pages.
//
// By one thread a piece is visited as soon as it is there; in parallel some are a batch
// (batch.hpp).
//
// Invariant: what a visit is shown is valid until it returns. The caller's thread alone moves
// cursors. Layer: scan.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/scan/detail/batch.hpp>
#include <outsize/scan/detail/cursors.hpp>
#include <outsize/scan/policy.hpp>

namespace outsize::detail {

template <typename I>
std::uint64_t count_between(I const& first, I const& last) {
  OUTSIZE_ASSERT(first <= last);
  return static_cast<std::uint64_t>(last - first);
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
  batch<Cursors...> pieces(cursors...);
  while (pieces.end() < count) {
    pieces.next(count);
    pieces.visit(visit);
    if (!after()) return;
  }
}

/// The same to the end.
template <typename Policy, typename Visit, typename... Cursors>
void walk_all(Policy policy, std::uint64_t count, Visit&& visit, Cursors&... cursors) {
  walk(
      policy, count, visit, [] { return true; }, cursors...);
}

/// The same, and visits get the item of the first cursor in front of their slice, in front of all
/// items `before`: `visit(slice, before, place of each cursor…)` leaves its last item there.
template <typename T, typename Visit, typename After, typename... Cursors>
void walk_behind(sequential_policy policy, std::uint64_t count, T before, Visit&& visit,
                 After&& after, Cursors&... cursors) {
  auto const visit_behind = [&](slice part, auto const&... places) {
    visit(part, before, places...);
  };
  walk(policy, count, visit_behind, after, cursors...);
}
template <typename T, typename Visit, typename After, typename... Cursors>
void walk_behind(parallel_policy, std::uint64_t count, T before, Visit&& visit, After&& after,
                 Cursors&... cursors) {
  batch<Cursors...> pieces(cursors...);
  while (pieces.end() < count) {
    pieces.next(count);
    pieces.visit_behind(before, visit);
    if (!after()) return;
  }
}

/// Calls `take(index, item, answer)` for all items in order, by the caller's thread, where the
/// answer is `ask(before, item)`; in parallel all threads ask. `before` is as for visits.
template <typename T, typename Ask, typename Take, typename Cursor>
void walk_asked(sequential_policy policy, std::uint64_t count, T before, Ask&& ask, Take&& take,
                Cursor& cursor) {
  auto const visit = [&](slice part, auto at) {
    for (std::size_t i = 0; i < part.count; ++i, ++at) take(part.index + i, *at, ask(before, *at));
  };
  walk_all(policy, count, visit, cursor);
}
template <typename T, typename Ask, typename Take, typename Cursor>
void walk_asked(parallel_policy policy, std::uint64_t count, T before, Ask&& ask, Take&& take,
                Cursor& cursor) {
  std::vector<std::vector<bool>> answers(slots_of(policy, cursor));
  batch<Cursor> pieces(cursor);
  while (pieces.end() < count) {
    pieces.next(count);
    for (auto& of_slot : answers) of_slot.clear();
    pieces.visit_behind(before, [&](slice part, T& in_front, auto at) {
      auto& mine = answers[part.slot];
      T last = in_front;
      for (std::size_t i = 0; i < part.count; ++i, ++at) mine.push_back(ask(last, *at));
      in_front = last;
    });
    for (std::size_t slot = 0; slot < pieces.slots(); ++slot) {
      auto answer = answers[slot].cbegin();
      pieces.visit_slot(slot, [&](slice part, auto at) {
        for (std::size_t i = 0; i < part.count; ++i, ++at) take(part.index + i, *at, *answer++);
      });
    }
  }
}

/// Calls `body(begin, end, part)` for parts of [0, count), one for each thread.
template <typename Body>
void in_parts(sequential_policy, executor&, std::size_t count, Body const& body) {
  body(std::size_t{0}, count, std::size_t{0});
}
template <typename Body>
void in_parts(parallel_policy, executor& team, std::size_t count, Body const& body) {
  std::size_t const parts = std::min(team.threads(), count);
  team.parallel_for(parts, [&](std::size_t part) {
    body(count * part / parts, count * (part + 1) / parts, part);
  });
}

}  // namespace outsize::detail
