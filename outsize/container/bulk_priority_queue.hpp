// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A priority queue larger than memory, for many items at once.
//
//   bulk phase:   begin ── push, by any threads ── end     then pop many, or some below a limit
//   limit phase:  begin(L) ── top, pop below L; push at or behind L ── end
//
// Invariant: in no phase, or in one. Only bulk pushes may come from several threads at once. Layer:
// container. Source: Bingmann, Keh, Sanders: A bulk-parallel priority queue in external memory with
// STXXL, 2015, section 2.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/detail/priority/kept_queue.hpp>
#include <outsize/io/file.hpp>

namespace outsize {

/// Items of which the greatest ones are popped first, many at a time.
///
///     outsize::bulk_priority_queue<event, later> q(store);
///     std::vector<event> work;
///     while (!q.empty()) {
///       q.bulk_pop(work, 100'000);
///       auto bulk = q.push_bulk(work.size());
///       for_each_in_parallel(work, [&](event const& e) { bulk.push(next(e)); });
///     }
///
/// Items and orders are those of priority_queue, as are I/Os, memory, disk, and errors. Items that
/// compare equal come out in the order in which they were pushed. Items that several threads push
/// in one bulk have no such order among each other.
///
/// Threads: one at a time. In a bulk any threads may call bulk_push(), bulk.push() and
///          bulk.writer_of_thread() at once.
/// Memory:  that of the queue, and in a bulk 64 KiB for each thread that pushes.
/// Source:  Bingmann, Keh, Sanders 2015.
/// Checked: bulk_priority_queue_test.cpp.
template <stored_item T, std::strict_weak_order<T, T> Less = std::less<>>
class bulk_priority_queue {
  class thread_buffer;
  using items = detail::kept_queue<T, Less>;

 public:
  using value_type = T;
  using size_type = std::uint64_t;
  using value_compare = Less;

  /// An empty one on the disks of `store`, which must outlive it. Takes no memory yet.
  explicit bulk_priority_queue(storage& store, Less less = {}, priority_queue_options options = {})
      : items_(store, std::move(less), options) {}
  /// Does the same on the default storage.
  explicit bulk_priority_queue(Less less = {}, priority_queue_options options = {})
      : bulk_priority_queue(default_storage(), std::move(less), options) {}
  bulk_priority_queue(bulk_priority_queue const&) = delete;
  bulk_priority_queue& operator=(bulk_priority_queue const&) = delete;
  /// Closes a queue that is kept, as close() does, but cannot tell of errors.
  ~bulk_priority_queue() {
    if (!items_.is_kept()) return;
    try {
      phase_ = kind::none;
      close();
    } catch (...) {
      items_.abandon();
    }
  }

  /// As those of priority_queue, whose files they can open, and make.
  static bulk_priority_queue create(std::string const& path, storage& store = default_storage(),
                                    priority_queue_options options = {}, Less less = {}) {
    return bulk_priority_queue(items::create(store, path, std::move(less), options));
  }
  static bulk_priority_queue open(std::string const& path, storage& store = default_storage(),
                                  priority_queue_options options = {}, Less less = {}) {
    return bulk_priority_queue(items::open(store, path, std::move(less), options));
  }
  static bulk_priority_queue create(storage& store, io::file_ptr file,
                                    priority_queue_options options = {}, Less less = {}) {
    return bulk_priority_queue(items::create(store, std::move(file), std::move(less), options));
  }
  static bulk_priority_queue open(storage& store, io::file_ptr file,
                                  priority_queue_options options = {}, Less less = {}) {
    return bulk_priority_queue(items::open(store, std::move(file), std::move(less), options));
  }
  /// As priority_queue::flush(), close() and was_closed(). @pre no phase.
  void flush() {
    enter(kind::none);
    items_.flush();
  }
  void close() {
    enter(kind::none);
    items_.close();
  }
  bool was_closed() const noexcept { return items_.was_closed(); }

  /// @pre no bulk phase.
  bool empty() const noexcept { return size() == 0; }
  size_type size() const noexcept {
    OUTSIZE_ASSERT(phase_ != kind::bulk);
    return items_.size() + pending_items();
  }

  // ---- one item at a time; in no phase ----

  void push(T const& item) {
    enter(kind::none);
    items_.push(item);
  }
  /// @pre !empty()
  T const& top() {
    enter_to_pop(kind::none);
    return items_.top();
  }
  /// @pre !empty()
  void pop() {
    enter_to_pop(kind::none);
    items_.pop();
  }

  // ---- bulks ----

  /// Begins a bulk of about `expected_items`, a hint. Until its end items are pushed only, by
  /// bulk_push().
  void bulk_push_begin([[maybe_unused]] size_type expected_items = 0) {
    enter(kind::none);
    far_from_ = items_.settle_without_window();
    number_ = detail::next_bulk_phase();
    phase_ = kind::bulk;
  }
  /// Adds an item, from any thread.
  void bulk_push(T const& item) { buffer_of_thread().push(item); }
  /// Ends the bulk, even if it throws: the next call then moves the items that this one could not
  /// move to the queue.
  void bulk_push_end() {
    OUTSIZE_ASSERT(phase_ == kind::bulk && "no bulk was begun");
    phase_ = kind::none;
    move_pending();
  }

  /// A bulk that ends with its scope; an error at its end is that of the next call then.
  class bulk {
   public:
    bulk(bulk const&) = delete;
    bulk& operator=(bulk const&) = delete;
    ~bulk() {
      if (!ended_ && queue_.phase_ == kind::bulk && queue_.number_ == number_)
        queue_.phase_ = kind::none;
    }
    /// Adds an item, from any thread.
    void push(T const& item) { queue_.bulk_push(item); }
    /// Ends it now. @throws as bulk_push_end().
    void end() {
      ended_ = true;
      queue_.bulk_push_end();
    }

    /// For one thread: adds items without looking for the buffer of the thread.
    class writer {
     public:
      void push(T const& item) { to_.push(item); }
      /// If it throws, some items may have been added.
      void push(std::span<T const> items) { to_.push(items); }

     private:
      friend bulk;
      explicit writer(thread_buffer& to) : to_(to) {}
      thread_buffer& to_;
    };
    writer writer_of_thread() { return writer(queue_.buffer_of_thread()); }

   private:
    friend bulk_priority_queue;
    bulk(bulk_priority_queue& queue, size_type expected_items) : queue_(queue) {
      queue.bulk_push_begin(expected_items);
      number_ = queue.number_;
    }
    bulk_priority_queue& queue_;
    std::uint64_t number_ = 0;
    bool ended_ = false;
  };
  bulk push_bulk(size_type expected_items = 0) { return bulk(*this, expected_items); }

  /// Replaces the items of `out` by the next ones in order, at most `most`. Returns their number.
  /// It is less than `most` and size() only if a later item cannot be read; the next call throws.
  size_type bulk_pop(std::vector<T>& out, size_type most) {
    return pop_limited(out, nullptr, most);
  }

  struct limited {
    size_type count;
    bool more;  ///< Whether there are more items before the limit, or may be: it cannot be read.
  };
  /// The same of items that come out before `limit`; those that compare equal to it stay.
  limited bulk_pop_limit(std::vector<T>& out, T limit, size_type most) {
    size_type const count = pop_limited(out, &limit, most);
    if (count == 0) return {0, items_.has_before(limit)};
    try {
      return {count, items_.has_before(limit)};
    } catch (...) {  // the items are gone: the next call says why it cannot go on
      return {count, true};
    }
  }

  /// Estimates the number of items that come out before `limit`, without I/O. It is exact for items
  /// in memory, and may be off by half a block for each array on disk.
  size_type count_before(T const& limit) {
    enter_to_pop(kind::none);
    return items_.count_before(limit);
  }

  // ---- limits ----

  /// Begins a phase in which only items at or behind `limit` are pushed, by limit_push(). @pre no
  /// item was popped that comes out after `limit`.
  void limit_begin(T limit, [[maybe_unused]] size_type expected_items = 0) {
    enter(kind::none);
    items_.settle_behind(limit);
    limit_ = limit;
    phase_ = kind::limit;
  }
  /// Returns the next item if it comes out before the limit, else the limit.
  T const& limit_top() {
    enter(kind::limit);
    T const* const found = items_.top_before(*limit_);
    return found != nullptr ? *found : *limit_;
  }
  /// @pre limit_top() comes out before the limit.
  void limit_pop() {
    enter(kind::limit);
    T const* const found = items_.top_before(*limit_);
    OUTSIZE_ASSERT(found != nullptr && "no item is before the limit");
    items_.drop_front();
  }
  /// @pre `item` does not come out before the limit.
  void limit_push(T const& item) {
    enter(kind::limit);
    OUTSIZE_ASSERT(!items_.before(item, *limit_) && "an item before the limit was pushed");
    items_.push(item);
  }
  void limit_end() {
    enter(kind::limit);
    phase_ = kind::none;
  }

  /// Removes all items, and ends any phase.
  void clear() noexcept {
    phase_ = kind::none;
    buffers_.clear();
    items_.clear();
  }
  /// Returns its memory, and the number of its arrays on disk.
  priority_queue_report report() const noexcept { return items_.report(); }

 private:
  explicit bulk_priority_queue(items kept) : items_(std::move(kept)) {}

  enum class kind : std::uint8_t { none, bulk, limit };

  /// Items of one thread, on their way to the core.
  class thread_buffer {
   public:
    explicit thread_buffer(bulk_priority_queue& queue) : queue_(queue) {
      items_.reserve(std::max<std::size_t>(1, (64 << 10) / sizeof(T)));
    }
    void push(T const& item) {
      if (items_.size() == items_.capacity()) move();
      items_.push_back(item);
    }
    void push(std::span<T const> items) {
      for (T const& item : items) push(item);
    }
    /// Moves all items to the queue. @throws as priority_queue::push(); the other items stay here.
    void move() {
      std::size_t const near = queue_.count_near(items_);
      executor::absence const waiting;  // for the lock, and for disks
      std::lock_guard const lock(queue_.mutex_);
      auto const size_before = queue_.items_.size();
      try {
        // The heap is for few items: where there are more, no bound is worth its while.
        if (near > items_.size() / 4) queue_.items_.settle();
        if (near == 0 || near > items_.size() / 4)
          queue_.items_.push_far(items_);
        else
          for (T const& item : items_) queue_.items_.push(item);
      } catch (...) {
        items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(
                                                          queue_.items_.size() - size_before));
        throw;
      }
      items_.clear();
    }
    void move_or_stash() {
      try {
        move();
      } catch (...) {
        std::size_t stashed = 0;
        try {
          for (T const& item : items_) {
            queue_.items_.stash(item);
            ++stashed;
          }
        } catch (...) {
          items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(stashed));
          throw;
        }
        items_.clear();
      }
    }
    std::size_t size() const noexcept { return items_.size(); }

   private:
    bulk_priority_queue& queue_;
    std::vector<T> items_;
  };

  /// How many may not go to the core without more ado. The bound of the queue may have come nearer
  /// since the bulk has begun, but no farther: nothing is popped before all items of the bulk have
  /// been moved or stashed.
  std::size_t count_near(std::span<T const> pushed) const {
    if (!far_from_) return 0;
    return static_cast<std::size_t>(std::ranges::count_if(
        pushed, [this](T const& item) { return items_.before(item, *far_from_); }));
  }
  void enter(kind wanted) {
    OUTSIZE_ASSERT(phase_ == wanted && "a call that does not belong to this phase");
    if (!buffers_.empty()) move_pending();
  }
  /// For calls that push nothing, which must go on where the disks are full.
  void enter_to_pop(kind wanted) {
    OUTSIZE_ASSERT(phase_ == wanted && "a call that does not belong to this phase");
    for (auto& [thread, b] : buffers_) b.move_or_stash();
    buffers_.clear();
  }
  size_type pending_items() const noexcept {
    size_type sum = 0;
    for (auto const& [thread, b] : buffers_) sum += b.size();
    return sum;
  }
  /// Moves the items to the core that a bulk has left in the buffers.
  void move_pending() {
    for (auto& [thread, b] : buffers_) b.move();
    buffers_.clear();
  }

  thread_buffer& buffer_of_thread() {
    struct found {
      std::uint64_t phase = 0;
      thread_buffer* buffer = nullptr;
    };
    thread_local found last;
    OUTSIZE_ASSERT(phase_ == kind::bulk && "no bulk was begun");
    if (last.phase != number_) {
      std::lock_guard const lock(mutex_);
      last = {number_, &buffers_.try_emplace(std::this_thread::get_id(), *this).first->second};
    }
    return *last.buffer;
  }

  size_type pop_limited(std::vector<T>& out, T const* limit, size_type most) {
    enter_to_pop(kind::none);
    most = std::min(most, items_.size());
    std::size_t count = 0;
    try {
      for (bool is_over = false; !is_over && count < most;) {
        size_type const expected =
            limit == nullptr ? most : std::max(items_.count_before(*limit), size_type{1024});
        out.resize(static_cast<std::size_t>(std::min(most, count + expected)));
        count += items_.pop_into(std::span(out).subspan(count), limit);
        is_over = count < out.size();
      }
    } catch (...) {
      out.resize(count);
      if (count == 0) throw;
    }
    out.resize(count);
    return count;
  }

  items items_;
  kind phase_ = kind::none;
  std::uint64_t number_ = 0;   // of the last bulk
  std::optional<T> far_from_;  // in which items at or behind it go to the core; none: all do
  std::optional<T> limit_;
  std::mutex mutex_;  // in a bulk guards items_ and buffers_
  std::map<std::thread::id, thread_buffer> buffers_;
};

}  // namespace outsize
