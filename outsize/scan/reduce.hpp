// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Algorithms that make one value of a sequence: count, accumulate, reduce, transform_reduce,
// min_element, max_element, minmax_element. for_each.hpp says what they cost and throw.
//
// In parallel each slice of a batch makes a value of its own, and these are put together in the
// order of the slices, so that an operation need only be associative. How many slices there are
// depends on threads and pages: sums of floating point, which are not exactly associative, may
// differ in their last bits. Layer: scan.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/scan/detail/walk.hpp>
#include <outsize/scan/find.hpp>
#include <outsize/scan/policy.hpp>

namespace outsize {
namespace detail {

/// Folds all items into `value`: `take(optional<U>&, index, place of each cursor…)` adds an item to
/// what its slice has, `join(U, U)` puts slices together.
template <typename Policy, typename U, typename Take, typename Join, typename... Cursors>
std::optional<U> fold_slices(Policy policy, std::uint64_t count, std::optional<U> value,
                             Take const& take, Join const& join, Cursors&... cursors) {
  std::vector<std::optional<U>> of_slots(slots_of(policy, cursors...));
  auto const visit = [&](slice part, auto... places) {
    std::optional<U> mine = std::move(of_slots[part.slot]);
    for (std::size_t i = 0; i < part.count; ++i, (++places, ...))
      take(mine, part.index + i, places...);
    of_slots[part.slot] = std::move(mine);
  };
  auto const put_together = [&] {
    for (auto& of_slot : of_slots) {
      if (!of_slot) continue;
      value = value ? join(*std::move(value), *std::move(of_slot)) : *std::move(of_slot);
      of_slot.reset();
    }
    return true;
  };
  walk(policy, count, visit, put_together, cursors...);
  return value;
}

struct transform_reduce_call {
  template <typename Policy, paged_place I, typename U, typename Join, typename F>
    requires(!std::random_access_iterator<U>)
  U operator()(Policy policy, I first, I last, U init, Join join, F f) const {
    std::uint64_t const count = count_between(first, last);
    auto items = source_at(policy, first, count);
    auto const take = [&](std::optional<U>& sum, std::uint64_t, auto const* at) {
      if (sum) {
        sum = join(*std::move(sum), std::invoke(f, *at));
      } else {
        sum = std::invoke(f, *at);
      }
    };
    return *fold_slices<Policy, U>(policy, count, std::move(init), take, join, items);
  }
  template <typename Policy, std::random_access_iterator I, std::random_access_iterator J,
            typename U, typename Join = std::plus<>, typename F = std::multiplies<>>
  U operator()(Policy policy, I first, I last, J other, U init, Join join = {}, F f = {}) const {
    std::uint64_t const count = count_between(first, last);
    auto a = source_at(policy, first, count);
    auto b = source_at(policy, other, count);
    auto const take = [&](std::optional<U>& sum, std::uint64_t, auto x, auto y) {
      if (sum) {
        sum = join(*std::move(sum), std::invoke(f, *x, *y));
      } else {
        sum = std::invoke(f, *x, *y);
      }
    };
    return *fold_slices<Policy, U>(policy, count, std::move(init), take, join, a, b);
  }
};

struct reduce_call {
  template <typename Policy, paged_place I, typename U = std::iter_value_t<I>,
            typename Join = std::plus<>>
  U operator()(Policy policy, I first, I last, U init = {}, Join join = {}) const {
    auto const itself = [](auto const& item) -> auto const& { return item; };
    return transform_reduce_call()(policy, first, last, std::move(init), std::move(join), itself);
  }
};

struct accumulate_call {
  template <paged_place I, typename U, typename Join = std::plus<>>
  U operator()(sequential_policy policy, I first, I last, U init, Join join = {}) const {
    std::uint64_t const count = count_between(first, last);
    auto items = source_at(policy, first, count);
    auto const visit = [&](slice part, auto const* at) {
      for (std::size_t i = 0; i < part.count; ++i) init = std::invoke(join, std::move(init), at[i]);
    };
    walk_all(policy, count, visit, items);
    return init;
  }
};

struct count_if_call {
  template <typename Policy, paged_place I, typename Predicate>
  std::ptrdiff_t operator()(Policy policy, I first, I last, Predicate wanted) const {
    auto const one = [&](auto const& item) -> std::ptrdiff_t {
      return std::invoke(wanted, item) ? 1 : 0;
    };
    return transform_reduce_call()(policy, first, last, std::ptrdiff_t{0}, std::plus<>(), one);
  }
};

struct count_call {
  template <typename Policy, paged_place I, typename T>
  std::ptrdiff_t operator()(Policy policy, I first, I last, T const& value) const {
    return count_if_call()(policy, first, last,
                           [&](auto const& item) { return std::equal_to<>()(item, value); });
  }
};

/// An item, and where it is.
template <typename T>
struct placed {
  T item;
  std::uint64_t index;
};

/// The item that `is_better(other, it)` of no other, the first of those that are as good.
template <typename Policy, paged_place I, typename Better>
I best_element(Policy policy, I first, I last, Better const& is_better) {
  using found = placed<std::iter_value_t<I>>;
  std::uint64_t const count = count_between(first, last);
  auto items = source_at(policy, first, count);
  auto const take = [&](std::optional<found>& best, std::uint64_t index, auto const* at) {
    if (!best || is_better(*at, best->item)) best = found{*at, index};
  };
  auto const join = [&](found a, found b) { return is_better(b.item, a.item) ? b : a; };
  auto const best = fold_slices<Policy, found>(policy, count, std::nullopt, take, join, items);
  return best ? advanced(first, best->index) : last;
}

struct min_element_call {
  template <typename Policy, paged_place I, typename Less = std::less<>>
  I operator()(Policy policy, I first, I last, Less less = {}) const {
    return best_element(policy, first, last,
                        [&](auto const& a, auto const& b) { return std::invoke(less, a, b); });
  }
};

struct max_element_call {
  template <typename Policy, paged_place I, typename Less = std::less<>>
  I operator()(Policy policy, I first, I last, Less less = {}) const {
    return best_element(policy, first, last,
                        [&](auto const& a, auto const& b) { return std::invoke(less, b, a); });
  }
};

struct minmax_element_call {
  template <typename Policy, paged_place I, typename Less = std::less<>>
  std::pair<I, I> operator()(Policy policy, I first, I last, Less less = {}) const {
    using item = std::iter_value_t<I>;
    using found = std::pair<placed<item>, placed<item>>;
    std::uint64_t const count = count_between(first, last);
    auto items = source_at(policy, first, count);
    auto const join = [&](found a, found const& b) {
      if (std::invoke(less, b.first.item, a.first.item)) a.first = b.first;
      if (!std::invoke(less, b.second.item, a.second.item)) a.second = b.second;  // the last one
      return a;
    };
    auto const take = [&](std::optional<found>& best, std::uint64_t index, auto const* at) {
      placed<item> const here{*at, index};
      best = best ? join(*best, {here, here}) : found{here, here};
    };
    auto const best = fold_slices<Policy, found>(policy, count, std::nullopt, take, join, items);
    if (!best) return {last, last};
    return {advanced(first, best->first.index), advanced(first, best->second.index)};
  }
};

}  // namespace detail

/// The number of items that equal `value`, or that are wanted. I/Os: ⌈N/B⌉ reads. Also with par.
/// Checked: reduce_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto count(Arguments&&... arguments) {
  return detail::scan<detail::count_call>(arguments...);
}
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto count_if(Arguments&&... arguments) {
  return detail::scan<detail::count_if_call>(arguments...);
}

/// Adds all items to `init`, one after the other. I/Os: ⌈N/B⌉ reads. Checked: reduce_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto accumulate(Arguments&&... arguments) {
  return detail::scan<detail::accumulate_call>(arguments...);
}

/// Puts `init` and all items together by an associative operation, which std::plus is by default;
/// it need not be commutative. I/Os: ⌈N/B⌉ reads. Also with par. Checked: reduce_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto reduce(Arguments&&... arguments) {
  return detail::scan<detail::reduce_call>(arguments...);
}

/// The same of what `f` makes of each item, or of the items of two sequences, std::multiplies by
/// default. I/Os: ⌈N/B⌉ reads of each. Also with par. Checked: reduce_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto transform_reduce(Arguments&&... arguments) {
  return detail::scan<detail::transform_reduce_call>(arguments...);
}

/// The first of the least items, the first of the greatest, or the first of the least and the last
/// of the greatest; the end of an empty range. I/Os: ⌈N/B⌉ reads. Also with par.
/// Checked: reduce_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto min_element(Arguments&&... arguments) {
  return detail::scan<detail::min_element_call>(arguments...);
}
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto max_element(Arguments&&... arguments) {
  return detail::scan<detail::max_element_call>(arguments...);
}
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto minmax_element(Arguments&&... arguments) {
  return detail::scan<detail::minmax_element_call>(arguments...);
}

}  // namespace outsize
