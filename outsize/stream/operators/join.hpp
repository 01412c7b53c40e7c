// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// merge_join, left_join, full_join, semi_join, anti_join: two flows that are sorted by a key are
// brought together, item by item of equal keys.
//
//     merge_join(from(orders) | sort(by(&order::customer)), from(customers),
//                &order::customer, &customer::id, bill)
//
//   left    1  2  2  4          inner  2a 2b 2a 2b          left   1- 2a 2b 2a 2b 4-
//   right   2a 2b 3             semi   2  2                 full   1- 2a 2b 2a 2b -3 4-
//                               anti   1  4
//
// The group of right items with one key is kept in memory while the left items with that key pass,
// so put the flow whose keys repeat less on the right. One thread at a time. Layer: stream. For a
// flow that is not sorted and a small one: hash_join.hpp.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/detail/kept_items.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>
#include <outsize/stream/operators/merge_flows.hpp>
#include <outsize/stream/operators/zip.hpp>

namespace outsize::stream {
namespace detail {

enum class join_kind : std::uint8_t { inner, left, full };

/// How the keys of two streams are found and compared.
template <typename KeyA, typename KeyB, typename Order>
struct join_keys {
  KeyA of_a;
  KeyB of_b;
  Order order;

  template <typename A, typename B>
  bool a_before_b(A const& a, B const& b) {
    return comes_before(order, std::invoke(of_a, a), std::invoke(of_b, b));
  }
  template <typename A, typename B>
  bool b_before_a(B const& b, A const& a) {
    return comes_before(order, std::invoke(of_b, b), std::invoke(of_a, a));
  }
};

/// The result of `make`, which gets items or their addresses by the kind of join.
template <typename A, typename B, typename Make, join_kind kind>
struct join_result {
  using a = decltype(*std::declval<A&>());
  using b = typename kept_items<stream_item_t<B>>::shown;
  using type = std::invoke_result_t<Make&, a, b const*>;
};
template <typename A, typename B, typename Make>
struct join_result<A, B, Make, join_kind::inner> {
  using a = decltype(*std::declval<A&>());
  using b = typename kept_items<stream_item_t<B>>::shown;
  using type = std::invoke_result_t<Make&, a, b const&>;
};
template <typename A, typename B, typename Make>
struct join_result<A, B, Make, join_kind::full> {
  using a = typename item_place<decltype(*std::declval<A&>())>::shown;
  using b = typename kept_items<stream_item_t<B>>::shown;
  using type = std::invoke_result_t<Make&, a const*, b const*>;
};

template <typename A, typename B, typename Keys, typename Make, join_kind kind>
class merge_joined : public binary<A, B> {
  using result = typename join_result<A, B, Make, kind>::type;
  using right = typename kept_items<stream_item_t<B>>::shown;

 public:
  using value_type = std::remove_cvref_t<result>;

  merge_joined(A a, B b, Keys keys, Make make)
      : binary<A, B>(std::move(a), std::move(b)), keys_(std::move(keys)), make_(std::move(make)) {}

  bool empty() {
    while (at_ == place::unknown) find();
    return at_ == place::end;
  }
  auto& operator*() {
    return result_.get([this]() -> decltype(auto) { return compute(); });
  }
  merge_joined& operator++() {
    if (!result_.is_known()) **this;  // `make` is called once for each result
    result_.forget();
    if (at_ == place::pair && ++group_at_ < group_.size()) return *this;
    if (at_ == place::b_alone)
      ++this->b_;
    else
      ++this->a_;
    at_ = place::unknown;
    return *this;
  }

  item_count size() const noexcept { return {}; }
  void describe(description& d) const {
    this->describe_as(d, kind == join_kind::inner  ? "merge_join"
                         : kind == join_kind::left ? "left_join"
                                                   : "full_join");
  }

 private:
  enum class place : std::uint8_t { unknown, pair, a_alone, b_alone, end };
  static constexpr bool all_of_a = kind != join_kind::inner;
  static constexpr bool all_of_b = kind == join_kind::full;

  /// Finds the next result, or goes past an item without one.
  void find() {
    if (this->a_.empty()) {
      group_.clear();
      at_ = all_of_b && !this->b_.empty() ? place::b_alone : place::end;
    } else if (!group_.empty() && !keys_.b_before_a(group_[0], *this->a_)) {
      begin_pairs();
    } else {
      group_.clear();
      find_in_b();
    }
  }
  void find_in_b() {
    if (this->b_.empty()) {
      at_ = all_of_a ? place::a_alone : place::end;
    } else if (keys_.a_before_b(*this->a_, *this->b_)) {
      if (all_of_a)
        at_ = place::a_alone;
      else
        ++this->a_;
    } else if (keys_.b_before_a(*this->b_, *this->a_)) {
      if (all_of_b)
        at_ = place::b_alone;
      else
        ++this->b_;
    } else {
      do {
        group_.push(*this->b_);
        ++this->b_;
      } while (!this->b_.empty() && !keys_.a_before_b(*this->a_, *this->b_));
      begin_pairs();
    }
  }
  void begin_pairs() noexcept {
    group_at_ = 0;
    at_ = place::pair;
  }

  result compute() {
    if constexpr (kind == join_kind::inner) {
      return std::invoke(make_, *this->a_, group_[group_at_]);
    } else if constexpr (kind == join_kind::left) {
      return std::invoke(make_, *this->a_, right_item());
    } else {
      return std::invoke(make_, at_ == place::b_alone ? nullptr : place_of_a_.address_of(*this->a_),
                         right_item());
    }
  }
  right const* right_item() {
    if (at_ == place::pair) return &group_[group_at_];
    if constexpr (all_of_b) {
      if (at_ == place::b_alone) return place_of_b_.address_of(*this->b_);
    }
    return nullptr;
  }

  Keys keys_;
  Make make_;
  kept_items<stream_item_t<B>> group_;  // right items with the key of the last pair
  std::size_t group_at_ = 0;
  place at_ = place::unknown;
  computed<result> result_;
  [[no_unique_address]] item_place<decltype(*std::declval<A&>())> place_of_a_;
  [[no_unique_address]] item_place<decltype(*std::declval<B&>())> place_of_b_;
};

/// Items of the first stream that have a partner in the second, or that have none.
template <typename A, typename B, typename Keys, bool with_partner>
class partner_filter : public binary<A, B> {
 public:
  using value_type = stream_item_t<A>;

  partner_filter(A a, B b, Keys keys)
      : binary<A, B>(std::move(a), std::move(b)), keys_(std::move(keys)) {}

  bool empty() {
    for (; !at_wanted_; ++this->a_) {
      if (this->a_.empty()) return true;
      while (!this->b_.empty() && keys_.b_before_a(*this->b_, *this->a_)) ++this->b_;
      if (with_partner && this->b_.empty()) return true;
      bool const has_partner = !this->b_.empty() && !keys_.a_before_b(*this->a_, *this->b_);
      at_wanted_ = has_partner == with_partner;
      if (at_wanted_) break;
    }
    return false;
  }
  decltype(auto) operator*() { return *this->a_; }
  partner_filter& operator++() {
    at_wanted_ = false;
    ++this->a_;
    return *this;
  }

  item_count size() const { return this->a_.size().part(); }
  void describe(description& d) const {
    this->describe_as(d, with_partner ? "semi_join" : "anti_join");
  }

 private:
  Keys keys_;
  bool at_wanted_ = false;
};

template <join_kind kind, typename A, typename B, typename Keys, typename Make>
auto join_by_merging(A&& a, B&& b, Keys keys, Make make) {
  return join_flows(
      [&]<typename X, typename Y>(X x, Y y) {
        return merge_joined<X, Y, Keys, Make, kind>(std::move(x), std::move(y), std::move(keys),
                                                    std::move(make));
      },
      as_flow(std::forward<A>(a)), as_flow(std::forward<B>(b)));
}
template <bool with_partner, typename A, typename B, typename Keys>
auto filter_by_partner(A&& a, B&& b, Keys keys) {
  return join_flows(
      [&]<typename X, typename Y>(X x, Y y) {
        return partner_filter<X, Y, Keys, with_partner>(std::move(x), std::move(y),
                                                        std::move(keys));
      },
      as_flow(std::forward<A>(a)), as_flow(std::forward<B>(b)));
}

}  // namespace detail

/// Yields `make(l, r)` for each pair of a left item and a right item with equal keys, in the order
/// of the left items, and for one of them in the order of the right items. Both flows are sorted by
/// their keys. Byte strings of the right flow are shown as std::string_view.
///
/// @param key_left, key_right  Member or function: the key of an item. May be called repeatedly.
/// @param make  Called once for each pair.
/// @param less  Order of the keys, of both flows in either position, as merge() takes it.
///
/// CPU:     Three comparisons for each item, and a call of `make` for each pair.
/// Memory:  The right items of one key, beside the storage's budget.
/// Checked: join_test.cpp.
template <detail::flow_like L, detail::flow_like R, typename KeyL, typename KeyR, typename Make,
          typename Less = std::less<>>
auto merge_join(L&& left, R&& right, KeyL key_left, KeyR key_right, Make make, Less less = {}) {
  return detail::join_by_merging<detail::join_kind::inner>(
      std::forward<L>(left), std::forward<R>(right),
      detail::join_keys<KeyL, KeyR, Less>{std::move(key_left), std::move(key_right),
                                          std::move(less)},
      std::move(make));
}

/// The same with all left items: yields `make(l, &r)` for each pair, and `make(l, nullptr)` for a
/// left item without partner.
/// Checked: join_test.cpp.
template <detail::flow_like L, detail::flow_like R, typename KeyL, typename KeyR, typename Make,
          typename Less = std::less<>>
auto left_join(L&& left, R&& right, KeyL key_left, KeyR key_right, Make make, Less less = {}) {
  return detail::join_by_merging<detail::join_kind::left>(
      std::forward<L>(left), std::forward<R>(right),
      detail::join_keys<KeyL, KeyR, Less>{std::move(key_left), std::move(key_right),
                                          std::move(less)},
      std::move(make));
}

/// The same with all items of both: yields `make(&l, &r)` for each pair, and `make(&l, nullptr)` or
/// `make(nullptr, &r)` for an item without partner, sorted by key. Byte strings of both flows are
/// shown as std::string_view.
/// Checked: join_test.cpp.
template <detail::flow_like L, detail::flow_like R, typename KeyL, typename KeyR, typename Make,
          typename Less = std::less<>>
auto full_join(L&& left, R&& right, KeyL key_left, KeyR key_right, Make make, Less less = {}) {
  return detail::join_by_merging<detail::join_kind::full>(
      std::forward<L>(left), std::forward<R>(right),
      detail::join_keys<KeyL, KeyR, Less>{std::move(key_left), std::move(key_right),
                                          std::move(less)},
      std::move(make));
}

/// Yields the left items whose key is a key of the right flow; each once. Both flows are sorted by
/// their keys. Keeps nothing in memory.
/// Checked: join_test.cpp.
template <detail::flow_like L, detail::flow_like R, typename KeyL, typename KeyR,
          typename Less = std::less<>>
auto semi_join(L&& left, R&& right, KeyL key_left, KeyR key_right, Less less = {}) {
  return detail::filter_by_partner<true>(
      std::forward<L>(left), std::forward<R>(right),
      detail::join_keys<KeyL, KeyR, Less>{std::move(key_left), std::move(key_right),
                                          std::move(less)});
}

/// Yields the left items whose key is no key of the right flow. Otherwise as semi_join().
/// Checked: join_test.cpp.
template <detail::flow_like L, detail::flow_like R, typename KeyL, typename KeyR,
          typename Less = std::less<>>
auto anti_join(L&& left, R&& right, KeyL key_left, KeyR key_right, Less less = {}) {
  return detail::filter_by_partner<false>(
      std::forward<L>(left), std::forward<R>(right),
      detail::join_keys<KeyL, KeyR, Less>{std::move(key_left), std::move(key_right),
                                          std::move(less)});
}

}  // namespace outsize::stream
