// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// shuffle(v, random): all orders are equally likely.
//
// Each item gets a random number, and they are sorted by these: no item is exchanged with one
// anywhere else, which would cost an I/O for each. So the order depends on the generator and the
// number of items alone, not on memory, pages or threads. Layer: scan.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/item_sort.hpp>
#include <outsize/algorithm/detail/sort/engine.hpp>
#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/sort_options.hpp>
#include <outsize/container/detail/array/page_window.hpp>
#include <outsize/container/detail/array/paged_items.hpp>
#include <outsize/scan/detail/walk.hpp>
#include <outsize/scan/policy.hpp>
#include <outsize/scan/sort_containers.hpp>

namespace outsize {
namespace detail {

/// An item on its way to a random place.
template <typename T>
struct drawn_item {
  std::uint64_t number;
  alignas(T) std::array<std::byte, sizeof(T)> item;
};

/// Draws a number for each item of a part: a reader of pieces.
template <typename T, typename Random>
class drawing_reader {
 public:
  /// Both must outlive it.
  drawing_reader(page_reader<T>& from, Random& random) : from_(from), random_(random) {}

  bool empty() const noexcept { return rest_.empty() && from_.empty(); }
  std::span<drawn_item<T> const> pull() {
    if (rest_.empty()) draw();
    return rest_;
  }
  void skip(std::size_t count) { rest_ = rest_.subspan(count); }

 private:
  void draw() {
    auto const items = from_.pull().first(std::min(from_.pull().size(), drawn_.size()));
    for (std::size_t i = 0; i < items.size(); ++i) {
      drawn_[i].number = number_(random_);
      std::memcpy(drawn_[i].item.data(), &items[i], sizeof(T));
    }
    rest_ = std::span(drawn_).first(items.size());
    from_.skip(items.size());
  }

  page_reader<T>& from_;
  Random& random_;
  std::uniform_int_distribution<std::uint64_t> number_;
  std::vector<drawn_item<T>> drawn_ =
      std::vector<drawn_item<T>>(std::clamp<std::size_t>(4096 / sizeof(drawn_item<T>), 1, 64));
  std::span<drawn_item<T> const> rest_;
};

/// Copies the items of a window to where a cursor is, without their numbers.
template <typename T>
void put_drawn(page_target<T>& to, sorted_window const& window) {
  auto const bytes = window.data();
  for (std::size_t i = 0; i < window.items; ++i) {
    to.begin_batch();
    to.rest();
    std::memcpy(static_cast<void*>(to.at()),
                &bytes[i * sizeof(drawn_item<T>) + offsetof(drawn_item<T>, item)], sizeof(T));
    to.skip(1);
  }
}

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
/// Checked: outsize/scan/shuffle_test.cpp.
template <typename T, typename Random>
  requires std::uniform_random_bit_generator<std::remove_reference_t<Random>>
void shuffle(paged_iterator<T> first, paged_iterator<T> last, Random&& random,
             sort_options options = {}) {
  using drawn = detail::drawn_item<T>;
  auto& items = detail::paged_access::items(first);
  std::uint64_t const begin = detail::paged_access::position(first);
  std::uint64_t const end = detail::paged_access::position(last);
  options.unique = false;
  options.input_bytes = (end - begin) * sizeof(drawn);
  items.take_places(begin, end);
  auto const order = by(&drawn::number);
  detail::page_reader<T> in(items, begin, end);
  detail::page_target<T> to(items, begin, end, 1);
  detail::sort_where_they_are(
      items.row().store(),
      detail::kind_of<drawn, std::remove_const_t<decltype(order)>>::make(order), options,
      [&](detail::item_engine& engine) {
        detail::fill_from_pieces(
            engine, detail::drawing_reader<T, std::remove_reference_t<Random>>(in, random));
      },
      [&](detail::sorted_window const& window) { detail::put_drawn(to, window); });
}

/// The same of a whole vector or deque.
template <paged_container Container, typename Random>
  requires std::uniform_random_bit_generator<std::remove_reference_t<Random>>
void shuffle(Container& items, Random&& random, sort_options const& options = {}) {
  shuffle(items.begin(), items.end(), random, options);
}

/// The same with par in front, as other algorithms take it: all threads of the storage take part in
/// any case.
template <typename... Arguments>
  requires detail::scan_arguments<Arguments...>
void shuffle(parallel_policy, Arguments&&... arguments) {
  shuffle(std::forward<Arguments>(arguments)...);
}

}  // namespace outsize
