// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// filter(p), unique(), inspect(f): items that are let through as they are.
//
// Invariant: the functions see each item once, before anything behind them does. One thread at a
// time. Layer: stream.

#include <functional>
#include <utility>

#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/detail/item_copies.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>
#include <outsize/stream/operators/transform_items.hpp>

namespace outsize::stream {
namespace detail {

/// Lets an item through, or goes on without it.
template <typename Out, typename Item>
emitted_t<Out, Item> emit_if(bool wanted, Out& out, Item&& item) {
  if (wanted) return out(std::forward<Item>(item));
  return static_cast<emitted_t<Out, Item>>(true);
}

template <typename In, typename Predicate>
class filtered : public unary<In> {
 public:
  using value_type = stream_item_t<In>;

  filtered(In in, Predicate p) : unary<In>(std::move(in)), wanted_(std::move(p)) {}

  bool empty() {
    while (!at_wanted_) {
      if (this->in_.empty()) return true;
      at_wanted_ = static_cast<bool>(call(wanted_, *this->in_));
      if (!at_wanted_) ++this->in_;
    }
    return false;
  }
  decltype(auto) operator*() { return *this->in_; }
  filtered& operator++() {
    at_wanted_ = false;
    ++this->in_;
    return *this;
  }
  template <typename Out>
  bool drain(Out&& out) {
    return detail::drain(this->in_, [this, &out](auto&& item) {
      bool const is_wanted = static_cast<bool>(call(wanted_, item));
      return emit_if(is_wanted, out, std::forward<decltype(item)>(item));
    });
  }

  item_count size() const { return this->in_.size().part(); }
  void describe(description& d) const { this->describe_as(d, "filter"); }

 private:
  Predicate wanted_;
  bool at_wanted_ = false;
};

template <typename In, typename F>
class inspected : public unary<In> {
 public:
  using value_type = stream_item_t<In>;

  inspected(In in, F f) : unary<In>(std::move(in)), f_(std::move(f)) {}

  bool empty() { return this->in_.empty(); }
  decltype(auto) operator*() {
    see();
    return *this->in_;
  }
  inspected& operator++() {
    see();
    is_seen_ = false;
    ++this->in_;
    return *this;
  }
  template <typename Out>
  bool drain(Out&& out) {
    return detail::drain(this->in_, [this, &out](auto&& item) -> decltype(auto) {
      call(f_, std::as_const(item));
      return out(std::forward<decltype(item)>(item));
    });
  }

  void describe(description& d) const { this->describe_as(d, "inspect"); }

 private:
  void see() {
    if (std::exchange(is_seen_, true)) return;
    auto&& item = *this->in_;
    call(f_, std::as_const(item));
  }

  F f_;
  bool is_seen_ = false;
};

template <typename In, typename Equal>
class without_repeats : public unary<In> {
 public:
  using value_type = stream_item_t<In>;

  without_repeats(In in, Equal equal) : unary<In>(std::move(in)), equal_(std::move(equal)) {}

  bool empty() {
    for (; !this->in_.empty(); ++this->in_)
      if (!has_passed_ || is_new(*this->in_)) {
        has_passed_ = false;
        return false;
      }
    return true;
  }
  decltype(auto) operator*() { return *this->in_; }
  without_repeats& operator++() {
    last_.keep(*this->in_);
    has_passed_ = true;
    ++this->in_;
    return *this;
  }
  template <typename Out>
  bool drain(Out&& out) {
    return detail::drain(this->in_, [this, &out](auto const& item) {
      bool const passes = is_new(item);
      if (passes) last_.keep(item);
      return emit_if(passes, out, item);
    });
  }

  item_count size() const { return this->in_.size().part(); }
  void describe(description& d) const { this->describe_as(d, "unique"); }

 private:
  template <typename Item>
  bool is_new(Item const& item) {
    return !last_ || !std::invoke(equal_, *last_, item);
  }

  Equal equal_;
  item_copy<value_type> last_;  // that has passed
  bool has_passed_ = false;     // the item at `last_`, and the next has not been found since
};

}  // namespace detail

/// Lets items through for which `wanted(item)` is true. `wanted` is called once for each item, in
/// order.
/// Checked: filter_test.cpp.
template <typename Predicate>
auto filter(Predicate wanted) {
  return detail::expression_closure([wanted = std::move(wanted)]<typename Expr>(Expr in) mutable {
    return detail::filtered<Expr, Predicate>(std::move(in), std::move(wanted));
  });
}

/// Calls `see(item)` for each item, and lets it through: for checksums, counts, logs. Pass
/// std::ref(object) to look at the object afterwards.
/// Checked: filter_test.cpp.
template <typename F>
auto inspect(F see) {
  return detail::expression_closure([see = std::move(see)]<typename Expr>(Expr in) mutable {
    return detail::inspected<Expr, F>(std::move(in), std::move(see));
  });
}

/// Lets the first of neighbours through that are equal: in a sorted flow one of each. sort_unique()
/// sorts and drops in one step, and moves fewer items.
/// @param equal  Called with the last item that passed, and the next one.
/// Checked: filter_test.cpp.
template <typename Equal = std::equal_to<>>
auto unique(Equal equal = {}) {
  return detail::expression_closure([equal = std::move(equal)]<typename Expr>(Expr in) mutable {
    return detail::without_repeats<Expr, Equal>(std::move(in), std::move(equal));
  });
}

}  // namespace outsize::stream
