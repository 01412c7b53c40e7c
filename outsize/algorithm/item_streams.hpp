// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Where algorithms on items read and write: files of items, ranges, output iterators.
//
//     items<event>("events.bin")    a file, read front to back
//     numbers                       any input range
//     into("sorted.bin")            a file, which appears when it is complete
//     std::back_inserter(sorted)    any output iterator
//
// Files are read ahead and written behind, by the storage's queue of files, in memory of its
// budget. One thread at a time uses a reader or a writer. Layer: algorithm.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <outsize/algorithm/record_output.hpp>
#include <outsize/algorithm/sort/sort_options.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/block/user_files.hpp>
#include <outsize/io/input_stream.hpp>
#include <outsize/io/output_stream.hpp>

namespace outsize {

/// A file that holds items of type T side by side.
template <stored_item T>
struct item_file {
  using item = T;
  std::string path;
};

/// Names a file of items to read; "-" is standard input.
template <stored_item T>
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

}  // namespace detail

/// What algorithms read from: a file of items or any input range of them.
template <typename In>
concept item_source = detail::is_item_file<std::remove_cvref_t<In>> ||
                      (std::ranges::input_range<In> && stored_item<std::ranges::range_value_t<In>>);

/// One that can be read again: a file or a forward range.
template <typename In>
concept repeatable_source = item_source<In> && (detail::is_item_file<std::remove_cvref_t<In>> ||
                                                std::ranges::forward_range<In>);

template <item_source In>
using source_item_t = typename detail::item_of_source<std::remove_cvref_t<In>>::type;

/// What algorithms write to: a file or an output iterator.
template <typename Out, typename T>
concept item_sink = std::same_as<Out, output_path> || std::output_iterator<Out, T const&>;

namespace detail {

/// A range whose items lie in pieces of memory: pieces() is a stream of them.
template <typename Range>
concept range_in_pieces = std::ranges::input_range<Range> && requires(Range const& range) {
  { range.pieces().empty() } -> std::same_as<bool>;
  { range.pieces().pull() } -> std::same_as<std::span<std::ranges::range_value_t<Range> const>>;
  range.pieces().skip(1);
};

/// Items that lie side by side, as a stream of one piece.
template <typename T>
class one_piece {
 public:
  explicit one_piece(std::span<T const> items) : rest_(items) {}
  bool empty() const noexcept { return rest_.empty(); }
  std::span<T const> pull() const noexcept { return rest_; }
  void skip(std::size_t count) noexcept { rest_ = rest_.subspan(count); }

 private:
  std::span<T const> rest_;
};

/// What a sort with these options may use, the memory of its streams included.
inline std::uint64_t memory_of(storage& store, sort_options const& options) {
  return options.memory_bytes != 0 ? options.memory_bytes : store.memory().free_bytes();
}

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

/// @throws format_error: the input of so many bytes ends within an item.
[[noreturn]] void throw_cut_short(std::string const& name, std::uint64_t bytes,
                                  std::size_t item_bytes);

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

/// Where items of type T lie side by side.
template <typename Out, typename T>
concept place_of = std::contiguous_iterator<Out> && std::same_as<std::iter_value_t<Out>, T>;

/// Copies items that lie side by side, not necessarily where a T may, to an output iterator.
template <typename T, typename Out>
Out copy_items(std::span<std::byte const> items, Out out) {
  std::size_t const count = items.size() / sizeof(T);
  if constexpr (place_of<Out, T>) {
    if (count > 0)
      std::memcpy(static_cast<void*>(std::to_address(out)), items.data(), items.size());
    return out + static_cast<std::ptrdiff_t>(count);
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      T item;
      std::memcpy(static_cast<void*>(&item), &items[i * sizeof(T)], sizeof item);
      *out++ = item;
    }
    return out;
  }
}

/// Watches files of items from now on, if an output file may replace one of them.
template <typename Out>
io::input_watch watch_inputs(std::vector<std::string> const& inputs, Out const& out) {
  if constexpr (std::same_as<Out, output_path>) return {inputs, out.path};
  return {};
}

/// Items written to an output iterator, one by one or by windows.
template <external_item T, typename Out>
class item_writer {
 public:
  /// Takes a window of `window_bytes` from `memory` when room() is called first.
  item_writer(storage&, grant& memory, Out out, std::size_t window_bytes,
              io::output_stream_options const&)
      : out_(std::move(out)), memory_(&memory), window_bytes_(window_bytes) {}
  void put(T const& item) { *out_++ = item; }

  /// A place for items, at least one. @throws budget_error.
  std::span<std::byte> room() {
    if (window_.size() == 0) window_ = memory_->allocate(window_bytes_);
    return window_.bytes();
  }
  /// The first `bytes` of room() are filled.
  void used(std::size_t bytes) {
    out_ = copy_items<T>(window_.bytes().first(bytes), std::move(out_));
  }
  void finish() {}

 private:
  Out out_;
  grant* memory_;
  std::size_t window_bytes_;
  buffer window_;
};

/// Items written to a file, which appears with finish().
template <external_item T>
class item_writer<T, output_path> {
 public:
  /// Takes two windows of `window_bytes`, whole pages, from `memory`. @throws io_error if the file
  /// cannot be made.
  item_writer(storage& store, grant& memory, output_path const& out, std::size_t window_bytes,
              io::output_stream_options const& writing)
      : stream_(block::open_output(store, out.path, writing)),
        output_(*stream_, memory, window_bytes) {}

  void put(T const& item) {
    std::memcpy(static_cast<void*>(&some_[count_++]), &item, sizeof item);
    if (count_ == most_gathered) hand_over();
  }
  /// A place for items, at least one if a window holds that. @throws io_error.
  std::span<std::byte> room() {
    hand_over();
    return output_.room(sizeof(T));
  }
  /// The first `bytes` of room() are filled.
  void used(std::size_t bytes) noexcept { output_.used(bytes); }
  /// @throws io_error of any write.
  void finish() {
    hand_over();
    output_.finish();
  }

 private:
  static constexpr std::size_t most_gathered = std::max<std::size_t>(1, 1024 / sizeof(T));

  void hand_over() {
    if (count_ == 0) return;
    output_.append({reinterpret_cast<char const*>(some_.get()), count_ * sizeof(T)});
    count_ = 0;
  }

  std::unique_ptr<io::output_stream> stream_;
  record_output output_;
  std::unique_ptr<T[]> some_ = std::make_unique_for_overwrite<T[]>(most_gathered);
  std::size_t count_ = 0;
};

}  // namespace detail
}  // namespace outsize
