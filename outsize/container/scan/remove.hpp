// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Algorithms that keep some items and put them together at the front: remove, remove_if, unique,
// partition, stable_partition. Pages in front of the first item that moves are not written.
// for_each.hpp says what they cost and throw. Layer: container.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>

#include <outsize/container/page_window.hpp>
#include <outsize/container/scan/find.hpp>
#include <outsize/container/scan/policy.hpp>
#include <outsize/container/scan/transform.hpp>
#include <outsize/container/scan/walk.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/container/vector_streams.hpp>

namespace outsize {
namespace detail {

/// Moves the items of [next, last) that are to be kept to `end`, the end of those that are already.
/// `keep(item)` is called for each in order.
template <typename T, typename Keep>
paged_iterator<T> keep_behind(paged_iterator<T> end, paged_iterator<T> next, paged_iterator<T> last,
                              Keep&& keep) {
  sequential_policy const policy;
  std::uint64_t const count = count_between(next, last);
  auto from = source_at(policy, next, count);
  auto to = changer_at(policy, end);
  std::uint64_t const page_items = paged_access::items(next).page_items();
  auto const visit = [&](slice part, T const* items) {
    // Pages before the one that is being read will not be read any more.
    to.leave_unread(from.position() / page_items * page_items);
    for (std::size_t i = 0; i < part.count; ++i) {
      if (!keep(items[i])) continue;
      T const item = items[i];
      to.begin_batch();
      to.rest();
      *to.at() = item;
      to.skip(1);
    }
  };
  walk_all(policy, count, visit, from);
  return advanced(end, to.position() - paged_access::position(end));
}

struct remove_if_call {
  template <changeable_place I, typename Predicate>
  I operator()(sequential_policy policy, I first, I last, Predicate unwanted) const {
    I const gap = find_if_call()(policy, first, last, std::ref(unwanted));
    if (gap == last) return last;
    return keep_behind(gap, gap + 1, last,
                       [&](auto const& item) { return !std::invoke(unwanted, item); });
  }
};

struct remove_call {
  template <changeable_place I, typename T>
  I operator()(sequential_policy policy, I first, I last, T value) const {
    return remove_if_call()(policy, first, last,
                            [&](auto const& item) { return std::equal_to<>()(item, value); });
  }
};

struct unique_call {
  template <changeable_place I, typename Same = std::equal_to<>>
  I operator()(sequential_policy policy, I first, I last, Same same = {}) const {
    I const twin = adjacent_find_call()(policy, first, last, std::ref(same));
    if (twin == last) return last;
    auto kept = std::as_const(paged_access::items(twin)).value(paged_access::position(twin));
    return keep_behind(twin + 1, twin + 2, last, [&](auto const& item) {
      bool const is_new = !std::invoke(same, kept, item);
      if (is_new) kept = item;
      return is_new;
    });
  }
};

/// Items from the back to the front.
template <typename T>
class backward_source {
 public:
  backward_source(paged_items<T> const& from, std::uint64_t begin, std::uint64_t end)
      : window_(from), begin_(begin), end_(end) {}

  std::uint64_t end() const noexcept { return end_; }
  /// The last one. @pre it is not at the beginning.
  T const& back() {
    if (items_.empty()) items_ = window_.until(begin_, end_);
    return items_.back();
  }
  void skip() {
    items_ = items_.first(items_.size() - 1);
    --end_;
  }

 private:
  page_window<T> window_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::span<T const> items_;
};

struct partition_call {
  template <changeable_place I, typename Predicate>
  I operator()(sequential_policy, I first, I last, Predicate wanted) const {
    using item = std::iter_value_t<I>;
    auto& items = paged_access::items(first);
    page_source<item> front(items, paged_access::position(first), paged_access::position(last), 1);
    backward_source<item> back(items, paged_access::position(first), paged_access::position(last));
    auto const next_wanted = [&] {
      for (; back.end() > front.position(); back.skip())
        if (std::invoke(wanted, back.back())) return true;
      return false;
    };
    while (front.position() < back.end()) {
      front.begin_batch();
      front.rest();
      bool const stays = std::invoke(wanted, *front.at());
      std::uint64_t const place = front.position();
      front.skip(1);
      if (stays) continue;
      if (!next_wanted()) return advanced(first, place - paged_access::position(first));
      std::swap(items.at(place), items.at(back.end() - 1));
      back.skip();
    }
    return advanced(first, front.position() - paged_access::position(first));
  }
};

struct stable_partition_call {
  template <changeable_place I, typename Predicate>
  I operator()(sequential_policy policy, I first, I last, Predicate wanted) const {
    I const gap = find_if_not_call()(policy, first, last, std::ref(wanted));
    if (gap == last) return last;
    auto& items = paged_access::items(first);
    vector<std::iter_value_t<I>> others(items.row().store(),
                                        {.page_bytes = items.row().page_bytes(),
                                         .cache_pages = 8,
                                         .spare_pages = 4,
                                         .read_ahead_pages = 4});
    vector_writer out(others);
    out.push(std::as_const(items).value(paged_access::position(gap)));
    I const middle = keep_behind(gap, gap + 1, last, [&](auto const& item) {
      bool const stays = std::invoke(wanted, item);
      if (!stays) out.push(item);
      return stays;
    });
    out.finish();
    copy_call()(policy, others.cbegin(), others.cend(), middle);
    return middle;
  }
};

}  // namespace detail

/// Moves the items that do not equal `value`, or are not unwanted, to the front, in their order,
/// and returns their end; v.resize() or v.erase() does away with the rest, whose values are not
/// known.
/// I/Os: ⌈N/B⌉ reads, and a write for each page from the first that changes to the returned end.
/// Checked: remove_test.cpp.
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

/// The same of items that are the same as the last one kept before them. I/Os: as remove.
/// Checked: remove_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto unique(Arguments&&... arguments) {
  return detail::scan<detail::unique_call>(arguments...);
}

/// Exchanges items until all that are wanted come before all others, and returns the first of
/// those. I/Os: ⌈N/B⌉ reads, and a write for each page in which an item is exchanged.
/// Checked: remove_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto partition(Arguments&&... arguments) {
  return detail::scan<detail::partition_call>(arguments...);
}

/// The same; those that are wanted, and the others, stay in their order. I/Os: with U others, ⌈N/B⌉
/// reads and as many writes, and 2·⌈U/B⌉ to and from a vector for these.
/// Memory: 12 pages more. Disk: U items more.
/// Errors: out_of_space, budget_error too; after an error some items may be lost, and others there
/// twice. Checked: remove_test.cpp.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
auto stable_partition(Arguments&&... arguments) {
  return detail::scan<detail::stable_partition_call>(arguments...);
}

}  // namespace outsize
