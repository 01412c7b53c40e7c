// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Reads blocks ahead of their use, in the optimal order for the disks.
//
// The user names all blocks in the order of need and then takes them, as a rule in that order. Up
// to `ahead` blocks are under way or read and not yet taken; a block that is taken before its turn
// is read at once.
//
// Invariant: blocks read and not taken <= ahead. A taken frame belongs to the user until release().
// One thread at a time uses a prefetcher. Layer: block.
// Source: STXXL 2008, section 4 (block_prefetcher) and 6.1.3; the order: prefetch_schedule.hpp.

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include <outsize/block/block_device.hpp>
#include <outsize/block/buffer_pool.hpp>

namespace outsize::block {

/// The end of a frame at which a block is put that is shorter.
enum class frame_end : std::uint8_t { front, back };

/// Reads the blocks of a given order ahead of their use.
class prefetcher {
 public:
  /// Issues the first reads. `pool` must have `ahead` buffers that only this prefetcher uses,
  /// besides those for the frames that the user holds at once; its buffers are as long as the
  /// longest block. Each block is put at the end `where` of its frame.
  prefetcher(block_device& device, buffer_pool& pool, std::vector<block_id> order,
             std::size_t ahead, frame_end where = frame_end::front);
  prefetcher(prefetcher const&) = delete;
  prefetcher& operator=(prefetcher const&) = delete;
  /// Waits for the reads under way and gives their buffers back; errors of blocks never taken are
  /// lost.
  ~prefetcher();

  /// What the prefetcher itself needs for each block of its order.
  static constexpr std::size_t bytes_per_block = sizeof(block_id) + sizeof(std::uint32_t) + 1;

  std::size_t block_count() const noexcept { return blocks_.size(); }
  block_id block(std::size_t index) const noexcept { return blocks_[index]; }

  /// Waits until block `index` of the order is read and hands it out; its first, or at the
  /// back its last, length_bytes are valid. Reads on in its place.
  /// @pre not taken before. @throws io_error of its read; a block cut short is an error (EIO).
  frame take(std::size_t index);
  /// Whether take(index) would return at once.
  bool ready(std::size_t index) const;
  /// Gives a taken frame back, and reads on.
  void release(frame taken);

 private:
  struct reading {
    frame place;
    io::request_ptr request;
  };
  void issue(std::size_t index);
  void read_ahead();
  void end_reads() noexcept;

  block_device& device_;
  buffer_pool& pool_;
  std::size_t ahead_;
  frame_end where_;
  std::vector<block_id> blocks_;
  std::vector<bool> issued_;
  std::vector<std::uint32_t> schedule_;  // empty: the order of need
  std::size_t next_scheduled_ = 0;
  std::unordered_map<std::size_t, reading> untaken_;
};

}  // namespace outsize::block
