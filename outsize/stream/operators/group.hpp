// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// group(equal, f), fold_groups(equal, init, op): one value for each group of neighbours that are
// equal. Sorted items with equal keys are such a group.
//
//     from(orders) | sort(by(&order::customer)) |
//         fold_groups(same_customer, first_total, add) | into("totals")
//
//     … | group(same_customer, [](auto& items) {
//           total t{(*items).customer};
//           for (; !items.empty(); ++items) t.add(*items);
//           return t;
//         })
//
// Invariant: a group is as long as `equal(first, item)` is true, where `first` is the first item of
// the group. No more of a group than that item is kept. One thread at a time. Layer: stream.

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/detail/item_copies.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>

namespace outsize::stream {
namespace detail {

template <typename In, typename Equal, typename Init, typename Op>
class folded_groups : public unary<In> {
  using item = stream_item_t<In>;

 public:
  using value_type =
      std::remove_cvref_t<std::invoke_result_t<Init&, decltype(*std::declval<In&>())>>;

  folded_groups(In in, Equal equal, Init init, Op op)
      : unary<In>(std::move(in)),
        equal_(std::move(equal)),
        init_(std::move(init)),
        op_(std::move(op)) {}

  bool empty() {
    if (!value_ && !this->in_.empty()) read_group();
    return !value_.has_value();
  }
  value_type& operator*() { return *value_; }
  folded_groups& operator++() {
    value_.reset();
    return *this;
  }
  template <typename Out>
  bool drain(Out&& out) {
    bool const is_wanted = detail::drain(this->in_, [this, &out](auto&& one) {
      return static_cast<emitted_t<Out, value_type>>(
          this->put(out, std::forward<decltype(one)>(one)));
    });
    return is_wanted && end_group(out);
  }

  item_count size() const { return this->in_.size().part(); }
  void describe(description& d) const { this->describe_as(d, "fold_groups"); }

 private:
  template <typename Item>
  bool belongs(Item const& one) {
    return static_cast<bool>(std::invoke(equal_, *first_, one));
  }
  template <typename Item>
  void begin_group(Item&& one) {
    first_.keep(std::as_const(one));
    value_.emplace(std::invoke(init_, std::forward<Item>(one)));
  }
  template <typename Item>
  void add(Item&& one) {
    *value_ = std::invoke(op_, std::move(*value_), std::forward<Item>(one));
  }
  void read_group() {
    begin_group(*this->in_);
    for (++this->in_; !this->in_.empty() && belongs(*this->in_); ++this->in_) add(*this->in_);
  }
  template <typename Out, typename Item>
  bool put(Out& out, Item&& one) {
    if (value_ && belongs(one)) {
      add(std::forward<Item>(one));
      return true;
    }
    if (!end_group(out)) return false;
    begin_group(std::forward<Item>(one));
    return true;
  }
  template <typename Out>
  bool end_group(Out& out) {
    if (!value_) return true;
    bool const is_wanted = emit(out, std::move(*value_));
    value_.reset();
    return is_wanted;
  }

  Equal equal_;
  Init init_;
  Op op_;
  item_copy<item> first_;            // of the group that is being read
  std::optional<value_type> value_;  // of that group
};

/// The items of one group, as a stream.
template <typename In, typename Equal>
class group_items {
 public:
  using value_type = stream_item_t<In>;

  /// All must outlive it. @pre `first` is the current item of `in`.
  group_items(In& in, Equal& equal, item_copy<value_type> const& first)
      : in_(in), equal_(equal), first_(first) {}
  group_items(group_items const&) = delete;
  group_items& operator=(group_items const&) = delete;

  bool empty() {
    if (!is_asked_) {
      is_asked_ = true;
      has_ended_ = in_.empty() || !static_cast<bool>(std::invoke(equal_, *first_, *in_));
    }
    return has_ended_;
  }
  decltype(auto) operator*() { return *in_; }
  group_items& operator++() {
    is_asked_ = false;
    ++in_;
    return *this;
  }

 private:
  In& in_;
  Equal& equal_;
  item_copy<value_type> const& first_;
  bool is_asked_ = true;  // whether the current item belongs to the group: the first one does
  bool has_ended_ = false;
};

template <typename In, typename Equal, typename F>
class grouped : public unary<In> {
  using items = group_items<In, Equal>;
  using result = std::invoke_result_t<F&, items&>;
  static_assert(!std::is_void_v<result>, "outsize: group(equal, f): f must return an item");

 public:
  using value_type = std::remove_cvref_t<result>;

  grouped(In in, Equal equal, F f)
      : unary<In>(std::move(in)), equal_(std::move(equal)), f_(std::move(f)) {}

  bool empty() {
    if (!value_ && !this->in_.empty()) read_group();
    return !value_.has_value();
  }
  value_type& operator*() { return *value_; }
  grouped& operator++() {
    value_.reset();
    return *this;
  }

  item_count size() const { return this->in_.size().part(); }
  void describe(description& d) const { this->describe_as(d, "group"); }

 private:
  void read_group() {
    first_.keep(*this->in_);
    items all(this->in_, equal_, first_);
    value_.emplace(std::invoke(f_, all));
    while (!all.empty()) ++all;
  }

  Equal equal_;
  F f_;
  item_copy<stream_item_t<In>> first_;
  std::optional<value_type> value_;
};

}  // namespace detail

/// Yields one value for each group of neighbours that are equal: `init(first)` for the first item,
/// then `value = op(value, item)` for each of the others. The value must not refer to items.
/// @param equal  Called with the first item of the group, and the next item.
/// Checked: group_test.cpp.
template <typename Equal, typename Init, typename Op>
auto fold_groups(Equal equal, Init init, Op op) {
  return detail::expression_closure([equal = std::move(equal), init = std::move(init),
                                     op = std::move(op)]<typename Expr>(Expr in) mutable {
    static_assert(std::invocable<Init&, decltype(*std::declval<Expr&>())>,
                  "outsize: fold_groups(equal, init, op): init(item) begins the value of a group");
    return detail::folded_groups<Expr, Equal, Init, Op>(std::move(in), std::move(equal),
                                                        std::move(init), std::move(op));
  });
}

/// Yields `f(items)` for each group of neighbours that are equal. `items` is an element_stream of
/// the group, which is not empty, and is read once; items that `f` has not read are passed over.
/// Reads a group of any length in O(1) memory. The value must not refer to items.
/// @param equal  Called with the first item of the group, and the next item.
/// Checked: group_test.cpp.
template <typename Equal, typename F>
auto group(Equal equal, F f) {
  return detail::expression_closure(
      [equal = std::move(equal), f = std::move(f)]<typename Expr>(Expr in) mutable {
        return detail::grouped<Expr, Equal, F>(std::move(in), std::move(equal), std::move(f));
      });
}

}  // namespace outsize::stream
