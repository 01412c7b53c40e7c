// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Places in a tree that follow their entries wherever these are moved to: what iterators of maps
// are made of.
//
//   tree ── insert, erase, split, merge ──▶ tree_cursors::shift ──▶ every tree_cursor concerned
//
// The tree knows its cursors, by leaf; a cursor that is at the end is not known to it, and one that
// outlives its tree is at the end. Invariant: a linked cursor is in the list of its leaf's bucket.
// Threads: cursors may be made, moved and destroyed by several threads at once, as their lists are
// guarded; shift(), look_again() and clear() are for who is alone. Layer: container.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <outsize/base/detail/process_locks.hpp>

namespace outsize::detail {

class tree_cursors;

/// An entry's place: the number of its leaf, and its index there. By default at the end.
class tree_cursor {
 public:
  static constexpr std::uint64_t no_leaf = UINT64_MAX;

  tree_cursor() = default;
  tree_cursor(tree_cursors& all, std::uint64_t leaf, std::uint32_t slot);
  tree_cursor(tree_cursor const& other);
  tree_cursor& operator=(tree_cursor const& other);
  ~tree_cursor() { unlink(); }

  std::uint64_t leaf() const noexcept { return leaf_; }
  std::uint32_t slot() const noexcept { return slot_; }
  bool is_end() const noexcept { return leaf_ == no_leaf; }
  /// How often it was moved to another leaf, or its leaf to another place in memory.
  std::uint32_t moves() const noexcept { return moves_; }
  void set_slot(std::uint32_t slot) noexcept { slot_ = slot; }
  void set(std::uint64_t leaf, std::uint32_t slot);

  friend bool operator==(tree_cursor const& a, tree_cursor const& b) noexcept {
    return a.leaf_ == b.leaf_ && a.slot_ == b.slot_;
  }

 private:
  friend class tree_cursors;
  void link();
  void unlink() noexcept;

  tree_cursors* all_ = nullptr;
  std::uint64_t leaf_ = no_leaf;
  std::uint32_t slot_ = 0;
  std::uint32_t moves_ = 0;
  tree_cursor* before_ = nullptr;  // in its list
  tree_cursor* after_ = nullptr;
};

/// All cursors of a tree that are not at its end.
class tree_cursors {
 public:
  tree_cursors() = default;
  tree_cursors(tree_cursors const&) = delete;
  tree_cursors& operator=(tree_cursors const&) = delete;
  ~tree_cursors() { clear(); }

  /// Entries `from` to `until` - 1 of a leaf are at `to_leaf` now, `by` further than before.
  void shift(std::uint64_t leaf, std::uint32_t from, std::uint32_t until, std::uint64_t to_leaf,
             std::int64_t by);
  /// All entries from one on.
  void shift(std::uint64_t leaf, std::uint32_t from, std::uint64_t to_leaf, std::int64_t by) {
    shift(leaf, from, UINT32_MAX, to_leaf, by);
  }
  /// The leaf is at another place in memory now: moves() of its cursors tell.
  void look_again(std::uint64_t leaf);
  /// Every cursor is at the end.
  void clear();

 private:
  friend class tree_cursor;
  tree_cursor*& list_of(std::uint64_t leaf) noexcept { return lists_[leaf % lists_.size()]; }
  void add(tree_cursor& cursor) noexcept;
  void remove(tree_cursor& cursor) noexcept;

  process_mutex mutex_;  // guards the lists
  std::atomic<std::size_t> count_{0};
  std::array<tree_cursor*, 64> lists_{};
};

}  // namespace outsize::detail
