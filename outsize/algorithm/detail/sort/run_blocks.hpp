// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The blocks of one run on their way to disk: encoded if the run is, allocated, entered in the run,
// queued to be written.
//
//   frame of items ──(encode, all of a call at once)──▶ frame ──▶ run's entry, disk
//
// Invariant: frames are the pool's, the caller's, or being written. One thread at a time uses one.
// Layer: algorithm. Source: STXXL 2008, section 6.1.2.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/sort/output_room.hpp>
#include <outsize/algorithm/detail/sort/run.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/base/machine.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/block/write_queue.hpp>
#include <outsize/codec/detail/byte_codec.hpp>

namespace outsize::detail {

/// Frames of a pool that go back to it at the end of a scope, unless they are given away.
class leased_frames {
 public:
  explicit leased_frames(block::buffer_pool& pool) : pool_(pool) {}
  leased_frames(leased_frames const&) = delete;
  leased_frames& operator=(leased_frames const&) = delete;
  ~leased_frames() {
    for (std::size_t i = 0; i < frames_.size(); ++i) release(i);
  }

  std::size_t size() const noexcept { return frames_.size(); }
  std::vector<block::frame> const& frames() const noexcept { return frames_; }

  /// An empty one stands for none.
  void add(block::frame frame) {
    try {
      frames_.push_back(frame);
    } catch (...) {
      if (!frame.empty()) pool_.release(frame);
      throw;
    }
  }
  block::frame give(std::size_t i) noexcept { return std::exchange(frames_[i], {}); }
  void release(std::size_t i) noexcept {
    if (block::frame const frame = give(i); !frame.empty()) pool_.release(frame);
  }

 private:
  block::buffer_pool& pool_;
  std::vector<block::frame> frames_;
};

/// Sorted items that are to be one block.
struct filled_block {
  std::span<std::byte const> content;
  std::size_t items = 0;
  block::frame place;  ///< The pool's frame that they lie in; none: they lie somewhere else.
};

template <typename Family>
class run_blocks {
 public:
  /// `index_memory` holds the run's entries; `pool` has at least two buffers.
  run_blocks(Family const& family, storage& store, executor& threads, grant& index_memory,
             block::buffer_pool& pool, run_form form, run_places places)
      : family_(family),
        threads_(threads),
        pool_(pool),
        form_(form),
        places_(std::move(places)),
        run_(places_.space(), places_.have_checksums(), index_memory, form,
             trigger_bytes_of(family)),
        queue_(places_.space(), pool, &store.buffer_statistics()) {}

  /// A free buffer of the pool to fill. @throws the first error of an earlier write.
  block::frame acquire() { return queue_.acquire(); }
  block::write_queue& queue() noexcept { return queue_; }

  /// The length of a block on disk that uses so many bytes.
  std::size_t block_length(std::size_t used_bytes) const {
    return round_up(used_bytes, block_unit_bytes(places_.space()));
  }

  /// What a block's items may take if there are several: all of a buffer, or where whole blocks are
  /// encoded, what can be decoded within held_bytes.
  std::size_t most_item_bytes() const {
    return encodes_blocks() ? most_content_bytes(form_.held_bytes, block_length(1))
                            : pool_.buffer_bytes();
  }
  bool encodes_blocks() const noexcept { return form_.is_encoded() && !Family::has_key_codec; }

  /// Blocks of items on their way into the run: as they are, or each encoded if the run is and that
  /// makes it shorter. Encoding needs nothing but a thread, so that other work can go on beside it:
  /// acquire(), then encode(i) for each i below encodings(), by any threads, then append().
  class step {
   public:
    /// Owns the blocks' places, whatever happens.
    step(run_blocks& to, std::vector<filled_block> blocks)
        : to_(to), blocks_(std::move(blocks)), plain_(to.pool_), codes_(to.pool_) {
      for (filled_block const& b : blocks_) plain_.add(b.place);
    }

    std::size_t encodings() const noexcept { return to_.encodes_blocks() ? blocks_.size() : 0; }
    /// Gets a buffer for each encoding. @throws io_error.
    void acquire() {
      while (codes_.size() < encodings()) codes_.add(to_.acquire());
      used_.resize(blocks_.size());
    }
    void encode(std::size_t i) { used_[i] = to_.encode(blocks_[i], codes_.frames()[i]); }
    /// @throws io_error, out_of_space, budget_error.
    void append() {
      for (std::size_t i = 0; i < blocks_.size(); ++i) {
        auto const& [content, items, place] = blocks_[i];
        auto trigger = to_.family_.make_trigger(to_.family_.block_view(content, items).key(0));
        if (used_[i] != 0) {
          to_.append(codes_.give(i), used_[i], items, std::move(trigger), content.size());
          plain_.release(i);
        } else if (!place.empty()) {
          to_.append(plain_.give(i), content.size(), items, std::move(trigger));
        } else {
          block::frame const copy = codes_.size() > i ? codes_.give(i) : to_.acquire();
          std::memcpy(copy.data(), content.data(), content.size());
          to_.append(copy, content.size(), items, std::move(trigger));
        }
      }
    }

   private:
    run_blocks& to_;
    std::vector<filled_block> blocks_;
    leased_frames plain_, codes_;
    std::vector<std::size_t> used_;  // of codes; 0: the block stays as it is
  };

  /// Appends blocks by all threads; at most half as many as the pool has buffers, if they are
  /// encoded. @throws as step.
  void append_all(std::vector<filled_block> blocks) {
    step all(*this, std::move(blocks));
    all.acquire();
    threads_.parallel_for(all.encodings(), [&](std::size_t i) { all.encode(i); });
    all.append();
  }

  /// Appends the first bytes of `filled`, which it owns, as a block of so many items; of
  /// `content_bytes` once they are decoded, if they are encoded.
  void append(block::frame filled, std::size_t used_bytes, std::size_t items,
              typename Family::trigger trigger, std::size_t content_bytes = 0) {
    block::block_id id;
    try {
      id = places_.allocate(block_length(used_bytes), run_.items());
    } catch (...) {
      pool_.release(filled);
      throw;
    }
    try {
      run_.append(id, static_cast<std::uint32_t>(items), static_cast<std::uint32_t>(content_bytes),
                  std::move(trigger), filled.first(id.length_bytes));
    } catch (...) {
      pool_.release(filled);
      throw;
    }
    queue_.write(id, filled);
  }

  void add_bytes(std::uint64_t bytes, std::size_t largest_item_bytes) noexcept {
    run_.add_bytes(bytes, largest_item_bytes);
  }

  /// The run, once all its blocks are on disk. @throws the first error of a write.
  run<Family> finish() {
    queue_.flush();
    return std::move(run_);
  }

  bool is_empty() const noexcept { return run_.entries().empty(); }
  std::uint64_t index_bytes() const noexcept { return run_.index_bytes(); }
  std::uint64_t bytes() const noexcept { return run_.bytes(); }
  /// What encoding whole blocks took of all threads.
  std::chrono::nanoseconds encoding_time() const noexcept {
    return std::chrono::nanoseconds(encoding_time_.load());
  }

 private:
  /// The bytes of `to` that are used; 0 if the block does not become shorter.
  std::size_t encode(filled_block const& block, block::frame to) {
    auto const before = thread_processor_time();
    std::size_t const used =
        encode_block(form_.coding, block.content, {block.items, family_.item_bytes()}, to,
                     form_.held_bytes, block_length(1));
    encoding_time_ += (thread_processor_time() - before).count();
    return used;
  }

  Family const& family_;
  executor& threads_;
  block::buffer_pool& pool_;
  run_form form_;
  run_places places_;
  run<Family> run_;
  block::write_queue queue_;  // after run_: its writes end before the run's blocks may be freed
  std::atomic<std::int64_t> encoding_time_{0};  // nanoseconds
};

}  // namespace outsize::detail
