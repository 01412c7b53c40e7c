// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// sort(v): vectors and deques sorted where they are, by the engine of all sorts.
//
//     sort(edges);    sort(edges, by(&edge::source));    sort(v.begin() + 10, v.end(), less);
//
//   pages ─▶ chunks ─▶ runs on disk ─▶ last merge ─▶ the same pages, replaced without being read
//
// From here to other places, and from there: outsize/algorithm/sort.hpp takes vectors as ranges.
// Layer: scan.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>

#include <outsize/algorithm/detail/item_sort.hpp>
#include <outsize/algorithm/detail/sort/engine.hpp>
#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/sort.hpp>
#include <outsize/algorithm/sort_options.hpp>
#include <outsize/base/error.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/detail/array/page_window.hpp>
#include <outsize/container/detail/array/paged_items.hpp>
#include <outsize/scan/detail/walk.hpp>
#include <outsize/scan/policy.hpp>

namespace outsize {
namespace detail {

/// Copies items to where a cursor is, and goes behind them.
template <typename T>
void put_items(page_target<T>& to, std::span<T const> items) {
  while (!items.empty()) {
    to.begin_batch();
    std::size_t const count = std::min(items.size(), to.rest());
    std::ranges::copy(items.first(count), to.at());
    to.skip(count);
    items = items.subspan(count);
  }
}

/// Sorts what `fill(engine)` takes from pages, and has `put(sorted_window)` replace them. When the
/// first are being replaced nothing may be lost any more: a request to stop comes too late, and if
/// the order throws the others are replaced by what is left, in no order, before that is passed on.
template <typename Fill, typename Put>
sort_report sort_where_they_are(storage& store, item_kind const& kind, sort_options options,
                                Fill const& fill, Put const& put) {
  std::stop_source stop;
  auto stop_it = [&stop] { stop.request_stop(); };
  std::optional<std::stop_callback<decltype(stop_it)>> stop_too(std::in_place, options.stop,
                                                                stop_it);
  options.stop = stop.get_token();
  options.rewindable = false;
  auto const engine = make_item_engine(store, kind, std::move(options));
  engine->give_all_items();
  fill(*engine);
  engine->finish_input();
  auto window = engine->next();
  stop_too.reset();
  if (stop.stop_requested()) throw cancelled("sort");
  if (auto const failure = engine->failure()) std::rethrow_exception(failure);
  for (; window; window = engine->next()) {
    put(*window);
    engine->recycle(*window);
  }
  if (auto const failure = engine->failure()) std::rethrow_exception(failure);
  return engine->report();
}

/// Sorts the items between two positions.
template <typename T>
sort_report sort_pages(paged_items<T>& items, std::uint64_t begin, std::uint64_t end,
                       item_kind const& kind, sort_options options) {
  options.input_bytes = (end - begin) * sizeof(T);
  items.take_places(begin, end);
  page_target<T> to(items, begin, end, 1);
  return sort_where_they_are(
      items.row().store(), kind, std::move(options),
      [&](item_engine& engine) { fill_from_pieces(engine, page_reader<T>(items, begin, end)); },
      [&](sorted_window const& window) {
        put_items<T>(to, {reinterpret_cast<T const*>(window.data().data()), window.items});
      });
}

}  // namespace detail

/// Sorts the items of a range where they are. Items that compare equal keep their order, unless
/// by(member) of two-word items says otherwise (item_order.hpp).
///
/// @param less  Called from all threads of the storage at once; should not throw.
/// @param options  With `unique` the items that are left come first, report.output_items of them;
/// what is behind them is not known.
///
/// I/Os:    ⌈N/B⌉ reads and as many writes of pages, and the runs of a `sorter` of N items, which
///          are none if these fit in options.memory_bytes.
/// Memory:  options.memory_bytes, or what others can do without, beside the container's.
/// Disk:    N items for the runs, gone at the end.
/// Threads: the storage's.
/// Errors:  budget_error, out_of_space, cancelled, io_error, what `less` throws: all is as before.
///          In the last merge, when pages are being replaced, a request to stop comes too late. If
///          `less` throws then, the range has all of its items, in another order; with `unique` at
///          least one of each. Only an io_error then, of a run that cannot be read or a page that
///          can be neither read nor written, leaves it valid and as large as it was, with some
///          items twice and others not at all; one that `less` throws counts as such.
/// Source:  STXXL 2008, sections 5.7.2 and 6.
/// Checked: outsize/scan/sort_containers_test.cpp.
template <typename T, std::strict_weak_order<T, T> Less = std::less<>>
sort_report sort(paged_iterator<T> first, paged_iterator<T> last, Less less = {},
                 sort_options options = {}) {
  return detail::sort_pages(detail::paged_access::items(first),
                            detail::paged_access::position(first),
                            detail::paged_access::position(last),
                            detail::kind_of<T, Less>::make(std::move(less)), std::move(options));
}

/// The same of a whole vector or deque, which with options.unique is as long afterwards as there
/// are different items.
template <paged_container Container,
          std::strict_weak_order<typename Container::value_type, typename Container::value_type>
              Less = std::less<>>
sort_report sort(Container& items, Less less = {}, sort_options options = {}) {
  auto report = sort(items.begin(), items.end(), std::move(less), std::move(options));
  items.resize(report.output_items);
  return report;
}

/// As sort; items that compare equal keep their order, without exception.
template <typename T, std::strict_weak_order<T, T> Less = std::less<>>
sort_report stable_sort(paged_iterator<T> first, paged_iterator<T> last, Less less = {},
                        sort_options options = {}) {
  return sort(first, last, detail::stable_order<T>(std::move(less)), std::move(options));
}
template <paged_container Container,
          std::strict_weak_order<typename Container::value_type, typename Container::value_type>
              Less = std::less<>>
sort_report stable_sort(Container& items, Less less = {}, sort_options options = {}) {
  auto report = stable_sort(items.begin(), items.end(), std::move(less), std::move(options));
  items.resize(report.output_items);
  return report;
}

/// Sorts a vector or deque and leaves the first of items that compare equal, which is what runs
/// have of them too: sort with options.unique.
template <paged_container Container,
          std::strict_weak_order<typename Container::value_type, typename Container::value_type>
              Less = std::less<>>
sort_report sort_unique(Container& items, Less less = {}, sort_options options = {}) {
  options.unique = true;
  return sort(items, std::move(less), std::move(options));
}

/// The same calls with par in front, as other algorithms take it: all threads of the storage sort
/// in any case.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
sort_report sort(parallel_policy, Arguments&&... arguments) {
  return sort(std::forward<Arguments>(arguments)...);
}
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
sort_report stable_sort(parallel_policy, Arguments&&... arguments) {
  return stable_sort(std::forward<Arguments>(arguments)...);
}
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
sort_report sort_unique(parallel_policy, Arguments&&... arguments) {
  return sort_unique(std::forward<Arguments>(arguments)...);
}

}  // namespace outsize
