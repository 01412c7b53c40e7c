// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Where flows begin.
//
//     from(items<event>("events.bin"))    a file of items
//     from(edges)                         a container or range, which must outlive the run
//     from(std::vector{3, 1, 2})          a range that is moved into the flow
//     from(my_stream)                     anything with the protocol of streams
//     lines("log"), csv("orders.csv")     the lines of a text, the records of a CSV
//     generate(f)                         the results of f(), until one is std::nullopt
//     counter(0, n)                       numbers
//
// Files are opened when the part of the graph runs that reads them. Layer: stream.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <outsize/algorithm/detail/item_scan.hpp>
#include <outsize/algorithm/item_sources.hpp>
#include <outsize/algorithm/sort_options.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/stream/detail/context.hpp>
#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>

namespace outsize::stream {
namespace detail {

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

template <stored_item T>
class file_source : public piece_source<file_source<T>, T> {
 public:
  explicit file_source(std::string path) : path_(std::move(path)) {}

  void open(segment_context& c) {
    items_in_file(path_, sizeof(T));
    bytes_ = std::make_unique<outsize::detail::opened_bytes>(
        c.store(), path_, reading_options(c.stream_memory_bytes()));
    reader_.emplace(*bytes_);
  }
  std::span<T const> next_piece() { return reader_->next(); }
  void describe(description& d) const {
    d.operators.push_back("from '" + path_ + "'");
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
  void describe(description& d) const { d.operators.emplace_back("from a range"); }
  item_count size() const { return item_count::exactly(std::ranges::size(from_)); }

 private:
  // So that progress is seen, and a cancelled graph ends soon.
  static constexpr std::size_t piece_items = std::max<std::size_t>(1, (1 << 18) / sizeof(item));

  Range from_;
  std::span<item const> rest_;
};

/// Counts items for progress where they come one by one, and looks now and then whether the graph
/// was cancelled.
class item_meter {
 public:
  void begin(segment_context& c) noexcept { context_ = &c; }
  void passed(std::size_t bytes) {
    ++items_;
    bytes_ += bytes;
    if (items_ == 4096 || bytes_ > (1 << 18)) note();
  }
  void note() { context_->note(std::exchange(items_, 0), std::exchange(bytes_, 0)); }

 private:
  segment_context* context_ = nullptr;
  std::uint64_t items_ = 0;
  std::uint64_t bytes_ = 0;
};

/// Any other input range.
template <typename Range>
class range_source {
 public:
  using value_type = std::ranges::range_value_t<Range>;

  explicit range_source(Range from) : from_(std::move(from)) {}

  bool empty() {
    if (!at_) at_.emplace(std::ranges::begin(from_));
    bool const has_ended = *at_ == std::ranges::end(from_);
    if (has_ended) meter_.note();
    return has_ended;
  }
  decltype(auto) operator*() { return **at_; }
  range_source& operator++() {
    meter_.passed(sizeof(value_type));
    ++*at_;
    return *this;
  }

  void begin(segment_context& c) { meter_.begin(c); }
  void describe(description& d) const { d.operators.emplace_back("from a range"); }
  item_count size() const {
    if constexpr (std::ranges::sized_range<Range const>)
      return item_count::exactly(std::ranges::size(from_));
    return {};
  }

 private:
  Range from_;
  std::optional<std::ranges::iterator_t<Range>> at_;
  item_meter meter_;
};

/// A stream that `make()` constructs on the thread that reads it.
template <typename Make>
class stream_source {
  using stream = std::remove_cvref_t<std::invoke_result_t<Make&>>;

 public:
  using value_type = stream_item_t<stream>;

  explicit stream_source(Make make, item_count count = {})
      : make_(std::move(make)), count_(count) {}

  bool empty() {
    bool const has_ended = stream_->empty();
    if (has_ended) meter_.note();
    return has_ended;
  }
  decltype(auto) operator*() { return **stream_; }
  stream_source& operator++() {
    meter_.passed(sizeof(value_type));
    ++*stream_;
    return *this;
  }

  template <typename Out>
    requires batch_stream<stream>
  bool drain(Out&& out) {
    for (; !stream_->empty();) {
      auto const batch = stream_->pull();
      for (auto const& item : batch)
        if (!emit(out, item)) return false;
      context_->note(batch.size(), batch.size() * sizeof(value_type));
      stream_->skip(batch.size());
    }
    return true;
  }

  void begin(segment_context& c) {
    context_ = &c;
    meter_.begin(c);
    stream_.emplace(make_());
  }
  void describe(description& d) const { d.operators.emplace_back("from a stream"); }
  item_count size() const { return count_; }

 private:
  Make make_;
  item_count count_;
  std::optional<stream> stream_;
  segment_context* context_ = nullptr;
  item_meter meter_;
};

/// A stream that somebody else holds.
template <element_stream S>
class stream_handle {
 public:
  using value_type = stream_item_t<S>;

  explicit stream_handle(S& s) noexcept : stream_(&s) {}
  bool empty() { return stream_->empty(); }
  decltype(auto) operator*() { return **stream_; }
  stream_handle& operator++() {
    ++*stream_;
    return *this;
  }
  auto pull()
    requires batch_stream<S>
  {
    return stream_->pull();
  }
  void skip(std::size_t count)
    requires batch_stream<S>
  {
    stream_->skip(count);
  }

 private:
  S* stream_;
};

/// A generator as a stream.
template <typename F>
class generated {
  using result = std::invoke_result_t<F&>;

 public:
  using value_type = typename result::value_type;

  explicit generated(F f) : next_(std::move(f)) {}
  bool empty() {
    if (!item_ && !ended_) {
      item_ = next_();
      ended_ = !item_;
    }
    return ended_;
  }
  value_type& operator*() { return *item_; }
  generated& operator++() {
    item_.reset();
    return *this;
  }

 private:
  F next_;
  std::optional<value_type> item_;
  bool ended_ = false;
};

template <std::integral T>
class numbers {
 public:
  using value_type = T;

  numbers(T first, T end) : next_(first), end_(end) {}

  bool empty() const noexcept { return next_ >= end_; }
  T operator*() const noexcept { return next_; }
  numbers& operator++() {
    ++next_;
    if (++passed_ == piece) [[unlikely]]
      note(std::exchange(passed_, 0));
    return *this;
  }
  template <typename Out>
  bool drain(Out&& out) {
    while (next_ < end_) {
      std::uint64_t const count = std::min(left(), piece);
      T const stop = static_cast<T>(static_cast<std::uint64_t>(next_) + count);
      for (; next_ < stop; ++next_)
        if (!emit(out, T{next_})) return false;
      note(count);
    }
    return true;
  }

  void begin(segment_context& c) noexcept { context_ = &c; }
  void describe(description& d) const { d.operators.emplace_back("counter"); }
  item_count size() const noexcept { return item_count::exactly(left()); }

 private:
  static constexpr std::uint64_t piece = 1 << 16;

  /// Signed numbers may be farther apart than the greatest of them.
  std::uint64_t left() const noexcept {
    return next_ < end_ ? static_cast<std::uint64_t>(end_) - static_cast<std::uint64_t>(next_) : 0;
  }
  void note(std::uint64_t count) { context_->note(count, count * sizeof(T)); }

  T next_;
  T end_;
  segment_context* context_ = nullptr;
  std::uint64_t passed_ = 0;  // one by one, since the last note
};

}  // namespace detail

/// Begins a flow at a file of items; "-" is standard input. Errors of the run: io_error;
/// format_error if the file is not a whole number of items.
template <stored_item T>
auto from(item_file<T> file) {
  return flow(detail::file_source<T>(std::move(file.path)));
}

/// Begins a flow at a container or range. An lvalue must outlive the run and stay unchanged; else
/// the flow owns it.
template <std::ranges::input_range Range>
  requires(!element_stream<Range>)
auto from(Range&& range) {
  using range_type = std::remove_cvref_t<Range>;
  constexpr bool is_owned = !std::is_lvalue_reference_v<Range>;
  if constexpr (outsize::detail::range_in_pieces<range_type> && is_owned) {
    return flow(detail::container_source<range_type, true>(std::forward<Range>(range)));
  } else if constexpr (outsize::detail::range_in_pieces<range_type>) {
    return flow(detail::container_source<range_type, false>(&range));
  } else {
    using held = std::views::all_t<Range>;
    if constexpr (std::ranges::contiguous_range<held> && std::ranges::sized_range<held const> &&
                  external_item<std::ranges::range_value_t<held>>) {
      return flow(detail::memory_source<held>(std::views::all(std::forward<Range>(range))));
    } else {
      return flow(detail::range_source<held>(std::views::all(std::forward<Range>(range))));
    }
  }
}

/// Begins a flow at a stream: any object with empty(), * and ++. One that is an lvalue must outlive
/// the run; else the flow owns it.
template <element_stream S>
auto from(S&& s) {
  if constexpr (std::is_lvalue_reference_v<S>) {
    return flow(detail::stream_source([&s] { return detail::stream_handle(s); }));
  } else {
    return flow(detail::stream_source([s = std::move(s)]() mutable { return std::move(s); }));
  }
}

/// Begins a flow with the values of `f()`, which returns a std::optional: nothing at the end.
/// `f` is called by one thread.
template <typename F>
auto generate(F f) {
  return flow(detail::stream_source(
      [f = std::move(f)]() mutable { return detail::generated<F>(std::move(f)); }));
}

/// Begins a flow with the numbers `first` to `end` - 1.
template <std::integral T>
auto counter(T first, std::type_identity_t<T> end) {
  return flow(detail::numbers<T>(first, end));
}

}  // namespace outsize::stream
