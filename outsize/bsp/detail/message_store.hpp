// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Bytes on their way from one virtual processor to another: kept in memory while there is room, and
// on the disks of the storage else.
//
//   chain of a destination:  | block, full | block, full | block, open ┄┄┄ |
//                            | ── message ──── | ─ m ─ | ── message ──|
//
// A message is a range of a chain; short ones share blocks, long ones span many. A block is freed
// with the last message in it. If buffers become few, full blocks are written, the oldest first;
// blocks that are read again stay in memory as long as there is room. No file for each message, and
// no space reserved (the paper reserves twice the contexts).
//
// A long message whose bytes lie on disk as a part of its sender's context need not be copied: its
// chain is its own, of stretches of the context's blocks, which stay while somebody reads them.
//
// Invariant: each block has a buffer, a place on disk, or both. Any thread. Layer: bsp.
// Source: Nikseresht, Hutchinson, Maheshwari: PEMS, 2007, section 3 (EM System Interface and
// Messaging).

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include <outsize/base/memory_budget.hpp>
#include <outsize/block/buffer_pool.hpp>
#include <outsize/block/placement.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/bsp/detail/message_ticket.hpp>
#include <outsize/bsp/detail/shared_block.hpp>
#include <outsize/bsp/run_history.hpp>

namespace outsize::bsp::detail {

/// A block of a chain.
struct stored_block {
  block::frame memory = {};
  block::block_id place = {};
  std::uint32_t filled_bytes = 0;
  std::uint32_t destination = 0;
  std::uint32_t messages = 0;  ///< That have bytes in it and have not been taken.
  std::uint32_t users = 0;     ///< Threads that copy into it or out of it, or wait for it.
  bool is_open = true;         ///< The last of its chain.
  bool is_moving = false;      ///< Being written or read.
  stored_block* next = nullptr;
  std::shared_ptr<shared_block const> lender = {};  ///< The block that a stretch is part of.
  std::optional<std::list<stored_block*>::iterator> turn = {};  ///< Among those that lie idle.
};

/// A part of a block of a context.
struct lent_stretch {
  std::shared_ptr<shared_block const> of;
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
};

class message_store {
 public:
  using ticket = message_ticket;

  /// Called, if it is set before the first put(), with the bytes of each block that was moved, and
  /// its destination. It must not call the store.
  std::function<void(std::uint32_t, superstep_counts const&)> on_transfer = {};

  /// The memory that it needs at least.
  static std::uint64_t least_memory_bytes(std::uint32_t threads) noexcept;

  /// Takes all of `memory_bytes` from the storage's budget.
  /// @param threads  That call at once. @throws budget_error.
  message_store(storage& store, std::uint32_t destinations, std::uint32_t threads,
                std::uint64_t memory_bytes);
  message_store(message_store const&) = delete;
  message_store& operator=(message_store const&) = delete;
  /// Frees all that was not taken. Waits for its requests.
  ~message_store();

  /// Copies a message, for a number of readers. Waits while all buffers are being written.
  /// I/Os: at most one write for each block of buffer_bytes() that the messages fill.
  /// @throws out_of_space, io_error, and each call after that the same error.
  ticket put(std::uint32_t destination, std::span<std::span<std::byte const> const> pieces,
             std::uint32_t readers = 1);
  ticket put(std::uint32_t destination, std::span<std::byte const> bytes,
             std::uint32_t readers = 1) {
    return put(destination, std::span(&bytes, 1), readers);
  }
  /// Takes a message that lies in stretches of blocks, which nobody changes. Only the message
  /// itself may begin and end beside the alignment of the disks. No I/O. @throws std::bad_alloc.
  ticket lend(std::uint32_t destination, std::span<lent_stretch const> stretches,
              std::uint32_t readers = 1);
  static bool is_lent(ticket const& message) noexcept {
    return message.first != nullptr && message.first->lender != nullptr;
  }
  /// Begins to read a message that will be taken soon, as far as buffers are free.
  void prefetch(ticket const& message) noexcept;
  /// Copies a message out; the last reader frees it. @pre the pieces have its length.
  /// @throws io_error, corrupt_block.
  void get(ticket const& message, std::span<std::span<std::byte> const> pieces);
  void get(ticket const& message, std::span<std::byte> into) { get(message, std::span(&into, 1)); }
  /// Instead of get(), by a reader that does not want the bytes.
  void drop(ticket const& message) noexcept;

  std::size_t buffer_bytes() const noexcept { return buffers_.buffer_bytes(); }
  std::uint64_t written_bytes() const;
  std::uint64_t read_bytes() const;

 private:
  using lock = std::unique_lock<std::mutex>;
  struct chain {
    std::mutex appending;       ///< Locked before mutex_: a message lies in one piece.
    bool is_appending = false;  ///< Guarded by mutex_.
    stored_block* open = nullptr;
  };

  stored_block* new_stretch(std::uint32_t destination, lent_stretch const& part,
                            std::uint32_t readers);

  // Each expects mutex_ locked; those that take the lock may unlock it for a while.
  void append(chain& to, std::span<std::byte const> bytes, std::uint32_t readers, ticket& message,
              stored_block*& entered, lock& held);
  void close(chain& of) noexcept;
  bool close_another() noexcept;
  stored_block* new_block(lock& held);
  block::frame take_buffer(lock& held);
  void write_idle(lock& held);
  void write(stored_block& full, lock& held);
  void bring_in(stored_block& wanted, lock& held);
  void read_ahead(stored_block* first, std::uint64_t bytes, lock& held);
  void read(stored_block& wanted, block::frame into, lock& held);
  std::size_t take_some(ticket& rest, std::span<std::byte> into, lock& held);
  void leave_segment(ticket& rest) noexcept;
  void settle(stored_block& now) noexcept;
  void free_place(stored_block& of) noexcept;
  void fail(std::exception_ptr error) noexcept;
  void check() const;

  void write_ended(stored_block& written, io::request const& request, io::outcome how);
  void read_ended(stored_block& filled, block::frame into, io::request const& request,
                  io::outcome how);

  storage& store_;
  grant memory_;
  block::buffer_pool buffers_;
  std::size_t const spare_;  // buffers that are to be free, or to become free
  std::mutex placing_;       // guards where_; may be locked while mutex_ is not
  std::unique_ptr<block::placement> where_;
  mutable std::mutex mutex_;  // guards the following members
  std::condition_variable changed_;
  std::vector<chain> chains_;
  std::unordered_set<stored_block*> blocks_;
  std::list<stored_block*> idle_;  // closed, in memory, used by nobody: the first is the oldest
  std::size_t writing_ = 0, reading_ = 0;  // blocks
  std::uint64_t written_bytes_ = 0, read_bytes_ = 0;
  std::exception_ptr failure_;
};

}  // namespace outsize::bsp::detail
