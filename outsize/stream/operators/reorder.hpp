// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// reverse(), shuffle(seed), to_index(n, …): the same items in another order, or at their places.
//
// reverse() and shuffle() cut a graph into phases, as sorts do. Layer: stream. The
// boundary behind reverse(): detail/reversing.hpp.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/record_sorter.hpp>
#include <outsize/algorithm/sort_options.hpp>
#include <outsize/scan/shuffle.hpp>
#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/detail/reversing.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>
#include <outsize/stream/operators/sorting_nodes.hpp>
#include <outsize/stream/operators/transform_items.hpp>

namespace outsize::stream {
namespace detail {

struct reverse_closure : operator_tag {
  explicit reverse_closure(std::source_location p) : place(p) {}

  template <typename Expr, bool in_graph>
  auto operator()(flow<Expr, in_graph> in) {
    using item = stored_form_t<stream_item_t<Expr>>;
    static_assert(flowing_item<item>,
                  "outsize: items that are turned round must be external items or strings");
    auto const to = make_reversing<item>("reverse", place);
    auto before = lead_into<Expr, in_graph, item>(std::move(in), to);
    return continue_behind<item, in_graph>(to, std::move(before));
  }

  std::source_location place;
};

/// Puts a random number in front of an item, and takes it away again.
template <typename T>
class drawing {
  using drawn = outsize::detail::drawn_item<T>;

 public:
  explicit drawing(std::uint64_t seed) : random_(seed) {}

  drawn operator()(T const& item) {
    drawn result;
    result.number = random_();
    std::memcpy(result.item.data(), &item, sizeof item);
    return result;
  }
  static T item_of(drawn const& from) {
    T item;
    std::memcpy(static_cast<void*>(&item), from.item.data(), sizeof item);
    return item;
  }
  static auto order() { return by(&drawn::number); }

 private:
  std::mt19937_64 random_;
};
template <>
class drawing<std::string_view> {
  static constexpr std::size_t number_bytes = sizeof(std::uint64_t);

 public:
  explicit drawing(std::uint64_t seed) : random_(seed) {}

  /// Valid until the next call.
  std::string_view operator()(std::string_view item) {
    std::uint64_t const number = random_();
    drawn_.resize(number_bytes);
    for (std::size_t i = 0; i < number_bytes; ++i)  // the highest byte decides first
      drawn_[i] = static_cast<char>(number >> (8 * (number_bytes - 1 - i)));
    drawn_ += item;
    return drawn_;
  }
  static std::string_view item_of(std::string_view from) { return from.substr(number_bytes); }
  static auto order() { return byte_order(); }

 private:
  std::mt19937_64 random_;
  std::string drawn_;
};

struct shuffle_closure : operator_tag {
  shuffle_closure(std::uint64_t s, sort_options o, std::source_location p)
      : seed(s), options(std::move(o)), place(p) {}

  template <typename Expr, bool in_graph>
  auto operator()(flow<Expr, in_graph> in) {
    using item = stored_form_t<stream_item_t<Expr>>;
    static_assert(flowing_item<item>,
                  "outsize: items that are shuffled must be external items or strings");
    auto const order = drawing<item>::order();
    sort_closure<std::remove_const_t<decltype(order)>, outsize::detail::no_combining> sorted(
        order, {}, options, "shuffle", place);
    return std::move(in) | transform(drawing<item>(seed)) | std::move(sorted) |
           transform([](auto const& one) { return drawing<item>::item_of(one); });
  }

  std::uint64_t seed;
  sort_options options;
  std::source_location place;
};

template <typename In, typename IndexOf, typename ValueOf, typename Empty>
class indexed : public unary<In> {
 public:
  using value_type =
      std::remove_cvref_t<decltype(call(std::declval<ValueOf&>(), *std::declval<In&>()))>;

  indexed(In in, std::uint64_t count, IndexOf index_of, ValueOf value_of, Empty empty_value)
      : unary<In>(std::move(in)),
        count_(count),
        index_of_(std::move(index_of)),
        value_of_(std::move(value_of)),
        empty_(std::move(empty_value)) {}

  bool empty() const noexcept { return at_ == count_; }
  value_type& operator*() {
    if (!value_) find();
    return *value_;
  }
  indexed& operator++() {
    **this;  // value_of sees the item, whoever looks at it
    value_.reset();
    ++at_;
    return *this;
  }

  item_count size() const noexcept { return item_count::exactly(count_); }
  void describe(description& d) const { this->describe_as(d, "to_index"); }

 private:
  void find() {
    while (has_item() && index_ < at_) {
      ++this->in_;
      has_index_ = false;
    }
    if (has_item() && index_ == at_)
      value_.emplace(call(value_of_, *this->in_));
    else
      value_.emplace(static_cast<value_type>(empty_));
  }
  /// Returns whether there is another item, whose index is known then.
  bool has_item() {
    if (has_index_) return true;
    if (this->in_.empty()) return false;
    index_ = static_cast<std::uint64_t>(call(index_of_, *this->in_));
    return has_index_ = true;
  }

  std::uint64_t count_;
  std::uint64_t at_ = 0;
  IndexOf index_of_;
  ValueOf value_of_;
  Empty empty_;
  std::optional<value_type> value_;  // the current one, once it was looked at
  std::uint64_t index_ = 0;          // of the current item before it
  bool has_index_ = false;
};

}  // namespace detail

/// Yields all items in reverse order. The flow is written in one phase and read in a later one.
///
/// I/Os:    ⌈N/B⌉ + 1 writes and reads of pages of B items, less the last ones, which stay in
///          memory.
/// Memory:  12 pages: less than a tenth of the storage's.
/// Disk:    N items, until all have been read.
/// Errors:  out of the run: io_error, out_of_space, budget_error.
/// Checked: reorder_test.cpp.
inline auto reverse(std::source_location place = std::source_location::current()) {
  return detail::reverse_closure(place);
}

/// Yields all items in random order: they are sorted by numbers of 64 bits that are drawn from
/// std::mt19937_64(seed), one for each in order. One seed always gives the same order, that of
/// outsize::shuffle() with this generator if the items are no byte strings. The flow is written in
/// one phase and read in a later one.
///
/// I/Os, Memory, Errors: as sort() of items that are 8 bytes longer.
/// Checked: reorder_test.cpp.
inline auto shuffle(std::uint64_t seed, sort_options options = {},
                    std::source_location place = std::source_location::current()) {
  return detail::shuffle_closure(seed, std::move(options), place);
}

/// Makes a dense sequence of a flow that is sorted by an index: yields `count` values, the i-th of
/// them `value_of(item)` of the item with index i, or `empty_value` if there is no such item. The
/// first item of an index counts; further ones, and items whose index is `count` or more, have no
/// effect.
///
///     degrees | to_index(node_count, &degree::node, &degree::edges, 0) | into(offsets)
///
/// @param index_of  Member or function: an integer; called once for an item.
/// @param value_of  Member or function: the value; called once for each item that counts.
/// @pre the flow is sorted by index, smallest first.
///
/// Checked: reorder_test.cpp.
template <typename IndexOf, typename ValueOf, typename Empty>
auto to_index(std::uint64_t count, IndexOf index_of, ValueOf value_of, Empty empty_value) {
  return detail::expression_closure([=]<typename Expr>(Expr in) {
    return detail::indexed<Expr, IndexOf, ValueOf, Empty>(std::move(in), count, index_of, value_of,
                                                          empty_value);
  });
}

}  // namespace outsize::stream
