// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Two sorted ranges gone along together: merge and the set operations, with the meaning that they
// have in std:: for items that are there several times. for_each.hpp says what they cost and throw;
// of ranges that are not sorted the output is not known. For any number of sorted ranges and files:
// outsize/algorithm/merge.hpp. Layer: container.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>

#include <outsize/container/scan/policy.hpp>
#include <outsize/container/scan/transform.hpp>
#include <outsize/container/scan/walk.hpp>

namespace outsize {
namespace detail {

/// A range with its current item.
template <typename I>
class range_front {
 public:
  range_front(I first, I last)
      : left_(count_between(first, last)), cursor_(source_at(sequential_policy{}, first, left_)) {}

  bool empty() const noexcept { return left_ == 0; }
  decltype(auto) front() {
    cursor_.begin_batch();
    cursor_.rest();
    return *cursor_.at();
  }
  void pop() {
    cursor_.skip(1);
    --left_;
  }

 private:
  std::uint64_t left_;
  decltype(source_at(sequential_policy{}, std::declval<I const&>(), 0)) cursor_;
};

/// What of each pair of items goes to the output.
struct wanted_items {
  bool of_first;   // that has no partner in the second range
  bool of_second;  // that has none in the first
  bool of_both;    // the first one's
};

/// A set operation, by what is wanted of it.
template <wanted_items wanted>
struct set_call {
  template <std::random_access_iterator I, std::random_access_iterator J, typename O,
            typename Less = std::less<>>
  O operator()(sequential_policy, I first, I last, J other, J other_last, O out,
               Less less = {}) const {
    range_front<I> a(first, last);
    range_front<J> b(other, other_last);
    item_output<O> to(out);
    while (!a.empty() && !b.empty()) {
      if (std::invoke(less, a.front(), b.front())) {
        if (wanted.of_first) to.push(a.front());
        a.pop();
      } else if (std::invoke(less, b.front(), a.front())) {
        if (wanted.of_second) to.push(b.front());
        b.pop();
      } else {
        if (wanted.of_both) to.push(a.front());
        a.pop();
        b.pop();
      }
    }
    for (; wanted.of_first && !a.empty(); a.pop()) to.push(a.front());
    for (; wanted.of_second && !b.empty(); b.pop()) to.push(b.front());
    return to.reached();
  }
};

struct includes_call {
  template <std::random_access_iterator I, std::random_access_iterator J,
            typename Less = std::less<>>
  bool operator()(sequential_policy, I first, I last, J other, J other_last, Less less = {}) const {
    range_front<I> a(first, last);
    range_front<J> b(other, other_last);
    while (!b.empty()) {
      if (a.empty() || std::invoke(less, b.front(), a.front())) return false;
      if (!std::invoke(less, a.front(), b.front())) b.pop();
      a.pop();
    }
    return true;
  }
};

struct merge_call {
  template <std::random_access_iterator I, std::random_access_iterator J, typename O,
            typename Less = std::less<>>
  O operator()(sequential_policy, I first, I last, J other, J other_last, O out,
               Less less = {}) const {
    range_front<I> a(first, last);
    range_front<J> b(other, other_last);
    item_output<O> to(out, count_between(first, last) + count_between(other, other_last));
    while (!a.empty() && !b.empty()) {
      if (std::invoke(less, b.front(), a.front())) {
        to.push(b.front());
        b.pop();
      } else {
        to.push(a.front());
        a.pop();
      }
    }
    for (; !a.empty(); a.pop()) to.push(a.front());
    for (; !b.empty(); b.pop()) to.push(b.front());
    return to.reached();
  }
};

/// What begins a call of ours, and not one of outsize/algorithm/merge.hpp.
template <typename First>
concept first_range =
    paged_container<First> || std::random_access_iterator<std::remove_cvref_t<First>>;

}  // namespace detail

/// Puts the items of two sorted ranges to `out`, sorted; of items that compare equal those of the
/// first come first. I/Os: ⌈N/B⌉ reads of each, and a write for each page of the output.
/// Checked: merge_test.cpp.
template <detail::first_range First, typename... Others>
  requires detail::scan_arguments<First, Others...>
auto merge(First&& first, Others&&... others) {
  return detail::scan<detail::merge_call>(first, others...);
}

/// Puts the items that are in either range, in both, in the first alone, or in one alone to `out`.
/// Ranges are sorted, and so is the output. I/Os: ⌈N/B⌉ reads of each, and a write for each page
/// that is written to, which is read before unless nothing was in it. Checked: merge_test.cpp.
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
/// each. Checked: merge_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto includes(Arguments&&... arguments) {
  return detail::scan<detail::includes_call>(arguments...);
}

}  // namespace outsize
