// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// One disk of a storage: a request queue, a file that grows, the free space in it, and checksums of
// what was written to it if they are asked for.
//
// The file is made on its first use, so that a disk without blocks leaves the device alone.
//
// Invariant: places handed out and not freed are disjoint; freed space is reused before the file
// grows. Every function may be called from any thread. Layer: block. Source: STXXL 2008, section 4
// (one large file for each disk).

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <outsize/base/detail/process_locks.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/block/block_id.hpp>
#include <outsize/block/checksum_table.hpp>
#include <outsize/block/disk_options.hpp>
#include <outsize/block/free_extents.hpp>
#include <outsize/io/file.hpp>
#include <outsize/io/file_identity.hpp>
#include <outsize/io/request_queue.hpp>
#include <outsize/io/statistics.hpp>

namespace outsize::block {

class disk {
 public:
  /// Makes the queue and checks the path, but makes no file. Requests are counted in `counter`,
  /// which outlives the disk.
  /// @pre `options` name the backend, the depth and whether I/O is direct.
  /// @throws io_error if the path does not exist, is not what `raw` says, cannot be written, or is
  /// a device in use; std::invalid_argument if a raw device holds what is known and `force` is not
  /// set.
  disk(disk_options options, io::statistics& counter);

  /// Keeps checksums of what is written from now on. `reserve_bytes` of memory for them are taken
  /// at once, more where they are needed. @pre nothing has been written. @throws budget_error.
  void keep_checksums(memory_budget& memory, std::uint64_t reserve_bytes);

  std::string const& name() const noexcept { return options_.path; }
  /// What is written over; nothing for a directory.
  std::optional<io::file_identity> const& raw_identity() const noexcept { return raw_identity_; }
  io::statistics& counter() noexcept { return counter_; }

  /// Its file, which it makes if this is the first use. @throws io_error.
  io::file& file();

  /// Bytes that can still be allocated; an estimate, as others use the device too.
  /// @throws io_error.
  std::uint64_t free_bytes();

  /// Allocates `length_bytes`, a multiple of the file's alignment; the file grows if need be.
  /// Returns the offset, or nothing if the disk is full. @throws io_error.
  std::optional<std::uint64_t> allocate(std::uint64_t length_bytes);
  /// Allocates the lowest free place at or behind `least_offset_bytes`, without growing.
  std::optional<std::uint64_t> allocate_from(std::uint64_t least_offset_bytes,
                                             std::uint64_t length_bytes);
  /// Makes the file as long as the disk's capacity. @throws io_error.
  void grow_to_capacity();
  void free(std::uint64_t offset_bytes, std::uint64_t length_bytes) noexcept;

  /// As block_device's, of this disk.
  io::request_ptr read(block_id id, std::span<std::byte> into, io::completion done);
  io::request_ptr read_now(block_id id, std::span<std::byte> into);
  io::request_ptr write(block_id id, std::span<std::byte const> from, io::completion done);
  /// Waits until `reading` has brought the whole block. @throws io_error, with EIO if it was cut
  /// short; corrupt_block if its checksum differs.
  void wait_for_block(block_id id, io::request& reading) const;

 private:
  void check_path();
  void check_device() const;
  io::file& open_file();
  bool grow(std::uint64_t length_bytes);
  std::uint64_t own_space_bytes() const;

  void note_written(block_id first, std::span<std::byte const> bytes);
  void forget_written(std::uint64_t offset_bytes, std::uint64_t length_bytes) noexcept;
  io::completion forgetting_failures(std::uint64_t offset_bytes, std::uint64_t length_bytes,
                                     io::completion done);
  io::completion checking(std::uint64_t offset_bytes, std::span<std::byte const> into,
                          io::completion done);

  disk_options options_;
  bool is_directory_ = false;
  bool is_device_ = false;
  std::optional<io::file_identity> raw_identity_;
  io::statistics& counter_;
  std::unique_ptr<io::request_queue> queue_;
  std::optional<checksum_table> written_;
  std::atomic<io::file*> open_file_{nullptr};
  outsize::detail::process_mutex mutex_;  // guards what follows
  io::file_ptr file_;
  free_extents space_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t growth_bytes_;
};

}  // namespace outsize::block
