// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Parallel sorting by regular sampling on virtual processors: the paper's experiment.
//
//   sort own items ─▶ p samples to member 0 ─▶ pivots to all ─▶ exchange ─▶ merge what came
//
// Samples and pivots are items with the places that they come from (member, index): so all places
// differ, and any number of equal items is divided as evenly as others. Stable. Layer: bsp.
// Source: Shi, Schaeffer: Parallel sorting by regular sampling, 1992; Nikseresht, Hutchinson,
// Maheshwari: PEMS, 2007, section 4.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/bsp/processor.hpp>
#include <outsize/kernel/detail/slice_merge.hpp>
#include <outsize/kernel/detail/stable_item_sort.hpp>
#include <outsize/kernel/detail/tree_merge.hpp>
#include <outsize/kernel/detail/vector_sort.hpp>

namespace outsize::bsp {

namespace detail {

template <typename T, typename Less>
concept sorted_as_number = (std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t>)&&(
    std::same_as<Less, std::less<T>> || std::same_as<Less, std::less<>>);

/// An item, where it is, and how many it stands for.
template <typename T>
struct sample {
  T item;
  std::uint32_t member;
  std::uint64_t index;
  std::uint64_t weight;
};

template <typename T, typename Less>
void sort_own(std::span<T> items, Less const& less) {
  if constexpr (sorted_as_number<T, Less>) {
    outsize::detail::vector_sort(items);
  } else {
    outsize::detail::stable_item_sort(items, less);
  }
}

/// The index of the first own item that does not come before `pivot`.
template <typename T, typename Less>
std::size_t split_at(std::span<T const> sorted, std::uint32_t member, sample<T> const& pivot,
                     Less const& less) {
  if (member == pivot.member) return pivot.index;
  auto const place = member < pivot.member
                         ? std::upper_bound(sorted.begin(), sorted.end(), pivot.item, less)
                         : std::lower_bound(sorted.begin(), sorted.end(), pivot.item, less);
  return static_cast<std::size_t>(place - sorted.begin());
}

/// Takes the output of a merge, all in one place.
template <typename T>
class merged_items {
 public:
  explicit merged_items(std::size_t items) : items_(items) {}
  std::span<T> room() { return std::span<T>(items_).subspan(filled_); }
  void used(std::size_t items) { filled_ += items; }
  vector<T> take() { return std::move(items_); }

 private:
  vector<T> items_;
  std::size_t filled_ = 0;
};

/// Hands the output of a merge to a function, a buffer at a time, with the index of the first item.
template <typename T, typename Sink>
class merge_buffer {
 public:
  merge_buffer(std::size_t items, std::uint64_t first, Sink& sink)
      : buffer_(items), first_(first), sink_(sink) {}
  /// Long enough for a slice of the merge, which then leaves nothing elsewhere: the sink may wait,
  /// and others merge meanwhile.
  std::span<T> room() {
    if (buffer_.size() - filled_ < least_room && buffer_.size() >= least_room) flush();
    return std::span<T>(buffer_).subspan(filled_);
  }
  void used(std::size_t items) { filled_ += items; }
  void flush() {
    if (filled_ == 0) return;
    sink_(first_, std::span<T const>(buffer_).first(filled_));
    first_ += std::exchange(filled_, 0);
  }

 private:
  static constexpr std::size_t least_room = (128 << 10) / sizeof(T);

  vector<T> buffer_;
  std::size_t filled_ = 0;
  std::uint64_t first_;
  Sink& sink_;
};

/// Picks a pivot for each member but the first. The samples between two of them stand for equal
/// numbers of items, about. @param samples  In order.
template <typename T>
void pick_pivots(std::span<sample<T> const> samples, std::span<sample<T>> pivots) {
  std::uint64_t total = 0;
  for (sample<T> const& each : samples) total += each.weight;
  std::uint64_t const members = pivots.size() + 1;
  std::uint64_t before = 0;
  std::size_t next = 0;
  for (sample<T> const& each : samples) {
    for (; next < pivots.size() && before >= total / members * (next + 1); ++next) {
      pivots[next] = each;
    }
    before += each.weight;
  }
  for (; next < pivots.size(); ++next) pivots[next] = samples.back();
}

/// Member 0 sorts p samples of each member and picks the pivots. @return none: there are no items.
template <typename T, typename Less>
vector<sample<T>> pivots_of(processor& p, std::span<T const> sorted, Less const& less) {
  std::uint64_t const members = p.count();
  std::uint64_t const step = std::max<std::uint64_t>(1, sorted.size() / members);
  vector<sample<T>> mine;
  for (std::uint64_t index = 0; index < sorted.size(); index += step) {
    std::uint64_t const weight = std::min<std::uint64_t>(step, sorted.size() - index);
    mine.push_back({sorted[index], p.rank(), index, weight});
  }
  vector<sample<T>> pivots;
  {
    parts<sample<T>> all = p.gather(std::span<sample<T> const>(mine));
    // They come by member, each in order, so that a stable sort leaves equal ones in that order.
    std::stable_sort(all.items.begin(), all.items.end(),
                     [&](auto const& a, auto const& b) { return less(a.item, b.item); });
    if (!all.items.empty()) {
      pivots.resize(members - 1);
      pick_pivots(std::span<sample<T> const>(all.items), std::span(pivots));
    }
  }
  pivots.resize(p.broadcast(std::uint64_t{pivots.size()}));
  p.broadcast(std::span(pivots));
  return pivots;
}

/// The share of a member: a part in order from each member, and the number of items of lower
/// members.
template <typename T>
struct sorted_parts {
  parts<T> came;
  std::uint64_t first = 0;
};

/// The items of all members that belong to this one.
template <typename T, typename Less>
sorted_parts<T> exchange_sorted(processor& p, vector<T>&& items, Less const& less) {
  parts<T> mine{std::move(items), {}};
  sort_own(std::span<T>(mine.items), less);
  std::span<T const> const sorted(mine.items);
  vector<sample<T>> const pivots = pivots_of(p, sorted, less);
  parts<std::uint64_t> begins;
  std::size_t begin = 0;
  for (std::size_t member = 0; member < p.count(); ++member) {
    std::size_t const end = member < pivots.size()
                                ? std::max(begin, split_at(sorted, p.rank(), pivots[member], less))
                                : sorted.size();
    mine.counts.push_back(end - begin);
    begins.items.push_back(begin);
    begins.counts.push_back(1);
    begin = end;
  }
  auto const first = p.begin_all_to_all(std::move(begins));
  auto const all = p.begin_all_to_all(std::move(mine));
  sorted_parts<T> found;
  for (std::uint64_t const lower : p.end_all_to_all(first).items) found.first += lower;
  found.came = p.end_all_to_all(all);
  return found;
}

template <typename T, typename Less, typename Output>
void merge_parts(parts<T>& came, Less const& less, Output& out) {
  auto const merge = [&](auto all) {
    for (std::span<T> const part : came.split()) {
      if (!part.empty()) all.add_source({std::span<T const>(part)});
    }
    all.run(out);
  };
  if constexpr (sorted_as_number<T, Less>) {
    merge(outsize::detail::slice_merge<T>());
  } else {
    merge(outsize::detail::tree_merge<T, Less>(less));
  }
}

}  // namespace detail

/// Sorts the items of all members of p's group. Each member gets a stretch of the result, in the
/// order of ranks, piece by piece: `sink(first, std::span<T const>)`, with the index of the first
/// among all items, and 256 KiB of items at most.
///
/// With N items in all on p members, none of which has more than m items: each gets at most 2·N/p +
/// m/p and a few items, whatever the keys.
/// Supersteps: 3; one exchanges N items, the others p² samples.
/// I/Os:    2·N/B to swap the contexts between the steps, if they do not stay in memory, and N/B to
///          read messages in the contexts of their senders (2·N/B for messages of less than 256 KiB
///          that do not stay in memory).
/// CPU:     O((N/p) log N) for each member.
/// Memory:  of each member its items, then those that it gets.
/// Errors:  as processor's; `less` and `sink` may throw.
/// Source:  Shi, Schaeffer 1992; the bound without the condition of distinct keys: places.
/// Checked: sample_sort_test.cpp.
template <external_item T, typename Sink, typename Less = std::less<>>
void sample_sort_into(processor& p, vector<T>&& items, Sink sink, Less less = {}) {
  detail::sorted_parts<T> mine = detail::exchange_sorted(p, std::move(items), less);
  constexpr std::size_t most_items = std::max<std::size_t>(1, (256 << 10) / sizeof(T));
  detail::merge_buffer<T, Sink> out(std::min(most_items, mine.came.items.size() + 1), mine.first,
                                    sink);
  detail::merge_parts(mine.came, less, out);
  out.flush();
}

/// The same, with each member's stretch as a vector, for which its memory must have room beside the
/// items that it gets.
template <external_item T, typename Less = std::less<>>
vector<T> sample_sort(processor& p, vector<T>&& items, Less less = {}) {
  parts<T> came = detail::exchange_sorted(p, std::move(items), less).came;
  detail::merged_items<T> out(came.items.size());
  detail::merge_parts(came, less, out);
  return out.take();
}

}  // namespace outsize::bsp
