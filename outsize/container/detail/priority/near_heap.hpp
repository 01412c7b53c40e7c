// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A small heap in which items that compare equal leave in the order in which they came.
//
// Invariant: no item comes before its parent. All comparisons of a call precede its first change,
// so an order that throws changes nothing. One thread at a time. Layer: container. Source:
// Williams: Algorithm 232, CACM 1964; with four children to a node.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>

namespace outsize::detail {

/// @tparam Before     Strict weak order: the item that leaves first comes first.
/// @tparam keeps_age  false if items that compare equal are equal bytes.
template <typename T, typename Before, bool keeps_age>
class near_heap {
 public:
  explicit near_heap(Before before) : before_(std::move(before)) {}

  bool empty() const noexcept { return entries_.empty(); }
  std::size_t size() const noexcept { return entries_.size(); }
  /// @pre !empty()
  T const& top() const noexcept { return entries_.front().item; }

  /// Returns the number of items that come out before `limit`. @throws as the order does.
  std::size_t count_before(T const& limit) const {
    return static_cast<std::size_t>(std::count_if(
        entries_.begin(), entries_.end(), [&](entry const& e) { return before_(e.item, limit); }));
  }

  void reserve(std::size_t count) { entries_.reserve(count); }
  void clear() noexcept { entries_.clear(); }

  /// @throws std::bad_alloc, or as the order does.
  void push(T const& item) {
    entry const added = new_entry(item);
    std::size_t hole = entries_.size();
    places path;
    while (hole > 0) {
      std::size_t const parent = (hole - 1) / arity;
      if (!comes_before(added, entries_[parent])) break;
      path.add(hole);
      hole = parent;
    }
    entries_.push_back(added);
    for (std::size_t const at : path.all()) entries_[at] = entries_[(at - 1) / arity];
    entries_[hole] = added;
    ++next_age_;
  }

  /// @pre !empty() @throws as the order does.
  void pop() {
    std::size_t const last = entries_.size() - 1;
    places path;  // of the least children, down from the root
    for (std::size_t first = 1; first < last; first = arity * path.back() + 1)
      path.add(least_of(first, std::min(first + arity, last)));
    // Most items that come from a leaf belong near one.
    std::size_t depth = path.size();
    while (depth > 0 && comes_before(entries_[last], entries_[path[depth - 1]])) --depth;
    std::size_t hole = 0;
    for (std::size_t i = 0; i < depth; hole = path[i++]) entries_[hole] = entries_[path[i]];
    entries_[hole] = entries_[last];
    entries_.pop_back();
  }

  /// Returns all items in the order in which they would leave. @throws as the order does.
  std::vector<T> sorted() const {
    std::vector<entry> all = entries_;
    std::sort(all.begin(), all.end(),
              [this](entry const& a, entry const& b) { return comes_before(a, b); });
    std::vector<T> items;
    items.reserve(all.size());
    for (entry const& e : all) items.push_back(e.item);
    return items;
  }
  /// Replaces all items by some of sorted(). @pre no more than there are.
  void assign_sorted(std::span<T const> items) noexcept {
    entries_.clear();
    next_age_ = 0;
    for (T const& item : items) {
      entries_.push_back(new_entry(item));
      ++next_age_;
    }
  }

 private:
  static constexpr std::size_t arity = 4;

  struct no_age {};
  struct entry {
    T item;
    [[no_unique_address]] std::conditional_t<keeps_age, std::uint64_t, no_age> age;
  };

  /// Some places from a leaf to the root, or back.
  class places {
   public:
    void add(std::size_t place) noexcept { places_[size_++] = place; }
    std::size_t size() const noexcept { return size_; }
    std::size_t back() const noexcept { return places_[size_ - 1]; }
    std::size_t operator[](std::size_t i) const noexcept { return places_[i]; }
    std::span<std::size_t const> all() const noexcept { return {places_.data(), size_}; }

   private:
    std::array<std::size_t, 32> places_;
    std::size_t size_ = 0;
  };

  entry new_entry(T const& item) const noexcept {
    if constexpr (keeps_age) {
      return {item, next_age_};
    } else {
      return {item, {}};
    }
  }
  bool comes_before(entry const& a, entry const& b) const {
    if constexpr (keeps_age) {
      if (before_(a.item, b.item)) return true;
      return a.age < b.age && !before_(b.item, a.item);
    } else {
      return before_(a.item, b.item);
    }
  }
  std::size_t least_of(std::size_t first, std::size_t end) const {
    std::size_t least = first;
    for (std::size_t i = first + 1; i < end; ++i)
      if (comes_before(entries_[i], entries_[least])) least = i;
    return least;
  }

  [[no_unique_address]] Before before_;
  std::vector<entry> entries_;
  std::uint64_t next_age_ = 0;
};

}  // namespace outsize::detail
