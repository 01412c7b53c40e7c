// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Algorithms whose outputs depend on the items before: partial_sum, inclusive_scan, exclusive_scan,
// adjacent_difference. The output may be the input. for_each.hpp says what they cost and throw.
//
// In parallel sums are made of the sums of slices, so that their operation has to be associative,
// and also to join two sums; it is called up to twice for each item. Layer: scan.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include <outsize/scan/detail/batch.hpp>
#include <outsize/scan/detail/walk.hpp>
#include <outsize/scan/policy.hpp>

namespace outsize {
namespace detail {

/// Puts `next(sum, item)` to `out` for each item; what it leaves in `sum` is for the one behind it.
template <std::random_access_iterator I, typename O, typename U, typename Join, typename Next>
O put_sums(sequential_policy policy, I first, I last, O out, std::optional<U> sum, Join&,
           Next const& next) {
  std::uint64_t const count = count_between(first, last);
  auto from = source_at(policy, first, count);
  auto to = target_of(policy, out, count, first);
  auto const visit = [&](slice part, auto in, auto at) {
    for (std::size_t i = 0; i < part.count; ++i, ++in, ++at) *at = next(sum, *in);
  };
  walk_all(policy, count, visit, from, to);
  return output_end(out, to, count);
}

/// The same by all threads: they sum up their slices of a batch, and then know where to begin.
template <std::random_access_iterator I, typename O, typename U, typename Join, typename Next>
O put_sums(parallel_policy policy, I first, I last, O out, std::optional<U> sum, Join& join,
           Next const& next) {
  std::uint64_t const count = count_between(first, last);
  auto from = source_at(policy, first, count);
  auto to = target_of(policy, out, count, first);
  batch pieces(from, to);
  std::vector<std::optional<U>> of_slots(slots_of(policy, from, to));
  while (pieces.end() < count) {
    pieces.next(count);
    pieces.visit([&](slice part, auto in, auto) {
      auto mine = std::exchange(of_slots[part.slot], {});
      for (std::size_t i = 0; i < part.count; ++i, ++in)
        mine = static_cast<U>(mine ? std::invoke(join, *mine, *in) : *in);
      of_slots[part.slot] = mine;
    });
    for (std::size_t slot = 0; slot < pieces.slots(); ++slot) {
      U const mine = *std::exchange(of_slots[slot], sum);
      sum = static_cast<U>(sum ? std::invoke(join, *sum, mine) : mine);
    }
    pieces.visit([&](slice part, auto in, auto at) {
      auto before = of_slots[part.slot];
      for (std::size_t i = 0; i < part.count; ++i, ++in, ++at) *at = next(before, *in);
      of_slots[part.slot] = before;
    });
    for (auto& of_slot : of_slots) of_slot.reset();
  }
  return output_end(out, to, count);
}

/// Puts the sums up to each item, it included.
template <typename Policy, std::random_access_iterator I, typename O, typename U, typename Join>
O put_inclusive(Policy policy, I first, I last, O out, std::optional<U> init, Join& join) {
  return put_sums(policy, first, last, out, init, join, [&](auto& sum, auto const& item) {
    sum = static_cast<U>(sum ? std::invoke(join, *sum, item) : item);
    return *sum;
  });
}

struct inclusive_scan_call {
  template <typename Policy, std::random_access_iterator I, typename O, typename Join = std::plus<>>
  O operator()(Policy policy, I first, I last, O out, Join join = {}) const {
    return put_inclusive(policy, first, last, out, std::optional<std::iter_value_t<I>>(), join);
  }
  template <typename Policy, std::random_access_iterator I, typename O, typename Join, typename U>
  O operator()(Policy policy, I first, I last, O out, Join join, U init) const {
    return put_inclusive(policy, first, last, out, std::optional<U>(init), join);
  }
};

struct exclusive_scan_call {
  template <typename Policy, std::random_access_iterator I, typename O, typename U,
            typename Join = std::plus<>>
  O operator()(Policy policy, I first, I last, O out, U init, Join join = {}) const {
    return put_sums(policy, first, last, out, std::optional<U>(init), join,
                    [&](auto& sum, auto const& item) {
                      U const before = *sum;
                      sum = static_cast<U>(std::invoke(join, before, item));
                      return before;
                    });
  }
};

struct adjacent_difference_call {
  template <typename Policy, std::random_access_iterator I, typename O,
            typename Minus = std::minus<>>
  O operator()(Policy policy, I first, I last, O out, Minus minus = {}) const {
    using item = std::iter_value_t<I>;
    std::uint64_t const count = count_between(first, last);
    auto from = source_at(policy, first, count);
    auto to = target_of(policy, out, count, first);
    auto const visit = [&](slice part, item& in_front, auto in, auto at) {
      item before = in_front;
      for (std::size_t i = 0; i < part.count; ++i, ++in, ++at) {
        item const current = *in;
        *at =
            part.index + i == 0 ? current : static_cast<item>(std::invoke(minus, current, before));
        before = current;
      }
      in_front = before;
    };
    walk_behind(
        policy, count, item{}, visit, [] { return true; }, from, to);
    return output_end(out, to, count);
  }
};

}  // namespace detail

/// Puts the sum of all items up to each, this one included, or what another operation makes of
/// them; inclusive_scan takes an `init` behind the operation. I/Os: ⌈N/B⌉ reads and as many writes;
/// in place these are the same pages. Also with par. Checked: prefix_test.cpp.
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

/// The same of `init` and the items before each. I/Os: as inclusive_scan. Also with par. Checked:
/// prefix_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto exclusive_scan(Arguments&&... arguments) {
  return detail::scan<detail::exclusive_scan_call>(arguments...);
}

/// Puts the first item, and of each other one its difference from the one before it.
/// I/Os: as inclusive_scan. Also with par. Checked: prefix_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto adjacent_difference(Arguments&&... arguments) {
  return detail::scan<detail::adjacent_difference_call>(arguments...);
}

}  // namespace outsize
