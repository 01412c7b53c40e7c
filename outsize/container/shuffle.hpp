// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// shuffle(v, random): all orders are equally likely.
//
// Each item gets a random number, and they are sorted by these: no item is exchanged with one
// anywhere else, which would cost an I/O for each. So the order depends on the generator and the
// number of items alone, not on memory, pages or threads. Layer: container.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <type_traits>

#include <outsize/algorithm/sorter.hpp>
#include <outsize/container/page_window.hpp>
#include <outsize/container/paged_items.hpp>
#include <outsize/container/scan/policy.hpp>
#include <outsize/container/scan/walk.hpp>

namespace outsize {
namespace detail {

/// An item on its way to a random place.
template <typename T>
struct drawn_item {
  std::uint64_t number;
  alignas(T) std::array<std::byte, sizeof(T)> item;
};

}  // namespace detail

/// Puts the items of a range in random order. Two that draw the same of 2^64 numbers, which among N
/// items happens with a probability of N² / 2^65, do not change places.
///
/// @param random  A generator; a number of 64 bits is drawn from it for each item, in order.
/// @param options  Of these only memory_bytes, block_bytes, codec and stop count.
///
/// I/Os:    ⌈N/B⌉ reads and as many writes of pages, and the runs of a `sorter` of N items that are
///          8 bytes longer, which are none if these fit in the memory.
/// Memory, Threads, Errors: as sort (sort.hpp). Disk: N such items, gone at the end.
/// Checked: outsize/container/shuffle_test.cpp.
template <typename T, typename Random>
  requires std::uniform_random_bit_generator<std::remove_reference_t<Random>>
void shuffle(paged_iterator<T> first, paged_iterator<T> last, Random&& random,
             sort_options options = {}) {
  using drawn = detail::drawn_item<T>;
  auto& items = detail::paged_access::items(first);
  std::uint64_t const begin = detail::paged_access::position(first);
  std::uint64_t const end = detail::paged_access::position(last);
  options.rewindable = false;
  options.unique = false;
  options.input_bytes = (end - begin) * sizeof(drawn);
  sorter<drawn, projected_less<std::uint64_t drawn::*>> order(items.row().store(),
                                                              by(&drawn::number), options);
  std::uniform_int_distribution<std::uint64_t> draw;
  for (detail::page_reader<T> in(items, begin, end); !in.empty(); in.skip(in.pull().size()))
    for (T const& item : in.pull()) {
      drawn one{.number = draw(random), .item = {}};
      std::memcpy(one.item.data(), &item, sizeof item);
      order.push(one);
    }
  detail::page_target<T> to(items, begin, end, 1);
  for (order.sort(); !order.empty(); ++order) {
    to.begin_batch();
    to.rest();
    std::memcpy(static_cast<void*>(to.at()), order->item.data(), sizeof(T));
    to.skip(1);
  }
}

/// The same of a whole vector or deque.
template <paged_container Container, typename Random>
  requires std::uniform_random_bit_generator<std::remove_reference_t<Random>>
void shuffle(Container& items, Random&& random, sort_options const& options = {}) {
  shuffle(items.begin(), items.end(), random, options);
}

}  // namespace outsize
