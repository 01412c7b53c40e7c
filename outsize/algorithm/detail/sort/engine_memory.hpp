// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A part of sort_engine (engine.hpp): its memory, if that was not named.
//
//   forming     chunk by chunk; gives back chunks that are spilled. When its share has become much
//               less, or more, another formation goes on with shorter or longer ones
//   giving out  three quarters of its share, kept
//     suspended   where others could not go on without it, and the output can be rewound: it is
//                 merged again, with less memory, up to the place that it had reached
//   at rest     before the first item comes out, and after the last one: the index of the runs, and
//               what stayed in memory until others need that
//
// Within the gate of its memory_holder. Layer: algorithm.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include <outsize/algorithm/detail/sort/engine.hpp>
#include <outsize/algorithm/detail/sort/merge_feed.hpp>
#include <outsize/algorithm/detail/sort/run_writer.hpp>
#include <outsize/block/buffer_pool.hpp>

namespace outsize::detail {

template <item_family Family>
sort_plan sort_engine<Family>::plan_for(std::uint64_t memory_bytes,
                                        std::uint64_t input_stream_bytes,
                                        std::uint64_t left_bytes) const {
  sort_job job = job_of(work_.store, work_.family, work_.options, memory_bytes + input_stream_bytes,
                        input_stream_bytes);
  job.left_bytes = left_bytes;
  std::uint64_t const formed = work_.formed_bytes.load();
  if (job.input_bytes && formed > 0) {  // only what is to come
    *job.input_bytes -= std::min(*job.input_bytes, formed);
    if (*job.input_bytes == 0) job.input_bytes.reset();  // nobody knows how much more
  }
  return plan_sort(job);
}

/// Plans with what a division gives now; takes nothing yet.
template <item_family Family>
void sort_engine<Family>::begin_with_share() {
  memory_budget const& budget = work_.store.memory();
  std::uint64_t const all = budget.total_bytes();
  sort_needs const needs = needs_of(job_of(work_.store, work_.family, work_.options, all, 0));
  most_bytes_ = std::clamp(needs.most_bytes, std::min(least_share_bytes, all), all);
  knee_bytes_ = std::min(work_.options.input_bytes ? needs.knee_bytes : all / 2, most_bytes_);
  given_ = work_.options;
  try {
    std::uint64_t const share = budget.share_of(widest_claim());
    plan_with_share(share, share / 4);
  } catch (budget_error const&) {  // what others may need while it is read cannot be left to them
    std::uint64_t const fair = budget.fair_bytes();
    work_.options = with_memory(given_, fair);
    std::uint64_t const least =
        needs_of(job_of(work_.store, work_.family, work_.options, all, 0)).least_bytes;
    budget.require(least, work_.memory.asker());
    work_.options.memory_bytes = std::max(work_.options.memory_bytes, least);
    work_.plan = plan_for(work_.options.memory_bytes, 0);
  }
  work_.memory.charge_beyond();  // the index of runs, whose length nobody knows
  holder_.emplace(work_.memory, static_cast<memory_giver&>(*this), memory_claim());
  gate_ = &*holder_;
  claim(0);
}

/// Of the share `left_bytes` are left to others while it is read. @throws budget_error; all is as
/// before.
template <item_family Family>
void sort_engine<Family>::plan_with_share(std::uint64_t share, std::uint64_t left_bytes) {
  sort_options const before = std::exchange(work_.options, with_memory(given_, share));
  try {
    work_.plan = plan_for(work_.options.memory_bytes, 0, left_bytes);
  } catch (...) {
    work_.options = before;
    throw;
  }
}

/// Whether the plan can do with items of this length.
template <item_family Family>
bool sort_engine<Family>::holds_items_of(std::size_t item_bytes) const noexcept {
  sort_plan const& plan = work_.plan;
  return item_bytes <= std::min({plan.chunk_bytes, plan.write_buffers * plan.block_bytes,
                                 static_cast<std::size_t>(plan.merge_bytes / 4)}) /
                           4;
}

/// Goes on with shorter or longer runs, as work_.plan says, which `memory` has enough for: other
/// holders were asked before.
template <item_family Family>
void sort_engine<Family>::form_anew() {
  std::uint64_t const needed = run_formation<Family>::spilling_with_one_chunk(work_.plan);
  formation_->finish(true);
  note_formation();
  formation_.reset();
  std::uint64_t const free = work_.memory.free_bytes();
  if (free > needed) work_.memory.shrink(free - needed);
  if (free < needed) extend(needed - free);
  begin_formation();
}

/// If items of this length are too long for the plan, though not for what others can give, the runs
/// to come are formed by another one. Returns whether it is so.
template <item_family Family>
bool sort_engine<Family>::plan_for_item(std::size_t item_bytes) {
  if (!holder_ || work_.room != nullptr || work_.plan.memory_bytes == 0) return false;
  auto const here = enter();
  sort_plan const before = work_.plan;
  sort_options const options = work_.options;
  std::uint64_t const all = work_.store.memory().total_bytes();
  std::size_t const longest = std::max(item_bytes, formation_->largest_item_bytes());
  for (std::uint64_t share = std::max<std::uint64_t>(work_.plan.memory_bytes, 16 * longest);
       share <= all; share += share / 4)
    try {
      plan_with_share(share, 0);
      if (!holds_items_of(longest)) continue;
      std::uint64_t const needed = run_formation<Family>::spilling_with_one_chunk(work_.plan) +
                                   index_of_runs() + work_.plan.index_bytes;
      std::uint64_t const has = work_.memory.total_bytes();  // to be used again
      if (needed > has) extend(needed - has);
      form_anew();
      return true;
    } catch (budget_error const&) {  // more would not be had either, if it was so little
      if (!formation_) throw;        // the input cannot go on
      if (work_.plan.memory_bytes != before.memory_bytes) break;
    }
  work_.plan = before;
  work_.options = options;
  return false;
}

/// If its share is much less than was planned with, or much more, the runs to come are formed by
/// another plan. Returns whether it is so.
template <item_family Family>
bool sort_engine<Family>::plan_anew(std::size_t next_item_bytes) {
  if (!holder_ || work_.room != nullptr) return false;
  std::uint64_t const share = holder_->share_of(widest_claim());
  std::uint64_t const planned = work_.plan.memory_bytes;
  bool const is_longer = share / 4 > planned && formation_->has_spilled();
  if (share >= planned / 2 && !is_longer) return false;
  sort_plan const before = work_.plan;
  sort_options const options = work_.options;
  try {
    plan_with_share(share, share / 4);
  } catch (budget_error const&) {  // with so little nothing can be sorted
    return false;
  }
  std::size_t largest = std::max(next_item_bytes, formation_->largest_item_bytes());
  for (auto const& r : work_.runs) largest = std::max(largest, r.largest_item_bytes());
  std::uint64_t const needed = run_formation<Family>::spilling_with_one_chunk(work_.plan);
  bool const is_better = is_longer || work_.plan.chunk_bytes <= before.chunk_bytes / 2;
  if (is_longer) claim(formation_->least_bytes());  // so much that it may grow
  if (!is_better || !holds_items_of(largest) || (is_longer && !holder_->grow(needed))) {
    work_.plan = before;
    work_.options = options;
    return false;
  }
  form_anew();
  return true;
}

template <item_family Family>
void sort_engine<Family>::claim(std::uint64_t least) {
  if (step_ != step::forming) {
    bool const can_do_with_less = step_ != step::at_rest && has_windows_ && may_be_suspended();
    std::uint64_t const in_need = can_do_with_less ? std::min(least, suspended_bytes()) : least;
    return gate_->claim(memory_claim::fixed(least), in_need);
  }
  least += index_of_runs();
  std::uint64_t const most = std::max(least, work_.plan.memory_bytes);
  gate_->claim({least, std::clamp(knee_bytes_, least, most), most});
}

template <item_family Family>
bool sort_engine<Family>::grow(std::uint64_t bytes) {
  holder_->note_moved(bytes);
  return holder_->grow(bytes);
}

template <item_family Family>
void sort_engine<Family>::extend(std::uint64_t bytes) {
  memory_holder::safe_point const here(*holder_);
  work_.memory.extend(bytes);
}

template <item_family Family>
void sort_engine<Family>::extend_if_possible(std::uint64_t bytes) {
  memory_holder::safe_point const here(*holder_);
  memory_budget const& budget = work_.store.memory();
  for (std::uint64_t const most : {budget.obtainable_bytes(), budget.free_bytes()}) try {
      return work_.memory.extend(std::min(bytes, most));
    } catch (budget_error const&) {  // of what others have, some cannot be had now
    }
}

template <item_family Family>
void sort_engine<Family>::give_back(std::uint64_t bytes, give_cost most) {
  if (step_ == step::forming && formation_) formation_->give_back(bytes, most);
  if (most != give_cost::written) return;
  if ((step_ == step::giving_out && has_windows_) || step_ == step::suspended) suspend(bytes);
  if (step_ == step::at_rest) {
    write_resident();
    if (work_.resident.empty()) {
      work_.memory.shrink(UINT64_MAX);
      claim(work_.memory.total_bytes());  // the index of the new run
    }
  }
}

/// For what comes out: of runs, as much as was planned, at least what a merge of two needs; of what
/// stayed in memory, room for windows.
template <item_family Family>
void sort_engine<Family>::take_output_memory() {
  step_ = step::giving_out;
  has_windows_ = false;
  claim(work_.memory.total_bytes());  // so that asks for more do not take from it
  std::uint64_t const used = work_.memory.total_bytes() - work_.memory.free_bytes();
  std::uint64_t const index = work_.runs.empty() ? 0 : 4 * page_bytes() + index_of_merge();
  std::uint64_t const planned = work_.plan.merge_bytes + work_.plan.index_bytes;
  // With as much as it takes to write what stayed in memory it can give all of that to others.
  std::uint64_t const to_write =
      !work_.resident.empty() && may_be_suspended() ? resident_writing_bytes(2) : 0;
  std::uint64_t wanted = work_.runs.empty()
                             ? used + windows_bytes() + to_write
                             : std::max(planned, used + index + least_merge() + to_write);
  std::uint64_t const good = used + windows_bytes() / 16 + 16 * page_bytes();
  std::uint64_t const least =
      used + (work_.runs.empty() ? least_windows_bytes() : index + least_merge());
  wanted = std::min(wanted, std::max(most_output_bytes_, least));
  std::uint64_t has = work_.memory.total_bytes();
  if (has > wanted) {
    work_.memory.shrink(has - wanted);
  } else if (has < wanted && !holder_->grow(wanted - has)) {
    if (has < good && work_.runs.empty()) extend_if_possible(good - has);
    has = work_.memory.total_bytes();
    if (has < least) extend(least - has);
  }
  claim(work_.memory.total_bytes());
}

/// Chunks that stayed in memory can be written if that is too much.
template <item_family Family>
memory_claim sort_engine<Family>::claim_of_output() const {
  bool const has_resident = !work_.resident.empty();
  std::uint64_t const resident = has_resident ? formation_->resident_memory_bytes() : 0;
  std::uint64_t const used = work_.memory.total_bytes() - work_.memory.free_bytes();
  std::uint64_t const index = used - std::min(used, resident) + index_of_merge() + 4 * page_bytes();
  std::uint64_t const least =
      index + least_merge() + (has_resident ? resident_writing_bytes(resident_buffers) : 0);
  if (work_.runs.empty()) {
    std::uint64_t const all = has_resident ? std::max(least, used + windows_bytes()) : used;
    return {std::min(least, all), all, all};
  }
  std::size_t const block_bytes = least_merge() / least_merge_blocks;
  std::uint64_t const merge =
      memory_of_merge(work_.runs.size(), block_bytes, work_.store.threads().threads());
  std::uint64_t const knee = std::max(least, index + resident + merge);
  return {least, knee, std::max(knee, work_.plan.merge_bytes + work_.plan.index_bytes)};
}

/// For a merge of two runs.
template <item_family Family>
std::uint64_t sort_engine<Family>::least_merge() const {
  std::size_t block_bytes = work_.resident_block_bytes;
  if (work_.runs.empty() && !work_.resident.empty()) block_bytes = resident_block();
  for (auto const& r : work_.runs) block_bytes = std::max(block_bytes, r.buffer_bytes());
  return least_merge_blocks * block_bytes + 4 * page_bytes();
}

/// Charged for them now.
template <item_family Family>
std::uint64_t sort_engine<Family>::index_of_runs() const noexcept {
  std::uint64_t bytes = 0;
  for (auto const& r : work_.runs) bytes += r.index_bytes();
  return bytes;
}

template <item_family Family>
std::uint64_t sort_engine<Family>::index_of_merge() const {
  return block_count(std::span<run<Family> const>(work_.runs)) *
         index_entry_bytes(work_.store, work_.family);
}

template <item_family Family>
std::uint64_t sort_engine<Family>::windows_bytes() const {
  std::uint64_t const most = std::min<std::uint64_t>(work_.store.threads().threads() * 16_MiB,
                                                     work_.plan.memory_bytes / 16);
  std::uint64_t const all =
      work_.report.input_bytes + work_.report.items * work_.framing.overhead_bytes();
  return round_up(std::min(most, all) + 4 * (work_.largest_resident_bytes + 4 * page_bytes()),
                  page_bytes());
}

/// Of two for what stayed in memory.
template <item_family Family>
std::uint64_t sort_engine<Family>::least_windows_bytes() const {
  std::size_t const item = work_.largest_resident_bytes + work_.framing.overhead_bytes() +
                           window_writer<Family>::held_bytes(work_.family);
  return 2 * round_up(item + places_.alignment_bytes, page_bytes());
}

/// Of the chunks that stayed in memory.
template <item_family Family>
std::uint64_t sort_engine<Family>::resident_bytes() const {
  std::uint64_t bytes = 0;
  for (auto const& v : work_.resident) bytes += v.bytes(0, v.size());
  return bytes;
}

/// The length of the blocks that it is written in: no longer than it, so that little takes little.
template <item_family Family>
std::size_t sort_engine<Family>::resident_block() const {
  // Disks that nothing goes to are not even asked how long their blocks should be.
  std::size_t const usual = formation_->block_before_rounding(work_.largest_resident_bytes);
  std::uint64_t const enough = 2 * (resident_bytes() + work_.largest_resident_bytes);
  return round_up<std::size_t>(std::min<std::uint64_t>(usual, enough), page_bytes());
}

/// What it takes to write what stayed in memory, from so many buffers.
template <item_family Family>
std::uint64_t sort_engine<Family>::resident_writing_bytes(std::size_t buffers) const {
  std::size_t const block_bytes = resident_block();
  std::uint64_t const bytes = resident_bytes();
  return buffers * block_bytes +
         (2 * bytes / block_bytes + 64) * index_entry_bytes(work_.store, work_.family) +
         4 * page_bytes();
}

/// Makes a run of what stayed in memory, to be read by rewind().
template <item_family Family>
void sort_engine<Family>::write_resident() {
  std::size_t buffers = resident_buffers;
  while (buffers >= 2 && !work_.resident.empty() &&
         resident_writing_bytes(buffers) > work_.memory.free_bytes())
    buffers /= 2;
  if (work_.resident.empty() || buffers < 2) return;
  {
    std::size_t const block_bytes = round_up(resident_block(), block_unit_bytes(work_.store));
    block::buffer_pool out(work_.memory, block_bytes, buffers);
    executor& threads = work_.store.threads();
    run_writer<Family> writer(work_.family, work_.store, threads, work_.memory, out, work_.equals(),
                              {.first_bytes = block_bytes});
    merge_feed<Family> feed(work_.family, threads, work_.resident, work_.largest_resident_bytes);
    for (auto round = feed.next_round(); round.items() > 0; round = feed.next_round()) {
      writer.write(round, feed.largest_item_bytes());
      feed.consume(round);
    }
    work_.runs.push_back(writer.finish());
  }
  work_.resident.clear();
  work_.largest_resident_bytes = work_.resident_block_bytes = 0;
  formation_.reset();
}

/// Whether the output can be made again, and nobody cares where windows begin.
template <item_family Family>
bool sort_engine<Family>::may_be_suspended() const noexcept {
  return work_.options.is_rewindable() && work_.room == nullptr && !gives_all_items_ &&
         places_.alignment_bytes == 1;
}

/// What a suspended output needs at least to go on, with the windows that are lent: one of at least
/// two most often.
template <item_family Family>
std::uint64_t sort_engine<Family>::suspended_bytes() const {
  std::uint64_t index = index_of_merge() + index_of_runs() + 4 * page_bytes();
  if (!work_.resident.empty()) index += 2 * resident_writing_bytes(0);
  return index + windows_.size() / 2 + suspended_windows_.bytes() + least_merge();
}

/// Ends the output, so that it goes on with less memory: by as many bytes, but at least by half, so
/// that items are not merged again too often.
template <item_family Family>
void sort_engine<Family>::suspend(std::uint64_t bytes) {
  if (output_) {
    suspended_at_bytes_ = std::max(suspended_at_bytes_.load(), work_.output_bytes.load());
    auto const windows = output_->stop();
    output_.reset();
    suspended_windows_.keep(std::move(windows_), windows);
    step_ = step::suspended;
  }
  write_resident();
  std::uint64_t const least = suspended_bytes();
  std::uint64_t const has = work_.memory.total_bytes();
  std::uint64_t const then = std::max(least, std::min(has - std::min(has, bytes), has / 2));
  if (work_.resident.empty() && has > then) work_.memory.shrink(has - then);
  claim(work_.memory.total_bytes());
}

template <item_family Family>
void sort_engine<Family>::end_output() {
  failure_ = output_->failure();
  output_.reset();
  windows_ = {};
  bool const is_over = !work_.options.is_rewindable() && work_.report.runs > 0;
  if (is_over) {
    work_.resident.clear();
    work_.runs.clear();
    formation_.reset();
  }
  rest();
}

/// Keeps what begin_output() or rewind() needs.
template <item_family Family>
void sort_engine<Family>::rest() {
  std::uint64_t const keep = work_.resident.empty() ? 0 : resident_writing_bytes(resident_buffers);
  std::uint64_t const free = work_.memory.free_bytes();
  if (free < keep) try {
      extend_if_possible(keep - free);
    } catch (io_error const&) {  // of a page of others, who will be told when they write it
    }
  if (free > keep) work_.memory.shrink(free - keep);
  step_ = step::at_rest;
  std::uint64_t in_memory = 0;
  if (!work_.resident.empty()) in_memory = formation_->resident_memory_bytes();
  claim(work_.memory.total_bytes() - work_.memory.free_bytes() - in_memory);
}

}  // namespace outsize::detail
