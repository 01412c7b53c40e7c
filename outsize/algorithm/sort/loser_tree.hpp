// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A tournament tree that merges sorted sequences: each item costs one comparison per level.
//
// Inner nodes hold the loser of the match below them with its key, so that replaying the winner's
// path touches no item. Ties go to the sequence with the lower index, which makes the merge stable.
// There are no sentinels: a sequence that ends is taken out and the tree rebuilt (k times at most
// in a merge). Not thread-safe. Layer: algorithm. Source: Knuth, The Art of Computer Programming 3,
// section 5.4.1; STXXL 2008, section 6.1.2.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>

namespace outsize::detail {

/// `Cursor`: `get()` yields the current key (a small value), `next()` advances and says whether
/// there is one. `Less`: a strict weak order on keys.
template <typename Cursor, typename Less>
class loser_tree {
  using key_type = decltype(std::declval<Cursor const&>().get());

 public:
  /// @param cursors  Sequences that are not empty, in the order in which ties are decided.
  loser_tree(std::vector<Cursor> cursors, Less const& less)
      : cursors_(std::move(cursors)), less_(less) {
    rebuild();
  }

  bool empty() const noexcept { return cursors_.empty(); }
  /// The least current key. @pre !empty().
  key_type const& top() const noexcept { return winner_.key; }
  std::size_t source_count() const noexcept { return cursors_.size(); }

  /// Advances the sequence that top() came from.
  void pop() {
    Cursor& cursor = cursors_[winner_.source];
    if (!cursor.next()) {
      cursors_.erase(cursors_.begin() + static_cast<std::ptrdiff_t>(winner_.source));
      rebuild();
      return;
    }
    node challenger{cursor.get(), winner_.source};
    for (std::size_t i = (challenger.source + cursors_.size()) / 2; i > 0; i /= 2)
      play(losers_[i], challenger);
    winner_ = challenger;
  }

 private:
  struct node {
    key_type key;
    std::size_t source;
  };

  /// Whether a's item comes before b's: by key, then by sequence.
  bool before(node const& a, node const& b) const {
    return a.source < b.source ? !less_(b.key, a.key) : less_(a.key, b.key);
  }

  /// Leaves the loser in `held`, the winner in `challenger`; selects rather than jumps, since the
  /// outcome of a match on random keys cannot be predicted.
  void play(node& held, node& challenger) const {
    bool const held_wins = before(held, challenger);
    node const winner = held_wins ? held : challenger;
    held = held_wins ? challenger : held;
    challenger = winner;
  }

  void rebuild() {
    std::size_t const k = cursors_.size();
    if (k == 0) return;
    // Leaf s sits at k + s; a node at i > 0 has its children at 2i and 2i + 1.
    std::vector<node> winners(2 * k, node{cursors_[0].get(), 0});
    losers_.assign(k, winners[0]);
    for (std::size_t s = 0; s < k; ++s) winners[k + s] = {cursors_[s].get(), s};
    for (std::size_t i = k; i-- > 1;) {
      bool const left = before(winners[2 * i], winners[2 * i + 1]);
      winners[i] = left ? winners[2 * i] : winners[2 * i + 1];
      losers_[i] = left ? winners[2 * i + 1] : winners[2 * i];
    }
    winner_ = winners[1];
  }

  std::vector<Cursor> cursors_;
  Less const& less_;
  std::vector<node> losers_;
  node winner_{};
};

}  // namespace outsize::detail
