// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A segment: one expression from its sources to its sink, compiled into one loop. The graph knows
// it by a base without templates; the one indirect call is run(), once for each segment.
//
// Invariant: run() is called once, after which the expression is gone, and with it readers, writers
// and their memory. Layer: stream, internal.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <outsize/stream/detail/boundary.hpp>
#include <outsize/stream/detail/context.hpp>
#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/detail/typed_ports.hpp>

namespace outsize::stream::detail {

class segment_base {
 public:
  segment_base() = default;
  segment_base(segment_base const&) = delete;
  segment_base& operator=(segment_base const&) = delete;
  virtual ~segment_base() = default;

  virtual description describe() const = 0;
  /// Boundaries that it writes to, by the number of the output.
  virtual std::vector<boundary_base*> writes() const = 0;
  /// Returns the number of items that go to each of them, as far as its inputs are known.
  virtual item_count size() const = 0;
  /// Once, or if is_replicated() once for each lane, at the same time.
  virtual void run(segment_context& c) = 0;
  /// Whether as many run side by side as its boundaries have lanes.
  virtual bool is_replicated() const noexcept { return false; }
};

template <typename Expr, typename Sink>
class segment final : public segment_base {
 public:
  segment(Expr expression, Sink sink) : parts_({std::move(expression), std::move(sink)}) {}

  description describe() const override {
    description d;
    parts_->expression.describe(d);
    parts_->sink.describe(d);
    return d;
  }
  std::vector<boundary_base*> writes() const override { return parts_->sink.targets(); }
  item_count size() const override { return parts_->expression.size(); }

  void run(segment_context& c) override {
    struct cleaner {
      std::optional<parts>& all;
      ~cleaner() { all.reset(); }
    } const at_end{parts_};
    auto& [expression, sink] = *parts_;
    expression.begin(c);
    sink.begin(c);
    if constexpr (requires { sink.consume(expression); }) {
      sink.consume(expression);
    } else {
      drain(expression,
            [&sink = sink](auto&& item) { return sink.push(std::forward<decltype(item)>(item)); });
    }
    sink.finish();
  }

 private:
  struct parts {
    Expr expression;
    Sink sink;
  };

  std::optional<parts> parts_;
};

/// The sink of a segment that ends at one boundary.
template <typename T>
class boundary_sink : public port_sink<stored_form_t<T>> {
 public:
  using port_sink<stored_form_t<T>>::port_sink;

  void describe(description&) const {}
  std::vector<boundary_base*> targets() const { return {&this->target()}; }
};

/// The sink of a fork: each item goes to all outputs that want more.
template <typename T>
class fork_sink {
 public:
  explicit fork_sink(std::vector<boundary_sink<T>> to) : to_(std::move(to)) {}

  void begin(segment_context& c) {
    context_ = &c;
    wanted_.assign(to_.size(), true);
    for (auto& one : to_) one.begin(c);
  }
  bool push(T const& item) {
    bool any = false;
    for (std::size_t i = 0; i < to_.size(); ++i) {
      if (!wanted_[i]) continue;
      wanted_[i] = to_[i].push(item);
      any |= wanted_[i];
    }
    return any;
  }
  /// Ends the outputs in turns: a reader of two may need items of the second before it takes more
  /// of the first.
  void finish() {
    std::vector<char> open(to_.size(), true);
    for (bool all = false; !all;) {
      all = true;
      for (std::size_t i = 0; i < to_.size(); ++i) {
        if (open[i]) open[i] = !to_[i].finish_some();
        all &= !open[i];
      }
      if (!all) context_->ports().wait();
    }
  }
  void describe(description& d) const { d.operators.emplace_back("fork"); }
  std::vector<boundary_base*> targets() const {
    std::vector<boundary_base*> all;
    for (auto const& one : to_) all.push_back(&one.target());
    return all;
  }

 protected:
  std::vector<boundary_sink<T>> to_;
  std::vector<char> wanted_;
  segment_context* context_ = nullptr;
};

/// The sink of a route: each item goes to one output.
template <typename T, typename Choose>
class route_sink : public fork_sink<T> {
 public:
  route_sink(std::vector<boundary_sink<T>> to, Choose choose)
      : fork_sink<T>(std::move(to)), choose_(std::move(choose)) {}

  bool push(T const& item) {
    auto const i = static_cast<std::size_t>(std::invoke(choose_, item));
    if (i >= this->to_.size()) throw std::out_of_range("route: no port has this number");
    if (!this->wanted_[i]) return true;
    this->wanted_[i] = this->to_[i].push(item);
    return this->wanted_[i] ||
           std::any_of(this->wanted_.begin(), this->wanted_.end(), [](char w) { return w != 0; });
  }
  void describe(description& d) const { d.operators.emplace_back("route"); }

 private:
  Choose choose_;
};

}  // namespace outsize::stream::detail
