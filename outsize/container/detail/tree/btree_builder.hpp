// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Bulk construction of a B+-tree: entries come in order, leaves are filled one after the other and
// written many at once, past the cache; each level of nodes grows at its right edge.
//
// Invariant: all entries so far are in the leaves, all leaves but the last one have a parent. What
// the tree held is kept beside the new pages until these are complete.
// Layer: container. Source: STXXL 2008, section 5.5 (bulk construction).

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include <outsize/base/memory_budget.hpp>
#include <outsize/container/detail/tree/btree.hpp>
#include <outsize/page/detail/page_run_writer.hpp>

namespace outsize::detail {

/// Replaces what is in a tree. If it is not finished, all is as before, and cursors stay at their
/// entries.
///
/// I/Os:    ⌈N / (fill · entries of a leaf)⌉ writes of leaves, and as many of nodes as these need.
/// Disk:    the old pages and the new ones.
template <typename Key, typename Entry, typename Less>
class btree_builder {
 public:
  using tree = btree<Key, Entry, Less>;

  /// @param fill  The part of each page that is used, from 0.25 to 1. @throws budget_error;
  /// std::invalid_argument, if it is anything else.
  btree_builder(tree& into, double fill)
      : tree_(into),
        memory_(into.pages_->memory_for_bulk()),
        leaf_fill_(filled(into.leaf_capacity_, fill)),
        node_fill_(filled(into.node_capacity_, fill)) {
    into.pages_->check_writable();
  }
  btree_builder(btree_builder const&) = delete;
  btree_builder& operator=(btree_builder const&) = delete;
  ~btree_builder() {
    if (!renewed_) return;
    writer_.reset();  // pages that are freed must not be under way
    renewed_.reset();
    try {
      tree_.note_root();
    } catch (...) {  // it is read as other nodes are, then
    }
  }

  /// Adds entries, which must be in order from the last one on; says how many there were until one
  /// that was not. Of equal ones in a tree without equal entries all but the first are left out.
  std::size_t push(std::span<Entry const> entries) {
    begin();
    for (std::size_t i = 0; i < entries.size();) {
      if (leaf_ != nullptr && leaf_->count < leaf_fill_) {
        if (auto const some = in_order(entries.subspan(i)); !some.empty()) {
          leaf_->append(some);
          tree_.state().size += some.size();
          i += some.size();
          continue;
        }
      }
      if (leaf_ != nullptr && !is_next(entries[i])) {
        if (!is_equal_to_last(entries[i])) return i;
      } else {
        begin_leaf(entries[i]);
      }
      ++i;
    }
    return entries.size();
  }

  /// The new entries are those of the tree now, cursors at its end.
  void finish() {
    begin();
    if (leaf_ != nullptr)
      finish_levels();
    else
      tree_.note_root();
    renewed_->keep();
    renewed_.reset();
    tree_.cursors_.clear();
  }

 private:
  /// Sets aside what is in the tree; with the first entries, so that these may come from there.
  void begin() {
    if (renewed_) return;
    renewed_.emplace(*tree_.pages_);
    tree_.hot_ = {};
    writer_.emplace(tree_.pages_->leaves().row(), memory_, tree_.pages_->run_bytes());
  }

  /// Puts the last leaf, and the last node of each level, below their parents.
  void finish_levels() {
    writer_->finish();
    add_child(0, first_key_, tree_.state().last_leaf);
    for (std::size_t level = 0; level + 1 < levels_.size(); ++level)
      add_child(level + 1, tree_.change_node(levels_[level]).keys()[0], levels_[level]);
    tree_.state().root = levels_.back();
    tree_.state().height = levels_.size();
    tree_.note_root();
    tree_.remove_roots_of_one();
  }

  static std::uint32_t filled(std::uint32_t capacity, double fill) {
    if (!(fill >= 0.25 && fill <= 1))
      throw std::invalid_argument(fmt::format("map: leaves cannot be filled to {}", fill));
    return std::clamp(static_cast<std::uint32_t>(capacity * fill), 2U, capacity);
  }

  Key const& last_key() const { return leaf_->key(leaf_->count - 1); }
  bool is_next(Entry const& entry) const {
    return tree_.is_ordered(last_key(), key_of<Key>(entry));
  }
  bool is_equal_to_last(Entry const& entry) const {
    return tree_.is_unique_ && !tree_.less_(key_of<Key>(entry), last_key());
  }
  /// Those at the front that the leaf has room for, and that are in order.
  std::span<Entry const> in_order(std::span<Entry const> entries) const {
    auto const room =
        entries.first(std::min<std::size_t>(leaf_fill_ - leaf_->count, entries.size()));
    if (!is_next(room.front())) return {};
    auto const out_of_order = std::ranges::adjacent_find(room, [&](Entry const& a, Entry const& b) {
      return !tree_.is_ordered(key_of<Key>(a), key_of<Key>(b));
    });
    return out_of_order == room.end() ? room : std::span(room.begin(), out_of_order + 1);
  }

  void begin_leaf(Entry const& entry) {
    tree_state& state = tree_.state();
    if (leaf_ != nullptr) add_child(0, first_key_, state.last_leaf);
    std::uint64_t const page = writer_->next_number();
    if (leaf_ != nullptr) leaf_->after = page;  // before it is written
    leaf_ = reinterpret_cast<leaf*>(writer_->next().data());
    leaf_->before = state.last_leaf;
    leaf_->after = tree_state::none;
    leaf_->count = 0;
    leaf_->number = leaf::numbered(page);
    if (state.first_leaf == tree_state::none) state.first_leaf = page;
    state.last_leaf = page;
    first_key_ = key_of<Key>(entry);
    leaf_->append({&entry, 1});
    ++state.size;
  }

  /// Adds a child to the last node of a level; if that is full, a new one takes it. The key is a
  /// copy, as the page that it comes from may leave.
  void add_child(std::size_t level, Key key, std::uint64_t child) {
    if (level == levels_.size()) {
      levels_.push_back(tree_.pages_->nodes().take());
      return tree_.begin_node(levels_.back()).append(key, child);
    }
    node& last = tree_.change_node(levels_[level]);
    if (last.count < node_fill_) return last.append(key, child);
    Key const first = last.keys()[0];
    add_child(level + 1, first, levels_[level]);
    levels_[level] = tree_.pages_->nodes().take();
    tree_.begin_node(levels_[level]).append(key, child);
  }

  using node = typename tree::node;
  using leaf = typename tree::leaf;

  tree& tree_;
  grant memory_;
  std::optional<tree_pages::renewal> renewed_;
  std::optional<page_run_writer> writer_;
  std::uint32_t leaf_fill_;
  std::uint32_t node_fill_;
  leaf* leaf_ = nullptr;
  Key first_key_{};
  std::vector<std::uint64_t> levels_;  // the last node of each, the lowest level first
};

}  // namespace outsize::detail
