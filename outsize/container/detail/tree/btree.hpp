// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The B+-tree that maps and sets are made of: entries in leaves, by key; above them nodes that say
// which keys are in which leaf.
//
//                     root            pinned
//                   ╱   │   ╲
//                node  node  node     tree_pages::nodes
//                ╱ ╲    …
//   …  ◀──▶ leaf ◀──▶ leaf ◀──▶ …     tree_pages::leaves
//
// A change of the tree's shape (split, merge) brings in all pages that it needs before it changes
// the first, so that one that fails changes nothing. Cursors follow their entries (tree_cursors).
//
// References do not follow. What they refer to stays readable instead: where an insertion moves
// entries of a leaf that references were given into, the leaf goes on in another buffer, and the
// old one keeps its bytes (page_row::renew, decision 0062).
//
// Invariants: leaves are linked in the order of their keys, and of equal entries in that of their
// insertion; each page but the root is filled to a quarter at least, unless the I/O of a merge has
// failed: a leaf may be empty then, and is passed over. Threads: const functions in company, others
// alone. Layer: container. Source: STXXL 2008, section 5.5.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/container/detail/tree/btree_search.hpp>

namespace outsize::detail {

template <typename Key, typename Entry, typename Less>
class btree_builder;

/// See the top of this file.
template <typename Key, typename Entry, typename Less>
class btree : public btree_search<Key, Entry, Less> {
  using search = btree_search<Key, Entry, Less>;

 public:
  using typename search::leaf;
  using typename search::node;
  using typename search::position;

  btree(std::unique_ptr<tree_pages> pages, Less less, bool is_unique)
      : search(std::move(pages), std::move(less), is_unique) {
    lent_.fill(tree_state::none);
    note_root();
    if (pages_->are_checked()) check_order();
    pages_->begin_use();
  }

  using search::check_link;
  using search::checked;
  using search::pages;
  tree_pages& pages() noexcept { return *pages_; }

  /// A leaf, valid until others are touched; counted as changed, or not.
  leaf& change(std::uint64_t page) {
    if (hot_.page == page && hot_.is_changed) return *hot_.content;
    check_is_there(pages_->leaves(), page);
    hot_ = {};  // it may leave for the new one, even if that does not come
    auto const bytes = pages_->leaves().row().change(page);
    checked(page, *reinterpret_cast<leaf const*>(bytes.data()));
    hot_ = {page, reinterpret_cast<leaf*>(bytes.data()), true};
    return *hot_.content;
  }
  /// The bytes of an entry, to be referred to by the user; counted as changed. They can be read
  /// until tree_pages::former_leaves entries have been inserted.
  std::byte* lend(position const& at) {
    leaf& changed = change(at.leaf);
    if (!hot_.is_lent) note_lent(at.leaf);
    hot_.is_lent = true;
    return changed.at(at.slot);
  }
  leaf const& show(std::uint64_t page) {
    if (hot_.page == page) return *hot_.content;
    check_is_there(pages_->leaves(), page);
    hot_ = {};  // as in change()
    auto const bytes = pages_->leaves().row().show(page);
    checked(page, *reinterpret_cast<leaf const*>(bytes.data()));
    // It is the same memory that change() gives.
    hot_ = {page, reinterpret_cast<leaf*>(const_cast<std::byte*>(bytes.data())), false};
    return *hot_.content;
  }

  /// Adds an entry, behind those with equal keys; if is_unique() and there is one, that is where it
  /// is. @throws io_error, out_of_space, budget_error; what the comparison throws: nothing is
  /// added.
  std::pair<position, bool> insert(Entry const entry) {
    Key const& key = key_of<Key>(entry);
    if (state().root == tree_state::none) add_first_leaf();
    for (;; make_room(key)) {
      key_range keys;
      std::uint64_t const page = descend(key, true, nullptr, &keys);
      leaf const& seen = show(page);
      check_keys(page, seen, keys);
      std::uint32_t const slot = is_unique_ ? lower(seen, key) : upper(seen, key);
      if (is_unique_ && slot < seen.count && !less_(key, seen.key(slot)))
        return {{page, slot}, false};
      check_edges(page, seen, slot, key, {.above = !is_unique_, .is_last = true});
      if (seen.count == leaf_capacity_) continue;
      put(page, slot, entry);
      return {{page, slot}, true};
    }
  }
  /// The same, where the entry is likely to belong before `hint`: no search if so.
  std::pair<position, bool> insert(position hint, Entry const& entry) {
    if (state().root == tree_state::none) return insert(entry);
    bool const at_end = hint.is_end();
    std::uint64_t const page = at_end ? state().last_leaf : hint.leaf;
    leaf const& seen = show(page);
    std::uint32_t const slot = at_end ? seen.count : hint.slot;
    Key const& key = key_of<Key>(entry);
    bool const fits = slot > 0 && seen.count < leaf_capacity_ &&
                      is_ordered(seen.key(slot - 1), key) &&
                      (at_end || (slot < seen.count && is_ordered(key, seen.key(slot))));
    if (!fits) return insert(entry);
    put(page, slot, entry);
    return {{page, slot}, true};
  }

  /// Removes entries of a leaf, from one on. Then it may be merged with its neighbour; if that
  /// fails, or a comparison throws, both stay as they are. @throws io_error, out_of_space: nothing
  /// is removed.
  void erase(position from, std::uint32_t some) {
    leaf& changed = change(from.leaf);
    if (some > state().size && pages_->are_checked()) pages_->refuse_field("size", state().size);
    Key const key = changed.key(from.slot);
    changed.erase(from.slot, some);
    state().size -= some;
    cursors_.shift(from.leaf, from.slot + some, from.leaf, -static_cast<std::int64_t>(some));
    if (changed.count >= least(leaf_capacity_)) return;
    try {
      tidy(from.leaf, key);
    } catch (...) {  // the entries are gone, and the tree is sound: there is nothing to tell
    }
  }

  /// Removes all. @throws io_error, of a file that may only be read.
  void clear() {
    pages_->clear();
    forget_pages();
  }
  /// @throws as tree_pages's.
  void flush() {
    hot_ = {};  // also if it fails: pages of a file may leave then
    pages_->flush();
  }
  void close() {
    hot_ = {};
    pages_->close();
  }

 private:
  friend class btree_builder<Key, Entry, Less>;

  using search::check_edges;
  using search::check_is_there;
  using search::check_keys;
  using search::check_node;
  using search::check_number;
  using search::check_order;
  using search::check_to_split;
  using search::child_of;
  using search::cursors_;
  using search::descend;
  using search::find_way;
  using search::is_ordered;
  using search::is_unique_;
  using search::leaf_capacity_;
  using search::less_;
  using search::look_at_node;
  using search::lower;
  using search::node_capacity_;
  using search::pages_;
  using search::root_pin_;
  using search::upper;
  using typename search::key_range;
  using typename search::path;
  using typename search::path_step;

  using search::state;
  tree_state& state() noexcept { return pages_->state(); }

  // ---- growth ----

  void put(std::uint64_t page, std::uint32_t slot, Entry const& entry) {
    leaf& to = change(page);
    if (slot < to.count && is_lent(page))
      to.insert(slot, entry, renew(page));
    else
      to.insert(slot, entry);
    cursors_.shift(page, slot, page, 1);
    ++state().size;
  }
  /// A blank page, which goes back unless it is kept.
  class new_page {
   public:
    explicit new_page(page_set& set) : set_(&set), number_(set.take()) {}
    new_page(new_page const&) = delete;
    new_page& operator=(new_page const&) = delete;
    ~new_page() {
      if (set_ != nullptr) set_->give(number_);
    }
    std::uint64_t number() const noexcept { return number_; }
    std::uint64_t keep() noexcept {
      set_ = nullptr;
      return number_;
    }

   private:
    page_set* set_;
    std::uint64_t number_;
  };
  leaf& begin_leaf(std::uint64_t page) {
    hot_ = {};  // as in change()
    auto const bytes = pages_->leaves().row().change(page, page_row::content::replaced);
    auto& made = *reinterpret_cast<leaf*>(bytes.data());
    made.before = made.after = tree_state::none;
    made.count = 0;
    made.number = leaf::numbered(page);
    hot_ = {page, &made, true};
    return made;
  }
  node& begin_node(std::uint64_t page) {
    auto const bytes = pages_->nodes().row().change(page, page_row::content::replaced);
    auto& made = *reinterpret_cast<node*>(bytes.data());
    made.count = 0;
    made.capacity = node_capacity_;
    return made;
  }
  node& change_node(std::uint64_t page) {
    check_is_there(pages_->nodes(), page);
    auto& changed = *reinterpret_cast<node*>(pages_->nodes().row().change(page).data());
    check_node(page, changed);
    return changed;
  }
  /// Makes a leaf the first of those that references went into last.
  void note_lent(std::uint64_t page) noexcept {
    auto place = std::ranges::find(lent_, page);
    if (place == lent_.end()) place = std::ranges::find(lent_, tree_state::none);
    if (place == lent_.end()) --place;
    std::rotate(lent_.begin(), place, place + 1);
    lent_.front() = page;
  }
  /// Whether references may go into a leaf that is live.
  bool is_lent(std::uint64_t page) const noexcept {
    return std::ranges::find(lent_, page) != lent_.end();
  }
  /// Another buffer for a leaf that was just changed; what it holds is not known.
  leaf& renew(std::uint64_t page) {
    std::ranges::replace(lent_, page, tree_state::none);
    cursors_.look_again(page);
    auto const bytes = pages_->leaves().row().renew(page);
    hot_ = {page, reinterpret_cast<leaf*>(bytes.data()), true};
    return *hot_.content;
  }
  /// The leaf behind one, to be changed, if there is one. It is only held for that: references into
  /// other leaves stay.
  class leaf_after {
   public:
    leaf_after() = default;
    explicit leaf_after(page_pin held) : held_(std::move(held)) {}
    explicit operator bool() const noexcept { return static_cast<bool>(held_); }
    leaf* operator->() noexcept { return reinterpret_cast<leaf*>(held_.change().data()); }

   private:
    page_pin held_;
  };
  leaf_after change_after(std::uint64_t page, leaf const& of) {
    if (of.after == tree_state::none) return {};
    std::uint64_t const number = of.after;
    check_is_there(pages_->leaves(), number);
    leaf_after after(pages_->leaves().row().hold_to_change(number));
    check_link(number, checked(number, *after.operator->()).before, page);
    return after;
  }
  void note_root() {
    root_pin_.release();
    if (state().height == 0) return;
    check_number(pages_->nodes(), state().root);
    root_pin_ = pages_->nodes().row().pin(state().root, state().root);
    OUTSIZE_ASSERT(state().height <= tree_pages::most_height);
  }
  void forget_pages() {
    hot_ = {};
    lent_.fill(tree_state::none);
    cursors_.clear();
    note_root();
  }

  void add_first_leaf() {
    new_page page(pages_->leaves());
    begin_leaf(page.number());
    state().root = state().first_leaf = state().last_leaf = page.keep();
  }
  void add_root() {
    if (state().height == tree_pages::most_height && pages_->are_checked())
      pages_->refuse_field("height", state().height);
    new_page page(pages_->nodes());
    begin_node(page.number()).append({}, state().root);
    state().root = page.keep();
    ++state().height;
    note_root();
  }
  /// Splits the leaf that an entry with this key would be added to, and before that all nodes on
  /// the way to it that are full, from the root down: so that a parent has room for another child.
  void make_room(Key const& key) {
    if (state().height == 0 || look_at_node(state().root)->count == node_capacity_) add_root();
    std::uint64_t parent = state().root;
    for (std::uint64_t level = 1; level < state().height; ++level) {
      std::uint64_t child = child_for(parent, key);
      if (look_at_node(child)->count == node_capacity_) {
        split_node(parent, child_slot(parent, key));
        child = child_for(parent, key);
      }
      parent = child;
    }
    split_leaf(parent, child_slot(parent, key), key);
  }
  std::uint32_t child_slot(std::uint64_t page, Key const& key) const {
    return child_of(*look_at_node(page), key, true);
  }
  std::uint64_t child_for(std::uint64_t page, Key const& key) const {
    return look_at_node(page)->children()[child_slot(page, key)];
  }
  void split_node(std::uint64_t parent, std::uint32_t slot) {
    new_page page(pages_->nodes());
    node& above = change_node(parent);
    node& left = change_node(above.children()[slot]);
    check_to_split(parent, above, left.count == node_capacity_);
    node& right = begin_node(page.number());
    std::uint32_t const middle = left.count / 2;
    left.copy(middle, left.count - middle, right);
    left.count = middle;
    above.insert(slot + 1, right.keys()[0], page.keep());
  }
  /// If the key is behind all others, only it will be in the new leaf: leaves that are filled in
  /// order are full.
  void split_leaf(std::uint64_t parent, std::uint32_t slot, Key const& key) {
    new_page page(pages_->leaves());
    node& above = change_node(parent);
    std::uint64_t const left_page = above.children()[slot];
    leaf& left = change(left_page);
    check_to_split(parent, above, left.count == leaf_capacity_);
    bool const behind_all =
        left.after == tree_state::none && is_ordered(left.key(left.count - 1), key);
    leaf_after after = change_after(left_page, left);
    leaf& right = begin_leaf(page.number());
    std::uint32_t const middle = behind_all ? left.count : left.count / 2;
    above.insert(slot + 1, behind_all ? key : left.key(middle), page.number());
    right.before = left_page;
    right.after = left.after;
    left.move_tail(middle, right);
    left.after = page.number();
    if (is_lent(left_page)) left.copy(renew(left_page));
    (after ? after->before : state().last_leaf) = page.number();
    cursors_.shift(left_page, middle, page.keep(), -static_cast<std::int64_t>(middle));
  }

  // ---- shrinking ----

  /// What must be in a page, so that it is not merged; two children at least.
  static std::uint32_t least(std::uint32_t capacity) {
    return std::max<std::uint32_t>(capacity / 4, 2);
  }
  /// Sees to it that a leaf that lost entries, and the nodes above it, are filled enough.
  void tidy(std::uint64_t page, Key const& key) {
    path way;
    if (state().height == 0) {
      if (state().size == 0) {
        pages_->clear();
        forget_pages();
      }
      return;
    }
    if (!find_way(page, key, way)) return;
    std::uint64_t level = state().height - 1;
    fill_leaf(way[level]);
    for (; level > 0; --level)
      if (look_at_node(way[level].page)->count < least(node_capacity_)) fill_node(way[level - 1]);
    remove_roots_of_one();
  }
  /// A root with one child makes that the root.
  void remove_roots_of_one() {
    while (state().height > 0 && look_at_node(state().root)->count == 1) {
      std::uint64_t const old = state().root;
      state().root = look_at_node(old)->children()[0];
      --state().height;
      note_root();
      pages_->nodes().give(old);
    }
  }
  /// The left one of two neighbours, of which a child with too little in it is one.
  static std::uint32_t left_of(node const& above, std::uint32_t slot) {
    return slot + 1 < above.count ? slot : slot - 1;
  }

  void fill_leaf(path_step const& at) {
    node& above = change_node(at.page);
    if (above.count < 2) return;
    std::uint32_t const slot = left_of(above, at.slot);
    std::uint64_t const left_page = above.children()[slot];
    std::uint64_t const right_page = above.children()[slot + 1];
    leaf& left = change(left_page);
    leaf& right = change(right_page);
    // If they are no neighbours in a damaged file, all between them would be lost.
    check_link(left_page, left.after, right_page);
    check_link(right_page, right.before, left_page);
    leaf_after after = change_after(right_page, right);
    std::uint32_t const total = left.count + right.count;
    if (left.count == 0 || right.count == 0 || total <= leaf_capacity_ / 4 * 3) {
      cursors_.shift(right_page, 0, left_page, left.count);
      right.move_tail(0, left);
      left.after = right.after;
      (after ? after->before : state().last_leaf) = left_page;
      above.erase(slot + 1);
      free_leaf(right_page);
      return;
    }
    if (left.count < total / 2) {
      std::uint32_t const some = total / 2 - left.count;
      cursors_.shift(right_page, 0, some, left_page, left.count);
      cursors_.shift(right_page, some, right_page, -static_cast<std::int64_t>(some));
      right.move_head(some, left);
    } else {
      std::uint32_t const some = left.count - total / 2;
      right.take_tail(some, left);
      cursors_.shift(right_page, 0, right_page, some);
      cursors_.shift(left_page, left.count, right_page, -static_cast<std::int64_t>(left.count));
    }
    above.keys()[slot + 1] = right.key(0);
  }
  void free_leaf(std::uint64_t page) {
    if (hot_.page == page) hot_ = {};
    std::ranges::replace(lent_, page, tree_state::none);
    pages_->leaves().give(page);
  }

  void fill_node(path_step const& at) {
    node& above = change_node(at.page);
    if (above.count < 2) return;
    std::uint32_t const slot = left_of(above, at.slot);
    std::uint64_t const right_page = above.children()[slot + 1];
    node& left = change_node(above.children()[slot]);
    node& right = change_node(right_page);
    std::uint32_t const total = left.count + right.count;
    right.keys()[0] = above.keys()[slot + 1];
    if (total <= node_capacity_ / 4 * 3) {
      right.copy(0, right.count, left);
      above.erase(slot + 1);
      pages_->nodes().give(right_page);
      return;
    }
    if (left.count < total / 2) {
      std::uint32_t const some = total / 2 - left.count;
      right.copy(0, some, left);
      right.erase(0, some);
    }
    if (left.count > total / 2) right.take_tail(left.count - total / 2, left);
    above.keys()[slot + 1] = right.keys()[0];
  }

  struct hot_leaf {
    std::uint64_t page = tree_state::none;
    leaf* content = nullptr;
    bool is_changed = false;
    bool is_lent = false;  // known to be in lent_
  };

  hot_leaf hot_;  // the one touched last, unless another failed to come since
  // Leaves that references went into, last first.
  std::array<std::uint64_t, tree_pages::live_leaves> lent_;
};

}  // namespace outsize::detail
