// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Merges from disk to disk, until one more merge can do the rest.
//
//   runs  | 0 1 2 | 3 4 5 | 6 | 7 |   with a fan-in of four: as few as it takes
//         ╰──┬──╯ ╰──┬──╯   │   │
//   runs     0       1      2   3
//
// Invariant: only neighbours are merged, so that ties stay in the order of the input. One thread at
// a time. Layer: algorithm. Source: STXXL 2008, section 6.1.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/sort/merge_feed.hpp>
#include <outsize/algorithm/detail/sort/run_writer.hpp>
#include <outsize/algorithm/detail/sort/sort_work.hpp>
#include <outsize/block/buffer_pool.hpp>
#include <outsize/pipeline/network.hpp>

namespace outsize::detail {

/// Memory held elsewhere, counted for the duration of a scope.
class grant_charge {
 public:
  /// @throws budget_error.
  grant_charge(grant& memory, std::uint64_t bytes) : memory_(memory), bytes_(bytes) {
    memory_.charge(bytes_);
  }
  grant_charge(grant_charge const&) = delete;
  grant_charge& operator=(grant_charge const&) = delete;
  ~grant_charge() { memory_.discharge(bytes_); }

 private:
  grant& memory_;
  std::uint64_t bytes_;
};

/// Blocks of all these runs.
template <typename Family>
std::uint64_t block_count(std::span<run<Family> const> runs) noexcept {
  std::uint64_t blocks = 0;
  for (auto const& r : runs) blocks += r.entries().size();
  return blocks;
}

/// How the memory that is free is divided in a merge.
struct merge_buffers {
  merge_shape shape;
  std::size_t block_bytes;  ///< Of each buffer.
};

/// That of a merge of these runs, or of as many of them as it may take. @throws budget_error if it
/// cannot take two, naming the longest item if that is why.
template <typename Family>
merge_buffers buffers_for_merge(sort_work<Family>& work, std::span<run<Family> const> runs) {
  std::size_t least_block = std::max(block_unit_bytes(work.store), work.resident_block_bytes);
  for (auto const& r : runs) least_block = std::max(least_block, r.buffer_bytes());
  std::size_t const usual_block =
      std::max(least_block, round_up(work.plan.block_bytes, block_unit_bytes(work.store)));
  // Entries of the run that it becomes, and what the merge itself keeps of each block.
  std::size_t const of_block = run<Family>::entry_bytes(work.store) +
                               trigger_bytes_of(work.family) + merge_feed<Family>::bytes_per_block;
  std::uint64_t const index = block_count(runs) * of_block + page_bytes() * 4;
  // The index may have become longer than was foreseen when the memory was taken.
  std::uint64_t const needed = index + least_merge_blocks * least_block;
  if (std::uint64_t const has = work.memory.free_bytes(); has < needed)
    work.memory.try_extend(needed - has);
  std::uint64_t const bytes = work.memory.free_bytes() - std::min(work.memory.free_bytes(), index);
  std::size_t const most =
      work.options.most_fan_in != 0 ? std::min(work.options.most_fan_in, runs.size()) : runs.size();
  for (std::size_t const block_bytes : {usual_block, least_block}) {
    merge_shape const shape = shape_merge(bytes, block_bytes, work.store.threads().threads(),
                                          std::max<std::size_t>(2, most));
    if (shape.fan_in >= 2) return {shape, block_bytes};
  }
  std::size_t largest = work.largest_resident_bytes;
  for (auto const& r : runs) largest = std::max(largest, r.largest_item_bytes());
  if (largest > work.plan.block_bytes) work.throw_too_long(largest);
  throw budget_error(work.memory.asker(), bytes, least_merge_blocks * least_block);
}

template <item_family Family>
class intermediate_merges {
 public:
  explicit intermediate_merges(sort_work<Family>& work) : work_(work) {}

  /// Merges runs until one merge can take all. `p` says when to give up. @throws io_error,
  /// out_of_space, budget_error, what the order throws.
  void merge_down(pipeline::ports const& p) {
    auto& runs = work_.runs;
    for (;;) {
      std::size_t const fan_in = buffers_for_merge(work_, all_runs()).shape.fan_in;
      work_.report.fan_in = std::max(work_.report.fan_in, fan_in);
      if (runs.size() <= fan_in) return;
      work_.phase = sort_progress::phase::merging_runs;
      ++work_.report.passes;
      std::vector<run<Family>> merged;
      std::size_t next = 0;
      // Just as many as it takes to bring the number down to the fan-in, if one pass can do that.
      while (next < runs.size() && merged.size() + (runs.size() - next) > fan_in) {
        std::size_t const surplus = merged.size() + (runs.size() - next) - fan_in;
        std::size_t const count =
            fitting(all_runs().subspan(next, std::min({fan_in, surplus + 1, runs.size() - next})));
        if (count < 2) break;  // the next pass brings it down
        auto const group = std::span(runs).subspan(next, count);
        merged.push_back(merge_group(group, p));
        for (auto& r : group)  // their index makes room for the new one's
          r = run<Family>(work_.store, work_.memory);
        next += count;
      }
      for (; next < runs.size(); ++next) merged.push_back(std::move(runs[next]));
      runs = std::move(merged);
    }
  }

 private:
  std::span<run<Family> const> all_runs() const noexcept { return work_.runs; }

  /// How many of these one merge takes: their index is shorter than that of all, and where there is
  /// more memory for blocks, the share of those read ahead may step up.
  std::size_t fitting(std::span<run<Family> const> some) const {
    while (some.size() >= 2) {
      std::size_t const fan_in = buffers_for_merge(work_, some).shape.fan_in;
      if (fan_in >= some.size()) break;
      some = some.first(fan_in);
    }
    return some.size();
  }

  /// That of runs merged to one, which is encoded if they are.
  run_form form_of_merged(std::span<run<Family> const> group,
                          std::size_t block_bytes) const noexcept {
    block_bytes = std::min(block_bytes, work_.plan.block_bytes);
    run_form form{.first_bytes = staggered_bytes(block_bytes, work_.report.merges),
                  .coding = group[0].form().coding};
    for (auto const& r : group) {
      if (!r.form().is_encoded()) return {.first_bytes = form.first_bytes};
      form.block_bytes = std::max(form.block_bytes, r.form().block_bytes);
      form.held_bytes = std::max(form.held_bytes, r.form().held_bytes);
    }
    return form;
  }

  run<Family> merge_group(std::span<run<Family>> group, pipeline::ports const& p) {
    std::span<run<Family> const> const runs = group;
    auto const [shape, block_bytes] = buffers_for_merge(work_, runs);
    std::uint64_t group_bytes = 0;
    for (auto const& r : runs) group_bytes += r.bytes();
    work_.to_merge_bytes += group_bytes;
    ++work_.report.merges;
    executor& threads = work_.store.threads();
    grant_charge const index(work_.memory, block_count(runs) * merge_feed<Family>::bytes_per_block);
    block::buffer_pool in(work_.memory, block_bytes, runs.size() + 2 * shape.ahead);
    block::buffer_pool out(work_.memory, block_bytes, shape.output);
    run_writer<Family> writer(work_.family, work_.store, threads, work_.memory, out, work_.equals(),
                              form_of_merged(runs, block_bytes));
    merge_feed<Family> feed(work_.family, threads, group, work_.run_space(), in, shape.ahead, {});
    for (auto round = feed.next_round(); round.items() > 0; round = feed.next_round()) {
      p.check();
      writer.write(round, feed.largest_item_bytes());
      work_.merged_bytes += round.bytes();
      feed.consume(round);
    }
    auto merged = writer.finish();
    work_.left_out_bytes += group_bytes - merged.bytes();
    return merged;
  }

  sort_work<Family>& work_;
};

}  // namespace outsize::detail
