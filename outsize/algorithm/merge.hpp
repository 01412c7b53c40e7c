// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// merge({a, b, …}, out): any number of sorted files, or of sorted ranges, into one.
//
//     merge({items<event>("monday"), items<event>("tuesday")}, into("week"), by(&event::time));
//
// Files are read ahead through buffers of their own. What is at hand of all inputs, up to the first
// end of a piece, is merged in one round by all threads (merge_round.hpp); each item is compared
// with the one before it, so that an input that is not sorted is found.
// Layer: algorithm. For lines and records: file_merge.hpp.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <outsize/algorithm/detail/file_merge.hpp>
#include <outsize/algorithm/detail/input_options.hpp>
#include <outsize/algorithm/detail/item_scan.hpp>
#include <outsize/algorithm/detail/item_sort.hpp>
#include <outsize/algorithm/detail/item_writer.hpp>
#include <outsize/algorithm/detail/record_output.hpp>
#include <outsize/algorithm/detail/sort/family/reduction.hpp>
#include <outsize/algorithm/detail/sort/family/typed_items.hpp>
#include <outsize/algorithm/detail/sort/merge_round.hpp>
#include <outsize/algorithm/detail/sort/window_writer.hpp>
#include <outsize/algorithm/is_sorted.hpp>
#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/item_sources.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/kernel/detail/item_sequence.hpp>

namespace outsize {
namespace detail {

[[noreturn]] inline void throw_not_sorted(std::string const& name, std::uint64_t index) {
  throw format_error(
      fmt::format("{}: not sorted: item {} comes before item {}", name, index, index - 1));
}

/// The items of a range in pieces, as item_reader yields those of a file.
template <external_item T, std::ranges::input_range Range>
class range_reader {
  static_assert(!std::is_same_v<T, bool>, "bool cannot be merged; merge std::uint8_t instead");

 public:
  /// `range` must outlive it. `number`: of the input, for messages.
  range_reader(Range& range, std::size_t number)
      : at_(std::ranges::begin(range)),
        end_(std::ranges::end(range)),
        name_(fmt::format("input {}", number)) {}

  std::span<T const> next() {
    some_.clear();
    for (; at_ != end_ && some_.size() < piece_items; ++at_) some_.push_back(*at_);
    return some_;
  }
  std::string const& name() const noexcept { return name_; }

 private:
  // So many that a round is worth its beginning.
  static constexpr std::size_t piece_items = std::max<std::size_t>(64, 32_KiB / sizeof(T));

  std::ranges::iterator_t<Range> at_;
  std::ranges::sentinel_t<Range> end_;
  std::vector<T> some_;
  std::string name_;
};

template <external_item T, range_in_pieces Range>
class range_reader<T, Range> {
 public:
  range_reader(Range& range, std::size_t number)
      : pieces_(range.pieces()), name_(fmt::format("input {}", number)) {}

  std::span<T const> next() {
    pieces_.skip(shown_);
    auto const some = pieces_.empty() ? std::span<T const>() : pieces_.pull();
    shown_ = some.size();
    return some;
  }
  std::string const& name() const noexcept { return name_; }

 private:
  decltype(std::declval<Range&>().pieces()) pieces_;
  std::size_t shown_ = 0;
  std::string name_;
};

/// How items are compared where they lie: numbers as they are, floating point by totalOrder.
template <typename T, typename Less>
using merge_family = std::conditional_t<ordered_number<T, Less> && std::is_floating_point_v<T>,
                                        typed_items<T, item_less<T, Less>>, typed_items<T, Less>>;

/// Sorted inputs, of each of which one piece is at hand, as sequences that are merged in rounds.
template <typename T, typename Less, typename Reader>
class merge_inputs {
 public:
  using family = merge_family<T, Less>;
  using round = merge_round<family>;

  /// `items`, `threads` and `less` must outlive it. Readers are at their beginning.
  merge_inputs(family const& items, executor& threads, Less const& less,
               std::vector<std::unique_ptr<Reader>> readers)
      : family_(items), threads_(threads), sequences_(readers.size()) {
    for (auto& reader : readers) inputs_.push_back({std::move(reader), order_watch<T, Less>(less)});
  }

  /// What comes before all that is not at hand; without items at the end. @throws what the readers
  /// do; format_error naming input and item if one is not sorted.
  round next_round() {
    for (std::size_t s = 0; s < inputs_.size(); ++s)
      if (sequences_[s].size() == 0 && !inputs_[s].is_at_end) fetch(s);
    round r(family_, threads_, std::span<item_sequence<view> const>(sequences_));
    std::optional<std::size_t> bound;
    auto const last = [&](std::size_t s) { return sequences_[s].key(sequences_[s].size() - 1); };
    for (std::size_t s = 0; s < inputs_.size(); ++s)
      if (!inputs_[s].is_at_end && (!bound || family_.less()(last(s), last(*bound)))) bound = s;
    if (bound) r.restrict_to_before(last(*bound), *bound);
    return r;
  }

  /// The items that `r`, perhaps restricted further, still has are merged: lets go of them.
  void consume(round const& r) {
    for (std::size_t s = 0; s < sequences_.size(); ++s) sequences_[s].consume(r.limit(s));
  }

 private:
  using view = typename family::view;

  struct input {
    std::unique_ptr<Reader> reader;  // at a fixed address, as what it shows may lie in it
    order_watch<T, Less> watch;
    bool is_at_end = false;
  };

  void fetch(std::size_t s) {
    input& in = inputs_[s];
    auto const some = in.reader->next();
    in.is_at_end = some.empty();
    if (!in.watch.follow(some)) throw_not_sorted(in.reader->name(), in.watch.seen());
    sequences_[s].append(view(some));
  }

  family const& family_;
  executor& threads_;
  std::vector<item_sequence<view>> sequences_;
  std::vector<input> inputs_;
};

/// Windows of `bytes`, or as long as one item takes that begins anywhere in a page.
template <typename T>
std::size_t merge_window_bytes(std::size_t bytes) noexcept {
  return std::max(bytes, round_up(sizeof(T), page_bytes()) + page_bytes());
}

/// Merges what readers yield into `out`, by all threads.
template <typename T, typename Less, typename Reader, typename Out>
sort_report merge_into(storage& store, std::vector<std::unique_ptr<Reader>> readers,
                       Less const& less, item_writer<T, Out>& out, sort_options const& options) {
  sort_report report;
  merge_family<T, Less> const family({less});
  merge_inputs<T, Less, Reader> inputs(family, store.threads(), less, std::move(readers));
  window_writer writer(family, store.threads(), {},
                       options.unique ? equal_items::made_one : equal_items::kept);
  for (auto round = inputs.next_round(); round.items() > 0; round = inputs.next_round()) {
    if (options.stop.stop_requested()) throw cancelled("merge");
    auto const done = writer.write(round, out.room());
    inputs.consume(round);
    out.used(done.bytes);
    report.items += round.items();
    report.output_items += done.items;
    if (options.on_progress)
      options.on_progress({sort_progress::phase::writing_output, report.items * sizeof(T),
                           options.input_bytes.value_or(0)});
  }
  out.finish();
  report.input_bytes = report.items * sizeof(T);
  return report;
}

/// More files than a merge may have open at once, or has memory for: sorts them. Equal items stay
/// in the order of the inputs, so the result is the same.
template <typename T, typename Less, typename Out>
sort_report merge_by_sorting(storage& store, std::vector<std::string> const& paths, Out out,
                             Less less, sort_options options) {
  auto const inputs = watch_inputs(paths, out);
  auto const order = stable_order<T>(less);
  using stable = kind_of<T, std::remove_const_t<decltype(order)>>;
  item_sort sort(store, stable::make(order), std::move(options), sort_input::file);
  auto const fill = [&] {
    for (std::string const& path : paths) {
      order_watch<T, Less> watch(less);
      sort.fill_from(path, [&](std::span<std::byte const> some) {
        if (!watch.follow({reinterpret_cast<T const*>(some.data()), some.size() / sizeof(T)}))
          throw_not_sorted(path, watch.seen());
      });
    }
  };
  return sort_through<T>(sort, std::move(out), fill, &inputs);
}

template <typename T, typename Less, typename Out>
sort_report merge_files_of_items(storage& store, std::vector<std::string> const& paths, Out out,
                                 Less less, sort_options options) {
  auto const inputs = watch_inputs(paths, out);
  auto const known = known_input_bytes(paths, options.decoding());
  if (known) require_whole_items(paths, sizeof(T));
  if (!options.input_bytes) options.input_bytes = known;
  sort_options const given = options;
  options.memory_bytes = std::same_as<Out, output_path> ? memory_of(store, options)
                                                        : memory_beside_sink(store, options);
  require_sort_memory(options.memory_bytes);
  auto const division = divide_for_merge(store, options.memory_bytes, {paths, {}}, options);
  if (!division) return merge_by_sorting<T>(store, paths, std::move(out), std::move(less), given);

  grant memory = store.memory().take(options.memory_bytes, "merge");
  std::vector<std::unique_ptr<io::input_stream>> streams;
  std::vector<std::unique_ptr<item_reader<T>>> readers;
  for (std::string const& path : paths) {
    streams.push_back(block::open_input(store, path, memory, division->reading));
    readers.push_back(std::make_unique<item_reader<T>>(*streams.back()));
  }
  std::size_t const block_bytes = division->reading.block_bytes;
  item_writer<T, Out> output(
      store, memory, std::move(out), merge_window_bytes<T>(division->window_bytes),
      {.block_bytes = block_bytes, .compress = options.compress, .inputs = inputs});
  sort_report report = merge_into<T>(store, std::move(readers), less, output, options);
  report.memory_bytes = options.memory_bytes;
  report.block_bytes = block_bytes;
  return report;
}

template <typename T, typename Less, typename Ins, typename Out>
sort_report merge_ranges(storage& store, Ins&& ins, Out out, Less less, sort_options options) {
  using range = std::remove_reference_t<std::ranges::range_reference_t<Ins>>;
  using reader = range_reader<T, range>;
  std::size_t const window_bytes = merge_window_bytes<T>(input_options(store, options).block_bytes);
  grant memory = store.memory().take(2 * window_bytes, "merge");
  std::vector<std::unique_ptr<reader>> readers;
  for (auto& in : ins) readers.push_back(std::make_unique<reader>(in, readers.size() + 1));
  item_writer<T, Out> output(store, memory, std::move(out), window_bytes,
                             {.block_bytes = window_bytes, .compress = options.compress});
  sort_report report = merge_into<T>(store, std::move(readers), less, output, options);
  report.memory_bytes = 2 * window_bytes;
  return report;
}

}  // namespace detail

/// What merge reads from: a range of files of items, or of input ranges.
template <typename Ins>
concept item_sources = std::ranges::forward_range<Ins> &&
                       item_source<std::remove_reference_t<std::ranges::range_reference_t<Ins>>>;

template <item_sources Ins>
using sources_item_t = source_item_t<std::ranges::range_value_t<Ins>>;

/// Merges sorted files, or sorted ranges, into `out`. Items that compare equal come in the order of
/// the inputs, and within one as they are there; with options.unique only the first of them.
///
/// @param ins   Each sorted by `less`, and read once, front to back. An output file may be one.
/// @param less  As for sort. Also the order in which sort leaves two-word items (item_order.hpp).
///
/// I/Os:    Reads each file once and writes a file once. More files than the memory has room for,
///          or than half of those that the process may have open, are sorted instead: then as sort.
/// CPU:     N·(⌈log₂ k⌉ + 2) comparisons for k inputs.
/// Memory:  Files: options.memory_bytes, or what others can do without. Ranges: two
///          windows of a 64th of that, and 32 KiB or 64 items of each.
/// Disk:    None for the merge itself.
/// Threads: those of the storage.
/// Errors:  format_error naming file (or input, from 1) and item if one is not sorted; as sort
///          otherwise. After an error an output file is as it was before; what an output iterator
///          has received it keeps.
/// Checked: outsize/algorithm/merge_test.cpp.
template <item_sources Ins, typename Out,
          std::strict_weak_order<sources_item_t<Ins>, sources_item_t<Ins>> Less = std::less<>>
  requires item_sink<Out, sources_item_t<Ins>>
sort_report merge(storage& store, Ins&& ins, Out out, Less less = {}, sort_options options = {}) {
  using item = sources_item_t<Ins>;
  if constexpr (detail::is_item_file<std::ranges::range_value_t<Ins>>) {
    std::vector<std::string> paths;
    for (auto const& in : ins) paths.push_back(in.path);
    return detail::merge_files_of_items<item>(store, paths, std::move(out), std::move(less),
                                              std::move(options));
  } else {
    return detail::merge_ranges<item>(store, ins, std::move(out), std::move(less),
                                      std::move(options));
  }
}

/// The same of a list: merge(store, {items<T>("a"), items<T>("b")}, …).
template <item_source In, typename Out,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
  requires item_sink<Out, source_item_t<In>>
sort_report merge(storage& store, std::initializer_list<In> ins, Out out, Less less = {},
                  sort_options options = {}) {
  return merge(store, std::span(ins.begin(), ins.size()), std::move(out), std::move(less),
               std::move(options));
}

/// The same on the default storage.
template <item_sources Ins, typename Out,
          std::strict_weak_order<sources_item_t<Ins>, sources_item_t<Ins>> Less = std::less<>>
  requires item_sink<Out, sources_item_t<Ins>>
sort_report merge(Ins&& ins, Out out, Less less = {}, sort_options options = {}) {
  return merge(default_storage(), std::forward<Ins>(ins), std::move(out), std::move(less),
               std::move(options));
}

/// The same of a list on the default storage.
template <item_source In, typename Out,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
  requires item_sink<Out, source_item_t<In>>
sort_report merge(std::initializer_list<In> ins, Out out, Less less = {},
                  sort_options options = {}) {
  return merge(default_storage(), ins, std::move(out), std::move(less), std::move(options));
}

}  // namespace outsize
