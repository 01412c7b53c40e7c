// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// sort(in, out): sorts items from a file or a range to a file or an output iterator.
//
//     sort(items<event>("events.bin"), into("sorted.bin"), by(&event::time));
//     sort(store, numbers, std::back_inserter(sorted), std::greater<>());
//
// Invariant: an output file appears only when it is complete. The storage's threads work; the
// caller waits. Layer: algorithm. For items that come and go one by one: sorter.hpp. For lines:
// text/line_sort.hpp.

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <outsize/algorithm/detail/item_sort.hpp>
#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/item_sources.hpp>

namespace outsize {

/// Sorts the items of `in` into `out`. Items that compare equal keep their order, except two-word
/// items under by(member) (item_order.hpp).
///
/// @param in   Read once, front to back, except as I/Os says. A file whose size is not a multiple
/// of the item size is a format_error.
/// @param out  Receives the same number of items, in order (fewer with options.unique).
///
/// I/Os:    Reads a file and writes a file once; runs on disk, memory and threads as `sorter`
///          says. Two cases take less without options.unique. From one regular file to another (or
///          itself), neither compressed, there are no runs if the items are in order or in the
///          opposite order. Some may still be up to 2 MiB (or a 128th of the memory) from their
///          places, and a few farther (docs/decisions/0037-nearly-in-order.md). Such a copy begins
///          with a sample; if it is given up, the input is read again. Contiguous numbers that fit
///          the memory are sorted in their contiguous destination (possibly the input itself),
///          using no memory of the budget.
/// Disk:    As `sorter`; from file to file as sort_records.
/// Errors:  As `sorter`. After an error input files are intact and an output file is as it was
///          before; an output iterator keeps the items that it has received.
/// Source:  STXXL 2008, section 6.
/// Checked: outsize/algorithm/sort_test.cpp.
template <item_source In, typename Out,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
  requires item_sink<Out, source_item_t<In>>
sort_report sort(storage& store, In&& in, Out out, Less less = {}, sort_options options = {}) {
  return detail::sort_items(store, detail::kind_of<source_item_t<In>, Less>::make(std::move(less)),
                            std::forward<In>(in), std::move(out), std::move(options));
}

/// Does the same on the default storage.
template <item_source In, typename Out,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
  requires item_sink<Out, source_item_t<In>>
sort_report sort(In&& in, Out out, Less less = {}, sort_options options = {}) {
  return sort(default_storage(), std::forward<In>(in), std::move(out), std::move(less),
              std::move(options));
}

/// Sorts as sort does, but items that compare equal always keep their order. I/Os: as sort.
template <item_source In, typename Out,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
  requires item_sink<Out, source_item_t<In>>
sort_report stable_sort(storage& store, In&& in, Out out, Less less = {},
                        sort_options options = {}) {
  return sort(store, std::forward<In>(in), std::move(out),
              detail::stable_order<source_item_t<In>>(std::move(less)), std::move(options));
}

/// Does the same on the default storage.
template <item_source In, typename Out,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
  requires item_sink<Out, source_item_t<In>>
sort_report stable_sort(In&& in, Out out, Less less = {}, sort_options options = {}) {
  return stable_sort(default_storage(), std::forward<In>(in), std::move(out), std::move(less),
                     std::move(options));
}

/// Sorts by an integer key. `key` is a member or a function of an item; it is called several times
/// for each item and should be cheap. This is sort(…, by(key)) under the name that the paper gives
/// it. No two items are compared; their keys are distributed by digits. Items with equal keys come
/// in the same order as from sort.
///
/// I/Os:    as sort; Memory, Threads, Errors too.
/// Source:  STXXL 2008, section 6.2 (there for any external vector).
/// Checked: outsize/algorithm/sort_test.cpp.
template <item_source In, typename Out, typename Key>
  requires item_sink<Out, source_item_t<In>> && detail::integer_key<Key, source_item_t<In>>
sort_report ksort(storage& store, In&& in, Out out, Key key, sort_options options = {}) {
  return sort(store, std::forward<In>(in), std::move(out), by(std::move(key)), std::move(options));
}

/// Does the same on the default storage.
template <item_source In, typename Out, typename Key>
  requires item_sink<Out, source_item_t<In>> && detail::integer_key<Key, source_item_t<In>>
sort_report ksort(In&& in, Out out, Key key, sort_options options = {}) {
  return ksort(default_storage(), std::forward<In>(in), std::move(out), std::move(key),
               std::move(options));
}

}  // namespace outsize
