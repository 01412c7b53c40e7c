// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Entries of a B+-tree read from one end to the other, leaf by leaf: a loop over what lies side by
// side in memory, at the speed of the disk.
//
//   nodes ──▶ numbers of the leaves to come ──▶ runs of pages, read ahead
//   leaf  ──▶ pull(): its entries, where the run has them, or the cache
//
// Which leaves follow is known from the nodes, so that to read ahead needs no leaf. Invariant: the
// leaves in ahead_ that are not used follow next_, and way_ leads to the last one. Threads: one at
// a time uses a reader; others may do all else that is const. Layer: container.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/base/piece_reader.hpp>
#include <outsize/container/detail/tree/btree.hpp>
#include <outsize/container/detail/tree/tree_pages.hpp>
#include <outsize/page/detail/page_row.hpp>

namespace outsize {
namespace detail {

/// The leaf of a tree that was shown last: where a run has it, or pinned in the cache, or a copy.
template <typename Tree>
class shown_leaf {
 public:
  using leaf = typename Tree::leaf;

  explicit shown_leaf(Tree const& tree) : tree_(&tree) {}

  /// Valid until the next call. @throws io_error; another call tries it again.
  leaf const& show(std::uint64_t page) {
    auto const& row = tree_->pages().leaves().row();
    if (look_ && page == looked_at_) return **look_;
    if (!run_ || page - run_.first() >= run_.bytes().size() / row.page_bytes()) {
      run_.release();
      look_.reset();  // lets another have its room
      run_ = row.pin_run(page);
    }
    if (!run_) {
      look_.emplace(tree_->look(page));
      looked_at_ = page;
      return **look_;
    }
    auto const* const at = run_.bytes().data() + (page - run_.first()) * row.page_bytes();
    return tree_->checked(page, *reinterpret_cast<leaf const*>(at));
  }

 private:
  Tree const* tree_;
  run_pin run_;
  std::optional<typename Tree::leaf_look> look_;
  std::uint64_t looked_at_ = tree_state::none;
};

}  // namespace detail

/// Entries of a map or set in the order of their keys, or the other way round: what forward() and
/// backward() give. A reader of pieces, and a range to go over once.
///
///     for (auto const& [number, account] : accounts.forward()) …
///     for (auto in = accounts.forward(); !in.empty(); in.skip(in.pull().size())) use(in.pull());
///
/// I/Os:    reads the leaves, ahead of their use: 2 at first, then twice as many each time; and
///          nodes above them that are not in the cache. Leaves that are side by side on disk are
///          read by requests of up to 2 MiB.
/// Memory:  the container's, and 8 bytes for each leaf that is read ahead.
/// Threads: one at a time uses a reader; several readers, and all else that is const, at once.
/// Errors:  io_error from the call that comes to a leaf that cannot be read; the next call tries it
///          again.
/// Valid as long as the container is not changed. Checked: map_test.cpp.
template <typename Tree, bool is_backward>
class tree_reader : public piece_reader_interface<tree_reader<Tree, is_backward>,
                                                  typename Tree::entry_type, is_backward> {
 public:
  using value_type = typename Tree::entry_type;

  tree_reader(Tree const& tree, detail::tree_position from, detail::tree_position to)
      : tree_(&tree), from_(from), to_(to), scan_(tree.pages()), shown_(tree) {
    if (from == to) return;
    bool const from_end = is_backward && to.is_end();
    auto const& first = is_backward ? to : from;
    next_ = from_end ? tree.last_leaf() : first.leaf;
    way_ = from_end ? tree.way_to_end() : tree.way_to(next_, key_at(first));
    go_on();
  }

  using iterator = piece_iterator<tree_reader>;

 private:
  friend piece_reader_interface<tree_reader, value_type, is_backward>;

  static constexpr std::uint64_t none = detail::tree_state::none;
  using leaf = typename Tree::leaf;

  typename Tree::key_type key_at(detail::tree_position const& at) const {
    return tree_->look(at.leaf)->key(at.slot);
  }

  /// Shows the next leaf that has entries to show; if it cannot be read, or what tells the one
  /// behind it, next_ and last_ stay.
  void go_on() {
    while (this->left() == 0 && next_ != none) {
      tree_->check_steps(shown_leaves_ + 1, next_);
      leaf const& next = shown_.show(next_);
      if (last_ != none) tree_->check_link(next_, is_backward ? next.after : next.before, last_);
      auto const shown = entries_of(next, next_);
      bool const is_end = next_ == (is_backward ? from_ : to_).leaf;
      std::uint64_t const behind = is_end ? none : leaf_behind();
      last_ = std::exchange(next_, behind);
      this->show(shown);
      ++shown_leaves_;
    }
  }
  std::span<value_type const> entries_of(leaf const& shown, std::uint64_t page) const {
    std::uint32_t const begin = page == from_.leaf ? from_.slot : 0;
    std::uint32_t const end = page == to_.leaf ? to_.slot : shown.count;
    if (begin > end || end > shown.count) tree_->pages().refuse_range();
    return {reinterpret_cast<value_type const*>(shown.at(begin)), end - begin};
  }
  /// The leaf that follows next_, or none.
  std::uint64_t leaf_behind() {
    if (asked_ <= asked_last_) read_ahead();
    if (used_ == ahead_.size()) {
      tree_->check_link(next_, next_, is_backward ? tree_->first_leaf() : tree_->last_leaf());
      return none;
    }
    if (asked_ > 0) --asked_;
    return ahead_[used_++];
  }
  void read_ahead() {
    some_ = std::clamp<std::size_t>(2 * some_, 2, tree_->pages().scan_leaves());
    ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ = 0;
    list(asked_ + some_);
    auto const more = std::span(std::as_const(ahead_)).subspan(asked_);
    asked_last_ = tree_->pages().leaves().row().expect(more, tree_->pages().scan_ahead());
    asked_ += asked_last_;
  }
  /// Sees to it that ahead_ has `wanted` leaves, if there are as many.
  void list(std::size_t wanted) {
    if (ahead_.size() >= wanted) return;
    std::uint64_t const last = (is_backward ? from_ : to_).leaf;
    if (!ahead_.empty() && ahead_.back() == last) return;
    auto way = way_;
    std::vector<std::uint64_t> more;
    tree_->go_on(way, is_backward, wanted - ahead_.size(), more);
    if (auto const end = std::ranges::find(more, last); end != more.end())
      more.erase(end + 1, more.end());
    ahead_.insert(ahead_.end(), more.begin(), more.end());
    way_ = way;
  }

  Tree const* tree_;
  detail::tree_position from_;
  detail::tree_position to_;
  typename Tree::leaf_way way_;
  detail::tree_pages::scan scan_;
  std::vector<std::uint64_t> ahead_;  // leaves behind next_
  std::size_t used_ = 0;              // of them, the first ones
  std::size_t asked_ = 0;             // of the others: that are on their way,
  std::size_t asked_last_ = 0;        // and how many of these were asked for last
  std::size_t some_ = 0;              // to be asked for at once
  std::uint64_t next_ = none;         // the leaf to be shown next
  std::uint64_t shown_leaves_ = 0;    // how many were shown
  std::uint64_t last_ = none;         // the one that was shown last
  detail::shown_leaf<Tree> shown_;    // and its entries
};

}  // namespace outsize
