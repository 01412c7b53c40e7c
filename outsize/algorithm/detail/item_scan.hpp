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

#include <outsize/algorithm/item_sources.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/base/units.hpp>
#include <outsize/record/detail/cut_short.hpp>

namespace outsize {

class storage;

namespace io {
class input_stream;
}

namespace detail {

/// The bytes of a file, front to back, read ahead in memory of the storage's budget.
class opened_bytes {
 public:
  /// `store` must outlive it. Takes as much memory as scan_options() says.
  /// @throws io_error, format_error, budget_error, as block::open_input.
  opened_bytes(storage& store, std::string const& path, sort_options const& options);
  opened_bytes(opened_bytes const&) = delete;
  opened_bytes& operator=(opened_bytes const&) = delete;
  ~opened_bytes();

  /// Some bytes, valid until the next call; empty at the end. @throws io_error, format_error.
  std::span<std::byte const> next();
  std::string const& name() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The items of a stream of bytes: an io::input_stream, or what has its next() and name().
template <external_item T, typename Bytes = io::input_stream>
class item_reader {
 public:
  /// `in` must outlive it.
  explicit item_reader(Bytes& in) : in_(&in) {}

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

  Bytes* in_;
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
    opened_bytes bytes(store, in.path, options);
    item_reader<item, opened_bytes> reader(bytes);
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

}  // namespace detail
}  // namespace outsize
