// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Algorithms that look for a place: find, adjacent_find, mismatch, and whether there is one:
// any_of, equal, lexicographical_compare. They end with the page in which it is, in parallel with
// the batch; for_each.hpp says what they cost and throw. Layer: scan.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include <outsize/scan/detail/walk.hpp>
#include <outsize/scan/policy.hpp>

namespace outsize {
namespace detail {

/// The first index at which `found(place of each cursor…)` says true, or `count`.
template <typename Policy, typename Found, typename... Cursors>
std::uint64_t first_index(Policy policy, std::uint64_t count, Found const& found,
                          Cursors&... cursors) {
  std::vector<std::uint64_t> firsts(slots_of(policy, cursors...), count);
  auto const visit = [&](slice part, auto... places) {
    if (firsts[part.slot] != count) return;
    for (std::size_t i = 0; i < part.count; ++i, (++places, ...)) {
      if (!found(places...)) continue;
      firsts[part.slot] = part.index + i;
      return;
    }
  };
  auto const none = [&] { return std::ranges::count(firsts, count) == std::ssize(firsts); };
  walk(policy, count, visit, none, cursors...);
  return *std::ranges::min_element(firsts);
}

template <typename I>
I advanced(I const& first, std::uint64_t by) {
  return first + static_cast<std::iter_difference_t<I>>(by);
}

struct find_if_call {
  template <typename Policy, paged_place I, typename Predicate>
  I operator()(Policy policy, I first, I last, Predicate wanted) const {
    std::uint64_t const count = count_between(first, last);
    auto items = source_at(policy, first, count);
    auto const found = [&](auto const* at) { return static_cast<bool>(std::invoke(wanted, *at)); };
    return advanced(first, first_index(policy, count, found, items));
  }
};

struct find_if_not_call {
  template <typename Policy, paged_place I, typename Predicate>
  I operator()(Policy policy, I first, I last, Predicate wanted) const {
    return find_if_call()(policy, first, last, std::not_fn(std::ref(wanted)));
  }
};

struct find_call {
  template <typename Policy, paged_place I, typename T>
  I operator()(Policy policy, I first, I last, T const& value) const {
    return find_if_call()(policy, first, last,
                          [&](auto const& item) { return std::equal_to<>()(item, value); });
  }
};

struct any_of_call {
  template <typename Policy, paged_place I, typename Predicate>
  bool operator()(Policy policy, I first, I last, Predicate wanted) const {
    return find_if_call()(policy, first, last, std::ref(wanted)) != last;
  }
};

struct none_of_call {
  template <typename Policy, paged_place I, typename Predicate>
  bool operator()(Policy policy, I first, I last, Predicate wanted) const {
    return !any_of_call()(policy, first, last, std::ref(wanted));
  }
};

struct all_of_call {
  template <typename Policy, paged_place I, typename Predicate>
  bool operator()(Policy policy, I first, I last, Predicate wanted) const {
    return find_if_not_call()(policy, first, last, std::ref(wanted)) == last;
  }
};

struct adjacent_find_call {
  template <typename Policy, paged_place I, typename Same = std::equal_to<>>
  I operator()(Policy policy, I first, I last, Same same = {}) const {
    using item = std::iter_value_t<I>;
    std::uint64_t const count = count_between(first, last);
    auto items = source_at(policy, first, count);
    std::vector<std::uint64_t> seconds(slots_of(policy, items), count);
    auto const visit = [&](slice part, item& in_front, item const* at) {
      item before = in_front;
      for (std::size_t i = 0; i < part.count && seconds[part.slot] == count; ++i) {
        std::uint64_t const index = part.index + i;
        if (index > 0 && std::invoke(same, before, at[i])) seconds[part.slot] = index;
        before = at[i];
      }
      in_front = before;
    };
    auto const none = [&] { return std::ranges::count(seconds, count) == std::ssize(seconds); };
    walk_behind(policy, count, item{}, visit, none, items);
    std::uint64_t const second = *std::ranges::min_element(seconds);
    return second == count ? last : advanced(first, second - 1);
  }
};

struct mismatch_call {
  template <typename Policy, std::random_access_iterator I, std::random_access_iterator J,
            typename Same = std::equal_to<>>
    requires(!std::random_access_iterator<Same>)
  std::pair<I, J> operator()(Policy policy, I first, I last, J other, Same same = {}) const {
    std::uint64_t const count = count_between(first, last);
    auto a = source_at(policy, first, count);
    auto b = source_at(policy, other, count);
    auto const found = [&](auto x, auto y) { return !std::invoke(same, *x, *y); };
    std::uint64_t const at = first_index(policy, count, found, a, b);
    return {advanced(first, at), advanced(other, at)};
  }
  template <typename Policy, std::random_access_iterator I, std::random_access_iterator J,
            typename Same = std::equal_to<>>
  std::pair<I, J> operator()(Policy policy, I first, I last, J other, J other_last,
                             Same same = {}) const {
    auto const count = std::min(count_between(first, last), count_between(other, other_last));
    return (*this)(policy, first, advanced(first, count), other, std::ref(same));
  }
};

struct equal_call {
  template <typename Policy, std::random_access_iterator I, std::random_access_iterator J,
            typename Same = std::equal_to<>>
    requires(!std::random_access_iterator<Same>)
  bool operator()(Policy policy, I first, I last, J other, Same same = {}) const {
    return mismatch_call()(policy, first, last, other, std::ref(same)).first == last;
  }
  template <typename Policy, std::random_access_iterator I, std::random_access_iterator J,
            typename Same = std::equal_to<>>
  bool operator()(Policy policy, I first, I last, J other, J other_last, Same same = {}) const {
    return count_between(first, last) == count_between(other, other_last) &&
           (*this)(policy, first, last, other, std::ref(same));
  }
};

/// A copy of an item, without that its page counts as changed.
template <typename I>
std::iter_value_t<I> value_at(I const& place) {
  if constexpr (paged_place<I>) {
    return std::as_const(paged_access::items(place)).value(paged_access::position(place));
  } else {
    return *place;
  }
}

struct lexicographical_compare_call {
  template <typename Policy, std::random_access_iterator I, std::random_access_iterator J,
            typename Less = std::less<>>
  bool operator()(Policy policy, I first, I last, J other, J other_last, Less less = {}) const {
    auto const same = [&](auto const& a, auto const& b) {
      return !std::invoke(less, a, b) && !std::invoke(less, b, a);
    };
    auto const [x, y] = mismatch_call()(policy, first, last, other, other_last, same);
    if (x == last || y == other_last) return x == last && y != other_last;
    return std::invoke(less, value_at(x), value_at(y));
  }
};

}  // namespace detail

/// The first item that equals `value`, or that is wanted, or not; the end if there is none.
/// I/Os: one read for each page up to there, and those read ahead. Also with par.
/// Checked: find_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto find(Arguments&&... arguments) {
  return detail::scan<detail::find_call>(arguments...);
}
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto find_if(Arguments&&... arguments) {
  return detail::scan<detail::find_if_call>(arguments...);
}
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto find_if_not(Arguments&&... arguments) {
  return detail::scan<detail::find_if_not_call>(arguments...);
}

/// Whether all, any or none of the items are wanted. I/Os: as find. Also with par.
/// Checked: find_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto all_of(Arguments&&... arguments) {
  return detail::scan<detail::all_of_call>(arguments...);
}
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto any_of(Arguments&&... arguments) {
  return detail::scan<detail::any_of_call>(arguments...);
}
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto none_of(Arguments&&... arguments) {
  return detail::scan<detail::none_of_call>(arguments...);
}

/// The first of two neighbours that are the same; the end if there are none. I/Os: as find. Also
/// with par. Checked: find_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto adjacent_find(Arguments&&... arguments) {
  return detail::scan<detail::adjacent_find_call>(arguments...);
}

/// The first places of two sequences where their items differ; of two ranges at the end of the
/// shorter at the latest. I/Os: as find, of each sequence. Also with par. Checked: find_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto mismatch(Arguments&&... arguments) {
  return detail::scan<detail::mismatch_call>(arguments...);
}

/// Whether two sequences have the same items; two ranges, also as many. I/Os: as find, of each
/// sequence. Also with par. Checked: find_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto equal(Arguments&&... arguments) {
  return detail::scan<detail::equal_call>(arguments...);
}

/// Whether the first range comes before the second in the order of words. I/Os: as find, of each.
/// Also with par. Checked: find_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto lexicographical_compare(Arguments&&... arguments) {
  return detail::scan<detail::lexicographical_compare_call>(arguments...);
}

}  // namespace outsize
