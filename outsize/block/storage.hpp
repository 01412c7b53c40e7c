// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// storage: the disks, memory, threads and statistics that containers and algorithms work with.
//
//   storage ─┬─ disks: for each a request_queue and one large, growing file without a name
//            ├─ memory_budget: every large buffer comes out of it
//            ├─ executor: the threads that compute
//            └─ statistics: per disk, of other files, and in total
//
// Many may live in one process; there is no global one but default_storage(), made on first use. A
// disk's file is made when its first block is allocated, so work that stays in memory touches no
// disk. Nothing is left behind, however the process ends: the files have no names.
//
// Invariant: blocks handed out and not freed are disjoint; freed space is reused before a file
// grows. Every function may be called from any thread. A process that comes from a fork has a copy
// that refuses work (io_error, EOWNERDEAD; docs/processes.md). Layer: block. Source: Dementiev,
// Kettner, Sanders: STXXL, 2008, section 4 (one large file per disk).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <outsize/base/detail/process_mark.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/base/machine.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/block/block_device.hpp>
#include <outsize/block/block_id.hpp>
#include <outsize/block/disk_options.hpp>
#include <outsize/block/placement.hpp>
#include <outsize/io/file.hpp>
#include <outsize/io/request_queue.hpp>
#include <outsize/io/timeline.hpp>

namespace outsize {
namespace block {
class disk;
}  // namespace block

/// Which blocks on the disks have checksums (XXH3, 64 bits), kept in memory and compared whenever a
/// block is read again, so that no bytes are seen that are not what was written: the error is
/// corrupt_block, which names the disk and the block. (Who issues reads himself gets it from
/// wait_for_block(); the request alone says EBADMSG.)
enum class block_checksums : std::uint8_t {
  none,
  /// Those that sorts write, which are most of what is spilled: 8 bytes of memory for each, 1 % of
  /// a sort's time and 3 % of its processor time.
  of_runs,
  /// All: of containers, streams, queues and whatever is written through the storage. 80 bytes of
  /// memory for each block or page, of which a 64th of the storage's is set aside; where more is
  /// needed than there is, what writes throws budget_error. 0.02 to 0.05 ns for each byte. A part
  /// of a block, read by itself, is compared if it was written by itself.
  of_all
};

/// What a storage is made of. Everything has a default: see docs/settings.md.
struct storage_options {
  std::vector<disk_options> disks = {};  ///< None: default_disks(), see disk_options.hpp.
  /// Bytes; 0: half of what the machine, cgroup and limits allow, or less where that leaves too
  /// little beside it: see divide_memory().
  std::uint64_t memory_bytes = 0;
  /// Bytes that compressed files are known to need beside `memory_bytes`, whose default leaves room
  /// for them. Where `memory_bytes` is given they are taken as they are needed.
  std::uint64_t codec_memory_bytes = 0;
  /// 0: as many as the process may use at once. Of either no more than the memory can bear: one for
  /// each 4 MiB, but 16 where `memory_bytes` is given; see divide_memory() where it is not.
  std::size_t threads = 0;
  io::backend backend = io::backend::automatic;
  std::size_t depth = 16;  ///< Requests under way on each disk and on other files.
  bool direct = true;      ///< Disks past the page cache, where the file system can.
  /// How blocks are spread over the disks, and over which of them.
  block::placement_options placement = {};
  std::uint64_t seed = 1;  ///< Of randomised placement.
  block_checksums checksums = block_checksums::of_runs;
  /// Told of input files that grew while they were read: what was there at the opening is what has
  /// been read. Without one that is an error (changed_file).
  io::growth_listener on_growth = {};
};

/// `disk` with what it does not name set as `common` says: backend, depth, direct I/O.
disk_options with_defaults(disk_options disk, storage_options const& common);

/// Disks, memory, threads and statistics that work together; see the top of this file.
class storage final : public block::block_space {
 public:
  /// Starts the threads; makes no file.
  /// @throws budget_error if the options do not name the memory and the process may use too little;
  /// io_error if a disk's path does not exist, cannot be written, or is a directory just
  /// where that is not meant (disk_options::raw); format_error for a malformed list of default
  /// disks; std::invalid_argument if the placement names a disk twice or one that there is not,
  /// only some disks' bandwidths are given, two raw disks are one file or device or lie in each
  /// other, or a raw device holds something that is known (device_contents.hpp) and the disk's
  /// options do not say `force`. A device in use is an io_error with EBUSY in any case.
  explicit storage(storage_options options = {});
  /// @pre every block, grant and file made from it is gone, and so is whatever lives in it:
  /// containers, sorters, streams. Of these, by their grants, it is asserted, also in release
  /// builds.
  ~storage() override;

  memory_budget& memory() noexcept { return memory_; }
  /// Who has how much of it now, needs how much at least, and can use how much.
  outsize::memory_report memory_report() const { return memory_.report(); }
  /// What libraries that compress may allocate beside it: without a bound if the options name the
  /// memory, as then it is known what is to be left.
  memory_budget& codec_memory() noexcept { return codec_memory_; }
  executor& threads() noexcept { return executor_; }

  /// The number of disks, D, and the path of each.
  std::uint32_t disk_count() const noexcept;
  /// By the bandwidths that are given, or all 1: blocks are read ahead by them.
  std::span<std::uint64_t const> disk_speeds() const noexcept override { return speeds_; }
  std::string const& disk_name(std::uint32_t index) const override;
  /// All that blocks may be on, for messages.
  std::string disk_names() const;
  /// What lengths of blocks and addresses of their buffers must be multiples of: the most that any
  /// disk asks for. Makes the disks' files. @throws io_error.
  std::size_t alignment_bytes() override;
  /// Bytes that can still be allocated, of all disks that blocks may be on; an estimate, as others
  /// use the disks too.
  std::uint64_t free_bytes();

  /// The queue for files that are none of the disks' (inputs, outputs); see user_files.hpp.
  io::request_queue& file_queue() noexcept;
  /// @throws std::invalid_argument if `path` ("-": standard input or output) leads to a raw disk,
  /// or to what lies in one or around it: it cannot be an input or an output as well.
  void refuse_disk(std::string const& path) const;
  /// Counts what moves through such files.
  io::statistics& file_statistics() noexcept { return file_statistics_; }
  /// Counts waits for buffers that blocks are written from, on whichever disks they are.
  io::statistics& buffer_statistics() noexcept { return buffer_statistics_; }

  /// Makes the placement of a new sequence of blocks, seeded by the options and a running number.
  std::unique_ptr<block::placement> new_placement();
  /// Makes one by another strategy, or on other disks, than the options say.
  /// @throws std::invalid_argument if it names a disk twice, or one that there is not.
  std::unique_ptr<block::placement> new_placement(block::placement_options const& options);

  /// Allocates `length_bytes` (rounded up to the alignment) on the disk that `where` prefers, or if
  /// that is full on the next one of its disks with space. @pre that is less than 4 GiB.
  /// @throws out_of_space if none of them has the space: disk names, free bytes, bytes needed.
  block::block_id allocate(std::size_t length_bytes, block::placement& where);
  /// Asks whether the disks of `where` have so much space now, before any is taken.
  /// @throws out_of_space if not.
  void require_space(std::uint64_t bytes, block::placement const& where);

  void free(block::block_id id) noexcept override;

  io::request_ptr read(block::block_id id, std::span<std::byte> into,
                       io::completion done = {}) override;
  io::request_ptr read_now(block::block_id id, std::span<std::byte> into) override;
  io::request_ptr write(block::block_id id, std::span<std::byte const> from,
                        io::completion done = {}) override;
  void wait_for_block(block::block_id id, io::request& reading) const override;

  /// What moved to and from the blocks of one disk.
  io::statistics_snapshot disk_statistics(std::uint32_t index) const;
  /// Where this is counted.
  io::statistics& disk_counter(std::uint32_t index) noexcept;
  /// Disks and other files together.
  io::statistics_snapshot total_statistics() const;
  /// What all disks and other files together have moved for each second in which they were at work;
  /// 0: nothing yet. Files on one device share its speed.
  double measured_bytes_per_second() const;
  /// Notes each request and each wait from now on in `where`, in a track for each disk, one for
  /// other files and one for buffers; nullptr: no longer. @pre no request is under way; `where`
  /// outlives the storage or the next call.
  void note_in(io::timeline* where);
  /// Bytes of blocks allocated now, and the most there ever were at once.
  std::uint64_t allocated_bytes() const noexcept;
  std::uint64_t peak_allocated_bytes() const noexcept;

  storage_options const& options() const noexcept { return options_; }

 private:
  void refuse_same_disks() const;
  /// As disk_names() and free_bytes(), of these.
  std::string names_of(std::span<std::uint32_t const> disks) const;
  std::uint64_t free_bytes_of(std::span<std::uint32_t const> disks);

  detail::process_mark process_;
  storage_options options_;
  memory_division division_;
  memory_budget memory_;
  memory_budget codec_memory_;
  executor executor_;
  io::statistics file_statistics_, buffer_statistics_;
  std::unique_ptr<io::request_queue> file_queue_;
  std::vector<io::statistics> disk_counters_;
  std::vector<std::unique_ptr<block::disk>> disks_;
  std::vector<std::uint64_t> weights_;  // of the disks, for placement
  std::vector<std::uint64_t> speeds_;   // at which they are read
  std::vector<std::uint32_t> placed_;   // the disks that the options' placement uses
  std::size_t own_grants_ = 0;          // of its budget
  std::atomic<std::uint64_t> sequences_{0};
  std::atomic<std::uint64_t> allocated_bytes_{0};
  std::atomic<std::uint64_t> peak_allocated_bytes_{0};
};

/// The storage used where none is given: all defaults, made on first use. It is there until the
/// process ends, so objects with static lifetime, functions given to std::atexit() and threads that
/// are still at work may use it; its disks have no names, so nothing is left of them.
storage& default_storage();

}  // namespace outsize
