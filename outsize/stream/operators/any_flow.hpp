// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// any_flow<T>: a flow whose operators are not in its type, for interfaces.
//
//     any_flow<event> events(options const& o);                  // in a header
//     run(store, events(o) | filter(is_error) | into("errors"));
//
// There is one virtual call for each batch of items. Invariant: in the push form the operators that
// are hidden stay one loop of their own, and the operators behind are another. One thread at a
// time. Layer: stream.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/detail/item_copies.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>

namespace outsize::stream {
namespace detail {

/// An expression of any type, by batches of its items.
template <typename T>
class erased_expression {
 public:
  /// Takes a batch; returns whether more is wanted.
  using batch_call = bool (*)(void* to, std::span<T const> items);

  erased_expression() = default;
  erased_expression(erased_expression const&) = delete;
  erased_expression& operator=(erased_expression const&) = delete;
  virtual ~erased_expression() = default;

  virtual void begin(segment_context& c) = 0;
  virtual void describe(description& d) const = 0;
  virtual item_count size() const = 0;
  /// Returns the next batch, empty at the end; the one before is not valid any more.
  virtual std::span<T const> next() = 0;
  /// Gives all batches to `call`. Returns whether the stream came to its end.
  virtual bool drain(batch_call call, void* to) = 0;
};

template <typename T, typename Expr>
class hidden_expression final : public erased_expression<T> {
 public:
  explicit hidden_expression(Expr in) : in_(std::move(in)) {}

  void begin(segment_context& c) override { in_.begin(c); }
  void describe(description& d) const override { in_.describe(d); }
  item_count size() const override { return in_.size(); }

  std::span<T const> next() override {
    clear();
    for (; !is_full() && !in_.empty(); ++in_) add(*in_);
    return some_.items();
  }
  bool drain(typename erased_expression<T>::batch_call call, void* to) override {
    auto const hand_over = [&] {
      bool const is_wanted = call(to, some_.items());
      clear();
      return is_wanted;
    };
    bool const is_wanted = detail::drain(in_, [&](auto&& item) -> bool {
      add(std::forward<decltype(item)>(item));
      return !is_full() || hand_over();
    });
    return is_wanted && hand_over();
  }

 private:
  static constexpr std::size_t most_bytes = 16 << 10;
  static constexpr std::size_t most_items = std::clamp<std::size_t>(most_bytes / sizeof(T), 1, 256);

  bool is_full() const noexcept { return some_.size() == most_items || bytes_ >= most_bytes; }
  template <typename Item>
  void add(Item&& item) {
    if constexpr (byte_string<T>) bytes_ += std::string_view(item).size();
    some_.add(std::forward<Item>(item));
  }
  void clear() noexcept {
    some_.clear();
    bytes_ = 0;
  }

  Expr in_;
  item_copies<T> some_;
  std::size_t bytes_ = 0;  // of byte strings
};

/// Items that come in batches anyway are not gathered again.
template <typename T, batch_stream Expr>
  requires std::same_as<T, stream_item_t<Expr>>
class hidden_expression<T, Expr> final : public erased_expression<T> {
 public:
  explicit hidden_expression(Expr in) : in_(std::move(in)) {}

  void begin(segment_context& c) override { in_.begin(c); }
  void describe(description& d) const override { in_.describe(d); }
  item_count size() const override { return in_.size(); }

  std::span<T const> next() override {
    in_.skip(std::exchange(shown_, 0));
    std::span<T const> const items = in_.empty() ? std::span<T const>() : in_.pull();
    shown_ = items.size();
    return items;
  }
  bool drain(typename erased_expression<T>::batch_call call, void* to) override {
    for (auto items = next(); !items.empty(); items = next())
      if (!call(to, items)) return false;
    return true;
  }

 private:
  Expr in_;
  std::size_t shown_ = 0;
};

/// The items of an expression that is not in the type: the begin of an expression.
template <typename T>
class erased_source {
 public:
  using value_type = T;

  explicit erased_source(std::unique_ptr<erased_expression<T>> from) : from_(std::move(from)) {}

  bool empty() { return next_ == end_ && !more(); }
  T const& operator*() const noexcept { return *next_; }
  erased_source& operator++() noexcept {
    ++next_;
    return *this;
  }
  std::span<T const> pull() { return empty() ? std::span<T const>() : std::span(next_, end_); }
  void skip(std::size_t count) noexcept { next_ += count; }
  template <typename Out>
  bool drain(Out&& out) {
    using target = std::remove_reference_t<Out>;
    auto const call = [](void* to, std::span<T const> items) {
      auto& each = *static_cast<target*>(to);
      for (auto const& item : items)
        if (!emit(each, item)) return false;
      return true;
    };
    return from_->drain(call, const_cast<std::remove_const_t<target>*>(std::addressof(out)));
  }

  void begin(segment_context& c) { from_->begin(c); }
  void describe(description& d) const { from_->describe(d); }
  item_count size() const { return from_->size(); }

 private:
  bool more() {
    auto const items = from_->next();
    next_ = items.data();
    end_ = next_ + items.size();
    return !items.empty();
  }

  std::unique_ptr<erased_expression<T>> from_;
  T const* next_ = nullptr;
  T const* end_ = nullptr;
};

/// Hides the expression of a flow.
template <typename T, typename Expr, bool in_graph>
flow<erased_source<T>> hide(flow<Expr, in_graph> in) {
  auto before = in.take_fragment();
  return flow(erased_source<T>(std::make_unique<hidden_expression<T, Expr>>(in.take_expression())),
              std::move(before));
}

}  // namespace detail

template <typename T>
class any_flow;

namespace detail {

template <typename T>
inline constexpr bool is_flow<any_flow<T>> = true;

}  // namespace detail

/// A flow of items of type T, made of any flow or port whose items can become such. It is used as a
/// flow is: moved, once. A sort behind it makes a flow, also in a graph.
///
/// CPU:     one copy of each item, and one virtual call for 256 items or 16 KiB; no copies of items
///          that lie in memory, such as those of files, containers and sorts.
/// Memory:  one batch, beyond the storage's budget.
/// Checked: any_flow_test.cpp.
template <typename T>
class [[nodiscard]] any_flow : public flow<detail::erased_source<T>> {
 public:
  template <detail::flow_like F>
    requires(!std::same_as<std::remove_cvref_t<F>, any_flow> &&
             std::constructible_from<T, typename std::remove_cvref_t<F>::item>)
  // A return statement makes one; copies and moves are left to others by the condition.
  // NOLINTNEXTLINE(google-explicit-constructor, bugprone-forwarding-reference-overload)
  any_flow(F&& from)
      : flow<detail::erased_source<T>>(detail::hide<T>(detail::as_flow(std::forward<F>(from)))) {}
};

}  // namespace outsize::stream
