// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/container/detail/tree/tree_cursors.hpp>

namespace outsize::detail {

tree_cursor::tree_cursor(tree_cursors& all, std::uint64_t leaf, std::uint32_t slot)
    : all_(&all), leaf_(leaf), slot_(slot) {
  link();
}

tree_cursor::tree_cursor(tree_cursor const& other)
    : all_(other.all_), leaf_(other.leaf_), slot_(other.slot_), moves_(other.moves_) {
  link();
}

tree_cursor& tree_cursor::operator=(tree_cursor const& other) {
  if (this == &other) return *this;
  unlink();
  all_ = other.all_;
  leaf_ = other.leaf_;
  slot_ = other.slot_;
  moves_ = other.moves_;
  link();
  return *this;
}

void tree_cursor::set(std::uint64_t leaf, std::uint32_t slot) {
  if (leaf != leaf_) {
    unlink();
    leaf_ = leaf;
    link();
  }
  slot_ = slot;
}

void tree_cursor::link() {
  if (is_end()) return;
  std::lock_guard const lock(all_->mutex_);
  all_->add(*this);
}

void tree_cursor::unlink() noexcept {
  if (is_end()) return;
  std::lock_guard const lock(all_->mutex_);
  all_->remove(*this);
}

void tree_cursors::add(tree_cursor& cursor) noexcept {
  tree_cursor*& first = list_of(cursor.leaf_);
  cursor.before_ = nullptr;
  cursor.after_ = first;
  if (first != nullptr) first->before_ = &cursor;
  first = &cursor;
  ++count_;
}

void tree_cursors::remove(tree_cursor& cursor) noexcept {
  (cursor.before_ != nullptr ? cursor.before_->after_ : list_of(cursor.leaf_)) = cursor.after_;
  if (cursor.after_ != nullptr) cursor.after_->before_ = cursor.before_;
  --count_;
}

void tree_cursors::shift(std::uint64_t leaf, std::uint32_t from, std::uint32_t until,
                         std::uint64_t to_leaf, std::int64_t by) {
  if (count_ == 0) return;
  std::lock_guard const lock(mutex_);
  tree_cursor* next = nullptr;
  for (tree_cursor* cursor = list_of(leaf); cursor != nullptr; cursor = next) {
    next = cursor->after_;
    if (cursor->leaf_ != leaf || cursor->slot_ < from || cursor->slot_ >= until) continue;
    cursor->slot_ = static_cast<std::uint32_t>(cursor->slot_ + by);
    if (leaf == to_leaf) continue;
    // At the front of its new list, so that none is met twice.
    remove(*cursor);
    cursor->leaf_ = to_leaf;
    ++cursor->moves_;
    add(*cursor);
  }
}

void tree_cursors::look_again(std::uint64_t leaf) {
  if (count_ == 0) return;
  std::lock_guard const lock(mutex_);
  for (tree_cursor* cursor = list_of(leaf); cursor != nullptr; cursor = cursor->after_)
    if (cursor->leaf_ == leaf) ++cursor->moves_;
}

void tree_cursors::clear() {
  std::lock_guard const lock(mutex_);
  for (tree_cursor*& first : lists_)
    while (first != nullptr) {
      tree_cursor& cursor = *first;
      remove(cursor);
      cursor.leaf_ = tree_cursor::no_leaf;
      cursor.slot_ = 0;
    }
}

}  // namespace outsize::detail
