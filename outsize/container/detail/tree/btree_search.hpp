// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What is found in a B+-tree without changing it: entries by their keys and beside each other, and
// the ways from the root to leaves. The shape of the tree is told in btree.hpp, which changes it.
//
// Of what comes from a file it is checked that it can be, so that a damaged one leads nowhere:
// heads of pages, links of leaves, and keys that must lie between those above them. Threads: in
// company. Layer: container. Source: STXXL 2008, section 5.5.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/container/detail/tree/btree_layout.hpp>
#include <outsize/container/detail/tree/tree_cursors.hpp>
#include <outsize/container/detail/tree/tree_pages.hpp>

namespace outsize::detail {

/// An entry's place: the number of its leaf, and its index there.
struct tree_position {
  std::uint64_t leaf = tree_state::none;
  std::uint32_t slot = 0;
  bool is_end() const noexcept { return leaf == tree_state::none; }
  friend bool operator==(tree_position const&, tree_position const&) = default;
};

/// See the top of this file. `is_unique`: no two entries have equal keys.
template <typename Key, typename Entry, typename Less>
class btree_search {
 protected:
  struct path_step {
    std::uint64_t page = 0;
    std::uint32_t slot = 0;
  };
  using path = std::array<path_step, tree_pages::most_height + 1>;  // root to parent of a leaf

 public:
  using key_type = Key;
  using entry_type = Entry;
  using leaf = tree_leaf<Key, Entry>;
  using node = tree_node<Key>;
  using position = tree_position;

  static tree_layout layout(kept_kind const& kind) {
    return {kind, leaf::bytes_for(4), node::bytes_for(4), std::max(alignof(leaf), alignof(Entry))};
  }

  tree_pages const& pages() const noexcept { return *pages_; }
  tree_cursors& cursors() const noexcept { return cursors_; }
  Less const& less() const noexcept { return less_; }
  bool is_unique() const noexcept { return is_unique_; }
  std::uint64_t size() const noexcept { return state().size; }
  std::uint32_t leaf_capacity() const noexcept { return leaf_capacity_; }
  std::uint64_t first_leaf() const noexcept { return state().first_leaf; }
  std::uint64_t last_leaf() const noexcept { return state().last_leaf; }

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
  /// Checks that a walk over leaves does not go round in a circle in which all links fit: it takes
  /// no more steps than there are leaves. @throws format_error.
  void check_steps(std::uint64_t steps, std::uint64_t page) const {
    if (steps > pages_->leaves().row().end() && pages_->are_checked()) pages_->refuse("leaf", page);
  }
  /// Checks that the leaves behind one come to an end. I/Os: a read of each.
  void check_end(std::uint64_t page) const {
    std::uint64_t next = page, steps = 0;
    while ((next = look(next)->after) != tree_state::none) check_steps(++steps, page);
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
    std::uint64_t steps = 0;
    for (std::uint64_t from = tree_state::none;;) {
      check_steps(++steps, page);
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
    friend btree_search;
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
    bool const is_found = state().height == 0 || find_way(page, key, way.steps_);
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

  /// Whether everything is as it must be, for tests: reads all pages.
  bool is_well_formed() const;

 protected:
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

  btree_search(std::unique_ptr<tree_pages> pages, Less less, bool is_unique)
      : pages_(std::move(pages)),
        leaf_capacity_(leaf::capacity(pages_->leaves().row().page_bytes())),
        node_capacity_(node::capacity_of(pages_->nodes().row().page_bytes())),
        less_(std::move(less)),
        is_unique_(is_unique) {}

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
  /// Checks that the first leaf has none before it, and that its entries are in the order of this
  /// comparison. Another comparison puts about half of the neighbours out of order, a damaged key
  /// only two. Skips a leaf that is damaged, so that the others can be read. @throws format_error.
  void check_order() const {
    if (state().root == tree_state::none) return;
    std::uint64_t const page = state().first_leaf;
    leaf_look const first(pages_->leaves().row(), page);
    if (!first->can_be(page, pages_->leaves().row().end(), leaf_capacity_)) return;
    if (first->before != tree_state::none) pages_->refuse_field("first_leaf", page);
    std::uint32_t strays = 0;
    for (std::uint32_t i = 1; i < first->count; ++i)
      strays += is_ordered(first->key(i - 1), first->key(i)) ? 0 : 1;
    if (strays > 0 && strays >= first->count / 4) pages_->refuse_order();
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
  /// The way to a leaf that has, or had, an entry with this key. @pre height > 0.
  bool find_way(std::uint64_t to_leaf, Key const& key, path& way) const {
    std::uint64_t visited = 0;
    return find_way(to_leaf, key, way, {state().root, 0}, visited);
  }
  struct node_place {
    std::uint64_t page;
    std::uint64_t level;
  };
  /// The same, from a node on. @param visited  Nodes, each of which a tree leads to once.
  bool find_way(std::uint64_t to_leaf, Key const& key, path& way, node_place from,
                std::uint64_t& visited) const {
    auto const [page, level] = from;
    if (++visited > pages_->nodes().row().end() && pages_->are_checked())
      refuse(pages_->nodes(), page);
    node_look const seen = look_at_node(page);
    std::uint32_t const last = child_of(*seen, key, true);
    for (std::uint32_t slot = child_of(*seen, key, false); slot <= last; ++slot) {
      way[level] = {page, slot};
      std::uint64_t const child = seen->children()[slot];
      if (level + 1 == state().height ? child == to_leaf
                                      : find_way(to_leaf, key, way, {child, level + 1}, visited))
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
    for (std::uint64_t steps = 0; page != tree_state::none;) {
      check_steps(++steps, page);
      leaf_look const seen = look(page);
      if (from != tree_state::none) check_link(page, seen->before, from);
      if (slot < seen->count) return {page, slot};
      from = std::exchange(page, seen->after);
      slot = 0;
    }
    return {};
  }

  std::unique_ptr<tree_pages> pages_;
  std::uint32_t leaf_capacity_;
  std::uint32_t node_capacity_;
  [[no_unique_address]] Less less_;
  bool is_unique_;
  mutable tree_cursors cursors_;
  page_pin root_pin_;
};

template <typename Key, typename Entry, typename Less>
bool btree_search<Key, Entry, Less>::is_well_formed() const {
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
                              : !find_way(page, seen->key(0), way) || !find_way(page, last, way))
        return false;
    }
    before = page;
    page = seen->after;
  }
  return before == state().last_leaf && entries == state().size &&
         leaves == pages_->leaves().used();
}

}  // namespace outsize::detail
