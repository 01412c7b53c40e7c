// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A tournament tree that merges sorted sequences: each item costs one comparison per level.
//
// Inner nodes hold the loser of the match below them with what decides most matches: the key, or
// its leading word where the order has one. So replaying the winner's path touches no item, and
// nodes of two words are exchanged without a jump. Ties go to the sequence with the lower index,
// which makes the merge stable. There are no sentinels: a sequence that ends is taken out and the
// tree rebuilt (k times at most in a merge). Not thread-safe. Layer: kernel. Source: Knuth, The
// Art of Computer Programming 3, section 5.4.1; STXXL 2008, section 6.1.2.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>

namespace outsize::detail {

/// Orders of keys that differ most often in one word: leading(a) < leading(b) implies that a comes
/// before b; equal words decide nothing.
template <typename Less, typename Key>
concept has_leading_word = requires(Less const& less, Key const& key) {
  { less.leading(key) } -> std::same_as<std::uint64_t>;
};

/// `Cursor`: `get()` yields the current key (a small value), `next()` advances and says whether
/// there is one. `Less`: a strict weak order on keys.
template <typename Cursor, typename Less>
class loser_tree {
  using key_type = decltype(std::declval<Cursor const&>().get());
  static constexpr bool by_word = has_leading_word<Less, key_type>;

 public:
  /// @param cursors  Sequences that are not empty, in the order in which ties are decided.
  loser_tree(std::vector<Cursor> cursors, Less const& less)
      : cursors_(std::move(cursors)), less_(less) {
    if constexpr (by_word)
      for (Cursor const& c : cursors_) keys_.push_back(c.get());
    rebuild();
  }

  bool empty() const noexcept { return cursors_.empty(); }
  /// The least current key. @pre !empty().
  key_type const& top() const noexcept {
    if constexpr (by_word) {
      return keys_[winner_.source];
    } else {
      return winner_.rank;
    }
  }

  /// Advances the sequence that top() came from.
  void pop() {
    Cursor& cursor = cursors_[winner_.source];
    if (!cursor.next()) {
      auto const place = static_cast<std::ptrdiff_t>(winner_.source);
      cursors_.erase(cursors_.begin() + place);
      if constexpr (by_word) keys_.erase(keys_.begin() + place);
      rebuild();
      return;
    }
    if constexpr (by_word) keys_[winner_.source] = cursor.get();
    node challenger = leaf(winner_.source);
    for (std::size_t i = (challenger.source + cursors_.size()) / 2; i > 0; i /= 2)
      play(losers_[i], challenger);
    winner_ = challenger;
  }

 private:
  struct node {
    std::conditional_t<by_word, std::uint64_t, key_type> rank;
    std::size_t source;
  };

  node leaf(std::size_t source) const {
    if constexpr (by_word) {
      return {less_.leading(keys_[source]), source};
    } else {
      return {cursors_[source].get(), source};
    }
  }

  /// Whether a's item comes before b's: by key, then by sequence.
  bool before(node const& a, node const& b) const {
    if constexpr (by_word) {
      if (a.rank != b.rank) [[likely]]
        return a.rank < b.rank;
      return before(keys_[a.source], a.source, keys_[b.source], b.source);
    } else {
      return before(a.rank, a.source, b.rank, b.source);
    }
  }
  bool before(key_type const& a, std::size_t of_a, key_type const& b, std::size_t of_b) const {
    return of_a < of_b ? !less_(b, a) : less_(a, b);
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
    std::vector<node> winners(2 * k, leaf(0));
    losers_.assign(k, winners[0]);
    for (std::size_t s = 0; s < k; ++s) winners[k + s] = leaf(s);
    for (std::size_t i = k; i-- > 1;) {
      bool const left = before(winners[2 * i], winners[2 * i + 1]);
      winners[i] = left ? winners[2 * i] : winners[2 * i + 1];
      losers_[i] = left ? winners[2 * i + 1] : winners[2 * i];
    }
    winner_ = winners[1];
  }

  std::vector<Cursor> cursors_;
  Less const& less_;
  std::vector<key_type> keys_;  // the current ones, where nodes have their leading words only
  std::vector<node> losers_;
  node winner_{};
};

}  // namespace outsize::detail
