// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The part of a priority queue that does not depend on the type of its items: all items but those
// that come next.
//
//   push ─▶ slabs ──sort──▶ sequences ──merge──▶ window ─▶ pop
//                 └──write──▶ arrays on disk ──▲   │
//                                  leftovers ──┴◀──┘ put back
//
// Items of the slabs, the arrays and the leftovers are merged by all threads, up to the least item
// that is not in memory. While the user has a window, the team merges the items that come after it
// in arrays and sequences: the front. It is the next window, or a source of it if other items were
// pushed in between. Equal items leave in the order of insertion: leftovers, front, arrays by age,
// slabs.
//
// Invariant: each item is in one of the five. An exception changes nothing. One thread at a time
// uses a queue; it has the storage's team sort and merge, also between its calls. Layer: container.
// Source: Sanders: Fast priority queues for cached memory, JEA 2000; Bingmann, Keh, Sanders 2015,
// section 3.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <outsize/algorithm/detail/sort/item_engine.hpp>
#include <outsize/container/detail/priority/queue_file.hpp>

namespace outsize {
class storage;

/// The state of a priority queue.
struct priority_queue_report {
  std::uint64_t memory_bytes = 0;
  std::size_t block_bytes = 0;
  std::size_t arrays = 0;          ///< On disk, now.
  std::uint64_t array_merges = 0;  ///< So far, as there were too many.
};

namespace detail {

/// See core_of (queue_core.cpp).
class queue_core {
 public:
  queue_core() = default;
  queue_core(queue_core const&) = delete;
  queue_core& operator=(queue_core const&) = delete;
  virtual ~queue_core() = default;

  /// The most items that the caller should keep in a heap.
  virtual std::size_t near_items() const noexcept = 0;
  /// The most items that refill() returns now. It is quicker to pop more of them at once to the
  /// caller.
  virtual std::size_t window_items() const noexcept = 0;
  /// Returns room for at least `least_items`. Call grow() with the number of items written there.
  /// @pre least_items <= near_items() @throws io_error, out_of_space, budget_error.
  virtual std::span<std::byte> room(std::size_t least_items) = 0;
  virtual void grow(std::size_t items) noexcept = 0;

  /// Removes the next items, up to a window, and returns them in order; only items that come out
  /// before `limit`, if it is not null. An empty result means that there are none. They are valid
  /// until the next refill() or clear(). @throws io_error, corrupt_block, or as the order does.
  virtual std::span<std::byte const> refill(std::byte const* limit = nullptr) = 0;
  /// Moves the next items to `out`, with the same limit, and returns their number. `out` is not
  /// full only if there are no more, or if a later item cannot be read; the next call throws then.
  /// @throws likewise.
  virtual std::size_t pop_into(std::span<std::byte> out, std::byte const* limit = nullptr) = 0;
  /// Whether there is an item that comes out before `limit`. May read. @throws likewise.
  virtual bool has_before(std::byte const* limit) = 0;
  /// Returns about how many items come out before `limit`, without I/O: exact but for the blocks on
  /// disk, half a block for each array. @throws as the order does.
  virtual std::uint64_t count_before(std::byte const* limit) = 0;
  /// Makes room for `items` that are put back. @throws as room().
  virtual void reserve_leftovers(std::size_t items) = 0;
  /// Takes the last items of the window back. @pre reserve_leftovers()
  virtual void put_back(std::span<std::byte const> tail) noexcept = 0;

  /// Moves the items of the slabs to arrays, and makes all items durable. The file is closed then,
  /// if `closes`; nothing but clear() and the destructor may be called. @pre it has a file.
  /// @throws io_error, out_of_space, budget_error, or as the order does; the file holds the last
  /// flush then, or, once it could not be synced, perhaps this one.
  virtual void flush(bool closes) = 0;
  /// Returns the number of items that its file had when it was opened.
  virtual std::uint64_t items_at_first() const noexcept = 0;
  virtual bool was_closed() const noexcept = 0;

  virtual void clear() noexcept = 0;
  virtual priority_queue_report report() const noexcept = 0;
};

struct queue_memory {
  std::uint64_t bytes = 0;      ///< 0: half of the storage's, or a share of it.
  std::size_t block_bytes = 0;  ///< 0: as long as the memory allows.
};

/// Takes its memory at once. Arrays are in `file`, if there is one, with those that it has already.
/// @throws budget_error if the memory is too little; io_error if a disk cannot be used; as
/// queue_file::reader.
std::unique_ptr<queue_core> make_queue_core(storage& store, item_kind const& kind,
                                            queue_memory const& memory,
                                            std::optional<queue_file> file = {});
/// Returns the length of the blocks of a queue with so much memory. @throws likewise.
std::size_t queue_block_bytes(storage& store, item_kind const& kind, queue_memory const& memory);

/// A number for a bulk phase, of any queue.
std::uint64_t next_bulk_phase() noexcept;

}  // namespace detail
}  // namespace outsize
