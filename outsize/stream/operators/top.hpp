// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// top(k, less): the first items of an order.
//
//     run(store, from(events) | top(100, by(&event::size, std::greater<>())) | into("largest"));
//
// The flow is read to its end when the first item is asked for. Items that cannot be among the
// first k are forgotten as they come (algorithm/top_k.hpp, algorithm/top_sorter.hpp), so k items of
// a usual size need neither disk nor phase; where they do not fit in memory they are sorted. One
// thread at a time. Layer: stream.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/sort_options.hpp>
#include <outsize/algorithm/sorter.hpp>
#include <outsize/algorithm/top_k.hpp>
#include <outsize/algorithm/top_sorter.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/stream/detail/context.hpp>
#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>

namespace outsize::stream {
namespace detail {

/// The memory in which the first `count` items are kept, whole pages; 0 if they must be sorted.
inline std::size_t bytes_to_keep(storage& store, std::uint64_t count, std::size_t item_bytes) {
  std::uint64_t const most = store.memory().fair_bytes() / 2;
  if (most < 2 * page_bytes() || count > (most - page_bytes()) / item_bytes / 2) return 0;
  std::uint64_t const good = std::max<std::uint64_t>(4 * count * item_bytes + page_bytes(), 4_MiB);
  return static_cast<std::size_t>(round_down<std::uint64_t>(std::min(most, good), page_bytes()));
}

/// The first items of one type, kept in memory or sorted.
template <stored_item T, typename Less>
class first_of_items {
  using family = typename outsize::detail::family_of<T, Less>::type;

 public:
  first_of_items(segment_context& c, std::uint64_t count, Less const& less)
      : context_(c),
        family_(outsize::detail::family_of<T, Less>::make(less)),
        left_(count),
        bytes_(bytes_to_keep(c.store(), count, sizeof(T))) {
    if (bytes_ == 0) {
      sort_options options;
      options.rewindable = false;
      options.stop = c.stop();
      sorter_.emplace(c.store(), less, options);
    } else {
      memory_ = c.outside([this] { return context_.store().memory().take(bytes_, "top"); });
      kept_.emplace(family_, c.store().threads(), memory_, bytes_, count,
                    outsize::detail::equal_items::kept);
    }
  }

  void see(std::span<T const> items) {
    if (kept_)
      kept_->see(items);
    else
      context_.outside([&] { sorter_->push(items); });
  }
  void end_input() {
    if (kept_)
      rest_ = std::as_bytes(kept_->finish());
    else
      context_.outside([this] { sorter_->sort(); });
  }
  /// Returns the next of the first items, in order; nothing behind the last.
  std::span<T const> next() {
    std::span<T const> piece;
    if (kept_) {
      piece = {reinterpret_cast<T const*>(rest_.data()), rest_.size() / sizeof(T)};
      rest_ = {};
    } else if (left_ > 0) {
      piece = context_.outside([this] {
        sorter_->skip(shown_);
        return sorter_->pull();
      });
      piece = piece.first(std::min<std::uint64_t>(piece.size(), left_));
      shown_ = piece.size();
    }
    left_ -= piece.size();
    return piece;
  }

 private:
  segment_context& context_;
  family family_;
  std::uint64_t left_;
  std::size_t bytes_;
  grant memory_;
  std::optional<outsize::detail::first_items<T, family>> kept_;
  std::span<std::byte const> rest_;  // of `kept_`
  std::optional<sorter<T, Less>> sorter_;
  std::size_t shown_ = 0;
};

template <typename In, typename Less>
class top_of : public unary<In> {
 public:
  using value_type = stream_item_t<In>;

  top_of(In in, std::uint64_t count, Less less)
      : unary<In>(std::move(in)), count_(count), less_(std::move(less)) {}

  bool empty() { return next_ == end_ && !more(); }
  value_type const& operator*() const noexcept { return *next_; }
  top_of& operator++() noexcept {
    ++next_;
    return *this;
  }
  std::span<value_type const> pull() {
    return empty() ? std::span<value_type const>() : std::span(next_, end_);
  }
  void skip(std::size_t count) noexcept { next_ += count; }

  void begin(segment_context& c) {
    context_ = &c;
    unary<In>::begin(c);
  }
  item_count size() const { return this->in_.size().at_most(count_); }
  void describe(description& d) const { this->describe_as(d, "top"); }

 private:
  bool more() {
    if (count_ == 0) return false;
    if (!first_) read();
    auto const piece = first_->next();
    next_ = piece.data();
    end_ = next_ + piece.size();
    return !piece.empty();
  }
  void read() {
    first_ = std::make_unique<first_of_items<value_type, Less>>(*context_, count_, less_);
    if constexpr (batch_stream<In>) {
      for (auto& in = this->in_; !in.empty();) {
        std::span<value_type const> const batch = in.pull();
        first_->see(batch);
        in.skip(batch.size());
      }
    } else {
      std::vector<value_type> some;
      some.reserve(std::max<std::size_t>(1, 4096 / sizeof(value_type)));
      detail::drain(this->in_, [this, &some](value_type const& item) {
        some.push_back(item);
        if (some.size() < some.capacity()) return;
        first_->see(some);
        some.clear();
      });
      first_->see(some);
    }
    first_->end_input();
  }

  std::uint64_t count_;
  Less less_;
  segment_context* context_ = nullptr;
  std::unique_ptr<first_of_items<value_type, Less>> first_;  // once the input has been read
  value_type const* next_ = nullptr;
  value_type const* end_ = nullptr;
};

template <typename In, typename Order>
class top_of_strings : public unary<In> {
 public:
  using value_type = std::string_view;

  top_of_strings(In in, std::uint64_t count, Order order)
      : unary<In>(std::move(in)), count_(count), order_(std::move(order)) {}

  bool empty() {
    if (count_ == 0) return true;
    if (!first_) read();
    return first_->empty();
  }
  std::string_view operator*() const { return **first_; }
  top_of_strings& operator++() {
    ++*first_;
    return *this;
  }

  void begin(segment_context& c) {
    context_ = &c;
    unary<In>::begin(c);
  }
  item_count size() const { return this->in_.size().at_most(count_); }
  void describe(description& d) const { this->describe_as(d, "top"); }

 private:
  void read() {
    sort_options options;
    options.rewindable = false;
    options.stop = context_->stop();
    first_.emplace(context_->store(), order_, count_, std::move(options));
    detail::drain(this->in_, [this](auto const& item) { first_->push(item); });
    context_->outside([this] { first_->sort(); });
  }

  std::uint64_t count_;
  Order order_;
  segment_context* context_ = nullptr;
  std::optional<top_sorter<Order>> first_;  // once the input has been read
};

template <typename Expr, typename Less>
auto make_top(Expr in, std::uint64_t count, Less const& less) {
  using item = stream_item_t<Expr>;
  if constexpr (byte_string<item>) {
    using order = std::conditional_t<std::same_as<Less, std::less<>>, byte_order, Less>;
    static_assert(record_ordering<order>,
                  "outsize: the first byte strings are found by an order with prefix(), "
                  "compare() and equal_keys(), such as byte_order");
    order by_bytes{};
    if constexpr (std::same_as<order, Less>) by_bytes = less;
    return top_of_strings<Expr, order>(std::move(in), count, by_bytes);
  } else {
    static_assert(stored_item<item>,
                  "outsize: items that are sorted are kept as bytes: numbers, structs of plain "
                  "members, byte strings; no std::pair, std::tuple, std::string");
    static_assert(std::strict_weak_order<Less const&, item, item>,
                  "outsize: top(count, less): less(a, b) must compare two items of the flow");
    return top_of<Expr, Less>(std::move(in), count, less);
  }
}

}  // namespace detail

/// Yields the first `count` items in the order of `less`, sorted: as sort(less) | take(count), but
/// within one phase. The flow is read to its end before the first item is yielded.
///
/// @param less  As sort() takes it. Byte strings: a record_ordering, by default byte_order.
///
/// I/Os:    None if the items fit in a fraction of the memory; else as `sorter`.
/// CPU:     O(N) comparisons with the last of the first items so far, and O(R log R) for the R
///          items that come before it.
/// Memory:  Four times the items, 4 MiB at least; at most half of the fair share. Byte strings: as
///          top_sorter.
/// Errors:  out of the run: budget_error; as `sorter` if the items do not fit in memory.
/// Checked: top_test.cpp.
template <typename Less = std::less<>>
auto top(std::uint64_t count, Less less = {}) {
  return detail::expression_closure([count, less = std::move(less)]<typename Expr>(Expr in) {
    return detail::make_top(std::move(in), count, less);
  });
}

}  // namespace outsize::stream
