// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How each run of a sort is to be written: as it is, or encoded, from what was measured so far.
//
// Integer keys are encoded as differences (key_codec.hpp); other items block by block, in whichever
// way saves most time (byte_codec.hpp). A sample of each run tells, and what processors and disks
// did since all chunks had been filled once: until then much of their time goes into pages that are
// used for the first time, and they are taken to be faster than the disks. One thread at a time
// uses a policy, but for what is said. Layer: algorithm.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <outsize/algorithm/detail/sort/codec_choice.hpp>
#include <outsize/algorithm/detail/sort/coding_trial.hpp>
#include <outsize/algorithm/detail/sort/run_blocks.hpp>
#include <outsize/algorithm/sort_plan.hpp>
#include <outsize/base/machine.hpp>
#include <outsize/codec/detail/byte_codec.hpp>
#include <outsize/codec/detail/key_codec.hpp>

namespace outsize::detail {

template <typename Family>
class codec_policy {
 public:
  /// @param chunk_bytes  Of all chunks together.
  codec_policy(Family const& family, storage& store, run_codec codec, std::uint64_t chunk_bytes = 0)
      : family_(family), store_(store), codec_(codec), chunk_bytes_(chunk_bytes) {}

  bool may_encode() const noexcept { return codec_ != run_codec::none; }

  /// What a merge holds for a block of a run.
  std::size_t held_bytes(std::size_t block_bytes) const {
    return may_encode() && Family::has_key_codec
               ? held_bytes_for(block_bytes, block_unit_bytes(store_))
               : block_bytes;
  }

  /// Tells of a chunk that is sorted; from any thread.
  void note_sorted(std::uint64_t bytes) noexcept { sorted_bytes_ += bytes; }
  /// Tells of a run that is written; from the thread that asks for forms.
  template <typename Writer>
  void note_written(Writer const& writer) noexcept {
    if constexpr (requires { writer.encoding_time(); }) encoding_time_ += writer.encoding_time();
  }

  /// For a run that begins with a block of `first_bytes` and whose items are like these. `pool` is
  /// for its blocks, which are of up to `block_bytes` if they hold integer keys; two of its buffers
  /// are used for a while.
  run_form form_for(typename Family::view const& sorted, block::buffer_pool& pool,
                    std::size_t block_bytes, std::size_t first_bytes) {
    run_form const plain{.first_bytes = first_bytes};
    if (!may_encode() || !has_room_to_decode(pool.buffer_bytes())) return plain;
    if (!begin_ && sorted_bytes_.load() >= chunk_bytes_) begin_ = work_so_far();
    run_form encoded{pool.buffer_bytes(), pool.buffer_bytes(), first_bytes};
    if constexpr (Family::has_key_codec)
      encoded = {block_bytes, held_bytes(block_bytes), first_bytes};
    return choose_coding(sorted, pool, encoded.coding) ? encoded : plain;
  }

 private:
  /// What processors did, reading and the work of others too, but for encoding, which would come on
  /// top; and for how many bytes.
  struct work {
    std::chrono::nanoseconds time{0};
    std::uint64_t bytes = 0;
  };
  work work_so_far() const noexcept {
    return {process_processor_time() - encoding_time_, sorted_bytes_.load()};
  }
  /// Of one thread, for each byte; 0 if that is not known.
  double sort_seconds() const noexcept {
    if (!begin_) return 0;
    work const now = work_so_far();
    if (now.bytes == begin_->bytes) return 0;
    return std::chrono::duration<double>(now.time - begin_->time).count() /
           static_cast<double>(now.bytes - begin_->bytes);
  }

  /// Whether whole blocks are still well filled if they can be decoded where they lie, which takes
  /// a unit of the disk besides: of a few units a block would hold an item or none.
  bool has_room_to_decode(std::size_t block_bytes) const {
    std::size_t const unit = block_unit_bytes(store_);
    return Family::has_key_codec || most_content_bytes(block_bytes, unit) >= block_bytes / 2;
  }

  /// Whether to encode, and then how.
  bool choose_coding(typename Family::view const& sorted, block::buffer_pool& pool,
                     byte_coding& best) const {
    if (Family::has_key_codec && codec_ == run_codec::always) return true;
    leased_frames frames(pool);
    for (int i = 0; i < 2; ++i) frames.add(pool.acquire());
    std::size_t const sample_bytes = std::min(pool.buffer_bytes(), most_sample_bytes);
    auto const place = frames.frames()[0].first(sample_bytes), code = frames.frames()[1];
    if constexpr (Family::has_key_codec) {
      return gain_of(try_key_codec(sorted.items(0, sorted.size()), code, place)) > 0;
    } else {
      auto const sample = sample_items(family_, sorted, place);
      double most = codec_ == run_codec::always ? -1 : 0;
      bool found = false;
      for (byte_coding const coding : byte_codings) {
        double const gain =
            gain_of(try_coding(coding, sample.content, sample.layout, code), sample.plain_share());
        if (gain <= most) continue;
        most = gain;
        best = coding;
        found = true;
      }
      return found;
    }
  }

  double gain_of(coding_trial const& trial, double plain_share = 1) const {
    if (codec_ == run_codec::always) return 1 - trial.encoded_share;
    double const speed = store_.measured_bytes_per_second();
    return encoding_gain({.plain_share = plain_share,
                          .encoded_share = trial.encoded_share,
                          .disk_seconds = speed == 0 ? 0 : 1 / speed,
                          .sort_seconds = sort_seconds(),
                          .encoding_seconds = trial.encoding_seconds,
                          .decoding_seconds = trial.decoding_seconds,
                          .threads = store_.threads().threads()});
  }

  static constexpr std::size_t most_sample_bytes = std::size_t{256} << 10;

  Family const& family_;
  storage& store_;
  run_codec codec_;
  std::uint64_t chunk_bytes_;
  std::optional<work> begin_;  // when all chunks had been filled once
  std::atomic<std::uint64_t> sorted_bytes_{0};
  std::chrono::nanoseconds encoding_time_{0};
};

}  // namespace outsize::detail
