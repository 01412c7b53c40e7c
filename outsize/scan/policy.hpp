// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How an algorithm that goes over pages is called: with iterators or whole containers, by one
// thread or by all of the storage.
//
//     outsize::count(v, 7)    outsize::count(v.begin(), v.end(), 7)    outsize::count(par, v, 7)
//
// An algorithm is a body that takes a policy and iterators; scan() brings all calls to that form.
// Layer: scan.

#include <concepts>
#include <functional>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

#include <outsize/container/detail/array/paged_items.hpp>

namespace outsize {

/// The default: one thread, the caller's.
struct sequential_policy {};

/// All threads of the storage share the items of each few pages; the caller reads and writes the
/// others meanwhile. Functions are called from all of these threads at once, and in no order; so
/// are iterators that are not a vector's or deque's own, each thread has a copy. An algorithm that
/// a function calls is run by the function's thread alone.
struct parallel_policy {};

/// Said as the first argument of an algorithm that can be run in parallel.
inline constexpr parallel_policy par{};

namespace detail {

template <typename I>
inline constexpr bool is_paged_iterator = false;
template <typename T>
inline constexpr bool is_paged_iterator<paged_iterator<T>> = true;
template <typename T>
inline constexpr bool is_paged_iterator<paged_const_iterator<T>> = true;

}  // namespace detail

/// An iterator into a container of pages: vector or deque.
template <typename I>
concept paged_place = detail::is_paged_iterator<std::remove_cvref_t<I>>;

/// One whose items can be changed.
template <typename I>
concept changeable_place =
    paged_place<I> &&
    std::same_as<std::remove_cvref_t<I>, paged_iterator<std::iter_value_t<std::remove_cvref_t<I>>>>;

/// A whole container of pages.
template <typename R>
concept paged_container = requires(R& r) {
  { r.begin() } -> paged_place;
  { r.end() } -> paged_place;
};

namespace detail {

/// An argument as bodies want it: containers as their two ends.
template <typename A>
auto spread(A& argument) {
  if constexpr (paged_container<A>) {
    return std::make_tuple(argument.begin(), argument.end());
  } else {
    return std::tuple<A&>(argument);
  }
}

template <typename P>
concept scan_policy = std::same_as<std::remove_cvref_t<P>, sequential_policy> ||
                      std::same_as<std::remove_cvref_t<P>, parallel_policy>;

/// What algorithms are called with: a policy or none, and something in pages.
template <typename... Arguments>
concept scan_arguments = ((paged_place<Arguments> || paged_container<Arguments>) || ...);

/// Calls `Body`, which takes a policy, and iterators in place of ranges.
template <typename Body, typename First, typename... Arguments>
auto scan(First& first, Arguments&... arguments) {
  if constexpr (scan_policy<First>) {
    return std::apply([&](auto&&... spread_out) { return Body()(first, spread_out...); },
                      std::tuple_cat(spread(arguments)...));
  } else {
    sequential_policy const one_thread;
    return scan<Body>(one_thread, first, arguments...);
  }
}

}  // namespace detail
}  // namespace outsize
