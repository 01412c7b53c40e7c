// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Iterators over the entries of a B+-tree, which stay at their entries when others come and go,
// and read ahead when they go on from leaf to leaf.
//
// Going on to a second leaf and further in one direction begins to read those behind it: first two,
// then twice as many each time. Threads: constant ones in company; others alone. Layer: container.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/container/detail/tree/btree.hpp>
#include <outsize/container/detail/tree/map_item.hpp>
#include <outsize/container/detail/tree/tree_cursors.hpp>

namespace outsize::detail {

/// What a scan has begun to read behind where it is.
class tree_read_ahead {
 public:
  /// To be called when the scan comes to another leaf. @param key  Of that leaf.
  template <typename Tree>
  void leaf_entered(Tree const& tree, typename Tree::key_type const& key, bool backward) {
    if (backward != is_backward_) {
      *this = {};
      is_backward_ = backward;
      return;
    }
    if (expected_ > 0) --expected_;
    if (expected_ > last_) return;
    some_ = std::clamp<std::size_t>(2 * some_, 2, tree.pages().scan_leaves());
    std::size_t const before = expected_;
    expected_ = tree.prefetch_beside(key, backward, before + some_);
    last_ = expected_ - std::min(before, expected_);
  }

 private:
  bool is_backward_ = false;
  std::size_t expected_ = 0;  // leaves behind this one that are on their way,
  std::size_t last_ = 0;      // and how many of them were asked for last
  std::size_t some_ = 0;      // to be asked for at once
};

}  // namespace outsize::detail

namespace outsize {

template <typename Key, typename Value, typename Less, bool is_unique>
class ordered_container;

/// A place in a map or set that can be read, and follows its entry wherever it is moved to. The
/// entry is a value, so that nothing can change while it is looked at. Valid until its entry is
/// erased.
template <typename Tree>
class tree_const_iterator {
 public:
  using iterator_concept = std::bidirectional_iterator_tag;
  using iterator_category = std::bidirectional_iterator_tag;
  using value_type = typename Tree::entry_type;
  using difference_type = std::ptrdiff_t;
  using reference = value_type;

  class pointer {
   public:
    explicit pointer(value_type const& entry) : entry_(entry) {}
    value_type const* operator->() const noexcept { return &entry_; }

   private:
    value_type entry_;
  };

  tree_const_iterator() = default;

  /// @throws io_error, where the entry's leaf is not in memory.
  value_type operator*() const { return leaf().entry(at_.slot()); }
  pointer operator->() const { return pointer(**this); }

  /// Steps throw io_error where a leaf cannot be read: the iterator stays where it was.
  tree_const_iterator& operator++() {
    if (at_.slot() + 1 < leaf().count) {
      at_.set_slot(at_.slot() + 1);
      return *this;
    }
    std::uint64_t page = at_.leaf();
    do page = beside(page, false);
    while (page != detail::tree_state::none && look_at(page).count == 0);
    enter(page, 0, false);
    return *this;
  }
  tree_const_iterator& operator--() {
    if (has_neighbour_before()) {
      at_.set_slot(at_.slot() - 1);
      return *this;
    }
    if (at_.is_end()) let_go();
    std::uint64_t page = at_.is_end() ? tree_->pages().state().last_leaf : beside(at_.leaf(), true);
    while (look_at(page).count == 0) page = beside(page, true);
    enter(page, look_at(page).count - 1, true);
    return *this;
  }
  tree_const_iterator operator++(int) {
    tree_const_iterator const before = *this;
    ++*this;
    return before;
  }
  tree_const_iterator operator--(int) {
    tree_const_iterator const before = *this;
    --*this;
    return before;
  }

  friend bool operator==(tree_const_iterator const& a, tree_const_iterator const& b) noexcept {
    return a.at_ == b.at_;
  }

 private:
  template <typename, typename, typename, bool>
  friend class ordered_container;
  template <typename>
  friend class tree_iterator;
  template <typename>
  friend class tree_reverse_iterator;
  using leaf_type = typename Tree::leaf;
  using leaf_look = typename Tree::leaf_look;

  tree_const_iterator(Tree const& tree, detail::tree_position at)
      : tree_(&tree), at_(tree.cursors(), at.leaf, at.slot) {}

  detail::tree_position position() const noexcept { return {at_.leaf(), at_.slot()}; }
  /// Whether the entry before this one is in the same leaf, if there is one at all.
  bool has_neighbour_before() const noexcept { return !at_.is_end() && at_.slot() > 0; }
  value_type entry_before() const {
    if (has_neighbour_before()) return leaf().entry(at_.slot() - 1);
    tree_const_iterator before = *this;
    return *--before;
  }

  leaf_type const& leaf() const {
    if (at_.is_end()) [[unlikely]]
      stop_at_end();
    return look_at(at_.leaf());
  }
  /// No loop over a sound container goes on there.
  void stop_at_end() const {
    OUTSIZE_ASSERT(tree_ != nullptr && tree_->pages().are_checked());
    tree_->pages().refuse_range();
  }
  /// The page stays pinned until another one is looked at, or the entry has moved.
  ///
  /// Invariant: what is pinned is used again only as the entry's own leaf, which is in its page
  /// until at_.moves() says otherwise. So a step looks at that first, before it looks at others; at
  /// the end, where there is none, and pages may have been given up and taken anew, it lets go.
  leaf_type const& look_at(std::uint64_t page) const {
    if (seen_ != page || moves_ != at_.moves()) {
      let_go();
      look_ = std::make_shared<leaf_look const>(tree_->look(page));
      content_ = &**look_;
      if (look_->is_pinned()) seen_ = page;
      moves_ = at_.moves();
    }
    return *content_;
  }
  /// Lets another page have the room.
  void let_go() const noexcept {
    seen_ = detail::tree_state::none;
    look_.reset();
  }
  /// The leaf behind one, or before it, if there is one.
  std::uint64_t beside(std::uint64_t page, bool backward) const {
    leaf_type const& here = look_at(page);
    std::uint64_t const next = backward ? here.before : here.after;
    if (next == detail::tree_state::none) return next;
    leaf_type const& there = look_at(next);
    tree_->check_link(next, backward ? there.after : there.before, page);
    if (tree_->pages().are_checked() && ++crossed_ > tree_->pages().leaves().row().end()) {
      tree_->check_end(next);  // more leaves than there are: or some of them are new
      crossed_ = 0;
    }
    return next;
  }
  /// Stays where it is if that fails.
  void enter(std::uint64_t page, std::uint32_t slot, bool backward) {
    if (page != detail::tree_state::none)
      ahead_.leaf_entered(*tree_, look_at(page).key(slot), backward);
    at_.set(page, slot);
    if (at_.is_end()) let_go();
  }

  Tree const* tree_ = nullptr;
  detail::tree_cursor at_;
  mutable std::shared_ptr<leaf_look const> look_;  // at what was looked at last
  mutable leaf_type const* content_ = nullptr;
  mutable std::uint64_t seen_ = detail::tree_state::none;  // its page, if it is pinned
  mutable std::uint32_t moves_ = 0;
  mutable std::uint64_t crossed_ = 0;  // leaves gone past since it was last known that they end
  detail::tree_read_ahead ahead_;
};

/// A place in a map whose value can be changed. Otherwise as tree_const_iterator; the leaf counts
/// as changed as soon as the entry is looked at. A reference is valid until live_leaves() - 1
/// others have been touched, or something is inserted or erased. It can still be read, but not
/// written to, after up to two insertions.
template <typename Tree>
class tree_iterator {
 public:
  using iterator_category = std::bidirectional_iterator_tag;
  using value_type = typename Tree::entry_type;
  using difference_type = std::ptrdiff_t;
  using reference =
      map_item<typename Tree::key_type const, decltype(std::declval<value_type>().second)>&;
  using pointer = std::remove_reference_t<reference>*;

  tree_iterator() = default;
  operator tree_const_iterator<Tree>() const { return at_; }

  /// @throws io_error, where the entry's leaf is not in memory.
  reference operator*() const {
    auto const at = at_.position();
    OUTSIZE_ASSERT(!at.is_end());
    return *reinterpret_cast<pointer>(tree_->lend(at));
  }
  pointer operator->() const { return &**this; }

  tree_iterator& operator++() {
    ++at_;
    return *this;
  }
  tree_iterator& operator--() {
    --at_;
    return *this;
  }
  tree_iterator operator++(int) {
    tree_iterator const before = *this;
    ++at_;
    return before;
  }
  tree_iterator operator--(int) {
    tree_iterator const before = *this;
    --at_;
    return before;
  }

  friend bool operator==(tree_iterator const& a, tree_iterator const& b) noexcept {
    return a.at_ == b.at_;
  }

 private:
  template <typename, typename, typename, bool>
  friend class ordered_container;
  template <typename>
  friend class tree_reverse_iterator;
  tree_iterator(Tree& tree, detail::tree_position at) : tree_(&tree), at_(tree, at) {}

  reference entry_before() const {
    if (!at_.has_neighbour_before()) return *--tree_iterator(*this);
    auto const at = at_.position();
    return *reinterpret_cast<pointer>(tree_->lend({at.leaf, at.slot - 1}));
  }

  Tree* tree_ = nullptr;
  tree_const_iterator<Tree> at_;
};

/// Either of both backward, as std::reverse_iterator: that one makes another iterator for each
/// entry that is looked at, this one for each leaf. At the entry in front of base(), whichever that
/// is; valid as long as base() is.
template <typename Iterator>
class tree_reverse_iterator {
 public:
  using iterator_type = Iterator;
  using iterator_category = std::bidirectional_iterator_tag;
  using iterator_concept = std::bidirectional_iterator_tag;
  using value_type = typename Iterator::value_type;
  using difference_type = typename Iterator::difference_type;
  using reference = typename Iterator::reference;
  using pointer = typename Iterator::pointer;

  tree_reverse_iterator() = default;
  explicit tree_reverse_iterator(Iterator base) : base_(std::move(base)) {}
  template <typename Other>
    requires(!std::same_as<Other, Iterator> && std::convertible_to<Other const&, Iterator>)
  tree_reverse_iterator(tree_reverse_iterator<Other> const& other) : base_(other.base()) {}

  Iterator const& base() const noexcept { return base_; }

  /// Errors are as the iterator's.
  reference operator*() const { return base_.entry_before(); }
  pointer operator->() const {
    if constexpr (std::is_reference_v<reference>) {
      return &**this;
    } else {
      return pointer(**this);
    }
  }

  tree_reverse_iterator& operator++() {
    --base_;
    return *this;
  }
  tree_reverse_iterator& operator--() {
    ++base_;
    return *this;
  }
  tree_reverse_iterator operator++(int) { return tree_reverse_iterator(base_--); }
  tree_reverse_iterator operator--(int) { return tree_reverse_iterator(base_++); }

  friend bool operator==(tree_reverse_iterator const& a, tree_reverse_iterator const& b) noexcept {
    return a.base_ == b.base_;
  }

 private:
  Iterator base_;
};

}  // namespace outsize
