// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The item of a rank, without a sort: nth_element(in, n).
//
//     auto const median = nth_element(items<double>("times"), 500'000'000);
//
// One thread reads and compares; a file is read ahead. Layer: algorithm. How: rank_search.hpp.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <outsize/algorithm/detail/input_options.hpp>
#include <outsize/algorithm/detail/item_scan.hpp>
#include <outsize/algorithm/detail/item_sort.hpp>
#include <outsize/algorithm/detail/rank_search.hpp>
#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/item_sources.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>

namespace outsize {
namespace detail {

[[noreturn]] inline void throw_no_such_rank(std::uint64_t rank, std::uint64_t items) {
  throw std::invalid_argument(fmt::format("nth_element: no item {} among {}", rank, items));
}

/// Sorts, and looks for the place: of what cannot be read twice.
template <typename T, typename In>
T nth_by_sorting(storage& store, item_kind const& kind, In&& in, std::uint64_t rank,
                 sort_options options) {
  std::uint64_t before = 0;
  std::optional<T> found;
  visit_sorted(store, kind, in, std::move(options), [&](sorted_window const& window) {
    if (rank - before < window.items)
      std::memcpy(static_cast<void*>(&found.emplace()), &window.data()[(rank - before) * sizeof(T)],
                  sizeof(T));
    before += window.items;
    return !found;
  });
  if (!found) throw_no_such_rank(rank, before);
  return *found;
}

/// Goes over `in` until the item is found.
template <typename T, typename Family, typename In>
T nth_by_passes(storage& store, Family const& family, In&& in, std::uint64_t rank,
                sort_options options) {
  using search = rank_search<Family>;
  options.memory_bytes = memory_of(store, options);
  std::uint64_t const memory_bytes = options.memory_bytes;
  std::uint64_t const stream_bytes = io::input_stream_memory_bytes(input_options(store, options));
  std::uint64_t const least =
      stream_bytes + round_up(64 * sizeof(typename search::entry), page_bytes());
  if (memory_bytes < least) throw budget_error("nth_element", memory_bytes, least);
  grant memory = store.memory().take(memory_bytes - stream_bytes, "nth_element");
  buffer const room = memory.allocate(round_down<std::size_t>(memory.total_bytes(), page_bytes()));
  search ranks(family,
               {reinterpret_cast<typename search::entry*>(room.data()),
                room.size() / sizeof(typename search::entry)},
               rank);
  for (;;) {
    ranks.begin_pass();
    scan_items(store, in, options, [&](std::span<T const> some) {
      if (options.stop.stop_requested()) throw cancelled("nth_element");
      for (T const& item : some) ranks.add(item);
      return true;
    });
    if (rank >= ranks.seen()) throw_no_such_rank(rank, ranks.seen());
    if (auto const found = ranks.end_pass()) {
      T item;
      std::memcpy(static_cast<void*>(&item), &*found, sizeof item);
      return item;
    }
  }
}

}  // namespace detail

/// Returns the item that sort(in, out, less) would put at place `rank`, from 0.
///
/// @param in  A file or a forward range is read several times and must stay the same meanwhile.
/// What can be read only once, a pipe, standard input or an input range, is sorted instead.
///
/// I/Os:    Two passes over a file in nearly all cases, at most 2·⌈N/B⌉ reads of B bytes then; more
///          if there are more than (M/s)^1.5 / 6 items, for items that take s bytes with a place of
///          8. One if the items fit in memory. Writes nothing.
/// CPU:     O(N) comparisons, expected.
/// Memory:  options.memory_bytes, or what others can do without.
/// Disk:    None; as sort for what can be read only once.
/// Threads: one.
/// Errors:  std::invalid_argument if there are not so many items; io_error, format_error,
///          budget_error, cancelled.
/// Source:  Floyd, Rivest: Expected time bounds for selection, 1975.
/// Checked: outsize/algorithm/nth_element_test.cpp.
template <item_source In,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
source_item_t<In> nth_element(storage& store, In&& in, std::uint64_t rank, Less less = {},
                              sort_options const& options = {}) {
  using item = source_item_t<In>;
  if constexpr (repeatable_source<In>) {
    bool repeats = true;
    if constexpr (detail::is_item_file<std::remove_cvref_t<In>>) {
      auto const bytes = detail::known_input_bytes({in.path}, options.decoding());
      repeats = bytes.has_value();
      if (bytes) detail::require_whole_items({in.path}, sizeof(item));
    }
    auto const family = detail::family_of<item, Less>::make(less);
    if (repeats) return detail::nth_by_passes<item>(store, family, in, rank, options);
  }
  return detail::nth_by_sorting<item>(store, detail::kind_of<item, Less>::make(std::move(less)), in,
                                      rank, options);
}

/// The same on the default storage.
template <item_source In,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
source_item_t<In> nth_element(In&& in, std::uint64_t rank, Less less = {},
                              sort_options const& options = {}) {
  return nth_element(default_storage(), std::forward<In>(in), rank, std::move(less), options);
}

}  // namespace outsize
