// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Algorithms that keep some items and put them together at the front: remove, remove_if, unique,
// partition, stable_partition. Pages in front of the first item that moves are not written. In
// parallel all threads ask whether items are to be kept, and the caller moves them.
// for_each.hpp says what they cost and throw. Layer: scan.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include <outsize/container/detail/array/page_window.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/container/vector_readers.hpp>
#include <outsize/scan/detail/walk.hpp>
#include <outsize/scan/find.hpp>
#include <outsize/scan/policy.hpp>
#include <outsize/scan/transform.hpp>

namespace outsize {
namespace detail {

/// Moves the items of [next, last) of which `ask(before, item)` says true to `to`, which is at the
/// end of those that are kept already, and passes the others to `drop`, both in order.
/// walk_asked() says what `before` is. Where something throws, as many places lie between `to` and
/// the items that are still to be asked for, or to be moved, as have been dropped.
template <typename Policy, typename T, typename Ask, typename Drop>
void keep_behind(Policy policy, page_target<T>& to, paged_iterator<T> next, paged_iterator<T> last,
                 T const& before, Ask&& ask, Drop&& drop) {
  std::uint64_t const begin = paged_access::position(next);
  std::uint64_t const count = count_between(next, last);
  auto from = source_at(policy, next, count);
  std::uint64_t const page_items = paged_access::items(next).page_items();
  std::uint64_t page = begin / page_items * page_items;
  to.leave_unread(page);
  auto const take = [&](std::uint64_t index, T const& asked, bool is_kept) {
    if (!is_kept) {
      drop(asked);
      return;
    }
    T const item = asked;
    if (begin + index >= page + page_items) {
      // Pages before the one that is being read will not be read any more.
      page = (begin + index) / page_items * page_items;
      to.leave_unread(page);
    }
    to.begin_batch();
    to.rest();
    *to.at() = item;
    to.skip(1);
  };
  walk_asked(policy, count, before, ask, take, from);
}
/// The same of those behind `end`, which is returned where it is then; the others are forgotten.
template <typename Policy, typename T, typename Ask>
paged_iterator<T> keep_only(Policy policy, paged_iterator<T> end, paged_iterator<T> last,
                            T const& before, Ask&& ask) {
  auto to = changer_at(sequential_policy{}, end);
  keep_behind(policy, to, end + 1, last, before, ask, [](T const&) {});
  return advanced(end, to.position() - paged_access::position(end));
}

struct remove_if_call {
  template <typename Policy, changeable_place I, typename Predicate>
  I operator()(Policy policy, I first, I last, Predicate unwanted) const {
    using item = std::iter_value_t<I>;
    I const gap = find_if_call()(policy, first, last, std::ref(unwanted));
    if (gap == last) return last;
    auto const stays = [&](item const&, item const& x) { return !std::invoke(unwanted, x); };
    return keep_only(policy, gap, last, item{}, stays);
  }
};

struct remove_call {
  template <typename Policy, changeable_place I, typename T>
  I operator()(Policy policy, I first, I last, T value) const {
    return remove_if_call()(policy, first, last,
                            [&](auto const& item) { return std::equal_to<>()(item, value); });
  }
};

struct unique_call {
  template <typename Policy, changeable_place I, typename Same = std::equal_to<>>
  I operator()(Policy policy, I first, I last, Same same = {}) const {
    using item = std::iter_value_t<I>;
    I const twin = adjacent_find_call()(policy, first, last, std::ref(same));
    if (twin == last) return last;
    auto const is_new = [&](item& before, item const& x) {
      bool const differs = !std::invoke(same, before, x);
      if (differs) before = x;
      return differs;
    };
    return keep_only(policy, twin + 1, last, value_at(twin), is_new);
  }
};

/// Gives up the items from `end` on; how many.
template <typename Container>
std::uint64_t erase_behind(Container& items, typename Container::iterator end) {
  std::uint64_t const size = count_between(items.begin(), end);
  std::uint64_t const erased = items.size() - size;
  items.resize(size);
  return erased;
}

/// A part of a container at one of the ends of what is still to be partitioned, and what was said
/// of its items, all of them asked at once.
template <typename Policy, typename Predicate>
class asked_part {
 public:
  asked_part(Policy policy, executor& team, Predicate& wanted)
      : policy_(policy), team_(team), wanted_(wanted) {}

  std::uint64_t begin() const noexcept { return begin_; }
  std::uint64_t end() const noexcept { return end_; }
  bool has(std::uint64_t position) const noexcept { return position >= begin_ && position < end_; }
  bool answer(std::uint64_t position) const { return answers_[position - begin_] != 0; }
  template <typename T>
  void ask(std::uint64_t begin, std::span<T const> items) {
    answers_.resize(items.size());
    in_parts(policy_, team_, items.size(), [&](std::size_t from, std::size_t to, std::size_t) {
      for (std::size_t i = from; i < to; ++i) answers_[i] = std::invoke(wanted_, items[i]) ? 1 : 0;
    });
    begin_ = begin;
    end_ = begin + items.size();
  }

 private:
  Policy policy_;
  executor& team_;
  Predicate& wanted_;
  std::vector<unsigned char> answers_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

struct partition_call {
  template <typename Policy, changeable_place I, typename Predicate>
  I operator()(Policy policy, I first, I last, Predicate wanted) const {
    using item = std::iter_value_t<I>;
    auto& items = paged_access::items(first);
    std::uint64_t begin = paged_access::position(first), end = paged_access::position(last);
    auto& team = items.row().store().threads();
    page_window<item> front_pages(items), back_pages(items);
    asked_part<Policy, Predicate> front(policy, team, wanted), back(policy, team, wanted);
    // The parts do not overlap: each item is asked for once.
    auto const is_first_wanted = [&] {
      if (back.has(begin)) return back.answer(begin);
      if (!front.has(begin))
        front.ask(begin, front_pages.from(begin, back.has(end - 1) ? back.begin() : end));
      return front.answer(begin);
    };
    auto const is_last_wanted = [&] {
      if (front.has(end - 1)) return front.answer(end - 1);
      if (!back.has(end - 1)) {
        auto const piece = back_pages.until(front.has(begin) ? front.end() : begin, end);
        back.ask(end - piece.size(), piece);
      }
      return back.answer(end - 1);
    };
    for (;;) {
      while (begin < end && is_first_wanted()) ++begin;
      while (begin < end && !is_last_wanted()) --end;
      if (begin == end) return advanced(first, begin - paged_access::position(first));
      std::swap(items.at(begin++), items.at(--end));
    }
  }
};

struct stable_partition_call {
  template <typename Policy, changeable_place I, typename Predicate>
  I operator()(Policy policy, I first, I last, Predicate wanted) const {
    using item = std::iter_value_t<I>;
    I const gap = find_if_not_call()(policy, first, last, std::ref(wanted));
    if (gap == last) return last;
    auto& row = paged_access::items(first).row();
    vector<item> others(row.store(), {.page_bytes = row.page_bytes(),
                                      .cache_pages = 8,
                                      .spare_pages = 4,
                                      .read_ahead_pages = 4});
    vector_writer out(others);
    out.push(value_at(gap));
    auto const stays = [&](item const&, item const& x) {
      return static_cast<bool>(std::invoke(wanted, x));
    };
    auto to = changer_at(sequential_policy{}, gap);
    auto const bring_others_back = [&] {
      out.finish();
      I const middle = advanced(gap, to.position() - paged_access::position(gap));
      copy_call()(policy, others.cbegin(), others.cend(), middle);
      return middle;
    };
    try {
      keep_behind(policy, to, gap + 1, last, item{}, stays, [&](item const& x) { out.push(x); });
    } catch (...) {
      bring_others_back();  // what fails here is worse, and thrown
      throw;
    }
    return bring_others_back();
  }
};

}  // namespace detail

/// Moves the items that do not equal `value`, or are not unwanted, to the front, in their order,
/// and returns their end; v.resize() or v.erase() does away with the rest, whose values are not
/// known.
/// I/Os: ⌈N/B⌉ reads, and a write for each page from the first that changes to the returned end.
/// Also with par.
/// Errors: if it throws, the items that were to stay are all there: those asked for at the front,
/// the others at their places; as many as were unwanted lie between, with values that are not
/// known. Checked: remove_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto remove(Arguments&&... arguments) {
  return detail::scan<detail::remove_call>(arguments...);
}
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto remove_if(Arguments&&... arguments) {
  return detail::scan<detail::remove_if_call>(arguments...);
}

/// Removes the items that are unwanted, or equal `value`, and returns how many. I/Os: one scan, as
/// remove. With par as the first argument the threads of the storage ask. Errors: as remove, and
/// the container is as large as before. Checked: remove_test.cpp.
template <paged_container Container, typename Predicate>
std::uint64_t erase_if(Container& items, Predicate unwanted) {
  return detail::erase_behind(items, remove_if(items, std::ref(unwanted)));
}
template <paged_container Container, typename Predicate>
std::uint64_t erase_if(parallel_policy policy, Container& items, Predicate unwanted) {
  return detail::erase_behind(items, remove_if(policy, items, std::ref(unwanted)));
}
template <paged_container Container, typename T>
std::uint64_t erase(Container& items, T const& value) {
  return detail::erase_behind(items, remove(items, value));
}

/// The same of items that are the same as the last one kept before them. I/Os, errors: as remove.
/// Also with par. Checked: remove_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto unique(Arguments&&... arguments) {
  return detail::scan<detail::unique_call>(arguments...);
}

/// Exchanges items until all that are wanted come before all others, and returns the first of
/// those. I/Os: ⌈N/B⌉ + 1 reads, and a write for each page in which an item is exchanged. Memory: a
/// byte for each item of two pages. Also with par. Errors: if it throws, the items are the same, in
/// another order. Checked: remove_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto partition(Arguments&&... arguments) {
  return detail::scan<detail::partition_call>(arguments...);
}

/// The same; those that are wanted, and the others, stay in their order. I/Os: with U others, ⌈N/B⌉
/// reads and as many writes, and 2·⌈U/B⌉ to and from a vector for these.
/// Memory: 12 pages more. Disk: U items more. Also with par.
/// Errors: out_of_space, budget_error too. If it throws, the items are the same: those that were
/// asked for and are wanted, the others of those, and the rest as it was. After an io_error some
/// may be lost, and others there twice. Checked: remove_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto stable_partition(Arguments&&... arguments) {
  return detail::scan<detail::stable_partition_call>(arguments...);
}

}  // namespace outsize
