// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The first items of an order: top_k(in, out, k), as std::partial_sort_copy.
//
//     top_k(items<event>("events.bin"), into("latest"), 100, std::greater<>());
//
//   in ─► after the bound? ─no─► chunk ──full──► sort it, keep the first k: the last of them is
//            │ yes                                the bound
//            ▼
//         forgotten
//
// By the storage's threads; the caller waits. Layer: algorithm. For byte strings: top_sorter.hpp.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>

#include <outsize/algorithm/detail/input_options.hpp>
#include <outsize/algorithm/detail/item_scan.hpp>
#include <outsize/algorithm/detail/item_sort.hpp>
#include <outsize/algorithm/detail/item_writer.hpp>
#include <outsize/algorithm/detail/sort/family/typed_chunk.hpp>
#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/item_sources.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>

namespace outsize {
namespace detail {

/// Keeps the first `count` of the items that it sees. @pre capacity / 2 >= count > 0.
template <typename T, typename Family>
class first_items {
  using item = typename Family::item;

 public:
  /// Takes `bytes` of `memory`.
  first_items(Family const& family, executor& threads, grant& memory, std::size_t bytes,
              std::uint64_t count, equal_items equals)
      : family_(family), threads_(threads), chunk_(memory, bytes), count_(count), equals_(equals) {}

  void see(std::span<T const> items) {
    auto room = chunk_.room();
    std::size_t filled = 0;
    for (T const& given : items) {
      item raw;
      std::memcpy(static_cast<void*>(&raw), &given, sizeof raw);
      if (has_bound_ && !family_.before(family_.encode(raw), bound_)) continue;
      if (filled == room.size()) {
        chunk_.grow(filled);
        shrink();
        room = chunk_.room();
        filled = 0;
      }
      room[filled++] = raw;
    }
    chunk_.grow(filled);
  }

  /// The first items, in order, as they were given.
  std::span<item const> finish() { return shrink(); }

 private:
  /// Forgets all but the first items, which lie in front then.
  std::span<item const> shrink() {
    if (chunk_.count() == 0) return {};
    auto const view = chunk_.sort(family_, threads_, 1, equals_)[0];
    std::size_t const left = std::min<std::uint64_t>(view.size(), count_);
    chunk_.clear();
    std::span<item> const first = chunk_.room().first(left);
    has_bound_ = left == count_;
    if (has_bound_) bound_ = first.back();
    family_.finish(std::as_writable_bytes(first));
    chunk_.grow(left);
    return first;
  }

  Family const& family_;
  executor& threads_;
  typename Family::chunk chunk_;
  std::uint64_t count_;
  equal_items equals_;
  item bound_{};  // encoded; nothing from it on is needed
  bool has_bound_ = false;
};

/// More items than may be kept in memory: the first of what a sort yields.
template <typename In, typename Writer>
sort_report first_by_sorting(storage& store, item_kind const& kind, In&& in, Writer& out,
                             std::uint64_t count, sort_options options) {
  using item = source_item_t<In>;
  std::uint64_t written = 0;
  auto const write = [&](sorted_window const& window) {
    std::uint64_t const from_window = std::min<std::uint64_t>(window.items, count - written);
    for (std::uint64_t i = 0; i < from_window; ++i) {
      item one;
      std::memcpy(static_cast<void*>(&one), &window.data()[i * sizeof one], sizeof one);
      out.put(one);
    }
    written += from_window;
    return written < count;
  };
  sort_report report = visit_sorted(store, kind, in, std::move(options), write);
  report.output_items = written;
  return report;
}

/// Few enough: without a disk. `memory` has room for two times as many.
template <typename In, typename Family, typename Writer>
sort_report first_in_memory(storage& store, Family const& family, In&& in, Writer& out,
                            std::uint64_t count, grant& memory, sort_options const& options) {
  using item = source_item_t<In>;
  sort_report report;
  first_items<item, Family> first(family, store.threads(), memory, memory.free_bytes(), count,
                                  options.unique ? equal_items::made_one : equal_items::kept);
  scan_items(store, in, options, [&](std::span<item const> some) {
    if (options.stop.stop_requested()) throw cancelled("top_k");
    first.see(some);
    report.items += some.size();
    return true;
  });
  for (auto const& raw : first.finish()) {
    item one;
    std::memcpy(static_cast<void*>(&one), &raw, sizeof one);
    out.put(one);
    ++report.output_items;
  }
  report.input_bytes = report.items * sizeof(item);
  return report;
}

}  // namespace detail

/// Writes to `out` the first `count` items of what sort(in, out, less, options) would write.
///
/// I/Os:    Reads a file once and writes the items once. If twice as many as are wanted do not fit
///          in memory: as sort, but the output ends after `count`.
/// CPU:     O(N) comparisons with the bound, and O(R log R) for the R items that were before it
///          when they came: O(count log(N / count)) of N in random order.
/// Memory:  options.memory_bytes, or what others can do without.
/// Disk:    None, or as sort.
/// Threads: one of the storage's at a time, or as sort.
/// Errors:  as sort.
/// Checked: outsize/algorithm/top_k_test.cpp.
template <item_source In, typename Out,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
  requires item_sink<Out, source_item_t<In>>
sort_report top_k(storage& store, In&& in, Out out, std::uint64_t count, Less less = {},
                  sort_options options = {}) {
  using item = source_item_t<In>;
  bool const is_named = options.memory_bytes != 0;
  options.memory_bytes = detail::memory_beside_sink(store, options);
  auto const reading = detail::input_options(store, options);
  std::uint64_t const window_bytes = 2 * reading.block_bytes;
  std::uint64_t const other_bytes = window_bytes + io::input_stream_memory_bytes(reading);
  if (options.memory_bytes < 2 * other_bytes)
    throw budget_error("top_k", options.memory_bytes, 2 * other_bytes);
  io::input_watch inputs;
  if constexpr (detail::is_item_file<std::remove_cvref_t<In>>) {
    inputs = detail::watch_inputs({in.path}, out);
    if (detail::known_input_bytes({in.path}, options.decoding()))
      detail::require_whole_items({in.path}, sizeof(item));
  }
  auto const family = detail::family_of<item, Less>::make(less);
  grant output_memory = store.memory().take(window_bytes, "output stream");
  detail::item_writer<item, Out> writer(
      store, output_memory, std::move(out), reading.block_bytes,
      {.block_bytes = reading.block_bytes, .compress = options.compress, .inputs = inputs});
  std::uint64_t const memory_bytes = options.memory_bytes;
  sort_report report;
  if (count > (memory_bytes - other_bytes - page_bytes()) / sizeof(item) / 2) {
    options.memory_bytes = is_named ? memory_bytes - window_bytes : 0;
    report = detail::first_by_sorting(store, detail::kind_of<item, Less>::make(less), in, writer,
                                      count, std::move(options));
  } else if (count > 0) {
    // A short chunk has a bound early.
    std::uint64_t const good_bytes = std::max<std::uint64_t>(4 * count * sizeof(item), 4_MiB);
    grant memory = store.memory().take(
        round_down<std::uint64_t>(std::min(memory_bytes - other_bytes, good_bytes), page_bytes()),
        "top_k");
    report = detail::first_in_memory(store, family, in, writer, count, memory, options);
  }
  writer.finish();
  report.memory_bytes = memory_bytes;
  return report;
}

/// The same on the default storage.
template <item_source In, typename Out,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
  requires item_sink<Out, source_item_t<In>>
sort_report top_k(In&& in, Out out, std::uint64_t count, Less less = {},
                  sort_options options = {}) {
  return top_k(default_storage(), std::forward<In>(in), std::move(out), count, std::move(less),
               std::move(options));
}

}  // namespace outsize
