// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The typed part of priority queues: the items that come next, in front of the core.
//
//   push ─▶ before the bound? ─yes─▶ near heap ──┐
//                │ no                            ├─▶ top
//                ▼                               │
//              core ──refill──▶ window ──────────┘
//
// The bound is the last item of the window: no item of the core comes out before it. So most items
// that are pushed are not compared with any other item until they are sorted.
//
// Invariant: items of the heap come out before the bound, items of the core do not. The items of
// the window are older than those of the heap. Where the disks are full the heap may have items
// behind the bound, which are younger than all others (stash()). One thread at a time. Layer:
// container. The core: queue_core.hpp.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/base/assert.hpp>
#include <outsize/base/detail/item_room.hpp>
#include <outsize/base/detail/owned.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/container/detail/priority/near_heap.hpp>
#include <outsize/container/detail/priority/opposite_order.hpp>
#include <outsize/container/detail/priority/queue_core.hpp>

namespace outsize {

struct priority_queue_options {
  /// 0: half of the storage's memory, or the queue's share if that is less.
  std::uint64_t memory_bytes = 0;
  std::size_t block_bytes = 0;  ///< On disk. 0: 4 KiB to 2 MiB, as the memory allows.
};

namespace detail {

/// The order in which items leave a priority queue, for two items as for the core.
template <typename T, typename Less>
class leaving_order {
  using order = opposite_t<Less>;
  using family = family_of<T, order>;

 public:
  /// True if items that compare equal may differ, and leave in the order in which they came.
  static constexpr bool keeps_age = family::keeps_input_order && !ordered_number<T, order>;

  explicit leaving_order(Less less) : order_(opposite(std::move(less))) {}

  bool operator()(T const& a, T const& b) const {
    if constexpr (family::keeps_input_order) {
      return item_less<T, order>{order_}(a, b);
    } else {
      auto const numbers = family::make(order_);
      return numbers.encode(std::bit_cast<word_pair>(a)) <
             numbers.encode(std::bit_cast<word_pair>(b));
    }
  }
  /// Returns the kind of items for the core.
  item_kind kind() const {
    if constexpr (is_keyed_item<T, order>) {
      return item_kind(std::make_shared<typed_kernel<typed_items<T, order>> const>(
          typed_items<T, order>(order_)));
    } else {
      return kind_of<T, order>::make(order_);
    }
  }

 private:
  [[no_unique_address]] order order_;
};

/// Items in the order in which they leave.
template <external_item T, typename Less>
class item_queue {
 public:
  using order = leaving_order<T, Less>;

  item_queue(storage& store, Less less, priority_queue_options options)
      : store_(&store), options_(options), before_(std::move(less)), near_(before_) {}

  /// With a core, and the items that this has.
  item_queue(storage& store, Less less, priority_queue_options options,
             std::unique_ptr<queue_core> core)
      : item_queue(store, std::move(less), options) {
    others_ = core->items_at_first();
    all_are_far_ = size() > 0;
    core_ = std::move(core);
  }

  std::uint64_t size() const noexcept {
    check();
    return *others_ + window_->size();
  }
  bool empty() const noexcept { return window_->empty() && size() == 0; }
  bool before(T const& a, T const& b) const { return before_(a, b); }

  void push(T const& item) {
    if (is_stashed_) return push_behind_stash(item);
    if (is_far(item))
      put(item);
    else
      push_near(item);
    ++*others_;
  }
  /// For many pushes: from now on all items go to the core, or those at or behind a bound, which is
  /// returned. @throws as the core's room().
  std::optional<T> settle_without_window() {
    unstash();
    if (window_->empty()) settle();
    return all_are_far_ ? std::optional<T>() : bound_;
  }
  /// Adds items to the core without comparing them. @pre settle(), or they are at or
  /// behind the bound.
  void push_far(std::span<T const> items) {
    unstash();
    while (!items.empty()) {
      if (room_.full()) make_room(1);
      std::size_t const before = items.size();
      items = room_.put(items);
      *others_ += before - items.size();
    }
  }

  /// @pre size() > 0
  T const& top() {
    if (near_.empty() && !window_->empty()) return window_->front();
    OUTSIZE_ASSERT(size() > 0 && "top of an empty queue");
    find_top(nullptr);
    return front();
  }
  /// @pre size() > 0
  void pop() {
    if (near_.empty() && window_->size() > 1) {
      *window_ = window_->subspan(1);
      return;
    }
    OUTSIZE_ASSERT(size() > 0 && "pop of an empty queue");
    find_top(nullptr);
    drop_front();
  }
  /// The next item if it comes out before `limit`, or null.
  T const* top_before(T const& limit) {
    if (size() > 0) find_top(&limit);
    if (!has_front() || !before_(front(), limit)) return nullptr;
    return &front();
  }
  /// Removes the item that top_before() has returned.
  void drop_front() {
    if (!is_near()) return skip(1);
    near_.pop();
    --*others_;
    note_size();
  }

  /// Moves all items into the core.
  void settle() {
    unstash();
    core();
    if (has_front()) move_out(near_.sorted(), {}, *window_);
    leave_all_to_core();
  }
  /// Moves items into the core that do not come out before `limit`. Items pushed later at or behind
  /// it are not compared with other items then.
  void settle_behind(T const& limit) {
    unstash();
    if (all_are_far_) return;
    std::vector<T> const sorted = near_.sorted();
    // Before there was a core the heap may have held more than it may hold now.
    std::size_t const most = core().near_items();
    T const& border = sorted.size() > most && before_(sorted[most], limit) ? sorted[most] : limit;
    if (!bound_ || before_(border, *bound_)) split(sorted, border);
  }
  /// Keeps an item, younger than all others, in the heap until the core has room for it: the heap
  /// may have any number then, also behind the bound.
  void stash(T const& item) {
    near_.push(item);
    is_stashed_ = true;
    ++*others_;
  }

  /// Moves the next items to `out`, only items before `limit` if it is not null. Returns their
  /// number: less than there is room for only if there are no more, or if a later item cannot be
  /// read; the next call throws then.
  std::size_t pop_into(std::span<T> out, T const* limit = nullptr) {
    std::size_t count = 0;
    try {
      while (count < out.size() && size() > 0) {
        std::size_t const some = pop_some(out.subspan(count), limit);
        if (some == 0) break;
        count += some;
      }
    } catch (...) {
      if (count == 0) throw;
    }
    return count;
  }
  /// Returns whether there is an item before `limit`.
  bool has_before(T const& limit) {
    if (size() == 0) return false;
    if (has_front()) return top_before(limit) != nullptr;
    end_room();
    return core_->has_before(reinterpret_cast<std::byte const*>(&limit));
  }

  /// Returns about how many items come out before `limit`.
  std::uint64_t count_before(T const& limit) {
    if (size() == 0) return 0;
    std::uint64_t const in_front = near_.count_before(limit) + window_before(limit);
    bool const has_others = near_.size() + window_->size() < size();
    if (!has_others || (bound_ && !is_stashed_ && !before_(*bound_, limit))) return in_front;
    end_room();
    return in_front + core_->count_before(reinterpret_cast<std::byte const*>(&limit));
  }

  /// Returns the next items, at least one unless there are none. @pre settle(), and nothing was
  /// pushed since.
  std::span<T const> pull() {
    if (size() > 0) find_top(nullptr);
    return *window_;
  }
  /// Removes the first of these.
  void skip(std::size_t count) noexcept {
    *window_ = window_->subspan(count);
    note_size();
  }

  void clear() noexcept {
    near_.clear();
    *window_ = {};
    bound_.reset();
    all_are_far_ = false;
    is_stashed_ = false;
    room_.end();
    *others_ = 0;
    if (core_) core_->clear();
  }
  priority_queue_report report() const noexcept {
    return core_ ? core_->report() : priority_queue_report();
  }

 protected:
  /// Whether it has a core, which is this process's.
  bool has_core() const noexcept { return core_.is_usable(); }
  /// Makes all items durable. @pre it is kept. @throws as queue_core::flush().
  void flush(bool closes) {
    settle();
    end_room();
    core_->flush(closes);
  }
  bool was_closed() const noexcept { return core_->was_closed(); }
  /// Nothing can be done with it any more.
  void end() noexcept {
    clear();
    core_.reset();
    *store_ = nullptr;
  }

 private:
  void check() const noexcept {
    OUTSIZE_ASSERT(*store_ != nullptr && "used after it was moved from or closed");
  }
  bool is_far(T const& item) const { return all_are_far_ || (bound_ && !before_(item, *bound_)); }
  void leave_all_to_core() noexcept {
    all_are_far_ = true;
    bound_.reset();
  }
  /// Moves the last items of the window to the core. @pre it has room for them.
  void put_back(std::size_t items) noexcept {
    core_->put_back(std::as_bytes(window_->last(items)));
    *window_ = window_->first(window_->size() - items);
    *others_ += items;
  }
  void note_size() noexcept {
    if (near_.empty()) is_stashed_ = false;
    if (*others_ > 0 || !window_->empty()) return;
    bound_.reset();
    all_are_far_ = false;
  }
  bool has_front() const noexcept { return !near_.empty() || !window_->empty(); }
  /// Items of the window are older, and go first if they are equal.
  bool is_near() const {
    return !near_.empty() && (window_->empty() || before_(near_.top(), window_->front()));
  }
  T const& front() const { return is_near() ? near_.top() : window_->front(); }

  std::size_t most_near() const noexcept {
    return core_ ? core_->near_items() : std::clamp<std::size_t>((256 << 10) / sizeof(T), 2, 2048);
  }
  void push_near(T const& item) {
    check();
    if (near_.size() < most_near()) return near_.push(item);
    T const copy = item;  // which may be the heap's
    std::vector<T> const sorted = near_.sorted();
    split(sorted, sorted[std::min(sorted.size(), core().near_items()) / 2]);
    if (is_far(copy))
      put(copy);
    else
      near_.push(copy);
  }
  void push_behind_stash(T const& item) {
    T const copy = item;  // which may be the heap's
    unstash();
    push(copy);
  }
  /// Moves all items to the core, those of the heap some at a time. @throws as the core's room().
  void unstash() {
    if (!is_stashed_) return;
    std::vector<T> const sorted = near_.sorted();
    end_room();
    core_->reserve_leftovers(window_->size());
    put_back(window_->size());
    leave_all_to_core();
    for (std::span<T const> left = sorted; !left.empty(); near_.assign_sorted(left)) {
      if (room_.full()) make_room(1);
      left = room_.put(left);
    }
    is_stashed_ = false;
  }
  std::size_t window_before(T const& limit) const {
    return static_cast<std::size_t>(
        std::lower_bound(window_->begin(), window_->end(), limit, before_) - window_->begin());
  }
  /// Moves some of the next items to `out`: at least one, unless there is none before `limit`.
  std::size_t pop_some(std::span<T> out, T const* limit) {
    if (!has_front() && out.size() >= core_->window_items()) {
      end_room();
      std::size_t const count =
          core_->pop_into(std::as_writable_bytes(out), reinterpret_cast<std::byte const*>(limit));
      *others_ -= count;
      note_size();
      return count;
    }
    find_top(limit);
    if (!near_.empty()) {
      if (limit != nullptr && !before_(front(), *limit)) return 0;
      out.front() = front();
      drop_front();
      return 1;
    }
    std::size_t const there = limit != nullptr ? window_before(*limit) : window_->size();
    std::size_t const count = std::min(out.size(), there);
    std::copy_n(window_->begin(), count, out.begin());
    skip(count);
    return count;
  }
  void put(T const& item) {
    if (room_.full()) make_room(1);
    room_.put(item);
  }
  void make_room(std::size_t least) {
    end_room();
    auto const bytes = core_->room(least);
    room_.begin(std::span(reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)));
  }
  void end_room() noexcept {
    if (std::size_t const count = room_.end(); count > 0) core_->grow(count);
  }

  /// Makes `border` the bound: items that do not come out before it go to the core.
  void split(std::vector<T> const& sorted, T const& border) {
    auto const first =
        std::lower_bound(sorted.begin(), sorted.end(), border, before_) - sorted.begin();
    auto const kept = std::span(sorted).first(static_cast<std::size_t>(first));
    auto const end = std::upper_bound(window_->begin(), window_->end(), border, before_);
    move_out(std::span(sorted).subspan(kept.size()), kept,
             window_->last(static_cast<std::size_t>(window_->end() - end)));
    bound_ = border;
  }
  /// Moves the last items of the window, and those of the heap but for `kept`, to the core. Changes
  /// nothing if it throws.
  void move_out(std::span<T const> far, std::span<T const> kept, std::span<T const> tail) {
    if (near_.size() == size()) {
      fill_core(far);
    } else {
      end_room();
      core_->reserve_leftovers(tail.size());
      make_room(far.size());
      // From here on nothing fails.
      put_back(tail.size());
      [[maybe_unused]] auto const rest = room_.put(far);
      OUTSIZE_ASSERT(rest.empty());
    }
    near_.assign_sorted(kept);
  }
  /// Fills a core without items, with more than it may have room for at once.
  void fill_core(std::span<T const> items) {
    try {
      while (!items.empty()) {
        if (room_.full()) make_room(1);
        items = room_.put(items);
      }
    } catch (...) {
      room_.end();
      core_->clear();
      throw;
    }
  }
  queue_core& core() {
    if (!core_)
      core_ =
          make_queue_core(**store_, before_.kind(), {options_.memory_bytes, options_.block_bytes});
    return *core_;
  }

  void find_top(T const* limit) {
    if (!window_->empty() || (!near_.empty() && !is_stashed_)) return;
    if (near_.size() == size()) return;  // the core has none
    end_room();
    auto const bytes = core_->refill(reinterpret_cast<std::byte const*>(limit));
    *window_ = {reinterpret_cast<T const*>(bytes.data()), bytes.size() / sizeof(T)};
    *others_ -= window_->size();
    OUTSIZE_ASSERT(limit != nullptr || !window_->empty());
    // A heap with items behind the bound leaves the core to itself again when it is empty.
    if (window_->empty() && is_stashed_) return leave_all_to_core();
    all_are_far_ = false;
    bound_ = window_->empty() ? *limit : window_->back();
  }

  moved_along<storage*> store_;
  priority_queue_options options_;
  order before_;
  near_heap<T, order, order::keeps_age> near_;
  moved_along<std::span<T const>> window_;
  std::optional<T> bound_;    // no item of the core comes out before it; none: the core is empty,
  bool all_are_far_ = false;  // or all items are in it
  bool is_stashed_ = false;   // the heap may have items behind the bound
  owned<queue_core> core_;
  item_room<T> room_;                  // of the core, which does not know of its items yet
  moved_along<std::uint64_t> others_;  // items that are not in the window
};

}  // namespace detail
}  // namespace outsize
