// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The input side of a merge: the resident part of each sorted sequence, kept ahead of the merge.
//
// Sequences are runs whose blocks are read ahead in the order of their triggers, and after them
// views in memory that are all there from the start. What may be merged now is bounded by the next
// item of any run that is not resident: its trigger, or where that is only approximate the run's
// last resident item.
//
// A round that has been cut into parts may be passed before it is merged: the feed goes on behind
// it, and the blocks of which nothing is left wait for its end:
//
//   pass(round) ──▶ passed blocks ──release_passed(): the oldest round is merged──▶ pool
//
// Invariant: blocks held + runs without a resident block <= fan_in + taken, not counting those that
// were passed, so that the one block without which the merge cannot go on can always be read,
// however the keys lie and even if all triggers are alike; and nothing is read while more blocks
// were passed than there is room for. One thread at a time uses a feed; its rounds may be merged by
// several. Layer: algorithm. Source: STXXL 2008, section 6.1.2 and 6.1.3; Beckmann, Dementiev,
// Singler 2009, section 2.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/sort/merge_round.hpp>
#include <outsize/algorithm/detail/sort/run.hpp>
#include <outsize/algorithm/detail/sort/run_order.hpp>
#include <outsize/block/prefetcher.hpp>
#include <outsize/codec/detail/byte_codec.hpp>
#include <outsize/codec/detail/key_codec.hpp>
#include <outsize/codec/detail/packed_block.hpp>

namespace outsize::detail {

template <typename Family>
class merge_feed {
 public:
  using view = typename Family::view;
  using round = merge_round<Family>;
  using trigger = typename Family::trigger;

  /// Merges `views`, in memory until the feed is gone; ties go to the first.
  merge_feed(Family const& family, executor& threads, std::vector<view> const& views,
             std::size_t largest_item_bytes)
      : family_(family), threads_(threads) {
    add_resident(views, largest_item_bytes);
  }

  struct run_options {
    bool keep_blocks = false;  // on disk, else they are freed as they are used up
    bool passes = false;       // else each round is merged before it is consumed
  };

  /// Merges `runs`; ties go to the first. `pool` has runs.size() + 2 * ahead buffers, each fit for
  /// any of their blocks (run::buffer_bytes): of the additional ones about a quarter for blocks
  /// that a round takes, half as many again for those passed, if rounds are, the others for blocks
  /// being read, so that the disks work on while a round is merged.
  merge_feed(Family const& family, executor& threads, std::span<run<Family>> runs,
             block::block_device& device, block::buffer_pool& pool, std::size_t ahead,
             run_options options)
      : family_(family),
        threads_(threads),
        sequences_(runs.size()),
        runs_(runs),
        pool_(&pool),
        sources_(runs.size()),
        taken_(std::max<std::size_t>(1, ahead / 2)),
        most_passed_(options.passes ? ahead * 3 / 4 : 0),
        keep_blocks_(options.keep_blocks) {
    for (auto const& r : runs_) largest_ = std::max(largest_, r.largest_item_bytes());
    prefetcher_.emplace(device, pool, predict(), 2 * ahead - taken_ - most_passed_,
                        block::frame_end::back);
  }

  /// @pre what was passed has been merged, or never will be.
  ~merge_feed() {
    // Not to the prefetcher, which would read on.
    for (block::frame f : passed_) pool_->release(f);
    for (auto& s : sources_)
      for (block::frame f : s.frames) pool_->release(f);
  }

  /// Merges `views` too, in memory until the feed is gone; what is there already goes before them.
  /// @pre no round has been made.
  void add_resident(std::vector<view> const& views, std::size_t largest_item_bytes) {
    for (view const& v : views) sequences_.emplace_back().append(v);
    largest_ = std::max(largest_, largest_item_bytes);
  }

  std::size_t largest_item_bytes() const noexcept { return largest_; }

  /// What a feed itself needs for each block of its runs, besides their entries.
  static constexpr std::size_t bytes_per_block = block::prefetcher::bytes_per_block + 12;

  /// Makes something mergeable resident and returns it; a round without items means the end.
  /// @pre can_read(). @throws io_error, corrupt_block.
  round next_round() {
    if (prefetcher_) read_predicted();
    for (;;) {
      read_unpredictable();  // before the round looks at what is resident
      prepare_blocks();
      round r(family_, threads_, std::span<item_sequence<view> const>(sequences_));
      std::optional<std::size_t> const least = restrict_to_resident(r);
      if (!least || r.items() > 0) return r;
      read_next_of(*least);
    }
  }

  /// The same of what is resident, or if nothing is of another block, whatever comes first: nothing
  /// is compared. For what is left of a merge whose order has thrown.
  round next_unordered_round() {
    auto const is_resident = [](item_sequence<view> const& each) { return each.size() > 0; };
    while (std::ranges::none_of(sequences_, is_resident)) {
      if (predicted_ < prediction_.size()) {
        auto const [s, b] = prediction_[predicted_++];
        if (b >= sources_[s].taken) read_next_of(s);
      } else if (auto const s = first_unfinished(); s < sources_.size()) {
        // An order that is none may have predicted blocks of a run out of their order.
        read_next_of(s);
      } else {
        break;
      }
    }
    prepare_blocks();
    return round(family_, threads_, std::span<item_sequence<view> const>(sequences_));
  }

  /// The items that `r`, perhaps restricted further, still has are merged: lets go of them.
  void consume(round const& r) {
    pass(r);
    release_passed();
  }

  /// They have been cut into parts, and are going to be merged: goes on behind them.
  void pass(round const& r) {
    std::size_t blocks = 0;
    for (std::size_t s = 0; s < sequences_.size(); ++s) {
      std::size_t const used_up = sequences_[s].consume(r.limit(s));
      if (s >= sources_.size()) continue;
      for (std::size_t i = 0; i < used_up; ++i) {
        source& from = sources_[s];
        if (!keep_blocks_) runs_[s].free_block(from.taken - from.frames.size());
        passed_.push_back(from.frames.front());
        from.frames.pop_front();
        --held_;
        ++blocks;
      }
    }
    passed_rounds_.push_back(blocks);
  }

  /// The oldest of the rounds passed has been merged: lets go of its blocks.
  void release_passed() {
    std::size_t const blocks = passed_rounds_.front();
    passed_rounds_.pop_front();
    for (std::size_t i = 0; i < blocks; ++i) {
      block::frame const used = passed_.front();
      passed_.pop_front();
      if (can_read())
        prefetcher_->release(used);
      else
        pool_->release(used);
    }
  }

  /// Whether there is room for the blocks of the next round. @pre or else rounds were passed, and
  /// have to be released first.
  bool can_read() const noexcept { return passed_.size() <= most_passed_; }

 private:
  struct source {
    std::size_t taken = 0;             // blocks read so far
    std::deque<block::frame> frames;   // of those, the ones still resident, oldest first
    std::vector<std::uint32_t> order;  // place of each block in the prediction sequence
  };

  /// The blocks of all runs in the order in which the merge will need them.
  std::vector<block::block_id> predict() {
    prediction_ = blocks_in_order(family_, std::span<run<Family> const>(runs_));
    std::vector<block::block_id> ids;
    ids.reserve(prediction_.size());
    for (std::size_t s = 0; s < runs_.size(); ++s)
      sources_[s].order.resize(runs_[s].entries().size());
    for (auto const& p : prediction_) {
      // Not always ascending within a run: approximate triggers may be out of order.
      sources_[p.run].order[p.block] = static_cast<std::uint32_t>(ids.size());
      ids.push_back(runs_[p.run].entries()[p.block].id);
    }
    return ids;
  }

  bool finished(std::size_t s) const noexcept {
    return sources_[s].taken == runs_[s].entries().size();
  }
  std::size_t first_unfinished() const noexcept {
    std::size_t s = 0;
    while (s < sources_.size() && finished(s)) ++s;
    return s;
  }
  bool starved(std::size_t s) const noexcept { return !finished(s) && sources_[s].frames.empty(); }

  /// Takes up to `taken_` blocks in the predicted order, as far as the invariant allows; waits for
  /// half of them only, so that there is always something to merge and something to read.
  void read_predicted() {
    std::size_t starving = 0;
    for (std::size_t s = 0; s < sources_.size(); ++s) starving += starved(s) ? 1 : 0;
    for (std::size_t taken = 0; taken < taken_ && predicted_ < prediction_.size(); ++predicted_) {
      auto const [s, b] = prediction_[predicted_];
      if (b < sources_[s].taken) continue;  // was read before its turn
      // Triggers that are only approximate may name a later block of a run before an earlier one.
      std::size_t const others = starving - (starved(s) ? 1 : 0);
      if (held_ + 1 + others > sources_.size() + taken_) return;
      bool const enough = held_ >= sources_.size() + taken_ / 2;
      if (enough && !prefetcher_->ready(sources_[s].order[sources_[s].taken])) return;
      starving = others;
      read_next_of(s);
      ++taken;
    }
  }

  void read_next_of(std::size_t s) {
    source& from = sources_[s];
    auto const& entry = runs_[s].entries()[from.taken];
    block::frame const place = prefetcher_->take(from.order[from.taken]);
    ++from.taken;
    from.frames.push_back(place);
    ++held_;
    block::frame const read = place.last(entry.id.length_bytes);
    run<Family> const& r = runs_[s];
    bool const encoded = entry.content_bytes != 0;
    block::frame const content = encoded ? place.first(entry.content_bytes) : read;
    if (encoded || r.keeps_checksums() || has_tables())
      unprepared_.push_back({s, from.taken - 1, read, content});
    sequences_[s].append(family_.block_view(content, entry.items));
  }

  /// Whether blocks say where their items lie: what is read is not believed.
  bool has_tables() const noexcept { return family_.item_bytes() == 0; }

  /// Compares what has been read with its checksums, decodes it, and looks at its table, before
  /// anybody sees it: all blocks of a round at once, so that the whole team shares the work.
  /// @throws corrupt_block.
  void prepare_blocks() {
    if (unprepared_.empty()) return;
    threads_.parallel_for(unprepared_.size(), [this](std::size_t i) {
      auto const& [s, b, read, content] = unprepared_[i];
      if (runs_[s].keeps_checksums()) runs_[s].check_block(b, read);
      auto const& entry = runs_[s].entries()[b];
      if (entry.content_bytes != 0) decode(runs_[s], b, read, content);
      if (has_tables() && !can_be_packed(content, entry.items, runs_[s].largest_item_bytes()))
        runs_[s].throw_corrupt(b);
    });
    unprepared_.clear();
  }

  /// Decodes a block where it lies: behind, or over, the place of its items.
  void decode(run<Family> const& from, std::size_t index, std::span<std::byte const> block,
              std::span<std::byte> to) const {
    bool good = false;
    if constexpr (Family::has_key_codec) {
      using item = typename Family::item;
      std::span const items(reinterpret_cast<item*>(to.data()), to.size() / sizeof(item));
      good = decode_keys(block, items);
    } else {
      good = decode_block(block, to, {from.entries()[index].items, family_.item_bytes()});
    }
    if (!good) from.throw_corrupt(index);
  }

  decltype(auto) next_trigger(std::size_t s) const noexcept {
    return runs_[s].trigger_of(sources_[s].taken);
  }

  /// Sees that every run has an item that bounds the round: an exact trigger, or else a resident
  /// one.
  void read_unpredictable() {
    for (std::size_t s = 0; s < sources_.size(); ++s)
      if (starved(s) && !Family::trigger_is_exact(next_trigger(s))) read_next_of(s);
  }

  /// Leaves in `r` what comes before everything that is not resident; returns the run that decides.
  std::optional<std::size_t> restrict_to_resident(round& r) const {
    std::optional<std::size_t> least;
    typename Family::key_type least_key{};
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      if (finished(s)) continue;
      auto const key = Family::trigger_is_exact(next_trigger(s))
                           ? family_.trigger_key(next_trigger(s))
                           : sequences_[s].key(sequences_[s].size() - 1);
      if (least && !family_.less()(key, least_key)) continue;
      least = s;
      least_key = key;
    }
    if (least) r.restrict_to_before(least_key, *least);
    return least;
  }

  struct unprepared_block {
    std::size_t run;
    std::size_t block;
    block::frame read;
    block::frame content;  // once it is decoded, if it is encoded
  };

  Family const& family_;
  executor& threads_;
  std::vector<item_sequence<view>> sequences_;
  std::span<run<Family>> runs_;
  block::buffer_pool* pool_ = nullptr;
  std::vector<source> sources_;
  std::vector<numbered_block> prediction_;
  std::size_t predicted_ = 0;
  std::size_t taken_ = 0;        // blocks of a round at most, besides one of each run
  std::size_t most_passed_ = 0;  // while anything is read
  bool keep_blocks_ = false;
  std::size_t held_ = 0;                      // blocks, but for those passed
  std::deque<block::frame> passed_;           // used up, of rounds that may not be merged yet
  std::deque<std::size_t> passed_rounds_;     // how many of them each has
  std::vector<unprepared_block> unprepared_;  // resident, and not yet seen by any round
  std::size_t largest_ = 0;
  std::optional<block::prefetcher> prefetcher_;
};

}  // namespace outsize::detail
