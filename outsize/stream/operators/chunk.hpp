// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// chunk(k), window(k): several items at once, as contiguous memory.
//
//     1 2 3 4 5 | chunk(2)     ──▶  [1 2] [3 4] [5]
//     1 2 3 4 5 | window(3)    ──▶  [1 2 3] [2 3 4] [3 4 5]
//
// Invariant: a span is valid until the stream goes on. Items are copied into memory of the
// operator, the bytes of byte strings, too. One thread at a time. Layer: stream.

#include <cstddef>
#include <span>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/detail/item_copies.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>
#include <outsize/stream/operators/transform_items.hpp>

namespace outsize::stream {
namespace detail {

/// Copies items of the stream before it, and goes past an item only when the next is needed.
template <typename In>
class gathering : public unary<In> {
 protected:
  using item = stream_item_t<In>;
  using unary<In>::unary;

  /// Adds the next item. Returns whether there was one.
  bool add_next() {
    if (is_passed_) ++this->in_;
    is_passed_ = false;
    if (this->in_.empty()) return false;
    some_.add(*this->in_);
    return is_passed_ = true;
  }

  item_copies<item> some_;

 private:
  bool is_passed_ = false;  // the current item of the stream before it, which is in `some_`
};

template <typename In>
class chunked : public gathering<In> {
 public:
  using value_type = std::span<stream_item_t<In> const>;

  chunked(In in, std::size_t count) : gathering<In>(std::move(in)), count_(count) {}

  bool empty() {
    if (!is_ready_) {
      while (this->some_.size() < count_ && this->add_next()) continue;
      is_ready_ = this->some_.size() > 0;
    }
    return !is_ready_;
  }
  value_type operator*() const noexcept { return this->some_.items(); }
  chunked& operator++() noexcept {
    this->some_.clear();
    is_ready_ = false;
    return *this;
  }
  template <typename Out>
  bool drain(Out&& out) {
    bool const is_wanted = detail::drain(this->in_, [this, &out](auto&& one) {
      this->some_.add(std::forward<decltype(one)>(one));
      return static_cast<emitted_t<Out, value_type>>(this->some_.size() < count_ || put(out));
    });
    return is_wanted && (this->some_.size() == 0 || put(out));
  }

  item_count size() const {
    item_count n = this->in_.size();
    n.items = n.items / count_ + (n.items % count_ != 0);
    return n;
  }
  void describe(description& d) const { this->describe_as(d, "chunk"); }

 private:
  template <typename Out>
  bool put(Out& out) {
    bool const is_wanted = emit(out, this->some_.items());
    this->some_.clear();
    return is_wanted;
  }

  std::size_t count_;
  bool is_ready_ = false;
};

/// Keeps the items of two windows, so that items move once for each step of a whole window.
template <typename In>
class windowed : public gathering<In> {
 public:
  using value_type = std::span<stream_item_t<In> const>;

  windowed(In in, std::size_t count) : gathering<In>(std::move(in)), count_(count) {}

  void begin(segment_context& c) {
    this->in_.begin(c);
    this->some_.reserve(2 * count_);
  }
  bool empty() {
    while (!is_ready_ && this->add_next()) is_ready_ = this->some_.size() >= count_;
    return !is_ready_;
  }
  value_type operator*() const noexcept { return this->some_.items().last(count_); }
  windowed& operator++() {
    go_on();
    is_ready_ = false;
    return *this;
  }
  template <typename Out>
  bool drain(Out&& out) {
    return detail::drain(this->in_, [this, &out](auto&& one) {
      this->some_.add(std::forward<decltype(one)>(one));
      bool const is_whole = this->some_.size() >= count_;
      bool const is_wanted = !is_whole || emit(out, **this);
      if (is_whole) go_on();
      return static_cast<emitted_t<Out, value_type>>(is_wanted);
    });
  }

  item_count size() const { return this->in_.size().without(count_ - 1); }
  void describe(description& d) const { this->describe_as(d, "window"); }

 private:
  void go_on() {
    if (this->some_.size() == 2 * count_) this->some_.erase_first(count_ + 1);
  }

  std::size_t count_;
  bool is_ready_ = false;
};

}  // namespace detail

/// Yields `count` items at a time, and at the end those that are left, as a std::span<T const> that
/// is valid until the stream goes on.
/// @pre count > 0.
///
/// CPU:     a copy of each item.
/// Memory:  `count` items, beyond the storage's budget.
/// Checked: chunk_test.cpp.
inline auto chunk(std::size_t count) {
  OUTSIZE_ASSERT(count > 0);
  return detail::expression_closure(
      [count]<typename Expr>(Expr in) { return detail::chunked<Expr>(std::move(in), count); });
}
/// Yields `f(items)` for each such span.
/// Checked: chunk_test.cpp.
template <typename F>
auto chunk(std::size_t count, F f) {
  OUTSIZE_ASSERT(count > 0);
  return detail::expression_closure([count, f = std::move(f)]<typename Expr>(Expr in) mutable {
    using spans = detail::chunked<Expr>;
    return detail::transformed<spans, F>(spans(std::move(in), count), std::move(f));
  });
}

/// Yields each run of `count` neighbours, as a std::span<T const> that is valid until the stream
/// goes on: nothing if there are fewer items.
/// @pre count > 0.
///
/// CPU:     two copies of each item.
/// Memory:  2·`count` items, beyond the storage's budget.
/// Checked: chunk_test.cpp.
inline auto window(std::size_t count) {
  OUTSIZE_ASSERT(count > 0);
  return detail::expression_closure(
      [count]<typename Expr>(Expr in) { return detail::windowed<Expr>(std::move(in), count); });
}
/// Yields `f(items)` for each such span.
/// Checked: chunk_test.cpp.
template <typename F>
auto window(std::size_t count, F f) {
  OUTSIZE_ASSERT(count > 0);
  return detail::expression_closure([count, f = std::move(f)]<typename Expr>(Expr in) mutable {
    using spans = detail::windowed<Expr>;
    return detail::transformed<spans, F>(spans(std::move(in), count), std::move(f));
  });
}

}  // namespace outsize::stream
