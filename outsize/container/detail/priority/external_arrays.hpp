// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The sorted arrays of a priority queue on disk. A merge gets their blocks in the order in which it
// needs them, while arrays are added and end.
//
//   array:  | merged | resident ... | being read ... | on disk ... |
//                     ^ its next item                 ^ its trigger bounds a merge
//
// Arrays are in the order of age, the oldest first. Equal items come out in the order of their
// arrays.
//
// Invariant: the frames in use and the arrays without a block in memory are at most as many as
// there are frames, so that the block that bounds a merge can always be read. One thread at a time.
// Layer: container. Source: Bingmann, Keh, Sanders 2015, section 3 (prediction, merge limit).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/sort/merge_round.hpp>
#include <outsize/algorithm/detail/sort/output_room.hpp>
#include <outsize/algorithm/detail/sort/run.hpp>
#include <outsize/algorithm/detail/sort/run_writer.hpp>
#include <outsize/base/assert.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/block/buffer_pool.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/detail/priority/array_catalogue.hpp>
#include <outsize/container/detail/priority/queue_plan.hpp>
#include <outsize/kernel/detail/item_sequence.hpp>

namespace outsize::detail {

/// One array and its blocks in memory.
template <typename Family>
class external_array {
 public:
  using view = typename Family::view;

  /// `blocks` without its first items, which have been merged already.
  external_array(run<Family> blocks, std::uint64_t first_item) : blocks_(std::move(blocks)) {
    items_ = blocks_.items() - first_item;
    while (merged_ < block_count() && first_item >= entry(merged_).items) {
      first_item -= entry(merged_).items;
      blocks_.free_block(merged_++);
    }
    skipped_ = static_cast<std::size_t>(first_item);
  }

  std::uint64_t items() const noexcept { return items_; }
  std::size_t block_count() const noexcept { return blocks_.entries().size(); }
  std::size_t blocks_left() const noexcept { return block_count() - merged_; }
  std::size_t blocks_in_memory() const noexcept { return resident_.size() + readings_.size(); }
  bool is_reading() const noexcept { return !readings_.empty(); }
  bool is_resident() const noexcept { return resident_.size() == blocks_left(); }
  bool has_unread() const noexcept { return blocks_in_memory() < blocks_left(); }
  bool is_starved() const noexcept { return blocks_left() > 0 && blocks_in_memory() == 0; }

  /// The first item of the first block that is not resident. @pre !is_resident()
  typename Family::key_type bound(Family const& family) const {
    return family.trigger_key(blocks_.trigger_of(merged_ + resident_.size()));
  }
  /// The first item of the first block that is not being read either. @pre has_unread()
  typename Family::key_type next_unread(Family const& family) const {
    return family.trigger_key(blocks_.trigger_of(merged_ + blocks_in_memory()));
  }
  /// The first item of the last block in memory. @pre blocks_in_memory() > 0
  typename Family::key_type last_in_memory(Family const& family) const {
    return family.trigger_key(blocks_.trigger_of(merged_ + blocks_in_memory() - 1));
  }

  /// About how many items of blocks that are not resident are less than `key`.
  std::uint64_t unread_before(Family const& family, typename Family::key_type const& key) const {
    std::uint64_t before = 0;
    std::size_t low = merged_ + resident_.size(), high = block_count();
    std::size_t const first = low;
    while (low < high) {
      std::size_t const middle = low + (high - low) / 2;
      if (family.less()(family.trigger_key(blocks_.trigger_of(middle)), key))
        low = middle + 1;
      else
        high = middle;
    }
    for (std::size_t i = first; i < low; ++i) before += entry(i).items;
    if (low == first) return 0;
    std::uint64_t const skipped = resident_.empty() ? skipped_ : 0;
    return before - std::max<std::uint64_t>(entry(low - 1).items / 2, std::min(before, skipped));
  }

  item_sequence<view> resident_items(Family const& family) const {
    item_sequence<view> items;
    for (std::size_t i = 0; i < resident_.size(); ++i) {
      std::size_t const skipped = i == 0 ? skipped_ : 0;
      std::size_t const count = entry(merged_ + i).items - skipped;
      items.append(family.block_view(resident_[i].subspan(skipped * family.item_bytes()), count));
    }
    return items;
  }

  /// Begins to read the next block, into `place`. @throws io_error.
  void read(block::frame place) {
    block::block_id const id = entry(merged_ + blocks_in_memory()).id;
    readings_.push_back({place, nullptr});  // noted first: no read is ever lost sight of
    try {
      readings_.back().request = blocks_.space().read(id, place.first(id.length_bytes));
    } catch (...) {
      readings_.pop_back();
      throw;
    }
  }
  /// The number of blocks that have come and are not resident yet.
  std::size_t blocks_read() const {
    std::size_t count = 0;
    while (count < readings_.size() && readings_[count].request->poll()) ++count;
    return count;
  }
  /// Returns whether block `index` of them is as it was written. Several threads may ask.
  bool is_good(std::size_t index) const noexcept {
    try {
      check(readings_[index], merged_ + resident_.size() + index);
      return true;
    } catch (std::exception const&) {
      return false;
    }
  }
  /// Makes the oldest one resident. @pre is_good()
  void take_good() {
    resident_.push_back(readings_.front().place);
    readings_.pop_front();
  }
  /// Makes the oldest block that is being read resident, once it has come. On errors the block is
  /// on disk again, and `pool` has its frame. @throws io_error, corrupt_block.
  void take_read(block::buffer_pool& pool) {
    try {
      check(readings_.front(), merged_ + resident_.size());
    } catch (...) {
      // Later blocks would be taken for this one.
      give_up(pool, 0);
      throw;
    }
    take_good();
  }

  /// Waits until no read is under way. Their errors are left for take_read().
  void wait_for_reads() const noexcept {
    for (reading const& each : readings_) each.request->wait_outcome();
  }
  /// Notes the rest of it. @throws as queue_file::writer.
  void note(queue_file::writer& to) const { note_array(to, blocks_, merged_, skipped_, items_); }

  /// Gives up the last blocks that are being read, all but `kept_readings`.
  void give_up(block::buffer_pool& pool, std::size_t kept_readings) noexcept {
    for (; readings_.size() > kept_readings; readings_.pop_back()) {
      reading& last = readings_.back();
      if (!last.request->cancel()) last.request->wait_outcome();
      pool.release(last.place);
    }
  }
  void give_up_last(block::buffer_pool& pool) noexcept {
    if (!readings_.empty()) return give_up(pool, readings_.size() - 1);
    pool.release(resident_.back());
    resident_.pop_back();
  }
  void give_up_all(block::buffer_pool& pool) noexcept {
    while (blocks_in_memory() > 0) give_up_last(pool);
  }

  /// Drops the first items, all of them resident, and the blocks without items. The blocks stay on
  /// disk if `keeps_blocks`.
  void consume(std::size_t count, block::buffer_pool& pool, bool keeps_blocks) noexcept {
    items_ -= count;
    skipped_ += count;
    while (!resident_.empty() && skipped_ >= entry(merged_).items) {
      skipped_ -= entry(merged_).items;
      if (!keeps_blocks) blocks_.free_block(merged_);
      pool.release(resident_.front());
      resident_.pop_front();
      ++merged_;
    }
  }

  /// How far it has been merged, to go back to after an error.
  struct position {
    std::uint64_t items;
    std::size_t merged, skipped;
  };
  position where() const noexcept { return {items_, merged_, skipped_}; }
  /// @pre no block was freed since, and none is in memory.
  void go_back(position to) noexcept {
    items_ = to.items;
    merged_ = to.merged;
    skipped_ = to.skipped;
  }

 private:
  struct reading {
    block::frame place;
    io::request_ptr request;
  };
  auto const& entry(std::size_t index) const noexcept { return blocks_.entries()[index]; }
  /// Waits for block `index`. @throws io_error, corrupt_block.
  void check(reading const& of, std::size_t index) const {
    block::block_id const id = entry(index).id;
    blocks_.space().wait_for_block(id, *of.request);
    if (blocks_.keeps_checksums()) blocks_.check_block(index, of.place.first(id.length_bytes));
  }

  run<Family> blocks_;
  std::uint64_t items_ = 0;  // left
  std::size_t merged_ = 0;   // blocks
  std::size_t skipped_ = 0;  // items of the next block
  std::deque<block::frame> resident_;
  std::deque<reading> readings_;
};

template <typename Family>
class external_arrays {
 public:
  using view = typename Family::view;
  using key_type = typename Family::key_type;
  using round = merge_round<Family>;

  /// Takes its frames from `memory`, which is charged for the entries of blocks, too. Blocks are on
  /// the disks of `store`, or in `kept` if it is not null.
  external_arrays(Family const& family, storage& store, grant& memory, queue_plan const& plan,
                  kept_blocks* kept)
      : family_(family),
        store_(store),
        memory_(memory),
        plan_(plan),
        kept_(kept),
        pool_(memory, plan.block_bytes, plan.frames),
        write_pool_(memory, plan.block_bytes, plan.write_frames) {}
  external_arrays(external_arrays const&) = delete;
  external_arrays& operator=(external_arrays const&) = delete;
  ~external_arrays() { clear(); }

  std::size_t count() const noexcept { return arrays_.size(); }
  void clear() noexcept {
    for (auto& a : arrays_) a.give_up_all(pool_);
    arrays_.clear();
  }

  block::buffer_pool& write_pool() noexcept { return write_pool_; }
  grant& memory() noexcept { return memory_; }
  /// Returns the space that has its blocks.
  block::block_space& space() noexcept {
    if (kept_ != nullptr) return *kept_;
    return store_;
  }
  /// Where the blocks of the next array are to be.
  run_places places() {
    if (kept_ != nullptr) return run_places(store_, *kept_);
    return run_places(store_);
  }

  /// Sees that there is room for one more array: merges some if there are too many.
  /// @throws io_error, out_of_space, budget_error; no item is lost then.
  void make_room() {
    while (arrays_.size() >= plan_.most_arrays) merge_some();
    // It needs a frame, sooner or later.
    while (pool_.free_count() < starved() + 1) {
      external_array<Family>* const most = furthest();
      OUTSIZE_ASSERT(most != nullptr);
      most->give_up_last(pool_);
    }
  }
  /// The next array, whose items are younger than all, or older. @pre make_room().
  void add_youngest(run<Family> sorted, std::uint64_t first_item) {
    arrays_.emplace_back(std::move(sorted), first_item);
    if (arrays_.back().blocks_left() == 0) arrays_.pop_back();
  }
  void add_oldest(run<Family> sorted) { arrays_.emplace_front(std::move(sorted), 0); }

  /// Appends the resident items of each array.
  void append_sequences(std::vector<item_sequence<view>>& to) const {
    for (auto const& a : arrays_) to.push_back(a.resident_items(family_));
  }
  /// About how many items that are not resident are less than `key`.
  std::uint64_t unread_before(key_type const& key) const {
    std::uint64_t sum = 0;
    for (auto const& a : arrays_) sum += a.unread_before(family_, key);
    return sum;
  }
  /// The array with the least item that is not resident, if there is one.
  std::optional<std::size_t> bounding() const { return bounding(0, arrays_.size()); }
  key_type bound(std::size_t array) const { return arrays_[array].bound(family_); }

  /// Reads ahead, as far as there are frames, and takes in the blocks that have come. Errors are
  /// left for wait_for().
  void read_ahead() { read_ahead(0, arrays_.size()); }
  /// Whether the next block of an array can be read without giving up another one.
  bool can_wait_for(std::size_t array) const noexcept {
    return arrays_[array].is_reading() || free_frames_but(array) > 0;
  }
  /// Waits for the next block of an array. @pre can_wait_for(array). @throws io_error,
  /// corrupt_block: the next call reads it again.
  void wait_for(std::size_t array) {
    external_array<Family>& a = arrays_[array];
    if (!a.is_reading()) read(a);
    a.take_read(pool_);
  }

  /// Drops the first counts(i) items of each array i.
  template <typename Counts>
  void consume(Counts const& counts) noexcept {
    for (std::size_t i = 0; i < arrays_.size(); ++i) arrays_[i].consume(counts(i), pool_, false);
    std::erase_if(arrays_, [](auto const& a) { return a.blocks_left() == 0; });
  }

  /// Notes all arrays, once no read is under way. @throws as queue_file::writer.
  void note(queue_file::writer& to) const {
    for (auto const& a : arrays_) a.wait_for_reads();
    for (auto const& a : arrays_) a.note(to);
  }
  std::uint64_t items() const noexcept {
    std::uint64_t sum = 0;
    for (auto const& a : arrays_) sum += a.items();
    return sum;
  }

  /// Returns the number of merges of arrays so far.
  std::uint64_t merges() const noexcept { return merges_; }

 private:
  std::size_t starved() const noexcept {
    return static_cast<std::size_t>(std::count_if(arrays_.begin(), arrays_.end(),
                                                  [](auto const& a) { return a.is_starved(); }));
  }
  /// Frames that array may take, those left out that others must have.
  std::size_t free_frames_but(std::size_t array) const noexcept {
    std::size_t const others = starved() - (arrays_[array].is_starved() ? 1 : 0);
    std::size_t const free = pool_.free_count();
    return free - std::min(free, others);
  }
  /// Among arrays with several blocks in memory, the one whose last block is needed last.
  external_array<Family>* furthest() {
    external_array<Family>* found = nullptr;
    for (auto& a : arrays_) {
      if (a.blocks_in_memory() < 2) continue;
      if (found == nullptr ||
          family_.less()(found->last_in_memory(family_), a.last_in_memory(family_)))
        found = &a;
    }
    return found;
  }

  std::optional<std::size_t> bounding(std::size_t first, std::size_t end) const {
    std::optional<std::size_t> least;
    for (std::size_t i = first; i < end; ++i) {
      if (arrays_[i].is_resident()) continue;
      if (!least || family_.less()(bound(i), bound(*least))) least = i;
    }
    return least;
  }

  void read(external_array<Family>& a) {
    block::frame const place = pool_.try_acquire();
    OUTSIZE_ASSERT(!place.empty());
    try {
      a.read(place);
    } catch (...) {
      pool_.release(place);
      throw;
    }
  }

  /// Makes blocks resident that have come, up to one that is not good: wait_for() reports it.
  void take_read(std::size_t first, std::size_t end) {
    struct block_read {
      std::size_t array, index;
      bool is_good = false;
    };
    std::vector<block_read> all;
    for (std::size_t i = first; i < end; ++i)
      for (std::size_t b = 0, count = arrays_[i].blocks_read(); b < count; ++b)
        all.push_back({i, b});
    store_.threads().parallel_for(all.size(), [&](std::size_t k) {
      all[k].is_good = arrays_[all[k].array].is_good(all[k].index);
    });
    std::size_t passed_over = SIZE_MAX;  // the array whose block was not good
    for (block_read const& one : all) {
      if (!one.is_good) passed_over = one.array;
      if (one.array != passed_over) arrays_[one.array].take_good();
    }
  }

  void read_ahead(std::size_t first, std::size_t end) {
    take_read(first, end);
    std::size_t beyond = 0;  // one for each array
    for (auto const& a : arrays_)
      beyond += a.blocks_in_memory() - std::min<std::size_t>(1, a.blocks_in_memory());
    while (auto const next = nearest_unread(first, end)) {
      external_array<Family>& a = arrays_[*next];
      bool const is_starved = a.is_starved();  // then a frame is its own
      if (!is_starved && beyond == 2 * plan_.ahead) return;
      if (free_frames_but(*next) == 0) return;
      if (!is_starved) ++beyond;
      try {
        read(a);
      } catch (std::exception const&) {  // as above
        return;
      }
    }
  }
  /// The array among these with the block on disk that is needed next.
  std::optional<std::size_t> nearest_unread(std::size_t first, std::size_t end) const {
    std::optional<std::size_t> next;
    for (std::size_t i = first; i < end; ++i) {
      if (!arrays_[i].has_unread()) continue;
      if (!next ||
          family_.less()(arrays_[i].next_unread(family_), arrays_[*next].next_unread(family_)))
        next = i;
    }
    return next;
  }

  /// About how often its items have been merged: 0 for a slab.
  std::size_t level(external_array<Family> const& a) const noexcept {
    std::size_t level = 0;
    std::uint64_t const growth = std::max<std::size_t>(2, plan_.most_arrays / 4);
    for (std::uint64_t bytes = 2 * plan_.slab_bytes; bytes < a.items() * family_.item_bytes();
         bytes *= growth)
      ++level;
    return level;
  }

  /// Merges neighbours of the lowest level that has enough arrays.
  void merge_some() {
    std::size_t const enough = std::max<std::size_t>(2, plan_.most_arrays / 4);
    for (std::size_t most_level = 0;; ++most_level) {
      std::size_t best = 0, length = 0;
      for (std::size_t i = 0; i < arrays_.size();) {
        std::size_t end = i;
        while (end < arrays_.size() && level(arrays_[end]) <= most_level) ++end;
        if (end - i > length) best = i, length = end - i;
        i = std::max(end, i + 1);
      }
      if (length >= enough || length == arrays_.size()) return merge_stretch(best, best + length);
    }
  }

  void merge_stretch(std::size_t first, std::size_t end) {
    std::vector<typename external_array<Family>::position> places;
    for (std::size_t i = first; i < end; ++i) places.push_back(arrays_[i].where());
    try {
      external_array<Family> merged(merged_stretch(first, end), 0);
      ++merges_;
      auto const begin = arrays_.begin() + static_cast<std::ptrdiff_t>(first);
      for (std::size_t i = first; i < end; ++i) arrays_[i].give_up_all(pool_);
      arrays_.erase(begin + 1, begin + static_cast<std::ptrdiff_t>(end - first));
      arrays_[first] = std::move(merged);
    } catch (...) {
      for (std::size_t i = first; i < end; ++i) {
        arrays_[i].give_up_all(pool_);
        arrays_[i].go_back(places[i - first]);
      }
      throw;
    }
  }
  run<Family> merged_stretch(std::size_t first, std::size_t end) {
    run_writer<Family> out(family_, store_, store_.threads(), memory_, write_pool_,
                           equal_items::kept, {}, places());
    for (;;) {
      read_ahead(first, end);
      std::vector<item_sequence<view>> sequences;
      for (std::size_t i = first; i < end; ++i)
        sequences.push_back(arrays_[i].resident_items(family_));
      round r(family_, store_.threads(), std::span<item_sequence<view> const>(sequences));
      auto const least = bounding(first, end);
      if (least) r.restrict_to_before(bound(*least), *least - first);
      if (r.items() == 0 && !least) return out.finish();
      // A round of a block or more is worth while.
      bool const is_short = r.items() < plan_.block_bytes / family_.item_bytes();
      if (least && is_short && (r.items() == 0 || can_wait_for(*least))) {
        wait_for(*least);
        continue;
      }
      out.write(r, family_.item_bytes());
      for (std::size_t i = first; i < end; ++i) arrays_[i].consume(r.limit(i - first), pool_, true);
    }
  }

  Family const& family_;
  storage& store_;
  grant& memory_;
  queue_plan const& plan_;
  kept_blocks* kept_;
  block::buffer_pool pool_;
  block::buffer_pool write_pool_;
  std::deque<external_array<Family>> arrays_;  // the oldest first
  std::uint64_t merges_ = 0;
};

}  // namespace outsize::detail
