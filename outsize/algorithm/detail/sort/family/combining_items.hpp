// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Items of one type of which equal ones are combined by the user's function, for the sorting
// engine: reduction by key.
//
// The function sees items as the user gave them, although they may travel in another form. It is
// called whenever equal items meet: in a chunk, in any merge; so it must be associative, and where
// equal items are not kept in the order of the input (item_order.hpp) commutative too. Called from
// several threads at once. Layer: algorithm. How the engine does it: reduction.hpp.

#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include <outsize/algorithm/detail/sort/family/typed_items.hpp>
#include <outsize/algorithm/item_order.hpp>
#include <outsize/base/assert.hpp>
#include <outsize/base/external_item.hpp>

namespace outsize::detail {

/// The items of `Base` (typed_items), of which equal ones are combined: `combine(a, b)` makes one
/// user's item of two that compare equal, and compares equal to both.
template <typename Base, external_item T, typename Combine>
class combining_items : public Base {
 public:
  using item = typename Base::item;
  using chunk = typed_chunk<combining_items>;
  static constexpr bool combines = true;

  combining_items(Base base, Combine combine)
      : Base(std::move(base)), combine_(std::move(combine)) {}

  /// Combines two items, as they travel through the merge, into the first.
  void combine(std::byte* first, std::byte const* second) const {
    item const a = item_at(first), b = item_at(second);
    item const c = encoded(combine_(decoded(a), decoded(b)));
    OUTSIZE_ASSERT_HEAVY(same_key(a, c));
    std::memcpy(first, &c, sizeof c);
  }

 private:
  static_assert(sizeof(item) == sizeof(T));

  static item item_at(std::byte const* bytes) {
    item i;
    std::memcpy(&i, bytes, sizeof i);
    return i;
  }
  T decoded(item const& i) const {
    item const given = this->decode(i);
    T value;
    std::memcpy(static_cast<void*>(&value), &given, sizeof value);
    return value;
  }
  item encoded(T const& value) const {
    item i;
    std::memcpy(static_cast<void*>(&i), &value, sizeof i);
    return this->encode(i);
  }
  bool same_key(item const& a, item const& b) const {
    typename Base::view const one(std::span(&a, 1)), other(std::span(&b, 1));
    return this->equal(one.key(0), other.key(0)) && this->equal(other.key(0), one.key(0));
  }

  [[no_unique_address]] Combine combine_;
};

/// Instead of a function: equal items are not combined.
struct no_combining {};

/// As what items of type T under Less, combined by Combine, are sorted.
template <typename T, typename Less, typename Combine>
item_kind combining_kind(Less less, Combine combine) {
  if constexpr (std::same_as<Combine, no_combining>) {
    return kind_of<T, Less>::make(std::move(less));
  } else {
    using base = family_of<T, Less>;
    using family = combining_items<typename base::type, T, Combine>;
    family items(base::make(less), std::move(combine));
    if constexpr (family::has_key_codec) {
      return kind_of<T, Less>::make(
          less, std::make_shared<typed_reducer<family> const>(std::move(items)));
    } else {
      return item_kind(std::make_shared<typed_kernel<family> const>(std::move(items)));
    }
  }
}

}  // namespace outsize::detail
