// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// hash_join, hash_semi_join, hash_anti_join: a flow of any length and order, and a small one that
// fits in memory, are brought together by a key.
//
//     hash_join(from(orders), from(countries), &order::country, &country::code, price_of)
//
//   small ──▶ items   | a | b | c | d | …        in the order of the flow
//             firsts  | - | 1 | - | 0 | …        by hash: the first item of a chain
//             nexts   | 3 | 2 | - | - | …        the item behind it with that hash
//   large ──▶ key ──▶ chain ──▶ make(large item, small item)
//
// The small flow is read to its end first. Invariant: the grant covers the table. One thread at a
// time. Layer: stream. For two large flows that are sorted: join.hpp.

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/base/memory_budget.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/stream/detail/context.hpp>
#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/detail/kept_items.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>
#include <outsize/stream/operators/filter.hpp>
#include <outsize/stream/operators/merge_flows.hpp>
#include <outsize/stream/operators/zip.hpp>

namespace outsize::stream {
namespace detail {

/// Keys that have the same hash if they are equal.
template <typename A, typename B>
concept alike_as_keys =
    std::same_as<A, B> || (byte_string<A> && byte_string<B>) ||
    (std::integral<A> && std::integral<B> && std::is_signed_v<A> == std::is_signed_v<B>);

template <typename Key>
std::uint64_t hash_of_key(Key const& key) {
  std::uint64_t hash;
  if constexpr (byte_string<Key>) {
    hash = std::hash<std::string_view>()(key);
  } else {
    hash = std::hash<Key>()(key);
  }
  return hash * 0x9E3779B97F4A7C15;  // since the hash of a number may be the number
}

/// Items that are found by their keys.
template <typename T, typename KeyOf>
class hash_table {
 public:
  using shown = typename kept_items<T>::shown;
  static constexpr std::size_t none = SIZE_MAX;

  explicit hash_table(KeyOf key) : key_of_(std::move(key)) {}

  /// Takes the items of a stream. @throws budget_error.
  template <typename In>
  void fill(segment_context& c, In& in, char const* name) {
    memory_ = c.store().memory().take(0, name);
    detail::drain(in, [this, &c](auto&& item) {
      items_.push(std::forward<decltype(item)>(item));
      if (items_.bytes() > memory_.total_bytes()) cover(c, items_.bytes() + grow_bytes);
    });
    make_chains(c);
  }

  shown const& operator[](std::size_t i) const { return items_[i]; }
  /// Returns the first item with this key, and behind an item the next one; `none` at the end.
  template <typename Key>
  std::size_t find(Key const& key) const {
    return first_equal(firsts_[slot_of(key)], key);
  }
  template <typename Key>
  std::size_t find_next(std::size_t i, Key const& key) const {
    return first_equal(nexts_[i], key);
  }

 private:
  static constexpr std::uint64_t grow_bytes = 256 << 10;

  void cover(segment_context& c, std::uint64_t bytes) {
    c.outside([&] { memory_.extend(bytes - memory_.total_bytes()); });
  }
  void make_chains(segment_context& c) {
    std::size_t const slots = std::bit_ceil(std::max<std::size_t>(2, items_.size()));
    cover(c, std::max(memory_.total_bytes(),
                      items_.bytes() + (slots + items_.size()) * sizeof(std::size_t)));
    shift_ = 64 - std::countr_zero(slots);
    firsts_.assign(slots, none);
    nexts_.resize(items_.size());
    // From the last item on, so that chains are in the order of the items.
    for (std::size_t i = items_.size(); i-- > 0;) {
      std::size_t& first = firsts_[slot_of(std::invoke(key_of_, items_[i]))];
      nexts_[i] = std::exchange(first, i);
    }
  }
  template <typename Key>
  std::size_t slot_of(Key const& key) const {
    return static_cast<std::size_t>(hash_of_key(key) >> shift_);
  }
  template <typename Key>
  std::size_t first_equal(std::size_t i, Key const& key) const {
    while (i != none && !std::equal_to<>()(std::invoke(key_of_, items_[i]), key)) i = nexts_[i];
    return i;
  }

  KeyOf key_of_;
  kept_items<T> items_;
  grant memory_;
  std::vector<std::size_t> firsts_, nexts_;
  int shift_ = 0;
};

/// The members of an operator with a hash table. A is the large stream.
template <typename A, typename B, typename KeyA, typename KeyB>
class with_table : public binary<A, B> {
  using key_a = std::remove_cvref_t<
      std::invoke_result_t<KeyA&, std::remove_cvref_t<decltype(*std::declval<A&>())> const&>>;
  using key_b = std::remove_cvref_t<
      std::invoke_result_t<KeyB&, typename kept_items<stream_item_t<B>>::shown const&>>;
  static_assert(alike_as_keys<key_a, key_b>,
                "outsize: hash_join: both keys must have one type, or be byte strings, or integers "
                "with or without sign");

 public:
  with_table(A a, B b, KeyA of_a, KeyB of_b, char const* name)
      : binary<A, B>(std::move(a), std::move(b)),
        key_of_(std::move(of_a)),
        table_(std::move(of_b)),
        name_(name) {}

  void begin(segment_context& c) {
    context_ = &c;
    binary<A, B>::begin(c);
  }
  void describe(description& d) const { this->describe_as(d, name_); }

 protected:
  void need_table() {
    if (std::exchange(has_table_, true)) [[likely]]
      return;
    table_.fill(*context_, this->b_, name_);
  }

  KeyA key_of_;
  hash_table<stream_item_t<B>, KeyB> table_;

 private:
  char const* name_;
  segment_context* context_ = nullptr;
  bool has_table_ = false;
};

template <typename A, typename B, typename KeyA, typename KeyB, typename Make>
class hash_joined : public with_table<A, B, KeyA, KeyB> {
  using table = hash_table<stream_item_t<B>, KeyB>;
  using item = std::remove_cvref_t<decltype(*std::declval<A&>())>;
  using result = std::invoke_result_t<Make&, item const&, typename table::shown const&>;

 public:
  using value_type = std::remove_cvref_t<result>;

  hash_joined(A a, B b, KeyA of_a, KeyB of_b, Make make)
      : with_table<A, B, KeyA, KeyB>(std::move(a), std::move(b), std::move(of_a), std::move(of_b),
                                     "hash_join"),
        make_(std::move(make)) {}

  bool empty() {
    this->need_table();
    for (; at_ == table::none; ++this->a_) {
      if (this->a_.empty()) return true;
      at_ = this->table_.find(std::invoke(this->key_of_, *this->a_));
      if (at_ != table::none) break;
    }
    return false;
  }
  auto& operator*() {
    return result_.get([this]() -> decltype(auto) { return make_pair_with(*this->a_, at_); });
  }
  hash_joined& operator++() {
    if (!result_.is_known()) **this;  // `make` is called once for each result
    result_.forget();
    at_ = this->table_.find_next(at_, std::invoke(this->key_of_, *this->a_));
    if (at_ == table::none) ++this->a_;
    return *this;
  }
  template <typename Out>
  bool drain(Out&& out) {
    this->need_table();
    return detail::drain(this->a_, [this, &out](auto const& one) -> emitted_t<Out, result> {
      auto&& key = std::invoke(this->key_of_, one);
      for (std::size_t i = this->table_.find(key); i != table::none;
           i = this->table_.find_next(i, key)) {
        bool const is_wanted = emit(out, make_pair_with(one, i));
        if (!is_wanted) return static_cast<emitted_t<Out, result>>(false);
      }
      return static_cast<emitted_t<Out, result>>(true);
    });
  }

  item_count size() const noexcept { return {}; }

 private:
  result make_pair_with(item const& large, std::size_t small) {
    return std::invoke(make_, large, this->table_[small]);
  }

  Make make_;
  std::size_t at_ = table::none;  // the small item of the current pair
  computed<result> result_;
};

template <typename A, typename B, typename KeyA, typename KeyB, bool with_partner>
class hash_filtered : public with_table<A, B, KeyA, KeyB> {
 public:
  using value_type = stream_item_t<A>;

  hash_filtered(A a, B b, KeyA of_a, KeyB of_b)
      : with_table<A, B, KeyA, KeyB>(std::move(a), std::move(b), std::move(of_a), std::move(of_b),
                                     with_partner ? "hash_semi_join" : "hash_anti_join") {}

  bool empty() {
    this->need_table();
    for (; !at_wanted_; ++this->a_) {
      if (this->a_.empty()) return true;
      at_wanted_ = is_wanted(*this->a_);
      if (at_wanted_) break;
    }
    return false;
  }
  decltype(auto) operator*() { return *this->a_; }
  hash_filtered& operator++() {
    at_wanted_ = false;
    ++this->a_;
    return *this;
  }
  template <typename Out>
  bool drain(Out&& out) {
    this->need_table();
    return detail::drain(this->a_, [this, &out](auto&& item) {
      return emit_if(this->is_wanted(item), out, std::forward<decltype(item)>(item));
    });
  }

  item_count size() const { return this->a_.size().part(); }

 private:
  template <typename Item>
  bool is_wanted(Item const& item) {
    return (this->table_.find(std::invoke(this->key_of_, item)) != this->table_.none) ==
           with_partner;
  }

  bool at_wanted_ = false;
};

template <bool with_partner, typename A, typename B, typename KeyA, typename KeyB>
auto filter_by_table(A&& a, B&& b, KeyA key_a, KeyB key_b) {
  return join_flows(
      [&]<typename X, typename Y>(X x, Y y) {
        return hash_filtered<X, Y, KeyA, KeyB, with_partner>(std::move(x), std::move(y),
                                                             std::move(key_a), std::move(key_b));
      },
      as_flow(std::forward<A>(a)), as_flow(std::forward<B>(b)));
}

}  // namespace detail

/// Yields `make(l, s)` for each pair of an item of `large` and an item of `small` with equal keys,
/// in the order of `large`, and for one of its items in the order of `small`. Neither flow need be
/// sorted. Byte strings of the small flow are shown as std::string_view.
///
/// @param key_large, key_small  Member or function: the key of an item, of a type with std::hash
/// and ==; both of one type, or byte strings, or integers. May be called repeatedly.
/// @param make  Called once for each pair.
///
/// CPU:     O(1) expected for each item, and a call of `make` for each pair.
/// Memory:  The small flow and 16 to 24 bytes for each of its items, taken from the storage's
///          budget as it grows. Memory that items own, except for the bytes of byte strings, is not
///          counted.
/// Errors:  out of the run: budget_error that names "hash_join" if the small flow does not fit.
/// Checked: hash_join_test.cpp.
template <detail::flow_like L, detail::flow_like S, typename KeyL, typename KeyS, typename Make>
auto hash_join(L&& large, S&& small, KeyL key_large, KeyS key_small, Make make) {
  return detail::join_flows(
      [&]<typename X, typename Y>(X x, Y y) {
        return detail::hash_joined<X, Y, KeyL, KeyS, Make>(std::move(x), std::move(y),
                                                           std::move(key_large),
                                                           std::move(key_small), std::move(make));
      },
      detail::as_flow(std::forward<L>(large)), detail::as_flow(std::forward<S>(small)));
}

/// Yields the items of `large` whose key is a key of `small`, in their order. Otherwise as
/// hash_join().
/// Checked: hash_join_test.cpp.
template <detail::flow_like L, detail::flow_like S, typename KeyL, typename KeyS>
auto hash_semi_join(L&& large, S&& small, KeyL key_large, KeyS key_small) {
  return detail::filter_by_table<true>(std::forward<L>(large), std::forward<S>(small),
                                       std::move(key_large), std::move(key_small));
}

/// Yields the items of `large` whose key is no key of `small`, in their order. Otherwise as
/// hash_join().
/// Checked: hash_join_test.cpp.
template <detail::flow_like L, detail::flow_like S, typename KeyL, typename KeyS>
auto hash_anti_join(L&& large, S&& small, KeyL key_large, KeyS key_small) {
  return detail::filter_by_table<false>(std::forward<L>(large), std::forward<S>(small),
                                        std::move(key_large), std::move(key_small));
}

}  // namespace outsize::stream
