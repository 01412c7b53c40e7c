// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Algorithms whose outputs depend on the items before: partial_sum, inclusive_scan, exclusive_scan,
// adjacent_difference. The output may be the input. for_each.hpp says what they cost and throw.
// Layer: container.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>

#include <outsize/container/scan/policy.hpp>
#include <outsize/container/scan/walk.hpp>

namespace outsize {
namespace detail {

/// Puts `next(item)` to `out` for each item, in order.
template <std::random_access_iterator I, typename O, typename Next>
O put_each(sequential_policy policy, I first, I last, O out, Next&& next) {
  std::uint64_t const count = count_between(first, last);
  auto from = source_at(policy, first, count);
  auto to = target_of(policy, out, count, first);
  auto const visit = [&](slice part, auto in, auto at) {
    for (std::size_t i = 0; i < part.count; ++i, ++in, ++at) *at = next(std::as_const(*in));
  };
  walk_all(policy, count, visit, from, to);
  return output_end(out, to, count);
}

struct inclusive_scan_call {
  template <std::random_access_iterator I, typename O, typename Join = std::plus<>>
  O operator()(sequential_policy policy, I first, I last, O out, Join join = {}) const {
    if (first == last) return out;
    std::iter_value_t<I> sum{};
    bool is_first = true;
    return put_each(policy, first, last, out, [&](auto const& item) {
      sum = std::exchange(is_first, false) ? item : std::invoke(join, sum, item);
      return sum;
    });
  }
  template <std::random_access_iterator I, typename O, typename Join, typename U>
  O operator()(sequential_policy policy, I first, I last, O out, Join join, U init) const {
    return put_each(policy, first, last, out,
                    [&](auto const& item) { return init = std::invoke(join, init, item); });
  }
};

struct exclusive_scan_call {
  template <std::random_access_iterator I, typename O, typename U, typename Join = std::plus<>>
  O operator()(sequential_policy policy, I first, I last, O out, U init, Join join = {}) const {
    return put_each(policy, first, last, out, [&](auto const& item) {
      U next = std::invoke(join, init, item);
      return std::exchange(init, std::move(next));
    });
  }
};

struct adjacent_difference_call {
  template <std::random_access_iterator I, typename O, typename Minus = std::minus<>>
  O operator()(sequential_policy policy, I first, I last, O out, Minus minus = {}) const {
    std::iter_value_t<I> before{};
    bool is_first = true;
    return put_each(policy, first, last, out, [&](auto const& item) -> std::iter_value_t<I> {
      auto const last_one = std::exchange(before, item);
      if (std::exchange(is_first, false)) return before;
      return std::invoke(minus, before, last_one);
    });
  }
};

}  // namespace detail

/// Puts the sum of all items up to each, this one included, or what another operation makes of
/// them; inclusive_scan takes an `init` behind the operation. I/Os: ⌈N/B⌉ reads and as many writes;
/// in place these are the same pages. Checked: prefix_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto inclusive_scan(Arguments&&... arguments) {
  return detail::scan<detail::inclusive_scan_call>(arguments...);
}
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto partial_sum(Arguments&&... arguments) {
  return detail::scan<detail::inclusive_scan_call>(arguments...);
}

/// The same of `init` and the items before each. I/Os: as inclusive_scan. Checked: prefix_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto exclusive_scan(Arguments&&... arguments) {
  return detail::scan<detail::exclusive_scan_call>(arguments...);
}

/// Puts the first item, and of each other one its difference from the one before it.
/// I/Os: as inclusive_scan. Checked: prefix_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto adjacent_difference(Arguments&&... arguments) {
  return detail::scan<detail::adjacent_difference_call>(arguments...);
}

}  // namespace outsize
