// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Items in, sorted items out: the sorter for items of one C++ type.
//
// Invariant: items are pushed before sort(), and read after it. One thread at a time uses a sorter.
// Layer: algorithm. The engine behind it: algorithm/detail/sort/item_engine.hpp.

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

/// A function that makes one item of two that compare equal: reduce_by_key.hpp says how it must
/// behave.
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
/// After sort() it is a piece_reader (piece_reader.hpp) and a single-pass range: the source of any
/// algorithm, of another sort or a merge too. Asserts that sort() was called before items are read,
/// and that the sorter was not moved from.
///
/// Without Combine, the output depends on the items and their order alone, not on threads, memory
/// or block size. Items that compare equal come out in the order in which they were pushed;
/// two-word items under by(member), in the order of their other word (item_order.hpp). Numbers of 4
/// or 8 bytes, and integers of 16, under std::less or std::greater are compared by value, floating
/// point by IEEE 754 totalOrder. All else is compared by Less, any strict weak order.
///
/// @tparam T     external_item.
/// @tparam Less  Strict weak order; copied, called from all threads of the storage at once, must
/// not throw.
/// @tparam Combine  Optional: makes one of items that compare equal, as in reduce_by_key.
///
/// I/Os:    None if the items fit in memory. Otherwise, when one merge is enough, at most
///          2·Σ(⌈Rᵢ/b⌉ + 1) blocks: each of the runs, of Rᵢ items, b to a block, is written once
///          and read once. The last items stay in memory if there is room for them beside that
///          merge. Each further pass moves at most 2·⌈N/b⌉ + 2·(number of runs merged) blocks more.
///          With fan-in f there are at most max(1, ⌈log_f(number of runs)⌉) passes in all.
/// CPU:     O(N log N) comparisons.
/// Memory:  options.memory_bytes, taken by the constructor and kept. If that is 0, the sorter takes
///          the part of its share in the storage's budget that the items need. Before the first
///          item it takes nothing; then parts, usually a sixth of the share each, which it gives
///          back if others need them. While items are read it has at most three quarters of the
///          share. If others could not go on otherwise, a `rewindable` sorter gives back more, and
///          merges the items read so far again. After the last item it keeps, for rewind(), the
///          index of the runs, and the items that stayed in memory until others need that memory.
/// Disk:    N items and a few blocks; freed by clear(), or as they are read if not `rewindable`.
/// Threads: the storage's; one thread at a time may use a sorter, many sorters may share a storage.
/// Errors:  budget_error from the constructor and clear(), or, if no memory is named, from push(),
///          sort() or rewind(); from others too if the input size was not given and the index of
///          its blocks outgrows an eighth of the memory, a quarter if items are long. io_error,
///          out_of_space, cancelled from any member that is not noexcept. The sorter can then only
///          be destroyed or cleared; nothing is left on disk.
/// Source:  Dementiev, Sanders: Asynchronous parallel disk sorting, SPAA 2003; STXXL 2008, sections
///          5 and 6.
/// Checked: outsize/algorithm/sorter_test.cpp, tests/complexity/sort_io_test.cpp.
template <stored_item T, std::strict_weak_order<T, T> Less = std::less<>,
          item_combiner<T> Combine = detail::no_combining>
class sorter : public piece_reader_interface<sorter<T, Less, Combine>, T> {
 public:
  /// Takes options.memory_bytes from `store`, which must outlive the sorter. @throws budget_error;
  /// io_error; cancelled.
  explicit sorter(storage& store, Less less = {}, sort_options options = {}, Combine combine = {})
      : store_(&store),
        less_(std::move(less)),
        combine_(std::move(combine)),
        options_(std::move(options)) {
    options_.rewindable = options_.rewindable.value_or(options_.memory_bytes == 0);
    begin_anew();
  }
  /// Does the same on the default storage.
  explicit sorter(Less less = {}, sort_options options = {}, Combine combine = {})
      : sorter(default_storage(), std::move(less), std::move(options), std::move(combine)) {}

  // ---- in: before sort() ----

  /// Adds an item, or all items of a span; waits while all chunks are full.
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

  // ---- out: after sort(), besides the members of a piece_reader ----

  /// Goes back to the first item. @pre options.rewindable, or all items stayed in memory.
  void rewind() {
    OUTSIZE_ASSERT(sorted_ && (options_.is_rewindable() || report().runs == 0));
    window_.reset();
    this->show({});
    engine_->rewind();
    go_on();
  }

  // ---- at any time ----

  /// Returns the number of items pushed.
  std::uint64_t size() const noexcept {
    check();
    return sorted_ ? report().items : pushed_ + room_.filled();
  }

  /// Drops all items, and accepts new ones.
  void clear() {
    check();
    begin_anew();
  }

  /// Returns runs, passes and memory; complete when empty() after sort().
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
  /// Makes the engine at the first item, unless memory was named.
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
  detail::item_room<T> room_;  // of the chunk being filled; its items are counted there at its end
  std::uint64_t pushed_ = 0;
  bool sorted_ = false;
  std::optional<detail::sorted_window> window_;  // the one shown
};

}  // namespace outsize

/// size() counts the items pushed, not the items left.
template <typename T, typename Less, typename Combine>
inline constexpr bool std::ranges::disable_sized_range<outsize::sorter<T, Less, Combine>> = true;
