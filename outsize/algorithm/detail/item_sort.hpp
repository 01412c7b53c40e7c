// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A sort of items from any source to any sink: what sort, sort_unique and reduce_by_key are calls
// of.
//
// From file to file it is sort_item_files (item_engine.hpp), which knows sizes beforehand. Numbers
// from memory to memory are sorted where they are to be (parallel_sort.hpp), if the budget has as
// much. Otherwise streams get their memory first, and the engine what is left. By the storage's
// threads; the caller waits. Layer: algorithm.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include <outsize/algorithm/detail/sort/item_engine.hpp>
#include <outsize/algorithm/item_sources.hpp>

namespace outsize::io {
class input_watch;
}

namespace outsize::detail {

/// What is free of the chunk to fill.
template <typename T>
std::span<T> room_for(item_engine& engine) {
  auto const bytes = engine.room();
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

/// Is shown the bytes of items as they come from a file.
using item_watcher = std::function<void(std::span<std::byte const>)>;

/// Where the items of a sort come from.
enum class sort_input : std::uint8_t {
  memory,
  file,
  part,  ///< Either; the sort is a part of something larger, and its memory may be very little.
};

/// An engine, and the streams of its files.
class item_sort {
 public:
  /// Takes all memory that it may use, that of an input stream first. @throws budget_error if it is
  /// too little; io_error if a disk cannot be used.
  item_sort(storage& store, item_kind const& kind, sort_options options, sort_input from);
  item_sort(item_sort const&) = delete;
  item_sort& operator=(item_sort const&) = delete;
  ~item_sort();

  item_engine& engine() noexcept { return *engine_; }

  /// Takes the items of a file, and shows them to `see`. @throws io_error, format_error.
  void fill_from(std::string const& path, item_watcher const& see = {});
  /// Calls fill() and writes what comes out to the file at `path`, which is opened before that, and
  /// does not replace `inputs` that have changed. @throws what they throw.
  sort_report write_to(std::string const& path, std::function<void()> const& fill,
                       io::input_watch const* inputs = nullptr);

 private:
  struct streams;
  std::unique_ptr<streams> streams_;
  std::unique_ptr<item_engine> engine_;
};

/// Fills the engine's chunks with the items of a range.
template <typename T, typename Range>
void fill_from_range(item_engine& engine, Range&& range) {
  auto room = room_for<T>(engine);
  std::size_t filled = 0;
  for (auto&& one : range) {
    T const& item = one;
    if (filled == room.size()) {
      engine.grow(filled);
      engine.chunk_full();
      room = room_for<T>(engine);
      filled = 0;
    }
    std::memcpy(static_cast<void*>(&room[filled++]), &item, sizeof item);
  }
  engine.grow(filled);
}

/// Fills them with the items of a reader of pieces.
template <piece_reader Pieces>
void fill_from_pieces(item_engine& engine, Pieces pieces) {
  using item = piece_item_t<Pieces>;
  while (!pieces.empty()) {
    auto const room = room_for<item>(engine);
    if (room.empty()) {
      engine.chunk_full();
      continue;
    }
    auto const items = pieces.pull().first(std::min(pieces.pull().size(), room.size()));
    std::memcpy(static_cast<void*>(room.data()), items.data(), items.size_bytes());
    engine.grow(items.size());
    pieces.skip(items.size());
  }
}

/// Fills them with the items of a source.
template <typename In>
void fill_from_source(item_sort& sort, In&& in) {
  if constexpr (is_item_file<std::remove_cvref_t<In>>) {
    sort.fill_from(in.path);
  } else if constexpr (range_in_pieces<std::remove_cvref_t<In>>) {
    fill_from_pieces(sort.engine(), in.pieces());
  } else if constexpr (std::ranges::contiguous_range<In> && std::ranges::sized_range<In>) {
    using item = source_item_t<In>;
    fill_from_pieces(sort.engine(),
                     one_piece<item>({std::ranges::data(in), std::ranges::size(in)}));
  } else {
    fill_from_range<source_item_t<In>>(sort.engine(), in);
  }
}

/// Copies the items of all windows to an output iterator.
template <typename T, typename Out>
void drain_to_iterator(item_engine& engine, Out out) {
  while (auto const window = engine.next()) {
    out = copy_items<T>(window->data(), std::move(out));
    engine.recycle(*window);
  }
}

/// Calls fill() and empties the engine into `out`, which is opened before that if it is a file.
template <typename T, typename Out, typename Fill>
sort_report sort_through(item_sort& sort, Out out, Fill const& fill,
                         io::input_watch const* inputs = nullptr) {
  if constexpr (std::same_as<Out, output_path>) {
    return sort.write_to(out.path, fill, inputs);
  } else {
    fill();
    sort.engine().finish_input();
    drain_to_iterator<T>(sort.engine(), std::move(out));
    return sort.engine().report();
  }
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

/// Sorts the items of `in` and shows `visit(sorted_window)` the windows until it says false. Its
/// memory may be less than a sort of its own needs.
template <item_source In, typename Visit>
sort_report visit_sorted(storage& store, item_kind const& kind, In&& in, sort_options options,
                         Visit&& visit) {
  options.input_bytes = known_bytes_of(in, options);
  item_sort sort(store, kind, std::move(options), sort_input::part);
  fill_from_source(sort, in);
  item_engine& engine = sort.engine();
  engine.finish_input();
  while (auto const window = engine.next()) {
    if (!visit(*window)) break;
    engine.recycle(*window);
  }
  return engine.report();
}

/// Whether items lie side by side, before and after, and need no memory to be sorted in.
template <typename In, typename Out>
concept sortable_in_place = std::ranges::contiguous_range<In> && std::ranges::sized_range<In> &&
                            place_of<Out, source_item_t<In>>;

/// Sorts numbers in memory, so many bytes, where they are to be in the end.
sort_report sort_in_place(storage& store, item_kind const& kind, std::span<std::byte const> from,
                          std::byte* to, sort_options const& options);

/// Sorts the items of `in`, of the kind, into `out`.
template <item_source In, typename Out>
sort_report sort_items(storage& store, item_kind const& kind, In&& in, Out out,
                       sort_options options) {
  using item = source_item_t<In>;
  constexpr bool from_file = is_item_file<std::remove_cvref_t<In>>;
  if constexpr (from_file && std::same_as<Out, output_path>) {
    return sort_item_files(store, kind, {{in.path}, out.path}, std::move(options));
  } else {
    options.input_bytes = known_bytes_of(in, options);
    // What is larger than the memory may be a mapped file.
    if constexpr (sortable_in_place<In, Out>) {
      std::span const items(std::ranges::data(in), std::ranges::size(in));
      if (kind.are_numbers() && !options.unique && items.size_bytes() <= memory_of(store, options))
        return sort_in_place(store, kind, std::as_bytes(items),
                             reinterpret_cast<std::byte*>(std::to_address(out)), options);
    }
    item_sort sort(store, kind, std::move(options),
                   from_file ? sort_input::file : sort_input::memory);
    return sort_through<item>(sort, std::move(out), [&] { fill_from_source(sort, in); });
  }
}

}  // namespace outsize::detail
