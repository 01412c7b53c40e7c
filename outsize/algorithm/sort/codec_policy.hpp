// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How each run of a sort is to be written: as it is, or encoded, from what was measured so far.
//
// Integer keys are encoded as differences (key_codec.hpp); other items block by block (byte_codec),
// in whichever way saves most time, which a sample of each run tells. One thread at a time uses a
// policy, but for what is said. Layer: algorithm.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <outsize/algorithm/sort/codec_choice.hpp>
#include <outsize/algorithm/sort/coding_trial.hpp>
#include <outsize/algorithm/sort/key_codec.hpp>
#include <outsize/algorithm/sort/run_blocks.hpp>
#include <outsize/algorithm/sort/sort_plan.hpp>
#include <outsize/base/machine.hpp>

namespace outsize::detail {

template <typename Family>
class codec_policy {
 public:
  codec_policy(Family const& family, storage& store, run_codec codec)
      : family_(family), store_(store), codec_(codec) {}

  bool may_encode() const noexcept { return codec_ != run_codec::none; }

  /// What a merge holds for a block of a run.
  std::size_t held_bytes(std::size_t block_bytes) const {
    return may_encode() && Family::has_key_codec
               ? held_bytes_for(block_bytes, store_.alignment_bytes())
               : block_bytes;
  }

  /// Tells of a chunk that is sorted; from any thread.
  void note_sorted(std::uint64_t bytes) noexcept { sorted_bytes_ += bytes; }
  /// Tells of a run that is written; from the thread that asks for forms.
  template <typename Writer>
  void note_written(Writer const& writer) noexcept {
    if constexpr (requires { writer.encoding_time(); }) {
      encoding_time_ += writer.encoding_time();
      if (writer.is_encoded()) encoded_bytes_ += writer.bytes();
    }
  }

  /// For a run that begins with a block of `first_bytes` and whose items are like these. `pool` is
  /// for its blocks, which are of up to `block_bytes` if they hold integer keys; two of its buffers
  /// are used for a while.
  run_form form_for(typename Family::view const& sorted, block::buffer_pool& pool,
                    std::size_t block_bytes, std::size_t first_bytes) const {
    run_form const plain{.first_bytes = first_bytes};
    if (!may_encode()) return plain;
    if constexpr (Family::has_key_codec) {
      auto const items = sorted.items(0, sorted.size());
      bool const pays = codec_ == run_codec::always || encoding_gain(for_keys(items)) > 0;
      return pays ? run_form{block_bytes, held_bytes(block_bytes), first_bytes} : plain;
    } else {
      run_form encoded{pool.buffer_bytes(), pool.buffer_bytes(), first_bytes};
      return choose_coding(sorted, pool, encoded.coding) ? encoded : plain;
    }
  }

 private:
  static double of_each(std::chrono::nanoseconds all, std::uint64_t bytes) noexcept {
    return bytes == 0 ? 0 : std::chrono::duration<double>(all).count() / static_cast<double>(bytes);
  }

  codec_prospect prospect() const {
    double const speed = store_.measured_bytes_per_second();
    // Whatever the processors did, reading and the work of others too, encoding would come on top.
    auto const work = process_processor_time() - begin_ - encoding_time_;
    return {.disk_seconds = speed == 0 ? 0 : 1 / speed,
            .sort_seconds = of_each(work, sorted_bytes_.load()),
            .threads = store_.threads().threads()};
  }

  template <typename Items>
  codec_prospect for_keys(Items const& items) const {
    codec_prospect keys = prospect();
    keys.encoded_share = encoded_share(items);
    keys.encoding_seconds = of_each(encoding_time_, encoded_bytes_);
    keys.decoding_seconds = keys.encoding_seconds;
    return keys;
  }

  /// Whether to encode, and then how.
  bool choose_coding(typename Family::view const& sorted, block::buffer_pool& pool,
                     byte_coding& best) const {
    leased_frames frames(pool);
    for (int i = 0; i < 2; ++i) frames.add(pool.acquire());
    auto const trial_place =
        frames.frames()[0].first(std::min(pool.buffer_bytes(), most_sample_bytes));
    auto const sample = sample_items(family_, sorted, trial_place);
    double most = codec_ == run_codec::always ? -1 : 0;
    bool found = false;
    for (byte_coding const coding : {byte_coding::prefixes, byte_coding::lz4}) {
      auto const trial = try_coding(coding, sample.content, sample.layout, frames.frames()[1]);
      double const gain = gain_of(trial);
      if (gain <= most) continue;
      most = gain;
      best = coding;
      found = true;
    }
    return found;
  }

  double gain_of(coding_trial const& trial) const {
    if (codec_ == run_codec::always) return 1 - trial.encoded_share;
    codec_prospect p = prospect();
    p.encoded_share = trial.encoded_share;
    p.encoding_seconds = trial.encoding_seconds;
    p.decoding_seconds = trial.decoding_seconds;
    return encoding_gain(p);
  }

  static constexpr std::size_t most_sample_bytes = std::size_t{256} << 10;

  Family const& family_;
  storage& store_;
  run_codec codec_;
  std::chrono::nanoseconds begin_ = process_processor_time();
  std::atomic<std::uint64_t> sorted_bytes_{0};
  std::uint64_t encoded_bytes_ = 0;  // of the spilling thread
  std::chrono::nanoseconds encoding_time_{0};
};

}  // namespace outsize::detail
