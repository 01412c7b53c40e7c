// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How the leaves and nodes of a B+-tree lie in their pages, and how keys are found in them.
//
//   leaf:  | before | after | count | number | entry 0 | entry 1 | …            entries by key
//   node:  | count | capacity | child 0 | child 1 | … | key 0 | key 1 | …
//
// Key i of a node is not above any key of child i, and not below any of child i - 1; key 0 is not
// used. Entries are copied as bytes, since users hold references to them by another type. Layer:
// container.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include <outsize/base/units.hpp>

namespace outsize::detail {

/// The number of those of `count` places, the first ones, for which `is_before` holds.
/// CPU: ⌈log2(count)⌉ calls and as many conditional moves, no jumps that could be guessed wrong.
template <typename Predicate>
std::uint32_t count_before(std::uint32_t count, Predicate is_before) {
  std::uint32_t first = 0;
  while (count > 1) {
    std::uint32_t const half = count / 2;
    first += is_before(first + half - 1) ? half : 0;
    count -= half;
  }
  return first + (count == 1 && is_before(first) ? 1 : 0);
}

/// The key of an entry: its member `first`, or itself.
template <typename Key, typename Entry>
Key const& key_of(Entry const& entry) noexcept {
  if constexpr (std::is_same_v<Key, Entry>)
    return entry;
  else
    return entry.first;
}

/// A leaf; Key is the type at the beginning of Entry.
template <typename Key, typename Entry>
class tree_leaf {
 public:
  static constexpr std::size_t bytes_for(std::size_t entries) {
    return entries_offset + entries * sizeof(Entry);
  }
  static constexpr std::uint32_t capacity(std::size_t page_bytes) {
    return static_cast<std::uint32_t>((page_bytes - entries_offset) / sizeof(Entry));
  }

  std::uint64_t before;  ///< Numbers of the leaves beside it, or tree_state::none.
  std::uint64_t after;
  std::uint32_t count;
  /// numbered() of its page, by which it is told if another one lies there; 0: not known, of one
  /// that an earlier version wrote.
  std::uint32_t number;

  static std::uint32_t numbered(std::uint64_t page) noexcept {
    return static_cast<std::uint32_t>(page + 1);
  }
  /// Whether a tree of `leaves` pages may have written this to a page, as far as its head tells.
  bool can_be(std::uint64_t page, std::uint64_t leaves, std::uint32_t most) const noexcept {
    auto const is_other = [&](std::uint64_t beside) {
      return beside == UINT64_MAX || (beside < leaves && beside != page);
    };
    bool const is_zeros = before == after && before != UINT64_MAX;
    return count <= most && is_other(before) && is_other(after) && !is_zeros &&
           (number == 0 || number == numbered(page));
  }

  std::byte const* at(std::uint32_t slot) const noexcept {
    return reinterpret_cast<std::byte const*>(this) + entries_offset + slot * sizeof(Entry);
  }
  std::byte* at(std::uint32_t slot) noexcept {
    return reinterpret_cast<std::byte*>(this) + entries_offset + slot * sizeof(Entry);
  }
  Key const& key(std::uint32_t slot) const noexcept {
    return *reinterpret_cast<Key const*>(at(slot));
  }
  Entry entry(std::uint32_t slot) const noexcept {
    Entry copy;
    std::memcpy(static_cast<void*>(&copy), at(slot), sizeof copy);
    return copy;
  }

  /// Puts an entry before that at `slot`. @pre there is room.
  void insert(std::uint32_t slot, Entry const& entry) noexcept {
    std::memmove(at(slot + 1), at(slot), (count - slot) * sizeof(Entry));
    std::memcpy(at(slot), static_cast<void const*>(&entry), sizeof entry);
    ++count;
  }
  /// The same in a copy, `to`, while this stays as it is.
  void insert(std::uint32_t slot, Entry const& entry, tree_leaf& to) const noexcept {
    std::memcpy(static_cast<void*>(&to), this, entries_offset + slot * sizeof(Entry));
    std::memcpy(to.at(slot), static_cast<void const*>(&entry), sizeof entry);
    std::memcpy(to.at(slot + 1), at(slot), (count - slot) * sizeof(Entry));
    ++to.count;
  }
  void copy(tree_leaf& to) const noexcept {
    std::memcpy(static_cast<void*>(&to), this, bytes_for(count));
  }
  /// Puts entries behind the last one. @pre there is room.
  void append(std::span<Entry const> entries) noexcept {
    std::memcpy(at(count), static_cast<void const*>(entries.data()), entries.size_bytes());
    count += static_cast<std::uint32_t>(entries.size());
  }
  void erase(std::uint32_t slot, std::uint32_t some) noexcept {
    std::memmove(at(slot), at(slot + some), (count - slot - some) * sizeof(Entry));
    count -= some;
  }
  /// Moves the entries from `slot` on behind those of `to`.
  void move_tail(std::uint32_t slot, tree_leaf& to) noexcept {
    std::memcpy(to.at(to.count), at(slot), (count - slot) * sizeof(Entry));
    to.count += count - slot;
    count = slot;
  }
  /// Moves the first `some` behind those of `to`.
  void move_head(std::uint32_t some, tree_leaf& to) noexcept {
    std::memcpy(to.at(to.count), at(0), some * sizeof(Entry));
    to.count += some;
    erase(0, some);
  }
  /// Makes room for `some` at the beginning, and moves the last ones of `from` there.
  void take_tail(std::uint32_t some, tree_leaf& from) noexcept {
    std::memmove(at(some), at(0), count * sizeof(Entry));
    std::memcpy(at(0), from.at(from.count - some), some * sizeof(Entry));
    count += some;
    from.count -= some;
  }

 private:
  static constexpr std::size_t entries_offset = round_up(std::size_t{24}, alignof(Entry));
};

/// A node.
template <typename Key>
class tree_node {
 public:
  static constexpr std::size_t bytes_for(std::size_t children) {
    return head_bytes + children * (sizeof(std::uint64_t) + sizeof(Key)) + alignof(Key);
  }
  static constexpr std::uint32_t capacity_of(std::size_t page_bytes) {
    return static_cast<std::uint32_t>((page_bytes - bytes_for(0)) /
                                      (sizeof(std::uint64_t) + sizeof(Key)));
  }

  std::uint32_t count;
  std::uint32_t capacity;

  /// Whether a tree may have written this, as far as its head tells.
  bool can_be(std::uint32_t most) const noexcept {
    return capacity == most && count > 0 && count <= most;
  }

  std::uint64_t const* children() const noexcept {
    return reinterpret_cast<std::uint64_t const*>(this + 1);
  }
  std::uint64_t* children() noexcept { return reinterpret_cast<std::uint64_t*>(this + 1); }
  Key const* keys() const noexcept { return reinterpret_cast<Key const*>(keys_address()); }
  Key* keys() noexcept { return reinterpret_cast<Key*>(const_cast<std::byte*>(keys_address())); }

  /// Puts a child before that at `slot`. @pre there is room.
  void insert(std::uint32_t slot, Key const& key, std::uint64_t child) noexcept {
    std::memmove(children() + slot + 1, children() + slot, (count - slot) * sizeof(std::uint64_t));
    std::memmove(keys() + slot + 1, keys() + slot, (count - slot) * sizeof(Key));
    children()[slot] = child;
    keys()[slot] = key;
    ++count;
  }
  void append(Key const& key, std::uint64_t child) noexcept { insert(count, key, child); }
  void erase(std::uint32_t slot, std::uint32_t some = 1) noexcept {
    std::uint32_t const behind = count - slot - some;
    std::memmove(children() + slot, children() + slot + some, behind * sizeof(std::uint64_t));
    std::memmove(keys() + slot, keys() + slot + some, behind * sizeof(Key));
    count -= some;
  }
  /// Makes room for `some` children at the beginning, and moves the last ones of `from` there.
  void take_tail(std::uint32_t some, tree_node& from) noexcept {
    std::memmove(children() + some, children(), count * sizeof(std::uint64_t));
    std::memmove(keys() + some, keys(), count * sizeof(Key));
    count += some;
    from.count -= some;
    std::memcpy(children(), from.children() + from.count, some * sizeof(std::uint64_t));
    std::memcpy(keys(), from.keys() + from.count, some * sizeof(Key));
  }
  /// Copies `some` of its children, from `slot` on, behind those of `to`.
  void copy(std::uint32_t slot, std::uint32_t some, tree_node& to) const noexcept {
    std::memcpy(to.children() + to.count, children() + slot, some * sizeof(std::uint64_t));
    std::memcpy(to.keys() + to.count, keys() + slot, some * sizeof(Key));
    to.count += some;
  }

 private:
  static constexpr std::size_t head_bytes = 2 * sizeof(std::uint32_t);

  std::byte const* keys_address() const noexcept {
    return reinterpret_cast<std::byte const*>(this) +
           round_up(head_bytes + capacity * sizeof(std::uint64_t), alignof(Key));
  }
};

}  // namespace outsize::detail
