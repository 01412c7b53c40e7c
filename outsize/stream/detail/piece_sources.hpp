// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sources that show their items in pieces: files, containers, memory.
//
// Each waits for its disk outside of its segment's thread, and tells the graph of every piece. One
// thread at a time. Layer: stream, internal.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <outsize/algorithm/detail/item_scan.hpp>
#include <outsize/algorithm/sort_options.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/stream/detail/context.hpp>
#include <outsize/stream/detail/expression.hpp>

namespace outsize::stream::detail {

/// Pieces of items that lie elsewhere: the common part of sources of files and containers.
/// `Derived::next_piece()` returns the next one, empty at the end.
template <typename Derived, typename T>
class piece_source {
 public:
  using value_type = T;

  bool empty() { return next_ == end_ && !more(); }
  T const& operator*() const noexcept { return *next_; }
  Derived& operator++() noexcept {
    ++next_;
    return static_cast<Derived&>(*this);
  }
  std::span<T const> pull() { return empty() ? std::span<T const>() : std::span(next_, end_); }
  void skip(std::size_t count) noexcept { next_ += count; }

  void begin(segment_context& c) {
    context_ = &c;
    c.outside([this, &c] { static_cast<Derived*>(this)->open(c); });
  }
  /// Returns the bytes that a piece counts for progress. Derived may know better.
  std::uint64_t bytes_of(std::span<T const> piece) const noexcept { return piece.size_bytes(); }

 private:
  bool more() {
    std::span<T const> const piece = context_->outside(
        [this]() -> std::span<T const> { return static_cast<Derived*>(this)->next_piece(); });
    context_->note(piece.size(), static_cast<Derived*>(this)->bytes_of(piece));
    next_ = piece.data();
    end_ = next_ + piece.size();
    return !piece.empty();
  }

  segment_context* context_ = nullptr;
  T const* next_ = nullptr;
  T const* end_ = nullptr;
};

/// Checks a file and returns how many items it has, if that can be known.
std::optional<std::uint64_t> items_in_file(std::string const& path, std::size_t item_bytes);
/// For a file read as a part of a graph.
sort_options reading_options(std::uint64_t memory_bytes);
/// Returns the memory that such a file takes.
std::uint64_t reading_memory_bytes(segment_context const& c);

template <stored_item T>
class file_source : public piece_source<file_source<T>, T> {
 public:
  explicit file_source(std::string path) : path_(std::move(path)) {}

  void open(segment_context& c) {
    items_in_file(path_, sizeof(T));
    c.hold(reading_memory_bytes(c));
    bytes_ = std::make_unique<outsize::detail::opened_bytes>(
        c.store(), path_, reading_options(c.stream_memory_bytes()));
    reader_.emplace(*bytes_);
  }
  std::span<T const> next_piece() { return reader_->next(); }
  void describe(description& d) const {
    d.operators.push_back("from '" + path_ + "'");
    d.input_files.push_back(path_);
    ++d.files;
  }
  item_count size() const {
    auto const count = items_in_file(path_, sizeof(T));
    return count ? item_count::exactly(*count) : item_count();
  }

 private:
  std::string path_;
  std::unique_ptr<outsize::detail::opened_bytes> bytes_;
  std::optional<outsize::detail::item_reader<T, outsize::detail::opened_bytes>> reader_;
};

/// A container with pieces().
/// @tparam is_owned  Whether it lies in the source.
template <typename C, bool is_owned>
class container_source
    : public piece_source<container_source<C, is_owned>, std::ranges::range_value_t<C>> {
  using held = std::conditional_t<is_owned, C, C const*>;
  using pieces = decltype(std::declval<C const&>().pieces());

 public:
  explicit container_source(held from) : from_(std::move(from)) {}

  void open(segment_context&) { pieces_.emplace(container().pieces()); }
  std::span<std::ranges::range_value_t<C> const> next_piece() {
    pieces_->skip(shown_);
    auto const piece = pieces_->pull();
    shown_ = piece.size();
    return piece;
  }
  void describe(description& d) const {
    d.operators.emplace_back("from a container");
    if constexpr (!is_owned) d.containers.push_back(from_);
    d.add_input(size(), sizeof(std::ranges::range_value_t<C>));
  }
  item_count size() const {
    if constexpr (requires(C const& c) { c.size(); })
      return item_count::exactly(container().size());
    return {};
  }

 private:
  C const& container() const noexcept {
    if constexpr (is_owned) {
      return from_;
    } else {
      return *from_;
    }
  }

  held from_;
  std::optional<pieces> pieces_;
  std::size_t shown_ = 0;
};

/// Contiguous memory, shown some at a time.
template <typename Range>
class memory_source : public piece_source<memory_source<Range>, std::ranges::range_value_t<Range>> {
  using item = std::ranges::range_value_t<Range>;

 public:
  explicit memory_source(Range from) : from_(std::move(from)) {}

  void open(segment_context&) {
    rest_ = std::span<item const>(std::ranges::data(from_), std::ranges::size(from_));
  }
  std::span<item const> next_piece() {
    auto const piece = rest_.first(std::min(rest_.size(), piece_items));
    rest_ = rest_.subspan(piece.size());
    return piece;
  }
  void describe(description& d) const {
    d.operators.emplace_back("from a range");
    d.add_range(from_);
    d.add_input(size(), sizeof(item));
  }
  item_count size() const { return item_count::exactly(std::ranges::size(from_)); }

 private:
  // So that progress is seen, and a cancelled graph ends soon.
  static constexpr std::size_t piece_items = std::max<std::size_t>(1, (1 << 18) / sizeof(item));

  Range from_;
  std::span<item const> rest_;
};

}  // namespace outsize::stream::detail
