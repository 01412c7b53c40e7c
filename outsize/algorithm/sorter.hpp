// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Items in, sorted items out: the sorter for items of one C++ type.
//
// One thread at a time. Layer: algorithm. The engine behind it:
// algorithm/detail/sort/item_engine.hpp.

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include <outsize/algorithm/detail/item_sort.hpp>
#include <outsize/algorithm/detail/sort/family/combining_items.hpp>
#include <outsize/algorithm/item_order.hpp>
#include <outsize/base/assert.hpp>
#include <outsize/base/detail/item_room.hpp>
#include <outsize/base/detail/owned.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/base/piece_reader.hpp>

namespace outsize {

/// What makes one item of two that compare equal: reduce.hpp says how it must behave.
template <typename Combine, typename T>
concept item_combiner =
    std::same_as<Combine, detail::no_combining> ||
    (std::invocable<Combine const&, T const&, T const&> &&
     std::convertible_to<std::invoke_result_t<Combine const&, T const&, T const&>, T>);

/// Sorts any number of items: push them all, call sort(), then read them.
///
///     outsize::sorter<std::uint64_t> s;
///     for (…) s.push(x);
///     for (s.sort(); !s.empty(); ++s) use(*s);
///
/// After sort() it is a reader of pieces (piece_reader.hpp), and a range to go over once: the
/// source of any algorithm, another sort or a merge too. To ask for items before sort() was called,
/// or to use one that was moved from, is a mistake that is asserted.
///
/// What comes out depends on the items and their order alone, not on threads, memory or block size:
/// items that compare equal come out in the order in which they were pushed, or, under by(member)
/// of two-word items, in that of their bytes (item_order.hpp). Numbers of 4 or 8 bytes under
/// std::less or std::greater are compared by value, floating point by IEEE 754 totalOrder; any
/// other T by any strict weak order.
///
/// @tparam T     external_item.
/// @tparam Less  Strict weak order; copied, called from all threads of the storage at once, must
/// not throw.
/// @tparam Combine  Left out, or what makes one of items that compare equal, as in reduce_by_key.
///
/// I/Os:    Nothing if the items fit in memory. Else 2·Σ(⌈Rᵢ/b⌉ + 1) blocks, written and read
///          once for each of the runs of Rᵢ items, b to a block, when one merge is enough (the last
///          items stay in memory if there is room for them beside that merge); each further pass
///          moves at most 2·⌈N/b⌉ + 2·(number of runs merged) more, and there are at most
///          ⌈log_f(number of runs)⌉ in all.
/// CPU:     O(N log N) comparisons.
/// Memory:  options.memory_bytes, taken by the constructor and kept. If that is 0, what the items
///          need of the sorter's share in the storage's budget: nothing before the first one; then
///          parts, a sixth of the share most often, which others can have back; three quarters of
///          it at most while items are read, less if others could not go on otherwise (what came
///          out already is merged again then; not without `rewindable`); and when all have been
///          read, what it takes to rewind: the index of the runs, and what stayed in memory until
///          others need that.
/// Disk:    N items and a few blocks; freed by clear(), or as they are read if not `rewindable`.
/// Threads: the storage's; one thread at a time may use a sorter, many sorters may share a storage.
/// Errors:  budget_error from the constructor, or push() or sort() if no memory is named, and
///          from others where the size of the input was not
///          said and the index of its blocks outgrows an eighth of the memory, or a quarter where
///          items are long; io_error, out_of_space, cancelled from any other member. The sorter can
///          only be destroyed or cleared then; nothing is left on disk.
/// Source:  Dementiev, Sanders: Asynchronous parallel disk sorting, SPAA 2003; STXXL 2008, sections
///          5 and 6.
/// Checked: outsize/algorithm/sorter_test.cpp, tests/complexity/sort_io_test.cpp.
template <stored_item T, std::strict_weak_order<T, T> Less = std::less<>,
          item_combiner<T> Combine = detail::no_combining>
class sorter : public piece_reader_interface<sorter<T, Less, Combine>, T> {
 public:
  /// Takes memory that is named from `store`, which must outlive it. @throws budget_error;
  /// io_error.
  explicit sorter(storage& store, Less less = {}, sort_options options = {}, Combine combine = {})
      : store_(&store),
        less_(std::move(less)),
        combine_(std::move(combine)),
        options_(std::move(options)) {
    options_.rewindable = options_.rewindable.value_or(true);
    begin_anew();
  }
  /// The same on the default storage.
  explicit sorter(Less less = {}, sort_options options = {}, Combine combine = {})
      : sorter(default_storage(), std::move(less), std::move(options), std::move(combine)) {}

  // ---- in: before sort() ----

  /// Adds an item, or all of a span; waits while all chunks are full.
  void push(T const& item) {
    if (room_.full()) next_room();
    room_.put(item);
  }
  void push(std::span<T const> items) {
    while (!items.empty()) {
      if (room_.full()) next_room();
      items = room_.put(items);
    }
  }

  /// Ends the input and goes to the first item.
  void sort() {
    OUTSIZE_ASSERT(!sorted_ && "sort() was called twice");
    end_room();
    engine().finish_input();
    sorted_ = true;
    go_on();
  }

  // ---- out: after sort(), besides what streams have ----

  /// Goes back to the first item. @pre options.rewindable, or everything stayed in memory.
  void rewind() {
    OUTSIZE_ASSERT(sorted_ && (options_.is_rewindable() || report().runs == 0));
    window_.reset();
    this->show({});
    engine_->rewind();
    go_on();
  }

  // ---- at any time ----

  /// Items pushed.
  std::uint64_t size() const noexcept {
    check();
    return sorted_ ? report().items : pushed_ + room_.filled();
  }

  /// Drops all items and takes new ones.
  void clear() {
    check();
    begin_anew();
  }

  /// Runs, passes, memory: complete when empty() after sort().
  sort_report const& report() const noexcept {
    check();
    return engine_ ? engine_->report() : detail::report_of_nothing();
  }
  sort_progress progress() const noexcept {
    check();
    return engine_ ? engine_->progress() : sort_progress();
  }

 private:
  friend piece_reader_interface<sorter, T>;

  void begin_anew() {
    engine_.reset();
    room_ = {};
    window_.reset();
    this->show({});
    pushed_ = 0;
    sorted_ = false;
    if (options_.memory_bytes != 0) engine();
  }
  void check() const noexcept {
    OUTSIZE_ASSERT(*store_ != nullptr && "used after it was moved from or closed");
  }
  /// Made for the first item, unless memory was named.
  detail::item_engine& engine() {
    check();
    if (!engine_)
      engine_ =
          detail::make_item_engine(**store_, detail::combining_kind<T>(less_, combine_), options_);
    return *engine_;
  }
  void next_room() {
    OUTSIZE_ASSERT(!sorted_ && "an item pushed after sort()");
    end_room();
    if (auto const room = detail::room_for<T>(engine()); !room.empty()) return room_.begin(room);
    engine().chunk_full();
    room_.begin(detail::room_for<T>(engine()));
  }
  void end_room() noexcept {
    std::size_t const count = room_.end();
    if (count > 0) engine_->grow(count);
    pushed_ += count;
  }

  void go_on() {
    OUTSIZE_ASSERT(sorted_ && "sort() was not called");
    if (window_) engine_->recycle(*std::exchange(window_, std::nullopt));
    window_ = engine_->next();
    if (!window_) return;
    auto const data = window_->data();
    this->show({reinterpret_cast<T const*>(data.data()), data.size() / sizeof(T)});
  }

  detail::moved_along<storage*> store_;
  Less less_;
  Combine combine_;
  sort_options options_;
  detail::owned<detail::item_engine> engine_;
  detail::item_room<T> room_;  // of the chunk being filled; counted there when it is full
  std::uint64_t pushed_ = 0;
  bool sorted_ = false;
  std::optional<detail::sorted_window> window_;  // that is shown
};

}  // namespace outsize

/// size() counts what was pushed, not what is left.
template <typename T, typename Less, typename Combine>
inline constexpr bool std::ranges::disable_sized_range<outsize::sorter<T, Less, Combine>> = true;
