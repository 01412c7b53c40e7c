// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// merge({a, b, …}, out): any number of sorted files, or of sorted ranges, into one.
//
//     merge({items<event>("monday"), items<event>("tuesday")}, into("week"), by(&event::time));
//
// Files are read ahead through buffers of their own; a loser tree picks the next item, and each is
// compared with the one before it, so that an input that is not sorted is found. One thread merges.
// Layer: algorithm. For lines and records: stream_merge.hpp.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <outsize/algorithm/is_sorted.hpp>
#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/item_sort.hpp>
#include <outsize/algorithm/item_streams.hpp>
#include <outsize/algorithm/sort/loser_tree.hpp>
#include <outsize/algorithm/sort/typed_items.hpp>
#include <outsize/algorithm/stream_merge.hpp>
#include <outsize/base/error.hpp>
#include <outsize/block/storage.hpp>

namespace outsize {
namespace detail {

[[noreturn]] inline void throw_not_sorted(std::string const& name, std::uint64_t index) {
  throw format_error(
      fmt::format("{}: not sorted: item {} comes before item {}", name, index, index - 1));
}

/// The items of a range in pieces, as item_reader yields those of a file.
template <external_item T, std::ranges::input_range Range>
class range_reader {
 public:
  /// `range` must outlive it. `number`: of the input, for messages.
  range_reader(Range& range, std::size_t number)
      : at_(std::ranges::begin(range)),
        end_(std::ranges::end(range)),
        name_(fmt::format("input {}", number)) {}

  std::span<T const> next() {
    some_.clear();
    for (; at_ != end_ && some_.size() < 64; ++at_) some_.push_back(*at_);
    return some_;
  }
  std::string const& name() const noexcept { return name_; }

 private:
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

/// One sorted input of a merge, as the loser tree wants it: its current item by value if it is
/// small, else by address; with the check that none comes before the one before it.
template <typename T, typename Less, typename Reader>
class merge_cursor {
 public:
  using view = typed_view<T>;

  /// `less` must outlive it.
  merge_cursor(Less const& less, std::unique_ptr<Reader> reader)
      : less_(&less), reader_(std::move(reader)) {}

  typename view::key_type get() const noexcept { return view(some_).key(next_ - 1); }

  /// @throws format_error naming input and item if it comes before the one before it.
  bool next() {
    bool in_order = true;
    if (next_ < some_.size()) {
      in_order = !(*less_)(some_[next_], some_[next_ - 1]);
    } else {
      bool const is_first = some_.empty();
      T const last = is_first ? T{} : some_.back();  // a copy, as its place goes
      some_ = reader_->next();
      next_ = 0;
      if (some_.empty()) return false;
      in_order = is_first || !(*less_)(some_.front(), last);
    }
    if (!in_order) throw_not_sorted(reader_->name(), index_);
    ++next_;
    ++index_;
    return true;
  }

 private:
  Less const* less_;
  std::unique_ptr<Reader> reader_;  // at a fixed address, as `some_` may lie in it
  std::span<T const> some_;
  std::size_t next_ = 0;  // the current item is the one before
  std::uint64_t index_ = 0;
};

/// Merges inputs, which have not begun, into `out`.
template <typename T, typename Less, typename Cursor, typename Writer>
sort_report merge_into(std::vector<Cursor> inputs, Less const& less, Writer& out,
                       sort_options const& options) {
  constexpr std::uint64_t items_per_report = 1 << 14;
  sort_report report;
  std::erase_if(inputs, [](Cursor& input) { return !input.next(); });
  typename typed_items<T, Less>::key_less const key_less{less};
  loser_tree tree(std::move(inputs), key_less);
  T last{};
  for (; !tree.empty(); tree.pop()) {
    if (++report.items % items_per_report == 0) {
      if (options.stop.stop_requested()) throw cancelled("merge");
      if (options.on_progress)
        options.on_progress({sort_progress::phase::writing_output, report.items * sizeof(T),
                             options.input_bytes.value_or(0)});
    }
    T item;
    typed_items<T, Less>::store(tree.top(), reinterpret_cast<std::byte*>(&item));
    if (options.unique) {
      if (report.output_items > 0 && !less(last, item)) continue;
      last = item;
    }
    out.put(item);
    ++report.output_items;
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
  using stable = std::conditional_t<ordered_number<T, Less>, family_of<T, Less>,
                                    family_of<T, item_less<T, Less>>>;
  auto const reading = input_options(store, options);
  io::output_stream_options const writing{.block_bytes = reading.block_bytes,
                                          .compress = options.compress};
  std::uint64_t const stream_bytes = io::input_stream_memory_bytes(reading);
  grant stream_memory = take_stream_memory(store, stream_bytes, options);
  sort_engine<typename stable::type> engine(store, stable::make({less}), std::move(options), {},
                                            stream_bytes);
  return sort_through<T>(store, engine, std::move(out), writing, [&](auto& e) {
    for (std::string const& path : paths) {
      auto const in = io::open_input(path, store.file_queue(), stream_memory, reading);
      order_watch<T, Less> watch(less);
      fill_items(e, *in, [&](auto const some) {
        if (!watch.follow({reinterpret_cast<T const*>(some.data()), some.size()}))
          throw_not_sorted(in->name(), watch.seen());
      });
    }
  });
}

template <typename T, typename Less, typename Out>
sort_report merge_files_of_items(storage& store, std::vector<std::string> const& paths, Out out,
                                 Less less, sort_options options) {
  auto const known = known_input_bytes(paths, options.decompress);
  if (known) require_whole_items(paths, sizeof(T));
  if (!options.input_bytes) options.input_bytes = known;
  if (options.memory_bytes == 0) options.memory_bytes = store.memory().free_bytes();
  require_sort_memory(options.memory_bytes);
  auto const division = divide_for_merge(store, options.memory_bytes, {paths, {}}, options);
  if (!division)
    return merge_by_sorting<T>(store, paths, std::move(out), std::move(less), std::move(options));

  grant memory = store.memory().take(options.memory_bytes, "merge");
  item_less<T, Less> const order{std::move(less)};
  std::vector<std::unique_ptr<io::input_stream>> streams;
  std::vector<merge_cursor<T, item_less<T, Less>, item_reader<T>>> inputs;
  for (std::string const& path : paths) {
    streams.push_back(io::open_input(path, store.file_queue(), memory, division->reading));
    inputs.emplace_back(order, std::make_unique<item_reader<T>>(*streams.back()));
  }
  std::size_t const block_bytes = division->reading.block_bytes;
  item_writer<T, Out> writer(store, memory, std::move(out), division->window_bytes,
                             {.block_bytes = block_bytes, .compress = options.compress});
  sort_report report = merge_into<T>(std::move(inputs), order, writer, options);
  report.memory_bytes = options.memory_bytes;
  report.block_bytes = block_bytes;
  return report;
}

template <typename T, typename Less, typename Ins, typename Out>
sort_report merge_ranges(storage& store, Ins&& ins, Out out, Less less, sort_options options) {
  using range = std::remove_reference_t<std::ranges::range_reference_t<Ins>>;
  using reader = range_reader<T, range>;
  std::size_t const window_bytes = input_options(store, options).block_bytes;
  grant memory = store.memory().take(2 * window_bytes, "merge");
  item_less<T, Less> const order{std::move(less)};
  std::vector<merge_cursor<T, item_less<T, Less>, reader>> inputs;
  for (auto& in : ins) inputs.emplace_back(order, std::make_unique<reader>(in, inputs.size() + 1));
  item_writer<T, Out> writer(store, memory, std::move(out), window_bytes,
                             {.block_bytes = window_bytes, .compress = options.compress});
  sort_report report = merge_into<T>(std::move(inputs), order, writer, options);
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
/// CPU:     N·(⌈log₂ k⌉ + 1) comparisons for k inputs.
/// Memory:  Files: options.memory_bytes, or what the storage's budget has free. Ranges: two
///          windows of a 64th of that.
/// Disk:    None for the merge itself.
/// Threads: one merges, those of the storage read and write.
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
