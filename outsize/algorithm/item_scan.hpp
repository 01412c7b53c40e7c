// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Reading sources of items front to back, some at a time.
//
// Files are read ahead, by the storage's queue of files, in memory of its budget. One thread at a
// time uses a reader. Layer: algorithm.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/algorithm/item_streams.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/block/user_files.hpp>
#include <outsize/io/input_stream.hpp>

namespace outsize::detail {

/// Reading running ahead, scaled to the memory of the whole.
io::input_stream_options input_options(storage& store, std::uint64_t memory_bytes,
                                       io::input_decoding decoding = {});
inline io::input_stream_options input_options(storage& store, sort_options const& options) {
  return input_options(store, memory_of(store, options), options.decoding());
}
/// Those of a scan. If its memory is given, the same where that fits in what is free of the
/// storage's; else up to half of what is free, as whoever is shown the items may ask for some, too.
/// If need be in shorter blocks, of a page at least: no scan must fail where less would serve it.
io::input_stream_options scan_options(storage& store, sort_options const& options);

/// The items of a stream of bytes.
template <external_item T>
class item_reader {
 public:
  /// `in` must outlive it.
  explicit item_reader(io::input_stream& in) : in_(&in) {}

  /// The next items, at least one, valid until the next call; empty at the end. @throws io_error;
  /// format_error if the last item is cut short.
  std::span<T const> next() {
    for (;;) {
      if (rest_.empty() && !more()) return {};
      if (held_ > 0 || rest_.size() < sizeof(T)) {
        if (hold()) return {copies_.get(), 1};
        continue;
      }
      auto whole = rest_.first(rest_.size() / sizeof(T) * sizeof(T));
      bool const aligned = reinterpret_cast<std::uintptr_t>(whole.data()) % alignof(T) == 0;
      if (!aligned) whole = whole.first(std::min(whole.size(), most_copied * sizeof(T)));
      rest_ = rest_.subspan(whole.size());
      if (aligned) return {reinterpret_cast<T const*>(whole.data()), whole.size() / sizeof(T)};
      std::memcpy(static_cast<void*>(copies()), whole.data(), whole.size());
      return {copies(), whole.size() / sizeof(T)};
    }
  }

  std::string const& name() const noexcept { return in_->name(); }

 private:
  static constexpr std::size_t most_copied = std::max<std::size_t>(1, 4096 / sizeof(T));

  /// Memory for so many items, not on the stack, which may be short, and items long.
  T* copies() {
    if (!copies_) copies_ = std::make_unique_for_overwrite<T[]>(most_copied);
    return copies_.get();
  }

  bool more() {
    rest_ = in_->next();
    total_ += rest_.size();
    if (rest_.empty() && held_ > 0) throw_cut_short(in_->name(), total_, sizeof(T));
    return !rest_.empty();
  }

  /// Adds to the item that spans two blocks; whether it is complete.
  bool hold() {
    std::size_t const count = std::min(rest_.size(), sizeof(T) - held_);
    std::memcpy(reinterpret_cast<std::byte*>(copies()) + held_, rest_.data(), count);
    rest_ = rest_.subspan(count);
    held_ = (held_ + count) % sizeof(T);
    return held_ == 0;
  }

  io::input_stream* in_;
  std::span<std::byte const> rest_;  // of what the stream has handed out
  std::uint64_t total_ = 0;
  std::unique_ptr<T[]> copies_;  // once there are any; the first may be of an item
  std::size_t held_ = 0;         // of which so many bytes have come
};

/// Copies an item, or what becomes one, to a place.
template <external_item T, typename From>
void put_item(T& to, From&& from) {
  if constexpr (std::same_as<std::remove_cvref_t<From>, T>) {
    std::memcpy(static_cast<void*>(&to), std::addressof(from), sizeof to);
  } else {
    T const item = std::forward<From>(from);
    std::memcpy(static_cast<void*>(&to), &item, sizeof to);
  }
}

/// Shows all items of a file or range, front to back, to `visit(std::span<T const>)` until it says
/// false. @throws io_error, format_error, budget_error, as open_input and item_reader.
template <typename In, typename Visit>
void scan_items(storage& store, In&& in, sort_options const& options, Visit&& visit) {
  using item = source_item_t<In>;
  if constexpr (is_item_file<std::remove_cvref_t<In>>) {
    auto const reading = scan_options(store, options);
    grant memory = store.memory().take(io::input_stream_memory_bytes(reading), "input stream");
    auto const stream = block::open_input(store, in.path, memory, reading);
    item_reader<item> reader(*stream);
    for (auto some = reader.next(); !some.empty(); some = reader.next())
      if (!visit(some)) return;
  } else if constexpr (std::ranges::contiguous_range<In> && std::ranges::sized_range<In>) {
    // In pieces, as the file that they may lie in would come, so that visitors can look up.
    constexpr std::size_t piece = std::max<std::size_t>(1, 4_MiB / sizeof(item));
    std::span<item const> rest(std::ranges::data(in), std::ranges::size(in));
    for (; !rest.empty(); rest = rest.subspan(std::min(piece, rest.size())))
      if (!visit(rest.first(std::min(piece, rest.size())))) return;
  } else if constexpr (range_in_pieces<std::remove_cvref_t<In>>) {
    for (auto pieces = in.pieces(); !pieces.empty(); pieces.skip(pieces.pull().size()))
      if (!visit(pieces.pull())) return;
  } else {
    // Not on the stack, which may be short, and items long; large enough for visitors to look up.
    constexpr std::size_t most = std::clamp<std::size_t>(4096 / sizeof(item), 1, 64);
    auto const some = std::make_unique_for_overwrite<item[]>(most);
    std::size_t count = 0;
    for (auto&& one : in) {
      put_item(some[count++], std::forward<decltype(one)>(one));
      if (count < most) continue;
      if (!visit(std::span<item const>(some.get(), count))) return;
      count = 0;
    }
    if (count > 0) visit(std::span<item const>(some.get(), count));
  }
}

/// Watches files of items from now on, if an output file may replace one of them.
template <typename Out>
io::input_watch watch_inputs(std::vector<std::string> const& inputs, Out const& out) {
  if constexpr (std::same_as<Out, output_path>) return {inputs, out.path};
  return {};
}

}  // namespace outsize::detail
