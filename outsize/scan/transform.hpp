// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Algorithms that make a sequence of others: copy, copy_if, transform. The output may begin where
// an input does, and for copy before it. for_each.hpp says what they cost and throw. Layer:
// scan.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>

#include <outsize/scan/detail/walk.hpp>
#include <outsize/scan/policy.hpp>

namespace outsize {
namespace detail {

struct transform_call {
  template <typename Policy, std::random_access_iterator I, typename O, typename F>
  O operator()(Policy policy, I first, I last, O out, F f) const {
    std::uint64_t const count = count_between(first, last);
    auto from = source_at(policy, first, count);
    auto to = target_of(policy, out, count, first);
    auto const visit = [&f](slice part, auto in, auto at) {
      for (std::size_t i = 0; i < part.count; ++i, ++in, ++at) *at = std::invoke(f, *in);
    };
    walk_all(policy, count, visit, from, to);
    return output_end(out, to, count);
  }
  template <typename Policy, std::random_access_iterator I, std::random_access_iterator J,
            typename O, typename F>
  O operator()(Policy policy, I first, I last, J other, O out, F f) const {
    std::uint64_t const count = count_between(first, last);
    auto a = source_at(policy, first, count);
    auto b = source_at(policy, other, count);
    auto to = target_of(policy, out, count, first, other);
    auto const visit = [&f](slice part, auto x, auto y, auto at) {
      for (std::size_t i = 0; i < part.count; ++i, ++x, ++y, ++at) *at = std::invoke(f, *x, *y);
    };
    walk_all(policy, count, visit, a, b, to);
    return output_end(out, to, count);
  }
  template <typename Policy, std::random_access_iterator I, std::random_access_iterator J,
            typename O, typename F>
  O operator()(Policy policy, I first, I last, J other, J other_last, O out, F f) const {
    auto const count = std::min(last - first, static_cast<std::ptrdiff_t>(other_last - other));
    return (*this)(policy, first, first + count, other, out, f);
  }
};

struct copy_call {
  template <typename Policy, std::random_access_iterator I, typename O>
  O operator()(Policy policy, I first, I last, O out) const {
    std::uint64_t const count = count_between(first, last);
    auto from = source_at(policy, first, count);
    auto to = target_of(policy, out, count, first);
    auto const visit = [](slice part, auto in, auto at) { std::copy_n(in, part.count, at); };
    walk_all(policy, count, visit, from, to);
    return output_end(out, to, count);
  }
};

/// Where items go one by one.
template <typename O>
class item_output {
 public:
  explicit item_output(O out) : first_(out), cursor_(target_at(sequential_policy{}, out, 0)) {}

  template <typename T>
  void push(T const& item) {
    cursor_.begin_batch();
    cursor_.rest();
    *cursor_.at() = item;
    cursor_.skip(1);
    ++count_;
  }
  O reached() const { return output_end(first_, cursor_, count_); }

 private:
  O first_;
  decltype(target_at(sequential_policy{}, std::declval<O const&>(), 0)) cursor_;
  std::uint64_t count_ = 0;
};

struct copy_if_call {
  template <typename Policy, std::random_access_iterator I, typename O, typename Predicate>
  O operator()(Policy policy, I first, I last, O out, Predicate wanted) const {
    using item = std::iter_value_t<I>;
    std::uint64_t const count = count_between(first, last);
    auto from = source_at(policy, first, count);
    item_output<O> to(out);
    auto const ask = [&](item const&, item const& x) {
      return static_cast<bool>(std::invoke(wanted, x));
    };
    auto const take = [&](std::uint64_t, item const& x, bool is_wanted) {
      if (is_wanted) to.push(x);
    };
    walk_asked(policy, count, item{}, ask, take, from);
    return to.reached();
  }
};

}  // namespace detail

/// Copies items to another place, or forward within one container: `out` may come before `first`,
/// and not lie behind it. I/Os: ⌈N/B⌉ reads and as many writes. Also with par, of ranges that do
/// not overlap. Checked: transform_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto copy(Arguments&&... arguments) {
  return detail::scan<detail::copy_call>(arguments...);
}

/// Copies the items that are wanted. I/Os: ⌈N/B⌉ reads, and a write for each page that is written
/// to, which is read before unless nothing was in it. Also with par, where all threads ask and the
/// caller copies. Checked: transform_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto copy_if(Arguments&&... arguments) {
  return detail::scan<detail::copy_if_call>(arguments...);
}

/// Puts `f(a)`, or of two sequences `f(a, b)`, to `out`. I/Os: ⌈N/B⌉ reads of each sequence, and as
/// many writes. In place these are the same pages. Also with par. Checked: transform_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto transform(Arguments&&... arguments) {
  return detail::scan<detail::transform_call>(arguments...);
}

}  // namespace outsize
