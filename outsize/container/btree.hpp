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
// Invariants: leaves are linked in the order of their keys, and of equal entries in that of their
// insertion; each page but the root is filled to a quarter at least, unless the I/O of a merge has
// failed: a leaf may be empty then, and is passed over. Of what comes from a file it is checked
// that it can be, so that a damaged one leads nowhere: heads of pages, links of leaves, and keys
// that must lie between those above them. Threads: const functions in company, others
// alone. Layer: container. Source: STXXL 2008, section 5.5.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/container/btree_layout.hpp>
#include <outsize/container/tree_cursors.hpp>
#include <outsize/container/tree_pages.hpp>

namespace outsize::detail {

/// An entry's place: the number of its leaf, and its index there.
struct tree_position {
  std::uint64_t leaf = tree_state::none;
  std::uint32_t slot = 0;
  bool is_end() const noexcept { return leaf == tree_state::none; }
  friend bool operator==(tree_position const&, tree_position const&) = default;
};

template <typename Key, typename Entry, typename Less>
class btree_builder;

/// See the top of this file. `is_unique`: no two entries have equal keys.
template <typename Key, typename Entry, typename Less>
class btree {
  struct path_step {
    std::uint64_t page = 0;
    std::uint32_t slot = 0;
  };
  using path = std::array<path_step, 32>;  // from the root to the parent of a leaf

 public:
  using key_type = Key;
  using entry_type = Entry;
  using leaf = tree_leaf<Key, Entry>;
  using node = tree_node<Key>;
  using position = tree_position;

  static tree_layout layout(kept_kind const& kind) {
    return {kind, leaf::bytes_for(4), node::bytes_for(4), std::max(alignof(leaf), alignof(Entry))};
  }

  btree(std::unique_ptr<tree_pages> pages, Less less, bool is_unique)
      : pages_(std::move(pages)),
        leaf_capacity_(leaf::capacity(pages_->leaves().row().page_bytes())),
        node_capacity_(node::capacity_of(pages_->nodes().row().page_bytes())),
        less_(std::move(less)),
        is_unique_(is_unique) {
    note_root();
  }

  tree_pages& pages() noexcept { return *pages_; }
  tree_pages const& pages() const noexcept { return *pages_; }
  tree_cursors& cursors() const noexcept { return cursors_; }
  Less const& less() const noexcept { return less_; }
  bool is_unique() const noexcept { return is_unique_; }
  std::uint64_t size() const noexcept { return state().size; }
  std::uint32_t leaf_capacity() const noexcept { return leaf_capacity_; }
  std::uint64_t first_leaf() const noexcept { return state().first_leaf; }
  std::uint64_t last_leaf() const noexcept { return state().last_leaf; }

  // ---- in company ----

  class leaf_look : public page_look {
   public:
    using page_look::page_look;
    leaf const& operator*() const noexcept { return *reinterpret_cast<leaf const*>(data()); }
    leaf const* operator->() const noexcept { return &**this; }
  };
  /// @throws io_error; format_error if it is damaged. The same of all that follows.
  leaf_look look(std::uint64_t page) const {
    check_number(pages_->leaves(), page);
    leaf_look seen(pages_->leaves().row(), page);
    checked(page, *seen);
    return seen;
  }
  /// The leaf, if it can be what is in a page. @throws format_error.
  leaf const& checked(std::uint64_t page, leaf const& seen) const {
    if (pages_->are_checked() && !seen.can_be(page, pages_->leaves().row().end(), leaf_capacity_))
      pages_->refuse("leaf", page);
    return seen;
  }
  /// That a leaf has the neighbour that it was reached from. @throws format_error.
  void check_link(std::uint64_t page, std::uint64_t neighbour, std::uint64_t from) const {
    if (neighbour != from && pages_->are_checked()) pages_->refuse("leaf", page);
  }

  position begin() const { return first_from(state().first_leaf, 0); }
  /// The place behind one: its successor, or the end.
  position after(position const& at) const { return first_from(at.leaf, at.slot + 1); }
  /// The first entry whose key is not below `key`, and the first one above it. That may be of
  /// another type, here and below, if the comparison takes it.
  template <typename K>
  position lower_bound(K const& key) const {
    return bound(key, false);
  }
  template <typename K>
  position upper_bound(K const& key) const {
    return bound(key, true);
  }
  /// The first entry with this key.
  template <typename K>
  position find(K const& key) const {
    position found;
    visit(key, [&](position const& at, Entry const&) { found = at; });
    return found;
  }
  /// Calls f(position, entry) for the first entry with this key, if there is one.
  template <typename K, typename F>
  void visit(K const& key, F f) const {
    if (size() == 0) return;
    bool const is_last = is_one<K>();
    key_range keys;
    std::uint64_t page = descend(key, is_last, nullptr, &keys);
    for (std::uint64_t from = tree_state::none;;) {
      leaf_look const seen = look(page);
      if (from == tree_state::none)
        check_keys(page, *seen, keys);
      else
        check_link(page, seen->before, from);
      std::uint32_t const slot = lower(*seen, key);
      bool const is_there = slot < seen->count && !less_(key, seen->key(slot));
      if (from == tree_state::none && !(is_there && is_last))
        check_edges(page, *seen, slot, key, {.is_last = is_last});
      if (is_there) f(position{page, slot}, seen->entry(slot));
      if (slot < seen->count) return;
      from = std::exchange(page, seen->after);
      if (is_last || page == tree_state::none) return;
    }
  }
  /// Calls f(entry) for the first entry with this key in a leaf, if there is one; whether there is.
  template <typename F>
  bool visit_in(leaf const& in, Key const& key, F f) const {
    std::uint32_t const slot = lower(in, key);
    bool const is_there = slot < in.count && !less_(key, in.key(slot));
    if (is_there) f(in.entry(slot));
    return is_there;
  }
  Entry entry(position at) const { return look(at.leaf)->entry(at.slot); }

  /// The way from the root to a leaf; valid until the tree is changed.
  class leaf_way {
    friend btree;
    path steps_;
  };
  /// The leaf that an entry with this key is in, or would be added to, and which keys are there;
  /// `way` becomes the way to it.
  struct leaf_range {
    std::uint64_t page = tree_state::none;
    bool has_end = false;  // if not, all keys that are not below the one that was looked for
    Key end{};             // those below it
  };
  leaf_range find_leaf(Key const& key, leaf_way& way) const {
    leaf_range found;
    key_range keys;
    found.page = state().root;
    for (std::uint64_t level = 0; level < state().height; ++level) {
      node_look const seen = look_at_node(found.page);
      std::uint32_t const slot = child_of(*seen, key, true);
      way.steps_[level] = {found.page, slot};
      if (pages_->are_checked()) narrow(found.page, *seen, slot, keys);
      if (slot + 1 < seen->count) {
        found.has_end = true;
        found.end = seen->keys()[slot + 1];
      }
      found.page = seen->children()[slot];
    }
    return found;
  }
  /// The way to a leaf that has an entry with this key.
  leaf_way way_to(std::uint64_t page, Key const& key) const {
    leaf_way way;
    bool const is_found = state().height == 0 || find_way(page, key, way.steps_, state().root, 0);
    if (!is_found && pages_->are_checked()) refuse(pages_->leaves(), page);
    return way;
  }
  /// The way to the last leaf.
  leaf_way way_to_end() const {
    leaf_way way;
    std::uint64_t page = state().root;
    for (std::uint64_t level = 0; level < state().height; ++level) {
      node_look const seen = look_at_node(page);
      way.steps_[level] = {page, seen->count - 1};
      page = seen->children()[seen->count - 1];
    }
    return way;
  }
  /// Adds up to `some` leaves that follow that at the end of a way, or precede it; the way then
  /// leads to the last of them.
  void go_on(leaf_way& way, bool backward, std::size_t some,
             std::vector<std::uint64_t>& leaves) const {
    std::uint64_t const height = state().height;
    while (some > 0 && step(way.steps_, height, backward)) {
      path_step& at = way.steps_[height - 1];
      node_look const seen = look_at_node(at.page);
      std::uint64_t const* const child = seen->children() + at.slot;
      auto const count = static_cast<std::uint32_t>(
          std::min<std::size_t>(some, backward ? at.slot + 1 : seen->count - at.slot));
      for (std::uint32_t i = 0; i < count; ++i) {
        leaves.push_back(backward ? *(child - i) : child[i]);
        check_number(pages_->leaves(), leaves.back());
      }
      at.slot = backward ? at.slot - (count - 1) : at.slot + (count - 1);
      some -= count;
    }
  }
  /// Begins to read some of the lowest nodes that follow that of a way, if that has just come next
  /// to the one of another way.
  void prefetch_nodes(leaf_way const& before, leaf_way const& now) const {
    if (state().height < 2) return;
    path_step const& last = before.steps_[state().height - 2];
    path_step const& parent = now.steps_[state().height - 2];
    if (parent.page != last.page || parent.slot != last.slot + 1) return;
    node_look const seen = look_at_node(parent.page);
    std::size_t const some = std::min<std::size_t>(nodes_ahead(), seen->count - parent.slot - 1);
    std::span const next(seen->children() + parent.slot + 1, some);
    for (std::uint64_t const page : next) check_number(pages_->nodes(), page);
    pages_->nodes().row().expect(next, {.pages = some});
  }
  /// Begins to read the leaves behind that of a key, or before it, but no more than one scan may.
  /// Returns how many of `some` leaves need nothing more.
  std::size_t prefetch_beside(Key const& key, bool backward, std::size_t some) const {
    if (state().height == 0) return 0;
    leaf_way way;
    descend(key, true, &way.steps_);
    std::vector<std::uint64_t> expected;
    go_on(way, backward, some, expected);
    return pages_->leaves().row().expect(expected, pages_->scan_ahead());
  }

  // ---- alone ----

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

  /// Whether everything is as it must be, for tests: reads all pages.
  bool is_well_formed() const;

 private:
  friend class btree_builder<Key, Entry, Less>;

  class node_look {
   public:
    explicit node_look(node const* pinned) noexcept : at_(pinned) {}
    explicit node_look(page_look look) noexcept
        : look_(std::move(look)), at_(reinterpret_cast<node const*>(look_.data())) {}
    node const& operator*() const noexcept { return *at_; }
    node const* operator->() const noexcept { return at_; }

   private:
    page_look look_;
    node const* at_;
  };

  tree_state& state() noexcept { return pages_->state(); }
  tree_state const& state() const noexcept { return pages_->state(); }

  bool is_ordered(Key const& a, Key const& b) const {
    return is_unique_ ? less_(a, b) : !less_(b, a);
  }

  // ---- what is wrong with a file ----

  /// Keys between which those of a page must be, as the nodes above it say.
  struct key_range {
    bool has_begin = false;
    bool has_end = false;
    Key begin{};
    Key end{};
  };
  void check_number(page_set const& set, std::uint64_t page) const {
    if (pages_->are_checked() && page >= set.row().end()) refuse(set, page);
  }
  void check_is_there(page_set const& set, std::uint64_t page) const {
    if (!pages_->are_checked()) return;
    if (page >= set.row().end() || set.row().holds_zeros(page)) refuse(set, page);
  }
  void check_node(std::uint64_t page, node const& seen) const {
    if (pages_->are_checked() && !seen.can_be(node_capacity_)) refuse(pages_->nodes(), page);
  }
  [[noreturn]] void refuse(page_set const& set, std::uint64_t page) const {
    pages_->refuse(&set == &pages_->leaves() ? "leaf" : "node", page);
  }
  bool is_in(Key const& key, key_range const& range) const {
    return !(range.has_begin && less_(key, range.begin)) &&
           !(range.has_end && less_(range.end, key));
  }
  /// Those of a child of a node, whose own are `range`.
  void narrow(std::uint64_t page, node const& in, std::uint32_t slot, key_range& range) const {
    Key const* const keys = in.keys();
    bool const has_begin = slot > 0, has_end = slot + 1 < in.count;
    if ((has_begin && !is_in(keys[slot], range)) || (has_end && !is_in(keys[slot + 1], range)))
      refuse(pages_->nodes(), page);
    if (has_begin) range.begin = keys[slot];
    if (has_end) range.end = keys[slot + 1];
    range.has_begin = range.has_begin || has_begin;
    range.has_end = range.has_end || has_end;
  }
  void check_keys(std::uint64_t page, leaf const& in, key_range const& range) const {
    if (!pages_->are_checked() || in.count == 0) return;
    if (!is_in(in.key(0), range) || !is_in(in.key(in.count - 1), range))
      refuse(pages_->leaves(), page);
  }

  /// What is sought in a leaf.
  struct sought {
    bool above = false;    // whether keys equal to it come before it
    bool is_last = false;  // whether there is nothing with it in the leaf behind, either
  };
  /// That a key which has no place within a leaf is not in those beside it, where a damaged node
  /// would have led away from it.
  template <typename K>
  void check_edges(std::uint64_t page, leaf const& in, std::uint32_t slot, K const& key,
                   sought how) const {
    if (!pages_->are_checked()) return;
    auto const is_before = [&](Key const& other) {
      return how.above ? !less_(key, other) : less_(other, key);
    };
    if (slot == 0 && in.before != tree_state::none) {
      leaf_look const before = look(in.before);
      check_link(in.before, before->after, page);
      if (before->count > 0 && !is_before(before->key(before->count - 1)))
        refuse(pages_->leaves(), page);
    }
    if (slot == in.count && in.after != tree_state::none) {
      leaf_look const after = look(in.after);
      check_link(in.after, after->before, page);
      bool const is_behind = after->count == 0 ||
                             (how.is_last ? less_(key, after->key(0)) : !is_before(after->key(0)));
      if (!is_behind) refuse(pages_->leaves(), page);
    }
  }
  /// That what is to be divided is full, and its parent is not.
  void check_to_split(std::uint64_t parent, node const& above, bool is_full) const {
    if (pages_->are_checked() && (!is_full || above.count == node_capacity_))
      refuse(pages_->nodes(), parent);
  }

  // ---- search ----

  /// Whether no two entries are equal to such a key.
  template <typename K>
  bool is_one() const noexcept {
    return is_unique_ && std::is_same_v<K, Key>;
  }
  template <typename K>
  std::uint32_t lower(leaf const& in, K const& key) const {
    return count_before(in.count, [&](std::uint32_t i) { return less_(in.key(i), key); });
  }
  template <typename K>
  std::uint32_t upper(leaf const& in, K const& key) const {
    return count_before(in.count, [&](std::uint32_t i) { return !less_(key, in.key(i)); });
  }
  /// The child to go to for a key: the first one that it may be in, or the last one.
  template <typename K>
  std::uint32_t child_of(node const& in, K const& key, bool last) const {
    Key const* const keys = in.keys() + 1;
    return last ? count_before(in.count - 1, [&](std::uint32_t i) { return !less_(key, keys[i]); })
                : count_before(in.count - 1, [&](std::uint32_t i) { return less_(keys[i], key); });
  }
  node_look look_at_node(std::uint64_t page) const {
    if (root_pin_ && page == state().root) {
      node_look seen(reinterpret_cast<node const*>(root_pin_.bytes().data()));
      check_node(page, *seen);
      return seen;
    }
    check_number(pages_->nodes(), page);
    node_look seen(page_look(pages_->nodes().row(), page));
    check_node(page, *seen);
    return seen;
  }
  /// How many may be read ahead without pushing out those in use.
  std::size_t nodes_ahead() const {
    return std::min<std::size_t>(8, pages_->nodes().row().cache_pages() / 4);
  }
  template <typename K>
  std::uint64_t descend(K const& key, bool last, path* way = nullptr,
                        key_range* range = nullptr) const {
    std::uint64_t page = state().root;
    for (std::uint64_t level = 0; level < state().height; ++level) {
      node_look const seen = look_at_node(page);
      std::uint32_t const slot = child_of(*seen, key, last);
      if (way != nullptr) (*way)[level] = {page, slot};
      if (range != nullptr && pages_->are_checked()) narrow(page, *seen, slot, *range);
      page = seen->children()[slot];
    }
    return page;
  }
  /// The way to a leaf that has, or had, an entry with this key.
  bool find_way(std::uint64_t to_leaf, Key const& key, path& way, std::uint64_t page,
                std::uint64_t level) const {
    node_look const seen = look_at_node(page);
    std::uint32_t const last = child_of(*seen, key, true);
    for (std::uint32_t slot = child_of(*seen, key, false); slot <= last; ++slot) {
      way[level] = {page, slot};
      std::uint64_t const child = seen->children()[slot];
      if (level + 1 == state().height ? child == to_leaf
                                      : find_way(to_leaf, key, way, child, level + 1))
        return true;
    }
    return false;
  }
  /// Goes on to the next child of the lowest of `levels` nodes of a way, or to the one before.
  bool step(path& way, std::uint64_t levels, bool backward) const {
    if (levels == 0) return false;
    path_step& at = way[levels - 1];
    bool const is_last = backward ? at.slot == 0 : at.slot + 1 == look_at_node(at.page)->count;
    if (!is_last) {
      at.slot = backward ? at.slot - 1 : at.slot + 1;
      return true;
    }
    if (!step(way, levels - 1, backward)) return false;
    path_step const& above = way[levels - 2];
    at.page = look_at_node(above.page)->children()[above.slot];
    at.slot = backward ? look_at_node(at.page)->count - 1 : 0;
    return true;
  }
  template <typename K>
  position bound(K const& key, bool above) const {
    if (size() == 0) return {};
    key_range keys;
    std::uint64_t const page = descend(key, above || is_one<K>(), nullptr, &keys);
    leaf_look const seen = look(page);
    check_keys(page, *seen, keys);
    std::uint32_t const slot = above ? upper(*seen, key) : lower(*seen, key);
    check_edges(page, *seen, slot, key, {.above = above});
    return slot < seen->count ? position{page, slot} : first_from(seen->after, 0, page);
  }
  /// The place itself if there is an entry, or that of the next one. @param from  The leaf before
  /// it, if it was reached from there.
  position first_from(std::uint64_t page, std::uint32_t slot,
                      std::uint64_t from = tree_state::none) const {
    while (page != tree_state::none) {
      leaf_look const seen = look(page);
      if (from != tree_state::none) check_link(page, seen->before, from);
      if (slot < seen->count) return {page, slot};
      from = std::exchange(page, seen->after);
      slot = 0;
    }
    return {};
  }

  // ---- growth ----

  void put(std::uint64_t page, std::uint32_t slot, Entry const& entry) {
    change(page).insert(slot, entry);
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
  /// The leaf behind one, to be changed, if there is one.
  leaf* change_after(std::uint64_t page, leaf const& of) {
    if (of.after == tree_state::none) return nullptr;
    std::uint64_t const number = of.after;
    leaf& after = change(number);
    check_link(number, after.before, page);
    return &after;
  }
  void note_root() {
    root_pin_.release();
    if (state().height == 0) return;
    check_number(pages_->nodes(), state().root);
    root_pin_ = pages_->nodes().row().pin(state().root, state().root);
    OUTSIZE_ASSERT(state().height < path{}.size());
  }
  void forget_pages() {
    hot_ = {};
    cursors_.clear();
    note_root();
  }

  void add_first_leaf() {
    new_page page(pages_->leaves());
    begin_leaf(page.number());
    state().root = state().first_leaf = state().last_leaf = page.keep();
  }
  void add_root() {
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
    leaf* const after = change_after(left_page, left);
    leaf& right = begin_leaf(page.number());
    std::uint32_t const middle = behind_all ? left.count : left.count / 2;
    above.insert(slot + 1, behind_all ? key : left.key(middle), page.number());
    left.move_tail(middle, right);
    right.before = left_page;
    right.after = left.after;
    left.after = page.number();
    (after != nullptr ? after->before : state().last_leaf) = page.number();
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
    if (!find_way(page, key, way, state().root, 0)) return;
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
    leaf* const after = change_after(right_page, right);
    std::uint32_t const total = left.count + right.count;
    if (left.count == 0 || right.count == 0 || total <= leaf_capacity_ / 4 * 3) {
      cursors_.shift(right_page, 0, left_page, left.count);
      right.move_tail(0, left);
      left.after = right.after;
      (after != nullptr ? after->before : state().last_leaf) = left_page;
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
  };

  std::unique_ptr<tree_pages> pages_;
  std::uint32_t leaf_capacity_;
  std::uint32_t node_capacity_;
  [[no_unique_address]] Less less_;
  bool is_unique_;
  mutable tree_cursors cursors_;
  page_pin root_pin_;
  hot_leaf hot_;  // the one touched last, unless another failed to come since
};

template <typename Key, typename Entry, typename Less>
bool btree<Key, Entry, Less>::is_well_formed() const {
  if (state().root == tree_state::none) return state().size == 0;
  std::uint64_t entries = 0;
  std::uint64_t leaves = 0;
  std::uint64_t before = tree_state::none;
  Key last{};
  for (std::uint64_t page = state().first_leaf; page != tree_state::none; ++leaves) {
    leaf_look const seen = look(page);
    if (seen->before != before) return false;
    for (std::uint32_t i = 0; i < seen->count; ++i, ++entries) {
      if (entries > 0 && !is_ordered(last, seen->key(i))) return false;
      last = seen->key(i);
    }
    if (seen->count > 0) {
      path way;
      if (state().height == 0 ? page != state().root
                              : !find_way(page, seen->key(0), way, state().root, 0) ||
                                    !find_way(page, last, way, state().root, 0))
        return false;
    }
    before = page;
    page = seen->after;
  }
  return before == state().last_leaf && entries == state().size &&
         leaves == pages_->leaves().used();
}

}  // namespace outsize::detail
