// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sorted items packed into encoded blocks, one after another.
//
//   items ──▶ | open block: encoded so far | room | ──full──▶ hand_over
//
// Invariant: a buffer of the pool is held only while the open block has items. One thread at a time
// uses one. Layer: algorithm.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include <outsize/algorithm/detail/sort/run.hpp>
#include <outsize/base/machine.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/buffer_pool.hpp>
#include <outsize/block/write_queue.hpp>
#include <outsize/codec/detail/key_codec.hpp>

namespace outsize::detail {

template <typename Family>
class encoded_blocks {
 public:
  using item = typename Family::item;

  /// Takes buffers from `queue`, which are those of `pool`, as long as a block of `form` or longer;
  /// blocks are of a multiple of `alignment` bytes.
  encoded_blocks(Family const& family, block::buffer_pool& pool, block::write_queue& queue,
                 run_form form, std::size_t alignment)
      : family_(family), pool_(pool), queue_(queue), form_(form), alignment_(alignment) {
    if (!form.is_encoded()) return;  // then nothing is written
    std::size_t const first = form.first_bytes != 0 ? form.first_bytes : form.block_bytes;
    block_bytes_ = std::clamp(round_up(first, alignment), key_encoder<item>::least_block_bytes,
                              form.block_bytes);
  }
  encoded_blocks(encoded_blocks const&) = delete;
  encoded_blocks& operator=(encoded_blocks const&) = delete;
  ~encoded_blocks() {
    if (!open_.empty()) pool_.release(open_);
  }

  /// Encodes items, none of which comes before those of earlier calls. Hands each block that is
  /// full to hand_over(frame, used_bytes, items, trigger), which owns the frame from then on.
  template <typename HandOver>
  void write(std::span<item const> sorted, HandOver const& hand_over) {
    while (!sorted.empty()) {
      if (open_.empty()) open(sorted[0]);
      auto const before = thread_processor_time();
      sorted = sorted.subspan(encoder_->append(sorted));
      time_ += thread_processor_time() - before;
      if (!sorted.empty()) close(hand_over);
    }
  }

  /// Hands over the last block, if there is one.
  template <typename HandOver>
  void finish(HandOver const& hand_over) {
    if (!open_.empty()) close(hand_over);
  }

  /// What encoding took.
  std::chrono::nanoseconds time() const noexcept { return time_; }

 private:
  void open(item const& first) {
    auto const one = std::as_bytes(std::span(&first, 1));
    first_.emplace(family_.make_trigger(family_.view_of_one(one).key(0)));
    open_ = queue_.acquire();
    encoder_.emplace(open_.first(block_bytes_), form_.held_bytes, alignment_);
    block_bytes_ = form_.block_bytes;
  }

  template <typename HandOver>
  void close(HandOver const& hand_over) {
    std::size_t const used = encoder_->close();
    hand_over(std::exchange(open_, {}), used, encoder_->items(), std::move(*first_));
  }

  Family const& family_;
  block::buffer_pool& pool_;
  block::write_queue& queue_;
  run_form form_;
  std::size_t alignment_;
  std::size_t block_bytes_ = 0;  // of the next one
  block::frame open_;
  std::optional<key_encoder<item>> encoder_;
  std::optional<typename Family::trigger> first_;
  std::chrono::nanoseconds time_{0};
};

}  // namespace outsize::detail
