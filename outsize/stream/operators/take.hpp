// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// take(n), take_while(p), drop(n), drop_while(p): the first items of a flow, or all but these.
//
// Invariant: behind its last item, take() asks the flow before it for nothing: neither for an item,
// nor whether there is one. One thread at a time. Layer: stream.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>
#include <outsize/stream/operators/filter.hpp>
#include <outsize/stream/operators/transform_items.hpp>

namespace outsize::stream {
namespace detail {

template <typename In>
class taken : public unary<In> {
 public:
  using value_type = stream_item_t<In>;

  taken(In in, std::uint64_t count) : unary<In>(std::move(in)), left_(count) {}

  bool empty() { return left_ == 0 || this->in_.empty(); }
  decltype(auto) operator*() { return *this->in_; }
  taken& operator++() {
    if (--left_ > 0) {
      ++this->in_;
    } else {
      static_cast<void>(*this->in_);  // so that functions before it have seen the item
    }
    return *this;
  }
  template <typename Out>
  bool drain(Out&& out) {
    if (left_ == 0) return true;
    bool is_wanted = true;
    detail::drain(this->in_, [&](auto&& item) -> bool {
      is_wanted = emit(out, std::forward<decltype(item)>(item));
      return is_wanted && --left_ > 0;
    });
    return is_wanted;
  }

  item_count size() const { return this->in_.size().at_most(left_); }
  void describe(description& d) const { this->describe_as(d, "take"); }

 private:
  std::uint64_t left_;
};

template <typename In, typename Predicate>
class taken_while : public unary<In> {
 public:
  using value_type = stream_item_t<In>;

  taken_while(In in, Predicate p) : unary<In>(std::move(in)), wanted_(std::move(p)) {}

  bool empty() {
    if (is_asked_ || has_ended_) return has_ended_;
    if (this->in_.empty()) return true;
    is_asked_ = true;
    has_ended_ = !static_cast<bool>(call(wanted_, *this->in_));
    return has_ended_;
  }
  decltype(auto) operator*() { return *this->in_; }
  taken_while& operator++() {
    is_asked_ = false;
    ++this->in_;
    return *this;
  }
  template <typename Out>
  bool drain(Out&& out) {
    bool is_wanted = true;
    detail::drain(this->in_, [&](auto&& item) -> bool {
      if (!static_cast<bool>(call(wanted_, item))) return false;
      is_wanted = emit(out, std::forward<decltype(item)>(item));
      return is_wanted;
    });
    return is_wanted;
  }

  item_count size() const { return this->in_.size().part(); }
  void describe(description& d) const { this->describe_as(d, "take_while"); }

 private:
  Predicate wanted_;
  bool is_asked_ = false;  // wanted_, for the current item
  bool has_ended_ = false;
};

template <typename In>
class dropped : public unary<In> {
 public:
  using value_type = stream_item_t<In>;

  dropped(In in, std::uint64_t count) : unary<In>(std::move(in)), left_(count) {}

  bool empty() {
    if (left_ > 0) drop_first();
    return this->in_.empty();
  }
  decltype(auto) operator*() { return *this->in_; }
  dropped& operator++() {
    ++this->in_;
    return *this;
  }
  template <typename Out>
  bool drain(Out&& out) {
    // A stream with a push form of its own has to be read in that from the beginning.
    if constexpr (batch_stream<In> && !requires(In& in) { in.drain(out); }) {
      drop_first();
      return detail::drain(this->in_, out);
    } else {
      return detail::drain(this->in_, [this, &out](auto&& item) {
        bool const passes = left_ == 0;
        if (!passes) --left_;
        return emit_if(passes, out, std::forward<decltype(item)>(item));
      });
    }
  }

  item_count size() const { return this->in_.size().without(left_); }
  void describe(description& d) const { this->describe_as(d, "drop"); }

 private:
  void drop_first() {
    while (left_ > 0 && !this->in_.empty()) {
      if constexpr (batch_stream<In>) {
        auto const count = std::min<std::uint64_t>(left_, this->in_.pull().size());
        this->in_.skip(static_cast<std::size_t>(count));
        left_ -= count;
      } else {
        ++this->in_;
        --left_;
      }
    }
  }

  std::uint64_t left_;
};

template <typename In, typename Predicate>
class dropped_while : public unary<In> {
 public:
  using value_type = stream_item_t<In>;

  dropped_while(In in, Predicate p) : unary<In>(std::move(in)), unwanted_(std::move(p)) {}

  bool empty() {
    while (is_dropping_ && !this->in_.empty()) {
      is_dropping_ = static_cast<bool>(call(unwanted_, *this->in_));
      if (!is_dropping_) return false;
      ++this->in_;
    }
    return this->in_.empty();
  }
  decltype(auto) operator*() { return *this->in_; }
  dropped_while& operator++() {
    ++this->in_;
    return *this;
  }
  template <typename Out>
  bool drain(Out&& out) {
    return detail::drain(this->in_, [this, &out](auto&& item) {
      if (is_dropping_) is_dropping_ = static_cast<bool>(call(unwanted_, item));
      return emit_if(!is_dropping_, out, std::forward<decltype(item)>(item));
    });
  }

  item_count size() const { return this->in_.size().part(); }
  void describe(description& d) const { this->describe_as(d, "drop_while"); }

 private:
  Predicate unwanted_;
  bool is_dropping_ = true;
};

}  // namespace detail

/// Yields the first `count` items, or all if there are fewer. Ends with the last of these: the
/// operators before it are not asked for another item, and stop.
/// Checked: take_test.cpp.
inline auto take(std::uint64_t count) {
  return detail::expression_closure(
      [count]<typename Expr>(Expr in) { return detail::taken<Expr>(std::move(in), count); });
}

/// Yields items as long as `wanted(item)` is true, and ends with the first item for which it is
/// not.
/// Checked: take_test.cpp.
template <typename Predicate>
auto take_while(Predicate wanted) {
  return detail::expression_closure([wanted = std::move(wanted)]<typename Expr>(Expr in) mutable {
    return detail::taken_while<Expr, Predicate>(std::move(in), std::move(wanted));
  });
}

/// Yields all items but the first `count`.
/// Checked: take_test.cpp.
inline auto drop(std::uint64_t count) {
  return detail::expression_closure(
      [count]<typename Expr>(Expr in) { return detail::dropped<Expr>(std::move(in), count); });
}

/// Yields the items from the first one on for which `unwanted(item)` is false. `unwanted` is not
/// called for the items behind that.
/// Checked: take_test.cpp.
template <typename Predicate>
auto drop_while(Predicate unwanted) {
  return detail::expression_closure(
      [unwanted = std::move(unwanted)]<typename Expr>(Expr in) mutable {
        return detail::dropped_while<Expr, Predicate>(std::move(in), std::move(unwanted));
      });
}

}  // namespace outsize::stream
