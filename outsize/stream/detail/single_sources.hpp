// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sources whose items come one by one: ranges, streams of users, generators, numbers.
//
// Each tells the graph of its items now and then, so that progress is seen and a cancelled graph
// ends soon. One thread at a time. Layer: stream, internal.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

#include <outsize/stream/detail/context.hpp>
#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/element_stream.hpp>

namespace outsize::stream::detail {

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
  void describe(description& d) const {
    d.operators.emplace_back("from a range");
    d.add_range(from_);
    d.add_input(size(), sizeof(value_type));
  }
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
  void describe(description& d) const {
    d.operators.emplace_back("from a stream");
    d.add_input(size(), sizeof(value_type));
  }
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
  void describe(description& d) const {
    d.operators.emplace_back("counter");
    d.add_input(size(), sizeof(T));
  }
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

}  // namespace outsize::stream::detail
