// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Queued writing: blocks are handed over with their buffers, and the buffers come back to the pool
// when their writes have completed.
//
// The first error is kept and thrown by the next write() or flush(). One thread at a time uses a
// queue. Layer: block. Source: Dementiev, Kettner, Sanders: STXXL, 2008, section 4
// (buffered_writer).

#include <cstddef>
#include <exception>

#include <outsize/base/detail/process_locks.hpp>
#include <outsize/block/block_device.hpp>
#include <outsize/block/buffer_pool.hpp>
#include <outsize/block/storage.hpp>

namespace outsize::block {

/// Writes blocks of `store` from buffers of `pool`; both must outlive it.
class write_queue {
 public:
  /// Writes to `device`; waits for buffers are counted in `waits`, if it is not null.
  write_queue(block_space& device, buffer_pool& pool, io::statistics* waits)
      : device_(device), pool_(pool), waits_(waits) {}
  /// Writes to the disks of `store`, which counts the waits.
  write_queue(storage& store, buffer_pool& pool)
      : write_queue(store, pool, &store.buffer_statistics()) {}
  write_queue(write_queue const&) = delete;
  write_queue& operator=(write_queue const&) = delete;
  /// Waits for all writes; errors not yet thrown are lost: call flush() to learn of them.
  ~write_queue();

  /// A free buffer to fill; waits for a write to complete if there is none. The wait counts as I/O
  /// wait.
  /// @throws the first error of an earlier write.
  frame acquire();
  /// Issues the write of the first id.length_bytes of `filled`, which goes back to the pool
  /// afterwards (at once if this throws). @throws the first error of an earlier write.
  void write(block_id id, frame filled);
  /// Waits until every write has completed. @throws the first error.
  void flush();

 private:
  void write_ended(block_id id, frame filled, io::request const& request, io::outcome how);
  void wait_for_all() noexcept;
  void throw_first_error();

  block_space& device_;
  buffer_pool& pool_;
  io::statistics* waits_;
  outsize::detail::process_mutex mutex_;  // guards what follows
  outsize::detail::process_condition completed_;
  std::size_t pending_ = 0;
  std::exception_ptr error_;
};

}  // namespace outsize::block
