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
// A process may have many storages; the only global one is default_storage(), made on first use. A
// disk's file is made for its first block, or by alignment_bytes(), which containers call; so a
// sort that stays in memory touches no disk. Files in directories have no names, so nothing is left
// behind, however the process ends. A raw disk (disk_options::raw) is the user's file or device,
// which is written over.
//
// Invariant: blocks that are allocated and not freed are disjoint; freed space is reused before a
// file grows. Every function may be called from any thread. In a process that comes from a fork,
// the copy of a storage refuses work (io_error, EOWNERDEAD; docs/processes.md). Layer: block.
// Source: Dementiev, Kettner, Sanders: STXXL, 2008, section 4 (one large file per disk).

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

/// Selects the blocks on the disks that have checksums (XXH3, 64 bits). Checksums are kept in
/// memory and compared whenever a block is read again, so that changed bytes are never used. A
/// mismatch is reported as corrupt_block, which names the disk and the block. (With of_all, a
/// caller that issues reads itself gets corrupt_block from wait_for_block(); the request alone
/// fails with EBADMSG.)
enum class block_checksums : std::uint8_t {
  none,
  /// Blocks that sorts write, which are most of the data spilled to disk: 8 bytes of memory for
  /// each block, 1 % of a sort's time and 3 % of its processor time.
  of_runs,
  /// All blocks: of containers, streams, queues and everything else written through the storage.
  /// Costs 80 bytes of memory for each block or page, and 0.02 to 0.05 ns for each byte. A 64th of
  /// the storage's memory is set aside for checksums. More is taken as needed; if none is left, the
  /// call that writes throws budget_error. A part of a block, read by itself, is compared only if
  /// it was written by itself.
  of_all
};

/// The parts of a storage. Everything has a default: see docs/settings.md.
struct storage_options {
  std::vector<disk_options> disks = {};  ///< Empty: default_disks(), see disk_options.hpp.
  /// Bytes. 0: half of the memory that the machine, cgroup and limits allow, or less where half
  /// leaves too little beside it: see divide_memory().
  std::uint64_t memory_bytes = 0;
  /// Bytes that compressed files are known to need beside `memory_bytes`. The default of
  /// `memory_bytes` leaves room for them; if `memory_bytes` is given, they are taken as needed.
  std::uint64_t codec_memory_bytes = 0;
  /// 0: the number that the process may use at once. Memory limits any number: if `memory_bytes` is
  /// given, to one thread for each 4 MiB, or to 16 if that is more; if not, see divide_memory().
  std::size_t threads = 0;
  io::backend backend = io::backend::automatic;
  std::size_t depth = 16;  ///< Requests under way on each disk, and on other files.
  bool direct = true;      ///< Disks bypass the page cache, where the file system can.
  /// Strategy that spreads blocks over the disks, and the disks that it uses.
  block::placement_options placement = {};
  std::uint64_t seed = 1;  ///< For randomised placement.
  block_checksums checksums = block_checksums::of_runs;
  /// Called for an input file that grew while it was read; the bytes present at its opening have
  /// been read. If empty, growth is an error (changed_file).
  io::growth_listener on_growth = {};
};

/// Returns `disk` with the options that it leaves unset (backend, depth, direct I/O) taken from
/// `common`.
disk_options with_defaults(disk_options disk, storage_options const& common);

/// Disks, memory, threads and statistics that work together; see the top of this file.
class storage final : public block::block_space {
 public:
  /// Starts the threads; makes no file.
  /// @throws budget_error if the options do not set `memory_bytes` and the process may use too
  /// little memory; std::system_error if a thread cannot be started; as io::make_request_queue() if
  /// a backend or depth cannot be had; io_error if a disk's path does not exist, cannot be written,
  /// or is a directory exactly when disk_options::raw is set; format_error or io_error if the list
  /// of default disks is malformed or cannot be read; std::invalid_argument if the placement names
  /// a disk twice or a disk that does not exist, only some disks' bandwidths are given, two raw
  /// disks are the same file or device or one lies in the other, or a raw device has known contents
  /// (device_contents.hpp) and the disk's options do not set `force`. A device in use fails with
  /// io_error (EBUSY) in any case.
  explicit storage(storage_options options = {});
  /// @pre every block, grant and file made from it is gone, and so is every container, sorter and
  /// stream that lives in it. Asserts, also in release builds, that their grants are gone.
  ~storage() override;

  memory_budget& memory() noexcept { return memory_; }
  /// Reports how much memory each grant has now, needs at least, and can use.
  outsize::memory_report memory_report() const { return memory_.report(); }
  /// Returns the memory that compression libraries may allocate beside memory(). It has no bound if
  /// the options set `memory_bytes`, as that says how much is to be left.
  memory_budget& codec_memory() noexcept { return codec_memory_; }
  executor& threads() noexcept { return executor_; }

  /// Returns the number of disks, D; disk_name() returns the path of each.
  std::uint32_t disk_count() const noexcept;
  /// Returns each disk's read bandwidth (its write bandwidth if only that is given), or all 1:
  /// blocks are read ahead in proportion.
  std::span<std::uint64_t const> disk_speeds() const noexcept override { return speeds_; }
  std::string const& disk_name(std::uint32_t index) const override;
  /// Returns the names of all disks that the options' placement uses, for messages.
  std::string disk_names() const;
  /// Returns the alignment of block lengths and of the addresses of their buffers: the largest that
  /// any disk requires. Makes the disks' files. @throws io_error.
  std::size_t alignment_bytes() override;
  /// Returns the bytes that can still be allocated on all disks that the options' placement uses;
  /// an estimate, as others use the disks too.
  std::uint64_t free_bytes();

  /// Returns the queue for files other than the disks' files (inputs, outputs); see user_files.hpp.
  io::request_queue& file_queue() noexcept;
  /// Checks that `path` ("-": standard input or output) can be an input or an output.
  /// @throws std::invalid_argument if it leads to a raw disk, or to a file or device that lies in
  /// one or contains one.
  void refuse_disk(std::string const& path) const;
  /// Counts transfers of files other than the disks' files.
  io::statistics& file_statistics() noexcept { return file_statistics_; }
  /// Counts waits for buffers that blocks are written from, whichever disks the blocks are on.
  io::statistics& buffer_statistics() noexcept { return buffer_statistics_; }

  /// Makes the placement of a new sequence of blocks, seeded by the options and a running number.
  std::unique_ptr<block::placement> new_placement();
  /// Makes a placement with another strategy, or on other disks, than the storage's options say.
  /// @throws std::invalid_argument if it names a disk twice, or a disk that does not exist.
  std::unique_ptr<block::placement> new_placement(block::placement_options const& options);

  /// Allocates `length_bytes` (rounded up to the alignment) on the disk that `where` prefers. If
  /// that disk is full, uses the next disk of `where` with space. @pre the rounded length is less
  /// than 4 GiB.
  /// @throws out_of_space if no disk of `where` has the space: disk names, free bytes, bytes
  /// needed.
  block::block_id allocate(std::size_t length_bytes, block::placement& where);
  /// Checks that the disks of `where` together have `bytes` of free space now, before any is
  /// allocated.
  /// @throws out_of_space if not.
  void require_space(std::uint64_t bytes, block::placement const& where);

  void free(block::block_id id) noexcept override;

  io::request_ptr read(block::block_id id, std::span<std::byte> into,
                       io::completion done = {}) override;
  io::request_ptr read_now(block::block_id id, std::span<std::byte> into) override;
  io::request_ptr write(block::block_id id, std::span<std::byte const> from,
                        io::completion done = {}) override;
  void wait_for_block(block::block_id id, io::request& reading) const override;

  /// Returns the counts of transfers to and from the blocks of one disk.
  io::statistics_snapshot disk_statistics(std::uint32_t index) const;
  /// Returns the counter behind disk_statistics().
  io::statistics& disk_counter(std::uint32_t index) noexcept;
  /// Returns the counts of all disks, other files and waits for buffers together.
  io::statistics_snapshot total_statistics() const;
  /// Returns the sum of the speeds of all disks, and of other files together: bytes moved for each
  /// second at work. Returns 0 if nothing has moved yet. Files on one device share its speed.
  double measured_bytes_per_second() const;
  /// Records each request and each wait from now on in `where`, with a track for each disk, one for
  /// other files and one for buffers; nullptr stops recording. @pre no request is under way;
  /// `where` outlives the storage or lasts until the next call.
  void note_in(io::timeline* where);
  /// Bytes of blocks allocated now, and the most that were allocated at once.
  std::uint64_t allocated_bytes() const noexcept;
  std::uint64_t peak_allocated_bytes() const noexcept;

  storage_options const& options() const noexcept { return options_; }

 private:
  void refuse_same_disks() const;
  /// As disk_names() and free_bytes(), for the given disks.
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
  std::vector<std::uint64_t> speeds_;   // of the disks, for reading ahead
  std::vector<std::uint32_t> placed_;   // the disks that the options' placement uses
  std::size_t own_grants_ = 0;          // taken by the storage itself
  std::atomic<std::uint64_t> sequences_{0};
  std::atomic<std::uint64_t> allocated_bytes_{0};
  std::atomic<std::uint64_t> peak_allocated_bytes_{0};
};

/// Returns the storage used where none is given: all defaults, made on first use. It lives until
/// the process ends, so objects with static lifetime, functions given to std::atexit() and threads
/// still at work may use it. Files in its disks' directories have no names, so none of them is
/// left.
storage& default_storage();

}  // namespace outsize
