// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// enumerate(): items with their numbers.
//
//     from(edges) | enumerate() | sort(by(&enumerated<edge>::item, by_source)) | …
//
// Invariant: an enumerated item can be sorted and stored wherever the item itself can. One thread
// at a time. Layer: stream.

#include <cstdint>
#include <utility>

#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/detail/item_copies.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>

namespace outsize::stream {

/// An item and its number: an external_item if T is.
template <typename T>
struct enumerated {
  std::uint64_t index;
  T item;

  bool operator==(enumerated const&) const = default;
};

namespace detail {

template <typename T>
struct kept_form<enumerated<T>> {
  using type = enumerated<kept_form_t<T>>;
  template <typename U>
  static type of(enumerated<U> const& one) {
    return {one.index, kept_form<T>::of(one.item)};
  }
  static enumerated<T> show(type const& kept) {
    return {kept.index, kept_form<T>::show(kept.item)};
  }
};

template <typename In>
class numbered : public unary<In> {
 public:
  using value_type = enumerated<stream_item_t<In>>;

  numbered(In in, std::uint64_t first) : unary<In>(std::move(in)), next_(first) {}

  bool empty() { return this->in_.empty(); }
  value_type operator*() { return {next_, static_cast<stream_item_t<In>>(*this->in_)}; }
  numbered& operator++() {
    ++next_;
    ++this->in_;
    return *this;
  }
  template <typename Out>
  bool drain(Out&& out) {
    return detail::drain(this->in_, [this, &out](auto&& item) -> decltype(auto) {
      return out(
          value_type{next_++, static_cast<stream_item_t<In>>(std::forward<decltype(item)>(item))});
    });
  }

  void describe(description& d) const { this->describe_as(d, "enumerate"); }

 private:
  std::uint64_t next_;
};

}  // namespace detail

/// Yields each item with its number, as an `enumerated`: `first`, `first` + 1, …
/// Checked: enumerate_test.cpp.
inline auto enumerate(std::uint64_t first = 0) {
  return detail::expression_closure(
      [first]<typename Expr>(Expr in) { return detail::numbered<Expr>(std::move(in), first); });
}

}  // namespace outsize::stream
