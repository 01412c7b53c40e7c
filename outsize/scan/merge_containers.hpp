// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Two sorted ranges gone along together: merge and the set operations, with the meaning that they
// have in std:: for items that are there several times. for_each.hpp says what they cost and throw;
// of ranges that are not sorted the output is not known. For any number of sorted ranges and files:
// outsize/algorithm/merge.hpp.
//
// One page of each is at hand. Merges take as many of their items as what follows cannot change, in
// parallel a part for each thread; set operations cut theirs where items differ, so that no two
// that are the same come to different threads. Layer: scan.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/base/executor.hpp>
#include <outsize/kernel/detail/two_way_merge.hpp>
#include <outsize/scan/detail/walk.hpp>
#include <outsize/scan/policy.hpp>
#include <outsize/scan/transform.hpp>

namespace outsize {
namespace detail {

/// A range with the piece of it that is in memory.
template <typename I>
class range_front {
 public:
  range_front(I first, I last)
      : left_(count_between(first, last)), cursor_(source_at(sequential_policy{}, first, left_)) {}

  bool empty() const noexcept { return left_ == 0; }
  /// Makes sure that there are items at(), and says how many.
  std::size_t open() {
    cursor_.begin_batch();
    return static_cast<std::size_t>(std::min<std::uint64_t>(left_, cursor_.rest()));
  }
  auto at() const { return cursor_.at(); }
  executor* team() const noexcept { return cursor_.team(); }
  void skip(std::size_t count) {
    cursor_.skip(count);
    left_ -= count;
  }

 private:
  std::uint64_t left_;
  decltype(source_at(sequential_policy{}, std::declval<I const&>(), 0)) cursor_;
};

template <typename Place>
auto pieces_of(Place at, std::size_t count) {
  return std::ranges::subrange(at, at + static_cast<std::ptrdiff_t>(count));
}

/// Merges `a` and `b` to `out`, which overlaps neither.
template <typename A, typename B, typename O, typename Less>
void merge_pieces(A const& a, B const& b, O out, Less const& less) {
  if constexpr (std::contiguous_iterator<std::ranges::iterator_t<A>> &&
                std::contiguous_iterator<std::ranges::iterator_t<B>> &&
                std::contiguous_iterator<O>) {
    using item = std::ranges::range_value_t<A>;
    if constexpr (std::same_as<item, std::ranges::range_value_t<B>> &&
                  std::same_as<item, std::iter_value_t<O>>) {
      merge_two_ways(std::span<item const>(a), std::span<item const>(b), std::to_address(out),
                     less);
      return;
    }
  }
  std::merge(a.begin(), a.end(), b.begin(), b.end(), out, std::ref(less));
}

/// What of each pair of items goes to the output.
struct wanted_items {
  bool of_first;   // that has no partner in the second range
  bool of_second;  // that has none in the first
  bool of_both;    // the first one's
};

/// Goes along two pieces until one ends, passes what is wanted of them to `take`, and leaves what
/// is left of them.
template <wanted_items wanted, typename A, typename B, typename Less, typename Take>
void pair_up(A& a, B& b, Less const& less, Take const& take) {
  auto x = a.begin(), x_end = a.end();
  auto y = b.begin(), y_end = b.end();
  while (x != x_end && y != y_end) {
    if (std::invoke(less, *x, *y)) {
      if (wanted.of_first) take(*x);
      ++x;
    } else if (std::invoke(less, *y, *x)) {
      if (wanted.of_second) take(*y);
      ++y;
    } else {
      if (wanted.of_both) take(*x);
      ++x, ++y;
    }
  }
  a = A(x, x_end), b = B(y, y_end);
}

/// Passes what of two ranges is wanted to `take`, in order.
template <wanted_items wanted, typename A, typename B, typename Less, typename Take>
class set_walk {
 public:
  set_walk(A& a, B& b, Less const& less, Take take) : a_(a), b_(b), less_(less), take_(take) {}

  /// Until there is nothing more to take, or `done()` says so after some pieces.
  template <typename Policy, typename Done>
  void run(Policy policy, Done const& done) {
    while (!a_.empty() && !b_.empty() && !done()) {
      std::size_t const of_a = a_.open(), of_b = b_.open();
      auto a = pieces_of(a_.at(), of_a);
      auto b = pieces_of(b_.at(), of_b);
      step(policy, a, b);
      a_.skip(of_a - a.size());
      b_.skip(of_b - b.size());
    }
    if (wanted.of_first) take_rest(a_, done);
    if (wanted.of_second) take_rest(b_, done);
  }

 private:
  using item = std::remove_cvref_t<decltype(*std::declval<A&>().at())>;

  template <typename Pieces, typename Others>
  void step(sequential_policy, Pieces& a, Others& b) {
    pair_up<wanted>(a, b, less_, take_);
  }
  /// What is less than the last items of both pieces has its partners in them. It is cut where
  /// items differ, and each thread takes a part.
  template <typename Pieces, typename Others>
  void step(parallel_policy policy, Pieces& a, Others& b) {
    auto const& last = std::invoke(less_, b.back(), a.back()) ? b.back() : a.back();
    auto const a_end = std::ranges::lower_bound(a, last, std::cref(less_));
    auto const b_end = std::ranges::lower_bound(b, last, std::cref(less_));
    if (a_end == a.begin() || b_end == b.begin()) return step(sequential_policy{}, a, b);
    auto& team = team_of(a_, b_);
    std::vector<std::vector<item>> taken(team.threads());
    auto const count = static_cast<std::size_t>(a_end - a.begin());
    auto const cuts = [&](std::size_t at) {
      if (at == 0) return std::pair(a.begin(), b.begin());
      if (at == count) return std::pair(a_end, b_end);
      auto const& next = a[static_cast<std::ptrdiff_t>(at)];
      return std::pair(std::ranges::lower_bound(a.begin(), a_end, next, std::cref(less_)),
                       std::ranges::lower_bound(b.begin(), b_end, next, std::cref(less_)));
    };
    in_parts(policy, team, count, [&](std::size_t from, std::size_t to, std::size_t part) {
      auto const [a_first, b_first] = cuts(from);
      auto const [a_last, b_last] = cuts(to);
      Pieces mine(a_first, a_last);
      Others other(b_first, b_last);
      auto const take = [&](item const& x) { taken[part].push_back(x); };
      pair_up<wanted>(mine, other, less_, take);
      if (wanted.of_first) std::ranges::for_each(mine, take);
      if (wanted.of_second) std::ranges::for_each(other, take);
    });
    for (auto const& part : taken) std::ranges::for_each(part, take_);
    a = Pieces(a_end, a.end()), b = Others(b_end, b.end());
  }

  template <typename Range, typename Done>
  void take_rest(Range& range, Done const& done) {
    while (!range.empty() && !done()) {
      std::size_t const count = range.open();
      std::ranges::for_each(pieces_of(range.at(), count), take_);
      range.skip(count);
    }
  }

  A& a_;
  B& b_;
  Less const& less_;
  Take take_;
};

/// A set operation, by what is wanted of it.
template <wanted_items wanted>
struct set_call {
  template <typename Policy, std::random_access_iterator I, std::random_access_iterator J,
            typename O, typename Less = std::less<>>
  O operator()(Policy policy, I first, I last, J other, J other_last, O out, Less less = {}) const {
    range_front<I> a(first, last);
    range_front<J> b(other, other_last);
    item_output<O> to(out);
    auto const take = [&](auto const& item) { to.push(item); };
    set_walk<wanted, decltype(a), decltype(b), Less, decltype(take)>(a, b, less, take)
        .run(policy, [] { return false; });
    return to.reached();
  }
};

struct includes_call {
  template <typename Policy, std::random_access_iterator I, std::random_access_iterator J,
            typename Less = std::less<>>
  bool operator()(Policy policy, I first, I last, J other, J other_last, Less less = {}) const {
    range_front<I> a(first, last);
    range_front<J> b(other, other_last);
    bool has_all = true;
    auto const take = [&](auto const&) { has_all = false; };
    set_walk<wanted_items{false, true, false}, decltype(a), decltype(b), Less, decltype(take)>(
        a, b, less, take)
        .run(policy, [&] { return !has_all; });
    return has_all;
  }
};

struct merge_call {
  template <typename Policy, std::random_access_iterator I, std::random_access_iterator J,
            typename O, typename Less = std::less<>>
  O operator()(Policy policy, I first, I last, J other, J other_last, O out, Less less = {}) const {
    range_front<I> a(first, last);
    range_front<J> b(other, other_last);
    std::uint64_t const total = count_between(first, last) + count_between(other, other_last);
    auto to = target_at(sequential_policy{}, out, total);
    while (!a.empty() && !b.empty()) {
      std::size_t of_a = a.open(), of_b = b.open();
      to.begin_batch();
      // What is merged does not depend on what is behind these pieces.
      auto const x = pieces_of(a.at(), of_a);
      auto const y = pieces_of(b.at(), of_b);
      if (std::invoke(less, y.back(), x.back())) {
        of_a = static_cast<std::size_t>(std::ranges::upper_bound(x, y.back(), std::cref(less)) -
                                        x.begin());
      } else {
        of_b = static_cast<std::size_t>(std::ranges::lower_bound(y, x.back(), std::cref(less)) -
                                        y.begin());
      }
      merge_step(policy, team_of(a, b, to), a, of_a, b, of_b, to, less);
    }
    copy_rest(a, to);
    copy_rest(b, to);
    return output_end(out, to, total);
  }

 private:
  /// Merges the first items of both as far as there is room in the page of the output.
  template <typename Policy, typename A, typename B, typename To, typename Less>
  static void merge_step(Policy policy, executor& team, A& a, std::size_t of_a, B& b,
                         std::size_t of_b, To& to, Less const& less) {
    auto const x = pieces_of(a.at(), of_a);
    auto const y = pieces_of(b.at(), of_b);
    std::size_t const count = std::min(of_a + of_b, to.rest());
    auto const part_policy = [&] {
      if constexpr (std::random_access_iterator<decltype(to.at())>) {
        return policy;
      } else {
        return sequential_policy{};  // the output takes them one by one
      }
    }();
    in_parts(part_policy, team, count, [&](std::size_t from, std::size_t until, std::size_t) {
      std::size_t const x_from = split_of_least(x, y, from, less);
      std::size_t const x_until = split_of_least(x, y, until, less);
      auto const part = [](auto const& piece, std::size_t first, std::size_t last) {
        return pieces_of(piece.begin() + static_cast<std::ptrdiff_t>(first), last - first);
      };
      auto at = to.at();
      if constexpr (std::random_access_iterator<decltype(at)>)
        at += static_cast<std::ptrdiff_t>(from);
      merge_pieces(part(x, x_from, x_until), part(y, from - x_from, until - x_until), at, less);
    });
    std::size_t const from_a = split_of_least(x, y, count, less);
    a.skip(from_a);
    b.skip(count - from_a);
    to.skip(count);
  }
  template <typename A, typename To>
  static void copy_rest(A& from, To& to) {
    while (!from.empty()) {
      std::size_t const there = from.open();
      to.begin_batch();
      std::size_t const count = std::min(there, to.rest());
      std::copy_n(from.at(), count, to.at());
      from.skip(count);
      to.skip(count);
    }
  }
};

/// What begins a call of ours, and not one of outsize/algorithm/merge.hpp.
template <typename First>
concept first_range = scan_policy<First> || paged_container<First> ||
                      std::random_access_iterator<std::remove_cvref_t<First>>;

}  // namespace detail

/// Puts the items of two sorted ranges to `out`, sorted; of items that compare equal those of the
/// first come first. I/Os: ⌈N/B⌉ reads of each, and a write for each page of the output. Also with
/// par. Checked: merge_containers_test.cpp.
template <detail::first_range First, typename... Others>
  requires detail::scan_arguments<First, Others...>
auto merge(First&& first, Others&&... others) {
  return detail::scan<detail::merge_call>(first, others...);
}

/// Puts the items that are in either range, in both, in the first alone, or in one alone to `out`.
/// Ranges are sorted, and so is the output. I/Os: ⌈N/B⌉ reads of each, and a write for each page
/// that is written to, which is read before unless nothing was in it. Also with par; memory then:
/// two pages more. Checked: merge_containers_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto set_union(Arguments&&... arguments) {
  return detail::scan<detail::set_call<detail::wanted_items{true, true, true}>>(arguments...);
}
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto set_intersection(Arguments&&... arguments) {
  return detail::scan<detail::set_call<detail::wanted_items{false, false, true}>>(arguments...);
}
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto set_difference(Arguments&&... arguments) {
  return detail::scan<detail::set_call<detail::wanted_items{true, false, false}>>(arguments...);
}
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto set_symmetric_difference(Arguments&&... arguments) {
  return detail::scan<detail::set_call<detail::wanted_items{true, true, false}>>(arguments...);
}

/// Whether the first range has all items of the second, each as often. I/Os: at most ⌈N/B⌉ reads of
/// each. Also with par. Checked: merge_containers_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto includes(Arguments&&... arguments) {
  return detail::scan<detail::includes_call>(arguments...);
}

}  // namespace outsize
