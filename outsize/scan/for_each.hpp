// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Algorithms that visit or make the items of one sequence: for_each, fill, generate, tabulate.
//
// What holds for all algorithms in this folder:
//
// Arguments are those of the algorithm of that name in std::, or a whole vector or deque in place
// of two iterators (policy.hpp). At least one sequence is of these; others are given by iterators
// of random access, or for outputs of any kind.
//
// I/Os:    each page of B items that is read costs one read, ahead of its use, and each that is
//          changed one write, behind it. What is only read is not written, whatever the iterators;
//          pages of which all items are replaced are not read.
// Memory:  the containers', and 4 KiB for each that is read; in parallel 64 bytes more for each
//          page of a batch, and a bit for each of its items where it is asked which are wanted.
// Errors:  io_error; and whatever a user's function throws comes out of the call, in parallel too
//          (of several one). The containers are valid then and have their sizes; items of the pages
//          at hand that were to be replaced have values that are not known.
// Threads: one; with `par` the storage's. Functions must not touch references into the containers
//          that they are called for; into others of a pool by one thread, as pages that are being
//          changed are held, if the pool has room for one page more than those that live and are
//          held. Layer: scan. Source: STXXL 2008, section 5.7.1.

#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>

#include <outsize/scan/detail/walk.hpp>
#include <outsize/scan/policy.hpp>

namespace outsize {
namespace detail {

struct for_each_call {
  template <typename Policy, paged_place I, typename F>
  F operator()(Policy policy, I first, I last, F f) const {
    std::uint64_t const count = count_between(first, last);
    auto const visit = [&](slice part, auto* items) {
      for (std::size_t i = 0; i < part.count; ++i) std::invoke(f, items[i]);
    };
    if constexpr (changeable_place<I>) {
      auto items = changer_at(policy, first);
      walk_all(policy, count, visit, items);
    } else {
      auto items = source_at(policy, first, count);
      walk_all(policy, count, visit, items);
    }
    return f;
  }
};

struct tabulate_call {
  template <typename Policy, changeable_place I, typename F>
  void operator()(Policy policy, I first, I last, F f) const {
    std::uint64_t const count = count_between(first, last);
    auto items = target_at(policy, first, count);
    auto const visit = [&](slice part, auto* to) {
      for (std::size_t i = 0; i < part.count; ++i) to[i] = std::invoke(f, part.index + i);
    };
    walk_all(policy, count, visit, items);
  }
};

struct generate_call {
  template <typename Policy, changeable_place I, typename F>
  void operator()(Policy policy, I first, I last, F f) const {
    tabulate_call()(policy, first, last, [&f](std::uint64_t) { return std::invoke(f); });
  }
};

struct fill_call {
  template <typename Policy, changeable_place I>
  void operator()(Policy policy, I first, I last, std::iter_value_t<I> value) const {
    std::uint64_t const count = count_between(first, last);
    auto items = target_at(policy, first, count);
    auto const visit = [&value](slice part, auto* to) { std::fill_n(to, part.count, value); };
    walk_all(policy, count, visit, items);
  }
};

}  // namespace detail

/// Calls `f(item)` for all items, and returns it. Through an `iterator` it may change them, and all
/// pages count as changed; through a `const_iterator`, or of std::as_const(v), nothing is written.
/// I/Os: ⌈N/B⌉ reads, and as many writes if items may be changed. Also with par.
/// Checked: for_each_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto for_each(Arguments&&... arguments) {
  return detail::scan<detail::for_each_call>(arguments...);
}

/// Replaces all items by `value`. I/Os: ⌈N/B⌉ writes. Also with par. Checked: for_each_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto fill(Arguments&&... arguments) {
  return detail::scan<detail::fill_call>(arguments...);
}

/// Replaces each item by what `f()` yields, in order. I/Os: ⌈N/B⌉ writes. Also with par, and then f
/// is called by several threads at once, in no order. Checked: for_each_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto generate(Arguments&&... arguments) {
  return detail::scan<detail::generate_call>(arguments...);
}

/// Replaces item i of the range by `f(i)`. I/Os: ⌈N/B⌉ writes. Also with par, and then too f may
/// depend on i alone. Checked: for_each_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto tabulate(Arguments&&... arguments) {
  return detail::scan<detail::tabulate_call>(arguments...);
}

}  // namespace outsize
