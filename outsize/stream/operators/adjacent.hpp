// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// adjacent(), scan(init, op): values that depend on the items before.
//
//     1 2 3 4 | adjacent()     ──▶  {1, 2} {2, 3} {3, 4}
//     1 2 3 4 | scan(0, +)     ──▶  1 3 6 10
//
// Invariant: the item before is a copy, bytes included. One thread at a time. Layer: stream.

#include <functional>
#include <type_traits>
#include <utility>

#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/detail/item_copies.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>

namespace outsize::stream {

/// Two items, one behind the other: an external_item if T is.
template <typename T>
struct neighbours {
  T first;
  T second;

  bool operator==(neighbours const&) const = default;
};

namespace detail {

template <typename T>
struct kept_form<neighbours<T>> {
  using type = neighbours<kept_form_t<T>>;
  static type of(neighbours<T> const& two) {
    return {kept_form<T>::of(two.first), kept_form<T>::of(two.second)};
  }
  static neighbours<T> show(type const& kept) {
    return {kept_form<T>::show(kept.first), kept_form<T>::show(kept.second)};
  }
};

template <typename In>
class paired : public unary<In> {
  using item = stream_item_t<In>;

 public:
  using value_type = neighbours<item>;
  using unary<In>::unary;

  bool empty() {
    if (!last_ && !this->in_.empty()) {
      last_.keep(*this->in_);
      ++this->in_;
    }
    return this->in_.empty();
  }
  value_type operator*() { return {*last_, static_cast<item>(*this->in_)}; }
  paired& operator++() {
    last_.keep(*this->in_);
    ++this->in_;
    return *this;
  }
  template <typename Out>
  bool drain(Out&& out) {
    return detail::drain(this->in_, [this, &out](auto const& one) -> emitted_t<Out, value_type> {
      bool const is_wanted = !last_ || emit(out, value_type{*last_, static_cast<item>(one)});
      last_.keep(one);
      return static_cast<emitted_t<Out, value_type>>(is_wanted);
    });
  }

  item_count size() const { return this->in_.size().without(1); }
  void describe(description& d) const { this->describe_as(d, "adjacent"); }

 private:
  item_copy<item> last_;
};

template <typename In, typename R, typename Op>
class scanned : public unary<In> {
 public:
  using value_type = R;

  scanned(In in, R init, Op op)
      : unary<In>(std::move(in)), value_(std::move(init)), op_(std::move(op)) {}

  bool empty() { return this->in_.empty(); }
  R const& operator*() {
    if (!std::exchange(is_current_, true)) add(*this->in_);
    return value_;
  }
  scanned& operator++() {
    **this;  // the item counts, whoever looks at it
    is_current_ = false;
    ++this->in_;
    return *this;
  }
  template <typename Out>
  bool drain(Out&& out) {
    return detail::drain(this->in_, [this, &out](auto&& item) -> decltype(auto) {
      add(std::forward<decltype(item)>(item));
      return out(std::as_const(value_));
    });
  }

  void describe(description& d) const { this->describe_as(d, "scan"); }

 private:
  template <typename Item>
  void add(Item&& item) {
    value_ = std::invoke(op_, std::move(value_), std::forward<Item>(item));
  }

  R value_;
  Op op_;
  bool is_current_ = false;  // whether the current item is in `value_`
};

}  // namespace detail

/// Yields each item with the one behind it, as `neighbours`: one pair fewer than there are items.
/// Checked: adjacent_test.cpp.
inline auto adjacent() {
  return detail::expression_closure(
      []<typename Expr>(Expr in) { return detail::paired<Expr>(std::move(in)); });
}

/// Yields for each item the fold of all up to it: `value = op(value, item)`, beginning with `init`.
/// `op` is called once for each item, in order. By default these are prefix sums.
/// Checked: adjacent_test.cpp.
template <typename R, typename Op = std::plus<>>
auto scan(R init, Op op = {}) {
  return detail::expression_closure([init = std::move(init),
                                     op = std::move(op)]<typename Expr>(Expr in) mutable {
    static_assert(std::is_invocable_r_v<R, Op&, R, decltype(*std::declval<Expr&>())>,
                  "outsize: scan(init, op): op(value, item) must return a value of init's type");
    return detail::scanned<Expr, R, Op>(std::move(in), std::move(init), std::move(op));
  });
}

}  // namespace outsize::stream
