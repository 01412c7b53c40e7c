// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A tournament tree of byte strings that compares offset-value codes instead of them.
//
// A node holds the loser of the match below it and its code against the winner of that match. So
// all codes on the path of the last winner are against this one, as is that of the record behind it
// in its sequence, and replaying the path compares words; records are looked at where these are
// equal only. A record that equals the last winner of its sequence wins at once, as none that comes
// before it is left; one at the same place of memory equals it. Ties go to the sequence with the
// lower index. A sequence that has ended stays, with a code greater than all. Not thread-safe.
// Layer: kernel. Source: offset_codes.hpp; loser_tree.hpp for the tree.

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/kernel/detail/offset_codes.hpp>

namespace outsize::detail {

/// `Cursor`: `get()` yields the current key, which has a record(); `next()` advances and says
/// whether there is one. What a key refers to is valid until the sequence is two records further.
template <typename Cursor>
class code_tree {
 public:
  using key_type = decltype(std::declval<Cursor const&>().get());

  /// @param cursors  Sequences that are not empty, in the order in which ties are decided.
  code_tree(std::vector<Cursor> cursors, offset_codes const& codes)
      : cursors_(std::move(cursors)), codes_(codes), left_(cursors_.size()) {
    for (Cursor const& c : cursors_) keys_.push_back(c.get());
    build();
  }

  bool empty() const noexcept { return left_ == 0; }
  /// The least current key. @pre !empty().
  key_type const& top() const noexcept { return keys_[winner_.source]; }

  /// Advances the sequence that top() came from.
  void pop() {
    std::size_t const source = winner_.source;
    node challenger{offset_codes::none, source};
    if (cursors_[source].next()) {
      std::string_view const last = keys_[source].record();
      keys_[source] = cursors_[source].get();
      std::string_view const next = keys_[source].record();
      if (next.data() == last.data() && next.size() == last.size()) return;
      challenger.code = codes_.against(last, next);
      if (challenger.code == offset_codes::same) return;
    } else {
      --left_;
    }
    for (std::size_t i = (source + cursors_.size()) / 2; i > 0; i /= 2)
      challenger = winner_of(losers_[i], challenger);
    winner_ = challenger;
  }

 private:
  struct node {
    offset_codes::code code;
    std::size_t source;
  };

  /// Leaves the loser in `held`; exchanges by bits rather than jumps where codes differ, since that
  /// outcome cannot be predicted. By value: a node that goes through memory by halves is a stall.
  node winner_of(node& held, node challenger) const {
    if (held.code == challenger.code) [[unlikely]]
      return winner_of_records(held, challenger);
    std::uint64_t const wins =
        std::uint64_t{0} - static_cast<std::uint64_t>(held.code < challenger.code);
    std::uint64_t const codes = (held.code ^ challenger.code) & wins;
    std::uint64_t const sources = (held.source ^ challenger.source) & wins;
    held = {held.code ^ codes, held.source ^ sources};
    return {challenger.code ^ codes, challenger.source ^ sources};
  }

  node winner_of_records(node& held, node challenger) const {
    if (held.code == offset_codes::none) return challenger;
    bool const held_is_first = held.source < challenger.source;
    node first = held_is_first ? held : challenger, second = held_is_first ? challenger : held;
    auto const [second_wins, code_of_loser] =
        codes_.compare(keys_[first.source].record(), keys_[second.source].record(), held.code);
    if (second_wins) std::swap(first, second);
    held = {code_of_loser, second.source};
    return first;
  }

  void build() {
    std::size_t const k = cursors_.size();
    if (k == 0) return;
    // Leaf s sits at k + s; a node at i > 0 has its children at 2i and 2i + 1.
    std::vector<node> winners(2 * k);
    losers_.resize(k);
    for (std::size_t s = 0; s < k; ++s) winners[k + s] = {codes_.of_first(keys_[s].record()), s};
    for (std::size_t i = k; i-- > 1;) {
      losers_[i] = winners[2 * i];
      winners[i] = winner_of(losers_[i], winners[2 * i + 1]);
    }
    winner_ = winners[1];
  }

  std::vector<Cursor> cursors_;
  offset_codes const codes_;
  std::vector<key_type> keys_;
  std::vector<node> losers_;
  node winner_{};
  std::size_t left_;  // sequences that have not ended
};

}  // namespace outsize::detail
