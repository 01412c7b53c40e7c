// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The two halves of a sort apart, and the sorted runs between them as a value.
//
//     runs_creator<edge> creator(store);         push side: forms runs
//     for (…) creator.push(e);
//     sorted_runs<edge> runs = creator.finish(); at rest: on disk, or in memory if there is room
//     for (auto const& e : runs_merger(std::move(runs))) use(e);      pull side: merges them
//
// Several creators can be fed from one loop, and runs be kept for another time: STXXL's split-up
// sorting nodes. A sorter is both halves in one object. One thread at a time uses each object.
// Layer: algorithm. Source: STXXL 2008, section 7 (runs_creator, runs_merger).

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <outsize/algorithm/detail/item_sort.hpp>
#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/sort_options.hpp>
#include <outsize/base/assert.hpp>
#include <outsize/base/detail/item_room.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/base/piece_reader.hpp>
#include <outsize/block/storage.hpp>

namespace outsize {

template <stored_item T, std::strict_weak_order<T, T> Less>
class runs_creator;
template <stored_item T, std::strict_weak_order<T, T> Less>
class runs_merger;

/// Sorted runs: the result of a runs_creator and the input of a runs_merger. Movable.
///
/// Memory:  the index of the runs, and items that did not have to be written, which are written
///          when others need that memory.
/// Disk:    the items, but for those in memory; freed by the destructor, or as they are merged.
/// Checked: sorted_runs_test.cpp.
template <stored_item T, std::strict_weak_order<T, T> Less = std::less<>>
class sorted_runs {
 public:
  using value_type = T;

  /// No runs.
  sorted_runs() = default;

  /// Returns the number of items.
  std::uint64_t size() const noexcept { return engine_ ? engine_->report().items : 0; }
  bool empty() const noexcept { return size() == 0; }
  /// Returns runs, passes and memory so far.
  sort_report const& report() const noexcept {
    return engine_ ? engine_->report() : detail::report_of_nothing();
  }

 private:
  friend runs_creator<T, Less>;
  friend runs_merger<T, Less>;
  explicit sorted_runs(std::unique_ptr<detail::item_engine> at_rest)
      : engine_(std::move(at_rest)) {}

  std::unique_ptr<detail::item_engine> engine_;
};

/// Forms sorted runs of items that are pushed.
///
/// I/Os, CPU, Memory, Threads: as the first half of a `sorter`. Takes memory with the first item.
/// Errors:  as `sorter`. The creator can then only be destroyed; nothing is left on disk.
/// Checked: sorted_runs_test.cpp.
template <stored_item T, std::strict_weak_order<T, T> Less = std::less<>>
class runs_creator {
 public:
  /// `store` must outlive the creator and the runs.
  explicit runs_creator(storage& store, Less less = {}, sort_options options = {})
      : store_(store), less_(std::move(less)), options_(std::move(options)) {
    options_.rewindable = false;
  }
  explicit runs_creator(Less less = {}, sort_options options = {})
      : runs_creator(default_storage(), std::move(less), std::move(options)) {}

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
  /// Adds a sequence that is sorted already. @throws format_error naming the first item that is not
  /// in order; those before it have been added.
  template <std::ranges::input_range Range>
  void push_sorted(Range&& items) {
    std::optional<T> last;
    std::uint64_t index = 0;
    for (T const& item : items) {
      if (last && less_(item, *last))
        throw format_error(fmt::format("runs_creator: not sorted: item {} comes before item {}",
                                       index, index - 1));
      push(item);
      last.emplace(item);
      ++index;
    }
  }

  /// Returns the number of items pushed.
  std::uint64_t size() const noexcept { return pushed_ + room_.filled(); }

  /// Ends the input, and returns the runs. The creator is empty then, and accepts new items.
  sorted_runs<T, Less> finish() {
    if (!engine_) return {};
    end_room();
    pushed_ = 0;
    engine_->end_input();
    return sorted_runs<T, Less>(std::move(engine_));
  }

 private:
  void next_room() {
    end_room();
    if (!engine_)
      engine_ = detail::make_item_engine(store_, detail::kind_of<T, Less>::make(less_), options_);
    if (auto const room = detail::room_for<T>(*engine_); !room.empty()) return room_.begin(room);
    engine_->chunk_full();
    room_.begin(detail::room_for<T>(*engine_));
  }
  void end_room() noexcept {
    std::size_t const count = room_.end();
    if (count > 0) engine_->grow(count);
    pushed_ += count;
  }

  storage& store_;
  Less less_;
  sort_options options_;
  std::unique_ptr<detail::item_engine> engine_;
  detail::item_room<T> room_;  // of the chunk being filled
  std::uint64_t pushed_ = 0;
};

/// Merges sorted runs: a piece_reader (piece_reader.hpp) and a single-pass range.
///
/// I/Os, CPU, Memory, Threads: as the second half of a `sorter`.
/// Errors:  as `sorter`. The merger can then only be destroyed; nothing is left on disk.
/// Checked: sorted_runs_test.cpp.
template <stored_item T, std::strict_weak_order<T, T> Less = std::less<>>
class runs_merger : public piece_reader_interface<runs_merger<T, Less>, T> {
 public:
  /// Takes memory, and begins to merge.
  explicit runs_merger(sorted_runs<T, Less> runs) : engine_(std::move(runs.engine_)) {
    if (!engine_) return;
    engine_->begin_output();
    go_on();
  }
  runs_merger(runs_merger&&) noexcept = default;
  runs_merger& operator=(runs_merger&&) noexcept = default;

  /// Returns runs, passes and memory; complete when empty().
  sort_report const& report() const noexcept {
    return engine_ ? engine_->report() : detail::report_of_nothing();
  }

 private:
  friend piece_reader_interface<runs_merger, T>;

  void go_on() {
    if (!engine_) return;
    if (window_) engine_->recycle(*std::exchange(window_, std::nullopt));
    window_ = engine_->next();
    if (!window_) return;
    auto const data = window_->data();
    this->show({reinterpret_cast<T const*>(data.data()), data.size() / sizeof(T)});
  }

  std::unique_ptr<detail::item_engine> engine_;
  std::optional<detail::sorted_window> window_;  // the one shown
};

template <typename T, typename Less>
runs_merger(sorted_runs<T, Less>) -> runs_merger<T, Less>;

}  // namespace outsize
