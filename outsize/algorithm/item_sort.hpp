// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A sort of items from any source to any sink by a family: what sort, sort_unique and reduce_by_key
// are calls of.
//
// From file to file it is sort_files (stream_sort.hpp), which knows sizes beforehand. Numbers from
// memory to memory are sorted where they are to be (parallel_sort.hpp), if the budget has as much.
// Otherwise streams get their memory first, and the engine what is left. By the storage's threads;
// the caller waits. Layer: algorithm.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include <outsize/algorithm/item_streams.hpp>
#include <outsize/algorithm/sort/engine.hpp>
#include <outsize/algorithm/sort/typed_kernel.hpp>
#include <outsize/algorithm/stream_sort.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/block/user_files.hpp>

namespace outsize::detail {

/// Fills the engine's chunks with the items of a range.
template <typename T, typename Engine, typename Range>
void fill_from_range(Engine& engine, Range&& range) {
  auto room = room_for<T>(engine);
  std::size_t filled = 0;
  for (auto&& one : range) {
    T const& item = one;
    if (filled == room.size()) {
      engine.current_chunk().grow(filled);
      engine.chunk_full();
      room = room_for<T>(engine);
      filled = 0;
    }
    std::memcpy(static_cast<void*>(&room[filled++]), &item, sizeof item);
  }
  engine.current_chunk().grow(filled);
}

/// Fills them with the items of a stream of pieces.
template <typename Engine, typename Pieces>
void fill_from_pieces(Engine& engine, Pieces&& pieces) {
  while (!pieces.empty()) {
    using item = std::remove_cvref_t<decltype(pieces.pull()[0])>;
    auto const room = room_for<item>(engine);
    if (room.empty()) {
      engine.chunk_full();
      continue;
    }
    auto const items = pieces.pull().first(std::min(pieces.pull().size(), room.size()));
    std::memcpy(static_cast<void*>(room.data()), items.data(), items.size_bytes());
    engine.current_chunk().grow(items.size());
    pieces.skip(items.size());
  }
}

/// Fills them with the items of a source; `stream_memory` is for a file's stream.
template <typename Engine, typename In>
void fill_from_source(storage& store, Engine& engine, In&& in, grant& stream_memory,
                      io::input_stream_options const& reading) {
  if constexpr (is_item_file<std::remove_cvref_t<In>>) {
    auto const stream = block::open_input(store, in.path, stream_memory, reading);
    fill_items(engine, *stream);
  } else if constexpr (range_in_pieces<std::remove_cvref_t<In>>) {
    fill_from_pieces(engine, in.pieces());
  } else if constexpr (std::ranges::contiguous_range<In> && std::ranges::sized_range<In>) {
    using item = source_item_t<In>;
    fill_from_pieces(engine, one_piece<item>({std::ranges::data(in), std::ranges::size(in)}));
  } else {
    fill_from_range<source_item_t<In>>(engine, in);
  }
}

/// Copies the items of all windows to an output iterator.
template <typename T, typename Engine, typename Out>
void drain_to_iterator(Engine& engine, Out out) {
  while (auto const window = engine.next()) {
    out = copy_items<T>(window->data(), std::move(out));
    engine.recycle(*window);
  }
}

/// Fills an engine by `fill(engine)` and empties it into `out`, which is opened before the work.
template <typename T, typename Engine, typename Out, typename Fill>
sort_report sort_through(storage& store, Engine& engine, Out out, io::output_stream_options writing,
                         Fill const& fill) {
  if constexpr (std::same_as<Out, output_path>) {
    auto const file = block::open_output(store, out.path, writing);
    fill(engine);
    engine.finish_input(file->alignment_bytes());
    drain(engine, *file);
  } else {
    fill(engine);
    engine.finish_input();
    drain_to_iterator<T>(engine, std::move(out));
  }
  return engine.report();
}

/// The bytes of the items of `in`, where they are known before they are read. @throws io_error.
template <item_source In>
std::optional<std::uint64_t> known_bytes_of(In&& in, sort_options const& options) {
  if (options.input_bytes) return options.input_bytes;
  if constexpr (is_item_file<std::remove_cvref_t<In>>) {
    return known_input_bytes({in.path}, options.decoding());
  } else if constexpr (std::ranges::sized_range<In>) {
    return std::uint64_t{std::ranges::size(in)} * sizeof(source_item_t<In>);
  } else {
    return std::nullopt;
  }
}

/// Takes the memory of input streams out of what a sort may use, whatever that is.
/// @throws budget_error if nothing is left for it.
inline grant take_stream_memory(storage& store, std::uint64_t stream_bytes, sort_options& options) {
  options.memory_bytes = memory_of(store, options);
  if (options.memory_bytes <= stream_bytes)
    throw budget_error("sort", options.memory_bytes, stream_bytes + min_sort_memory_bytes);
  options.memory_bytes -= stream_bytes;
  return store.memory().take(stream_bytes, "input stream");
}

/// Sorts the items of `in` and shows `visit(sorted_window)` the windows until it says false. Its
/// memory may be less than a sort of its own needs.
template <typename Family, item_source In, typename Visit>
sort_report visit_sorted(storage& store, Family family, In&& in, sort_options options,
                         Visit&& visit) {
  options.input_bytes = known_bytes_of(in, options);
  auto const reading = input_options(store, options);
  grant stream_memory = take_stream_memory(store, io::input_stream_memory_bytes(reading), options);
  sort_engine engine(store, engine_family(std::move(family)),
                     with_memory(options, options.memory_bytes));
  fill_from_source(store, engine, in, stream_memory, reading);
  engine.finish_input();
  while (auto const window = engine.next()) {
    if (!visit(*window)) break;
    engine.recycle(*window);
  }
  return engine.report();
}

/// Whether items lie side by side, before and after, and need no memory to be sorted in.
template <typename Family, typename In, typename Out>
concept sortable_in_place = std::ranges::contiguous_range<In> && std::ranges::sized_range<In> &&
                            place_of<Out, source_item_t<In>> &&
                            requires(Family const& family, std::span<std::byte> items,
                                     executor& threads) { family.sort_in_place(items, threads); };

/// Sorts items in memory where they are to be in the end.
template <typename Family, typename In, typename Out>
  requires sortable_in_place<Family, In, Out>
sort_report sort_in_place(storage& store, Family const& family, In const& in, Out out,
                          sort_options const& options) {
  if (options.stop.stop_requested()) throw cancelled("sort");
  std::uint64_t const count = std::ranges::size(in), bytes = count * sizeof(source_item_t<In>);
  std::span const place(reinterpret_cast<std::byte*>(std::to_address(out)), bytes);
  if (bytes > 0 && std::ranges::data(in) != std::to_address(out))
    std::memmove(place.data(), std::ranges::data(in), bytes);
  family.sort_in_place(place, store.threads());
  if (options.on_progress)
    options.on_progress(
        {.now = sort_progress::phase::done, .done_bytes = 2 * bytes, .total_bytes = 2 * bytes});
  return {.items = count, .input_bytes = bytes, .output_items = count};
}

/// Sorts the items of `in`, of the family, into `out`.
template <typename Family, item_source In, typename Out>
sort_report sort_items(storage& store, Family family, In&& in, Out out, sort_options options) {
  using item = source_item_t<In>;
  constexpr bool from_file = is_item_file<std::remove_cvref_t<In>>;
  if constexpr (from_file && std::same_as<Out, output_path>) {
    auto const fill = [](auto& engine, io::input_stream& stream) { fill_items(engine, stream); };
    return sort_files(store, engine_family(std::move(family)), {}, {{in.path}, out.path},
                      std::move(options), fill);
  } else {
    options.input_bytes = known_bytes_of(in, options);
    auto const reading = input_options(store, options);
    io::output_stream_options const writing{.block_bytes = reading.block_bytes,
                                            .compress = options.compress};
    std::uint64_t const stream_bytes = from_file ? io::input_stream_memory_bytes(reading) : 0;
    grant stream_memory = take_stream_memory(store, stream_bytes, options);
    // What is larger than the memory may be a mapped file.
    if constexpr (sortable_in_place<Family, In, Out>)
      if (!sort_work<Family>::reduces(family, options) &&
          std::ranges::size(in) * sizeof(item) <= options.memory_bytes)
        return sort_in_place(store, family, in, std::move(out), options);
    sort_engine engine(store, engine_family(std::move(family)), std::move(options), {},
                       stream_bytes);
    return sort_through<item>(store, engine, std::move(out), writing, [&](auto& e) {
      fill_from_source(store, e, in, stream_memory, reading);
    });
  }
}

}  // namespace outsize::detail
