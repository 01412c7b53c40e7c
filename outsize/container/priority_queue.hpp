// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A priority queue larger than memory. Used as std::priority_queue is. One thread at a time. Layer:
// container. Its inside: detail/priority/item_queue.hpp.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/piece_reader.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/detail/priority/kept_queue.hpp>
#include <outsize/io/file.hpp>

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
/// Disk:    the items that do not fit in memory, twice while arrays are merged. In a file
///          (create()) the space of blocks that were read comes back with the next flush().
/// Threads: one at a time; the storage's team sorts and merges, also between two calls, and calls
///          the order then.
/// Errors:  budget_error if the memory is too little; io_error, out_of_space, corrupt_block;
///          exceptions of the order. The queue then holds all its items, without the one to be
///          pushed. The next call tries again.
/// Source:  Sanders: Fast priority queues for cached memory, 2000; STXXL 2008, section 5.4;
///          Bingmann, Keh, Sanders 2015.
/// Checked: priority_queue_test.cpp.
template <stored_item T, std::strict_weak_order<T, T> Less = std::less<>>
class priority_queue {
  using items = detail::kept_queue<T, Less>;

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

  /// An empty one in a new file, which open() opens again. However the process ends, the file holds
  /// the items of the last flush(). Takes its memory at once. @throws io_error, EEXIST if the
  /// file is there; out_of_space, budget_error. Nothing is left of it then.
  static priority_queue create(std::string const& path, storage& store = default_storage(),
                               priority_queue_options options = {}, Less less = {}) {
    return priority_queue(items::create(store, path, std::move(less), options));
  }
  /// A queue that create() has made, with the same order; its blocks keep the length that they were
  /// made with. was_closed() tells whether it was closed, or is as the last flush() left it. With
  /// less memory than before arrays may have to be merged.
  /// @throws io_error if the file cannot be opened to be changed, EBUSY while it is open elsewhere;
  /// format_error if it holds no queue of such items (kept_type.hpp), has another order, or is of a
  /// newer format, cut short, or damaged; budget_error with the memory that its blocks need.
  static priority_queue open(std::string const& path, storage& store = default_storage(),
                             priority_queue_options options = {}, Less less = {}) {
    return priority_queue(items::open(store, path, std::move(less), options));
  }
  /// The same in a file that is open: one that is empty, and one that create() has filled.
  static priority_queue create(storage& store, io::file_ptr file,
                               priority_queue_options options = {}, Less less = {}) {
    return priority_queue(items::create(store, std::move(file), std::move(less), options));
  }
  static priority_queue open(storage& store, io::file_ptr file, priority_queue_options options = {},
                             Less less = {}) {
    return priority_queue(items::open(store, std::move(file), std::move(less), options));
  }

  bool empty() const noexcept { return items_.empty(); }
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

  /// Makes all items durable, if the queue is kept in a file. Items of the memory go to the file as
  /// one array. I/Os: these, a copy of the items that were about to leave, and for each block an
  /// item and 24 bytes. @throws io_error, out_of_space, budget_error, or as the order does; all
  /// items are still there. If the file cannot be synced, flush() and close() fail for good (EIO).
  void flush() { items_.flush(); }
  /// Flushes, and ends the queue: it can then only be destroyed, or assigned to. @throws as
  /// flush(); the queue is as it was then. The destructor does the same, but cannot tell of errors.
  void close() { items_.close(); }
  /// Returns whether the file had been closed when it was opened; if not, the queue was as the last
  /// flush() left it. Returns true for all other queues.
  bool was_closed() const noexcept { return items_.was_closed(); }

  /// Removes all items.
  void clear() noexcept { items_.clear(); }

  /// Returns its memory, and the number of its arrays on disk.
  priority_queue_report report() const noexcept { return items_.report(); }

 private:
  explicit priority_queue(items kept) : items_(std::move(kept)) {}

  items items_;
};

}  // namespace outsize
