// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// sort(in, out): from files or ranges of items, to files or output iterators.
//
//     sort(items<event>("events.bin"), into("sorted.bin"), by(&event::time));
//     sort(store, numbers, std::back_inserter(sorted), std::greater<>());
//
// By the storage's threads; the caller waits. Layer: algorithm. For items that come and go one by
// one: sorter.hpp. For lines: text/line_sort.hpp.

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <outsize/algorithm/detail/item_sort.hpp>
#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/item_sources.hpp>

namespace outsize {

/// Sorts what `in` yields into `out`. Items that compare equal keep their order, unless by(member)
/// of two-word items says otherwise (item_order.hpp).
///
/// @param in   Read once, front to back. A file whose size is no multiple of the item's is a
/// format_error.
/// @param out  Receives as many items, in order (fewer with options.unique).
///
/// I/Os:    Reads a file and writes a file once; runs on disk, memory and threads as `sorter`
///          says. From file to file there are no runs if the items are in order or in the opposite
///          order, but for some that are up to 2 MiB (or a 128th of the memory) from their
///          places, and few that are farther (docs/decisions/0037-nearly-in-order.md). Numbers
///          that lie side by side and go to a place like that, perhaps their own, are sorted there
///          if they are no more than the memory, and need none of it.
/// Disk:    As `sorter`; from file to file as sort_records.
/// Errors:  as `sorter`; after an error input files are intact and an output file is as it was
///          before; what an output iterator has received it keeps.
/// Source:  STXXL 2008, section 6.
/// Checked: outsize/algorithm/sort_test.cpp.
template <item_source In, typename Out,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
  requires item_sink<Out, source_item_t<In>>
sort_report sort(storage& store, In&& in, Out out, Less less = {}, sort_options options = {}) {
  return detail::sort_items(store, detail::kind_of<source_item_t<In>, Less>::make(std::move(less)),
                            std::forward<In>(in), std::move(out), std::move(options));
}

/// The same on the default storage.
template <item_source In, typename Out,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
  requires item_sink<Out, source_item_t<In>>
sort_report sort(In&& in, Out out, Less less = {}, sort_options options = {}) {
  return sort(default_storage(), std::forward<In>(in), std::move(out), std::move(less),
              std::move(options));
}

/// As sort; items that compare equal keep their order, without exception. I/Os: as sort.
template <item_source In, typename Out,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
  requires item_sink<Out, source_item_t<In>>
sort_report stable_sort(storage& store, In&& in, Out out, Less less = {},
                        sort_options options = {}) {
  return sort(store, std::forward<In>(in), std::move(out),
              detail::stable_order<source_item_t<In>>(std::move(less)), std::move(options));
}

/// The same on the default storage.
template <item_source In, typename Out,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
  requires item_sink<Out, source_item_t<In>>
sort_report stable_sort(In&& in, Out out, Less less = {}, sort_options options = {}) {
  return stable_sort(default_storage(), std::forward<In>(in), std::move(out), std::move(less),
                     std::move(options));
}

/// Sorts by a key that is an integer: `key` is a member or a function of an item, which is called
/// some times for each and should be cheap. It is sort(…, by(key)) under the name that the paper
/// gives it: no two items are compared, but keys are distributed by their digits; items whose keys
/// are equal come as they do there.
///
/// I/Os:    as sort; Memory, Threads, Errors too.
/// Source:  STXXL 2008, section 6.2 (there for any external vector).
/// Checked: outsize/algorithm/sort_test.cpp.
template <item_source In, typename Out, typename Key>
  requires item_sink<Out, source_item_t<In>> && detail::integer_key<Key, source_item_t<In>>
sort_report ksort(storage& store, In&& in, Out out, Key key, sort_options options = {}) {
  return sort(store, std::forward<In>(in), std::move(out), by(std::move(key)), std::move(options));
}

/// The same on the default storage.
template <item_source In, typename Out, typename Key>
  requires item_sink<Out, source_item_t<In>> && detail::integer_key<Key, source_item_t<In>>
sort_report ksort(In&& in, Out out, Key key, sort_options options = {}) {
  return ksort(default_storage(), std::forward<In>(in), std::move(out), std::move(key),
               std::move(options));
}

}  // namespace outsize
