// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// sort(in, out): from files or ranges of items, to files or output iterators.
//
//     sort(items<event>("events.bin"), into("sorted.bin"), by(&event::time));
//     sort(store, numbers, std::back_inserter(sorted), std::greater<>());
//
// Layer: algorithm. For items that come and go one by one: sorter.hpp. For lines:
// text/line_sort.hpp.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/sorter.hpp>
#include <outsize/algorithm/stream_sort.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/block/storage.hpp>

namespace outsize {

/// A file that holds items of type T side by side.
template <external_item T>
struct item_file {
  using item = T;
  std::string path;
};

/// Names a file of items to read; "-" is standard input.
template <external_item T>
item_file<T> items(std::string path) {
  return {std::move(path)};
}

/// A file to be written; it appears under its name when it is complete. It may be the input.
struct output_path {
  std::string path;
};

/// Names a file to write; "-" is standard output.
inline output_path into(std::string path) { return {std::move(path)}; }

namespace detail {

template <typename T>
inline constexpr bool is_item_file = false;
template <typename T>
inline constexpr bool is_item_file<item_file<T>> = true;

template <typename In>
struct item_of_source {
  using type = std::ranges::range_value_t<In>;
};
template <typename T>
struct item_of_source<item_file<T>> {
  using type = T;
};

/// Fills the engine's chunks with the items of a range.
template <typename T, typename Engine, typename Range>
void fill_from_range(Engine& engine, Range&& range) {
  auto room = engine.current_chunk().room();
  std::size_t filled = 0;
  for (T const item : range) {
    if (filled == room.size()) {
      engine.current_chunk().grow(filled);
      engine.chunk_full();
      room = engine.current_chunk().room();
      filled = 0;
    }
    std::memcpy(static_cast<void*>(&room[filled++]), &item, sizeof item);
  }
  engine.current_chunk().grow(filled);
}

/// Copies the items of all windows to an output iterator.
template <typename T, typename Engine, typename Out>
void drain_to_iterator(Engine& engine, Out out) {
  while (auto const window = engine.next()) {
    for (std::size_t i = 0; i < window->bytes; i += sizeof(T)) {
      T item;
      std::memcpy(static_cast<void*>(&item), window->data().data() + i, sizeof item);
      *out++ = item;
    }
    engine.recycle(*window);
  }
}

}  // namespace detail

/// What sort reads from: a file of items or any input range of them.
template <typename In>
concept item_source =
    detail::is_item_file<std::remove_cvref_t<In>> ||
    (std::ranges::input_range<In> && external_item<std::ranges::range_value_t<In>>);

template <item_source In>
using source_item_t = typename detail::item_of_source<std::remove_cvref_t<In>>::type;

/// What sort writes to: a file or an output iterator.
template <typename Out, typename T>
concept item_sink = std::same_as<Out, output_path> || std::output_iterator<Out, T const&>;

/// Sorts what `in` yields into `out`. Items that compare equal keep their order, unless by(member)
/// of two-word items says otherwise (item_order.hpp).
///
/// @param in   Read once, front to back. A file whose size is no multiple of the item's is a
/// format_error.
/// @param out  Receives as many items, in order (fewer with options.unique).
///
/// I/Os:    Reads a file and writes a file once; runs on disk, memory and threads as `sorter`
///          says. From file to file there are no runs if the items are in order already, or in
///          exactly the opposite order.
/// Errors:  as `sorter`; after an error input files are intact and an output file is as it was
///          before; what an output iterator has received it keeps.
/// Source:  STXXL 2008, section 6.
/// Checked: outsize/algorithm/sort_test.cpp.
template <item_source In, typename Out,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
  requires item_sink<Out, source_item_t<In>>
sort_report sort(storage& store, In&& in, Out out, Less less = {}, sort_options options = {}) {
  using item = source_item_t<In>;
  constexpr bool from_file = detail::is_item_file<std::remove_cvref_t<In>>;
  constexpr bool to_file = std::same_as<Out, output_path>;

  auto family = detail::family_of<item, Less>::make(std::move(less));
  if constexpr (from_file && to_file) {
    auto const fill = [](auto& engine, io::input_stream& stream) {
      detail::fill_items(engine, stream);
    };
    return detail::sort_files(store, std::move(family), {}, {{in.path}, out.path},
                              std::move(options), fill);
  } else {
    // Streams get their memory first: the engine takes what is left.
    auto const reading = detail::input_options(store, options.memory_bytes, options.decompress);
    io::compression const compress = options.compress;
    std::uint64_t const stream_bytes = from_file ? io::input_stream_memory_bytes(reading) : 0;
    if (options.memory_bytes == 0) options.memory_bytes = store.memory().free_bytes();
    options.memory_bytes -= std::min(stream_bytes, options.memory_bytes);
    grant stream_memory = store.memory().take(stream_bytes, "input stream");
    detail::sort_engine engine(store, std::move(family), std::move(options), {}, stream_bytes);
    if constexpr (from_file) {
      auto const stream = io::open_input(in.path, store.file_queue(), stream_memory, reading);
      detail::fill_items(engine, *stream);
      engine.finish_input();
      detail::drain_to_iterator<item>(engine, std::move(out));
    } else if constexpr (to_file) {
      auto const file = io::open_output(out.path, store.file_queue(),
                                        {.block_bytes = reading.block_bytes,
                                         .expected_bytes = std::nullopt,
                                         .counter = &store.file_statistics(),
                                         .compress = compress});
      detail::fill_from_range<item>(engine, in);
      engine.finish_input(file->alignment_bytes());
      detail::drain(engine, *file);
    } else {
      detail::fill_from_range<item>(engine, in);
      engine.finish_input();
      detail::drain_to_iterator<item>(engine, std::move(out));
    }
    return engine.report();
  }
}

/// The same on the default storage.
template <item_source In, typename Out,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
  requires item_sink<Out, source_item_t<In>>
sort_report sort(In&& in, Out out, Less less = {}, sort_options options = {}) {
  return sort(default_storage(), std::forward<In>(in), std::move(out), std::move(less),
              std::move(options));
}

/// As sort; items that compare equal keep their order, without exception.
template <item_source In, typename Out,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
  requires item_sink<Out, source_item_t<In>>
sort_report stable_sort(storage& store, In&& in, Out out, Less less = {},
                        sort_options options = {}) {
  // Equal numbers are equal bytes: their kernels need no detour.
  if constexpr (detail::ordered_number<source_item_t<In>, Less>) {
    return sort(store, std::forward<In>(in), std::move(out), less, std::move(options));
  } else {
    return sort(store, std::forward<In>(in), std::move(out), in_input_order(std::move(less)),
                std::move(options));
  }
}

/// The same on the default storage.
template <item_source In, typename Out,
          std::strict_weak_order<source_item_t<In>, source_item_t<In>> Less = std::less<>>
  requires item_sink<Out, source_item_t<In>>
sort_report stable_sort(In&& in, Out out, Less less = {}, sort_options options = {}) {
  return stable_sort(default_storage(), std::forward<In>(in), std::move(out), std::move(less),
                     std::move(options));
}

}  // namespace outsize
