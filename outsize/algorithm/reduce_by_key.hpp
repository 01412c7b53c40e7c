// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sorting in which items that compare equal become one: the first of them, or what a function makes
// of all.
//
//     sort_unique(items<word>("words"), into("different"), by(&word::hash));
//     reduce_by_key(items<tally>("tallies"), into("sums"), by(&tally::key), add_counts);
//
// Equal items are made one as early as they meet: in each chunk of memory that is sorted, and in
// every merge. So what goes to disk is at most the different items of each chunk. By the storage's
// threads; the caller waits. Layer: algorithm. How: algorithm/detail/sort/family/reduction.hpp.

#include <concepts>
#include <functional>
#include <utility>

#include <outsize/algorithm/detail/item_sort.hpp>
#include <outsize/algorithm/detail/sort/family/combining_items.hpp>
#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/item_sources.hpp>
#include <outsize/algorithm/sort.hpp>
#include <outsize/algorithm/sorter.hpp>

namespace outsize {

/// Sorts what `in` yields into `out`, and of items that compare equal keeps the first: sort with
/// options.unique, as std::sort followed by std::unique.
///
/// I/Os:    As sort, but each run has only the different items of its chunk: with K different items
///          at most K·sizeof(T) bytes for each run.
/// Memory, Threads, Errors: as sort.
/// Checked: outsize/algorithm/reduce_by_key_test.cpp.
template <item_source In, typename Out,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
  requires item_sink<Out, source_item_t<In>>
sort_report sort_unique(storage& store, In&& in, Out out, Less less = {},
                        sort_options options = {}) {
  options.unique = true;
  return sort(store, std::forward<In>(in), std::move(out), std::move(less), std::move(options));
}

/// The same on the default storage.
template <item_source In, typename Out,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
  requires item_sink<Out, source_item_t<In>>
sort_report sort_unique(In&& in, Out out, Less less = {}, sort_options options = {}) {
  return sort_unique(default_storage(), std::forward<In>(in), std::move(out), std::move(less),
                     std::move(options));
}

/// Sorts what `in` yields into `out`, with items that compare equal combined into one.
///
/// @param less     What is a key: by(&tally::key), or any strict weak order.
/// @param combine  Makes one item of two that compare equal, the former first; what it makes
/// compares equal to both. As for std::reduce it must be associative and commutative, so that it
/// does not show in which order items meet. Under in_input_order(less), and under all orders in
/// which sort keeps equal items in input order (item_order.hpp), neighbours of the input are
/// combined, and associative is enough. Sums of floating point are neither exactly: their last bits
/// may depend on memory and threads. Called from all threads of the storage at once; must not
/// throw.
///
/// I/Os:    as sort_unique.
/// CPU:     O(N log N) comparisons, and a call of `combine` for each item that is made part of
///          another.
/// Memory, Threads, Errors: as sort.
/// Checked: outsize/algorithm/reduce_by_key_test.cpp, tests/complexity/sort_io_test.cpp.
template <item_source In, typename Out,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less,
          item_combiner<source_item_t<In>> Combine>
  requires item_sink<Out, source_item_t<In>>
sort_report reduce_by_key(storage& store, In&& in, Out out, Less less, Combine combine,
                          sort_options options = {}) {
  using item = source_item_t<In>;
  auto const kind = detail::combining_kind<item>(std::move(less), std::move(combine));
  return detail::sort_items(store, kind, std::forward<In>(in), std::move(out), std::move(options));
}

/// The same on the default storage.
template <item_source In, typename Out,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less,
          item_combiner<source_item_t<In>> Combine>
  requires item_sink<Out, source_item_t<In>>
sort_report reduce_by_key(In&& in, Out out, Less less, Combine combine, sort_options options = {}) {
  return reduce_by_key(default_storage(), std::forward<In>(in), std::move(out), std::move(less),
                       std::move(combine), std::move(options));
}

}  // namespace outsize
