// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What several threads visit of sequences at once: some pieces of memory, of as many pages as the
// caches let stay, cut into a slice for each thread of the storage.
//
//   a:  | · · · · | · · · · | ·          cursors.hpp: pages, or what other iterators yield
//   b:      | · · · · · · · · | · · ·
//       └ 1 ┘ └2┘ └ 3 ┘                  pieces: pointers and a count
//       └ slot 0 ┘└ 1  ┘                 slices: pieces, or parts of them
//
// The pages behind a batch are read and those before it written while it is visited. Slots are in
// order, so that what they yield can be put together in order too.
//
// Invariant: the pieces of a batch are valid until the next one begins. The caller's thread alone
// goes on to it. Layer: scan.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/container/detail/array/paged_items.hpp>

namespace outsize::detail {

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

/// Pieces of all cursors that are in memory at the same time, cut into a slice for each thread.
template <typename... Cursors>
class batch {
  static_assert((std::random_access_iterator<decltype(std::declval<Cursors&>().at())> && ...),
                "in parallel, outputs are given by iterators of random access");
  static_assert(
      (!touches_pages<decltype(std::declval<Cursors&>().at())> && ...),
      "in parallel, what is not a vector's or deque's own iterator must be a constant one");

 public:
  explicit batch(Cursors&... cursors) : team_(team_of(cursors...)), cursors_(cursors...) {}

  /// Goes on to the next one, which ends before index `most`. @pre it begins before that.
  void next(std::uint64_t most) {
    pieces_.clear();
    begin_ = end_;
    std::apply([&](auto&... cursors) { collect(most, cursors...); }, cursors_);
  }
  /// The index behind its last items.
  std::uint64_t end() const noexcept { return end_; }
  /// Those that slices have: 0 up to there.
  std::size_t slots() const noexcept {
    return static_cast<std::size_t>(std::min<std::uint64_t>(team_.threads(), end_ - begin_));
  }

  /// Calls `visit(slice, place of each cursor…)` for all slices, by all threads.
  template <typename Visit>
  void visit(Visit const& visit) const {
    team_.parallel_for(slots(), [&](std::size_t slot) { visit_slot(slot, visit); });
  }
  /// The same for those of one slot, in order, by the caller.
  template <typename Visit>
  void visit_slot(std::size_t slot, Visit const& visit) const {
    std::uint64_t const from = begin_ + (end_ - begin_) * slot / slots();
    std::uint64_t const to = begin_ + (end_ - begin_) * (slot + 1) / slots();
    for (piece const& p : pieces_) {
      std::uint64_t const first = std::max(from, p.begin), last = std::min(to, p.end);
      if (first >= last) continue;
      auto const offset = static_cast<std::ptrdiff_t>(first - p.begin);
      std::apply(
          [&](auto const&... places) {
            visit(slice{slot, first, static_cast<std::size_t>(last - first)}, (places + offset)...);
          },
          p.places);
    }
  }
  /// The same of `visit(slice, before, place of each cursor…)`, where `before` is the item of the
  /// first cursor in front of the slot, or of the first slot what was `carried` to here. A visit
  /// may change it for those of the same slot that follow.
  template <typename T, typename Visit>
  void visit_behind(T& carried, Visit const& visit) {
    // First, because visits may change the items.
    auto const before = std::make_unique<T[]>(slots() + 1);
    before[0] = carried;
    this->visit([&](slice part, auto at, auto const&...) {
      before[part.slot + 1] = at[static_cast<std::ptrdiff_t>(part.count - 1)];
    });
    carried = before[slots()];
    this->visit(
        [&](slice part, auto const&... places) { visit(part, before[part.slot], places...); });
  }

 private:
  struct piece {
    std::uint64_t begin, end;
    std::tuple<decltype(std::declval<Cursors&>().at())...> places;
  };

  void collect(std::uint64_t most, Cursors&... cursors) {
    (cursors.begin_batch(), ...);
    while (end_ < most && (cursors.goes_on() && ...)) {
      auto const n = std::min({most - end_, static_cast<std::uint64_t>(cursors.rest())...});
      pieces_.push_back({end_, end_ + n, {cursors.at()...}});
      (cursors.skip(static_cast<std::size_t>(n)), ...);
      end_ += n;
    }
  }

  executor& team_;
  std::tuple<Cursors&...> cursors_;
  std::vector<piece> pieces_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace outsize::detail
