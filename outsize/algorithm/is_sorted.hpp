// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Whether a file or range of items is in order, and where it ceases to be.
//
//     is_sorted(items<event>("events.bin"), by(&event::time))
//
// One thread reads and compares; a file is read ahead. Layer: algorithm.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include <outsize/algorithm/detail/item_scan.hpp>
#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/item_sources.hpp>
#include <outsize/algorithm/sort_options.hpp>
#include <outsize/block/storage.hpp>

namespace outsize {
namespace detail {

/// Looks for an item that comes before the one before it, through pieces of a sequence.
template <typename T, typename Less>
class order_watch {
 public:
  explicit order_watch(Less less) : less_{std::move(less)} {}

  /// Whether `items`, which follow those before, are in order with them.
  bool follow(std::span<T const> items) {
    if (items.empty()) return true;
    if (has_last_ && less_(items.front(), last_)) return false;
    for (std::size_t i = 1; i < items.size(); ++i) {
      if (!less_(items[i], items[i - 1])) continue;
      seen_ += i;
      return false;
    }
    seen_ += items.size();
    last_ = items.back();
    has_last_ = true;
    return true;
  }

  /// Items in order so far: the index of the one that is not, once there is one.
  std::uint64_t seen() const noexcept { return seen_; }

 private:
  item_less<T, Less> less_;
  T last_{};  // of those before
  bool has_last_ = false;
  std::uint64_t seen_ = 0;
};

}  // namespace detail

/// Returns the index of the first item that comes before the one before it, or the number of items
/// if there is none.
///
/// @param in    Read once, front to back, as far as needed. Floating point under std::less or
/// std::greater is compared as sort does, by totalOrder.
/// @param options  Of these only memory_bytes and decompress count.
///
/// I/Os:    Reads a file once, as far as it is in order and what has been read ahead.
/// CPU:     O(N) comparisons.
/// Memory:  An eighth of options.memory_bytes; if there are none, half of what is free of the
///          storage's; at most 18 MiB.
/// Threads: one.
/// Errors:  io_error; format_error for a file whose size is no multiple of the item's, if it is in
///          order up to there; budget_error.
/// Checked: outsize/algorithm/is_sorted_test.cpp.
template <item_source In,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
std::uint64_t is_sorted_until(storage& store, In&& in, Less less = {},
                              sort_options const& options = {}) {
  using item = source_item_t<In>;
  detail::order_watch<item, Less> watch(std::move(less));
  detail::scan_items(store, in, options,
                     [&](std::span<item const> some) { return watch.follow(some); });
  return watch.seen();
}

/// The same on the default storage.
template <item_source In,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
std::uint64_t is_sorted_until(In&& in, Less less = {}, sort_options const& options = {}) {
  return is_sorted_until(default_storage(), std::forward<In>(in), std::move(less), options);
}

/// Returns whether no item comes before the one before it. As is_sorted_until otherwise.
template <item_source In,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
bool is_sorted(storage& store, In&& in, Less less = {}, sort_options const& options = {}) {
  using item = source_item_t<In>;
  detail::order_watch<item, Less> watch(std::move(less));
  bool in_order = true;
  detail::scan_items(store, in, options,
                     [&](std::span<item const> some) { return in_order = watch.follow(some); });
  return in_order;
}

/// The same on the default storage.
template <item_source In,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
bool is_sorted(In&& in, Less less = {}, sort_options const& options = {}) {
  return is_sorted(default_storage(), std::forward<In>(in), std::move(less), options);
}

}  // namespace outsize
