// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A stack that is in memory, and costs no more than std::vector there, until it has grown to a
// given number of items; then it moves to disk. When it has shrunk to half of that it comes back,
// so that one high tide does not make it a stack on disk for ever.
//
// Invariant: items are in one of the two places; in memory there are most_in_memory() at most, on
// disk more than half as many, unless the way back failed. One thread at a time. Layer: container.
// Source: STXXL 2008, section 5.2; there is no way back there.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/item_scan.hpp>
#include <outsize/algorithm/item_sources.hpp>
#include <outsize/base/assert.hpp>
#include <outsize/base/detail/owned.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/detail/piece_comparison.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/container/vector_readers.hpp>
#include <outsize/page/page_pool.hpp>

namespace outsize {

/// Items of which the last one pushed is popped first, in memory as long as they are few.
///
/// I/Os:    None in memory. A move takes ⌈most_in_memory / B⌉, where B items fit in a page, and at
///          least half of most_in_memory pushes or pops lie between two moves; on disk as a
///          stack's. So O(1/B) for each push and pop, amortised, whatever their order.
/// Memory:  In memory most_in_memory items at most (half as much more while it grows), on disk the
///          pages of a vector with these options or a share in the pool; from the storage's budget.
///          While it moves, both.
/// Errors:  push() throws budget_error, out_of_space, io_error: nothing is pushed then, all items
///          are where they were. Where the way back fails, the stack stays on disk until it has
///          shrunk to half as much again. top() throws io_error on disk.
/// Checked: migrating_stack_test.cpp.
template <stored_item T>
class migrating_stack {
 public:
  using value_type = T;
  using size_type = std::uint64_t;

  /// An empty one, that will be on the disks of `store`, which must outlive it.
  migrating_stack(storage& store, size_type most_in_memory, page_options const& options = {})
      : store_(&store),
        most_in_memory_(most_in_memory),
        options_(options),
        memory_(store.memory().take(0, "stack in memory")) {}
  /// An empty one that will share the memory of `pool` when it is on disk.
  migrating_stack(page_pool const& pool, size_type most_in_memory)
      : store_(&pool.store()),
        pool_(pool),
        most_in_memory_(most_in_memory),
        memory_(pool.store().memory().take(0, "stack in memory")) {}
  /// One that was moved from can only be destroyed or assigned to.
  migrating_stack(migrating_stack&&) noexcept = default;
  migrating_stack& operator=(migrating_stack&&) noexcept = default;

  bool empty() const noexcept { return size() == 0; }
  size_type size() const noexcept {
    check();
    return on_disk_ ? on_disk_->size() : in_memory_.size();
  }
  bool is_in_memory() const noexcept { return !on_disk_; }
  size_type most_in_memory() const noexcept { return most_in_memory_; }

  void push(T const& item) {
    if (!on_disk_ && in_memory_.size() < in_memory_.capacity())
      in_memory_.push_back(item);
    else if (on_disk_)
      on_disk_->push_back(item);
    else
      push_beyond_capacity(item);
  }
  /// The new item: top().
  template <typename... Arguments>
  T& emplace(Arguments&&... arguments) {
    push(T(std::forward<Arguments>(arguments)...));
    return top();
  }
  /// @pre !empty()
  void pop() {
    OUTSIZE_ASSERT(!empty());
    if (!on_disk_) return in_memory_.pop_back();
    on_disk_->pop_back();
    if (on_disk_->size() <= come_back_at_) come_back();
  }
  /// @pre !empty(). References are valid until the next push or pop.
  T& top() {
    OUTSIZE_ASSERT(!empty());
    return on_disk_ ? on_disk_->back() : in_memory_.back();
  }
  T top() const {
    OUTSIZE_ASSERT(!empty());
    return on_disk_ ? std::as_const(*on_disk_).back() : in_memory_.back();
  }

  /// Whether both have the same items, wherever these are.
  /// I/Os: a scan of what is on disk, up to the first that differ.
  friend bool operator==(migrating_stack const& a, migrating_stack const& b)
    requires std::equality_comparable<T>
  {
    return a.size() == b.size() && with_pieces(a, b, [](auto of_a, auto of_b) {
             return detail::equal_pieces(std::move(of_a), std::move(of_b));
           });
  }
  /// The order of words from bottom to top. I/Os: the same.
  friend auto operator<=>(migrating_stack const& a, migrating_stack const& b)
    requires detail::ordered_item<T>
  {
    return with_pieces(a, b, [](auto of_a, auto of_b) {
      return detail::compare_pieces(std::move(of_a), std::move(of_b));
    });
  }
  friend void swap(migrating_stack& a, migrating_stack& b) noexcept { std::swap(a, b); }

 private:
  static constexpr size_type least_capacity = std::max<size_type>(256 / sizeof(T), 1);

  /// Is called where items come or are asked for, but for those that fit in the memory.
  void check() const noexcept {
    OUTSIZE_ASSERT(*store_ != nullptr && "used after it was moved from");
  }

  /// Calls `use` with a reader of the items, from bottom to top.
  template <typename Use>
  auto with_pieces(Use const& use) const {
    return on_disk_ ? use(std::as_const(*on_disk_).pieces())
                    : use(detail::one_piece<T>(std::span<T const>(in_memory_)));
  }
  template <typename Use>
  static auto with_pieces(migrating_stack const& a, migrating_stack const& b, Use const& use) {
    return a.with_pieces([&](auto of_a) {
      return b.with_pieces([&](auto of_b) { return use(std::move(of_a), std::move(of_b)); });
    });
  }

  // Copies, as the item may be one of those that move.
  [[gnu::noinline]] void push_beyond_capacity(T item) {
    check();
    if (in_memory_.size() < most_in_memory_) {
      reserve(std::min(std::max(2 * in_memory_.size(), least_capacity), most_in_memory_));
      in_memory_.push_back(item);
    } else {
      go_to_disk(item);
    }
  }
  /// Makes room for exactly as many items.
  void reserve(size_type items) {
    grant more = (*store_)->memory().take(items * sizeof(T), "stack in memory");
    std::vector<T> longer;
    longer.reserve(static_cast<std::size_t>(items));
    longer.assign(in_memory_.begin(), in_memory_.end());
    in_memory_.swap(longer);
    std::swap(memory_, more);
  }
  void leave_memory() noexcept {
    std::vector<T>().swap(in_memory_);
    memory_ = {};
  }

  void go_to_disk(T const& item) {
    auto there = pool_ ? vector<T>(*pool_) : vector<T>(**store_, options_);
    vector_writer<T>(there).push(std::span<T const>(in_memory_));
    there.push_back(item);
    on_disk_.emplace(std::move(there));
    leave_memory();
    come_back_at_ = most_in_memory_ / 2;
  }
  void come_back() noexcept {
    try {
      reserve(on_disk_->size());
      for (vector_reader<T> in(*on_disk_); !in.empty(); in.skip(in.pull().size()))
        in_memory_.insert(in_memory_.end(), in.pull().begin(), in.pull().end());
      on_disk_.reset();
    } catch (std::exception const&) {  // whoever wants the items that cannot be read will be told
      leave_memory();
      come_back_at_ /= 2;
    }
  }

  detail::moved_along<storage*> store_;
  std::optional<page_pool> pool_;
  size_type most_in_memory_;
  page_options options_ = {};
  grant memory_;  // of what is in memory
  std::vector<T> in_memory_;
  std::optional<vector<T>> on_disk_;
  size_type come_back_at_ = 0;  // items left on disk
};

}  // namespace outsize
