// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A priority queue larger than memory. Used as std::priority_queue is. One thread at a time. Layer:
// container. Its inside: detail/priority/item_queue.hpp.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/piece_reader.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/detail/priority/item_queue.hpp>

namespace outsize {

/// Items of which the greatest one is popped first.
///
///     outsize::priority_queue<std::uint64_t, std::greater<>> next(store);   // the least first
///     next.push(17);
///     for (; !next.empty(); next.pop()) use(next.top());
///
/// The order in which items come out depends on the items and their order alone, not on memory,
/// threads or block size. Items that compare equal come out in the order in which they were pushed;
/// two-word items under by(member), in the order of their other word (item_order.hpp). Floating
/// point is ordered by IEEE 754 totalOrder.
///
/// Asserts that there is an item where one is asked for.
///
/// @tparam T     external_item.
/// @tparam Less  Strict weak order; copied, called from all threads of the storage at once.
///
/// I/Os:    none up to some thousand items, or if all fit into 3/8 of the memory. Otherwise
///          2·R/B an item and a few more, with R levels of arrays (docs/containers/
///          priority_queue.md); R is 1 until N is about eighty slabs of an eighth of the memory.
/// CPU:     O(log N) comparisons an item, amortised.
/// Memory:  options.memory_bytes, from the first thousands of items on until the end.
/// Disk:    the items that do not fit in memory, twice while arrays are merged.
/// Threads: one at a time; the storage's team sorts and merges.
/// Errors:  budget_error if the memory is too little; io_error, out_of_space, corrupt_block;
///          exceptions of the order. The queue then holds all its items, without the one to be
///          pushed. The next call tries again.
/// Source:  Sanders: Fast priority queues for cached memory, 2000; STXXL 2008, section 5.4;
///          Bingmann, Keh, Sanders 2015.
/// Checked: priority_queue_test.cpp.
template <stored_item T, std::strict_weak_order<T, T> Less = std::less<>>
class priority_queue {
  using items = detail::item_queue<T, Less>;

 public:
  using value_type = T;
  using size_type = std::uint64_t;
  using value_compare = Less;

  /// An empty one on the disks of `store`, which must outlive it. Takes no memory yet.
  explicit priority_queue(storage& store, Less less = {}, priority_queue_options options = {})
      : items_(store, std::move(less), options) {}
  /// Does the same on the default storage.
  explicit priority_queue(Less less = {}, priority_queue_options options = {})
      : priority_queue(default_storage(), std::move(less), options) {}

  bool empty() const noexcept { return items_.size() == 0; }
  size_type size() const noexcept { return items_.size(); }

  void push(T const& item) { items_.push(item); }
  template <typename... Arguments>
  void emplace(Arguments&&... arguments) {
    items_.push(T(std::forward<Arguments>(arguments)...));
  }

  /// The greatest item, of equal ones the oldest, until the next call that is not const. May read.
  /// @pre !empty()
  T const& top() { return items_.top(); }
  /// Removes it. May read. @pre !empty()
  void pop() { items_.pop(); }

  /// Adds all items of `other`, which has none then, as if they were pushed in the order in which
  /// they leave it. If it throws, each item is in one of the two.
  void merge(priority_queue& other) {
    OUTSIZE_ASSERT(&other != this && "a queue merged with itself");
    for (auto in = other.drain(); !in.empty(); ++in) push(*in);
  }

  /// The items in order; an item is removed when it has been read. A piece_reader, and the
  /// source of a flow. Until it is gone nothing else may use the queue.
  class reader : public piece_reader_interface<reader, T> {
   public:
    explicit reader(items& from) : from_(&from) { from.settle(); }
    reader(reader&& other) noexcept
        : piece_reader_interface<reader, T>(std::move(other)),
          from_(std::exchange(other.from_, nullptr)),
          shown_(std::exchange(other.shown_, 0)) {}
    reader& operator=(reader&&) = delete;
    ~reader() {
      if (from_ != nullptr) from_->skip(shown_ - this->left());
    }

   private:
    friend piece_reader_interface<reader, T>;

    bool is_over() const noexcept { return from_->size() == shown_; }
    void go_on() {
      from_->skip(std::exchange(shown_, 0));
      auto const piece = from_->pull();
      shown_ = piece.size();
      this->show(piece);
    }

    items* from_;
    std::size_t shown_ = 0;  // items, which are still in the queue
  };
  reader drain() { return reader(items_); }

  /// Removes all items.
  void clear() noexcept { items_.clear(); }

  /// Returns its memory, and the number of its arrays on disk.
  priority_queue_report report() const noexcept { return items_.report(); }

 private:
  items items_;
};

}  // namespace outsize
