// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The writer of runs: rounds of a merge, or sorted items, as blocks.
//
// Each thread merges its part of a round to its final place in the blocks. Where runs are encoded,
// blocks of plain items are a step on the way:
//
//   round ──merge──▶ frames of items ──encode──▶ open block ──▶ disk
//   sorted items ────────────────────────▲
//
// Invariant: frames are the pool's, this object's, or being written. One thread at a time uses a
// writer. Layer: algorithm. Source: STXXL 2008, section 6.1.2.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/algorithm/sort/encoded_blocks.hpp>
#include <outsize/algorithm/sort/merge_round.hpp>
#include <outsize/algorithm/sort/record_items.hpp>
#include <outsize/algorithm/sort/reduction.hpp>
#include <outsize/algorithm/sort/run.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/block/write_queue.hpp>

namespace outsize::detail {

/// Writes rounds of a merge, or items of one type that are sorted, as the blocks of one run. Equal
/// items that meet neither in a round nor in a block may both stay, where equal ones are to be made
/// one: a later merge finds them.
template <typename Family>
class run_writer {
 public:
  using round = merge_round<Family>;
  using part = typename round::part;

  /// `index_memory` holds the run's entries; `pool` has at least two buffers, each fit for any one
  /// item. `form` says how blocks are encoded, in blocks no longer than a buffer, if they are.
  run_writer(Family const& family, storage& store, executor& threads, grant& index_memory,
             block::buffer_pool& pool, equal_items equals = equal_items::kept, run_form form = {})
      : family_(family),
        store_(store),
        threads_(threads),
        pool_(pool),
        equals_(equals),
        form_(reduces_rounds(form, equals) ? run_form{} : form),
        placement_(store.new_placement()),
        run_(store, index_memory, form),
        queue_(store, pool),
        encoded_(family, pool, queue_, form, block_length(1)) {}
  run_writer(run_writer const&) = delete;
  run_writer& operator=(run_writer const&) = delete;
  ~run_writer() {
    if (!open_.empty()) pool_.release(open_);
  }

  /// Takes sorted items, none of which comes before those of earlier calls. They are copies
  /// afterwards. @pre the form is encoded. @throws io_error, out_of_space, budget_error.
  void write(std::span<typename Family::item const> sorted)
    requires(Family::encodes)
  {
    run_.add_bytes(sorted.size_bytes(), sizeof(typename Family::item));
    encoded_.write(sorted, hand_over());
  }

  /// Takes as much of the round as a part of the pool's buffers holds, at least one item; tells how
  /// much from each sequence by restricting the round.
  /// @throws io_error, out_of_space, budget_error.
  void write(round& r, std::size_t largest_item_bytes) {
    if (family_.item_bytes() != 0) {
      write_fixed(r);
    } else {
      write_packed(r, largest_item_bytes);
    }
  }

  /// Issues the writes of what is left in memory: nothing comes after it.
  void end() {
    if (open_items_ > 0) close_fixed(std::exchange(open_, {}), std::exchange(open_items_, 0));
    if constexpr (Family::encodes) encoded_.finish(hand_over());
  }

  /// The same, and returns the finished run once all its blocks are on disk.
  run<Family> finish() {
    end();
    queue_.flush();
    return std::move(run_);
  }

  std::uint64_t index_bytes() const noexcept { return run_.index_bytes(); }
  std::uint64_t bytes() const noexcept { return run_.bytes(); }
  bool is_encoded() const noexcept { return form_.is_encoded(); }
  /// What encoding took of the calling thread.
  std::chrono::nanoseconds encoding_time() const noexcept
    requires(Family::encodes)
  {
    return encoded_.time();
  }

 private:
  /// Whether equal items meet in rounds only: then these are not cut short for a first block.
  static bool reduces_rounds(run_form const& form, equal_items equals) noexcept {
    return equals == equal_items::made_one && !form.is_encoded();
  }

  /// For families whose items are never encoded.
  struct no_encoding {
    no_encoding(auto const&...) {}
  };

  /// What one round fills, of the pool's buffers: the disk writes the other three quarters
  /// meanwhile.
  std::size_t frame_limit() const noexcept { return std::max<std::size_t>(1, pool_.count() / 4); }

  std::size_t block_length(std::size_t used_bytes) const {
    // 64: tables and items inside blocks stay aligned on disks that ask for no alignment.
    return round_up(used_bytes, std::max<std::size_t>(64, store_.alignment_bytes()));
  }

  void append(block::frame filled, std::size_t used_bytes, std::size_t items,
              typename Family::trigger trigger) {
    block::block_id id;
    try {
      id = store_.allocate(block_length(used_bytes), *placement_);
    } catch (...) {
      pool_.release(filled);
      throw;
    }
    try {
      run_.append({id, static_cast<std::uint32_t>(items), std::move(trigger)},
                  filled.first(id.length_bytes));
    } catch (...) {
      pool_.release(filled);
      throw;
    }
    queue_.write(id, filled);
  }

  // ---- items of one size: every block but the last is full, and a round may begin inside one ----

  /// Walks through the places for items in consecutive frames.
  class frame_places {
   public:
    frame_places(std::vector<block::frame> const& frames, std::size_t item_bytes,
                 std::size_t per_frame, std::size_t first_item)
        : frames_(frames), item_bytes_(item_bytes), frame_bytes_(per_frame * item_bytes) {
      frame_ = first_item / per_frame;
      if (frame_ < frames.size()) enter(first_item % per_frame * item_bytes);
    }

    std::byte* next_item() {
      if (to_ == end_) next_frame();
      return std::exchange(to_, to_ + item_bytes_);
    }

    auto room()
      requires(Family::merges_by_copying)
    {
      if (to_ == end_) next_frame();
      using item = typename Family::item;
      return std::span(reinterpret_cast<item*>(to_),
                       static_cast<std::size_t>(end_ - to_) / sizeof(item));
    }
    void used(std::size_t count) noexcept { to_ += count * item_bytes_; }

   private:
    void next_frame() {
      ++frame_;
      enter(0);
    }
    void enter(std::size_t offset_bytes) {
      to_ = frames_[frame_].data() + offset_bytes;
      end_ = frames_[frame_].data() + frame_bytes_;
    }

    std::vector<block::frame> const& frames_;
    std::size_t item_bytes_;
    std::size_t frame_bytes_;
    std::size_t frame_ = 0;
    std::byte* to_ = nullptr;
    std::byte* end_ = nullptr;
  };

  void write_fixed(round& r) {
    std::size_t const item = family_.item_bytes();
    bool const first = form_.first_bytes != 0 && run_.entries().empty() && !form_.is_encoded();
    std::size_t const full = pool_.buffer_bytes() / item;
    std::size_t const per_block =
        first ? std::clamp<std::size_t>(form_.first_bytes / item, 1, full) : full;
    std::size_t const limit = (first ? 1 : frame_limit()) * per_block - open_items_;
    if (r.items() > limit) r.restrict_to_first(limit);
    std::size_t const total = r.items();

    std::vector<block::frame> frames;
    std::size_t filled = open_items_ + total;
    try {
      if (open_items_ > 0) frames.push_back(std::exchange(open_, {}));
      while (frames.size() * per_block < open_items_ + total) frames.push_back(queue_.acquire());
      auto const parts = r.cut(threads_.threads());
      threads_.parallel_for(parts.size(), [&](std::size_t p) {
        frame_places places(frames, item, per_block, open_items_ + parts[p].first_rank);
        if constexpr (Family::merges_by_copying) {
          r.merge_into(parts[p], places);
        } else {
          auto emit = [&](typename Family::key_type const& key) {
            Family::store(key, places.next_item());
          };
          r.merge(parts[p], emit);
        }
      });
      if (equals_ == equal_items::made_one) filled = reduce(frames, parts, per_block);
    } catch (...) {
      for (auto f : frames) pool_.release(f);
      open_items_ = 0;
      throw;
    }
    run_.add_bytes((filled - open_items_) * item, item);
    hand_over_fixed(frames, filled, per_block);
  }

  /// Makes equal items one in frames that hold the open block's items and the merged parts. Returns
  /// how many are left; frames without any are given back.
  std::size_t reduce(std::vector<block::frame>& frames, std::vector<part> const& parts,
                     std::size_t per_block) {
    std::size_t const item = family_.item_bytes();
    auto const at = [&](std::size_t i) { return &frames[i / per_block][i % per_block * item]; };
    std::vector<std::span<std::byte>> stretches;  // of a part in a frame
    for (part const& p : parts) {
      std::size_t const end = open_items_ + p.first_rank + p.items;
      for (std::size_t i = open_items_ + p.first_rank, next; i < end; i = next) {
        next = std::min(end, (i / per_block + 1) * per_block);
        stretches.emplace_back(at(i), (next - i) * item);
      }
    }
    threads_.parallel_for(stretches.size(), [&](std::size_t s) {
      stretches[s] = stretches[s].first(reduce_sorted(family_, stretches[s]));
    });
    std::size_t kept = open_items_;
    for (std::span<std::byte> rest : stretches) {
      if (kept > 0 && equal_at(at(kept - 1), rest.data())) {
        combine_into(family_, at(kept - 1), rest.data());
        rest = rest.subspan(item);
      }
      for (std::size_t bytes; !rest.empty(); rest = rest.subspan(bytes), kept += bytes / item) {
        bytes = std::min(rest.size(), (per_block - kept % per_block) * item);
        std::memmove(at(kept), rest.data(), bytes);
      }
    }
    for (; frames.size() > div_up(kept, per_block); frames.pop_back()) pool_.release(frames.back());
    return kept;
  }

  bool equal_at(std::byte const* before, std::byte const* after) const {
    std::size_t const item = family_.item_bytes();
    auto const a = family_.view_of_one({before, item}), b = family_.view_of_one({after, item});
    return family_.equal(a.key(0), b.key(0));
  }

  void hand_over_fixed(std::vector<block::frame> const& frames, std::size_t items,
                       std::size_t per_block) {
    open_items_ = 0;
    for (std::size_t f = 0; f < frames.size(); ++f, items -= std::min(items, per_block)) {
      if (items < per_block) {  // the last one: stays open for the next round
        open_ = frames[f];
        open_items_ = items;
        return;
      }
      try {
        close_fixed(frames[f], per_block);
      } catch (...) {
        for (std::size_t rest = f + 1; rest < frames.size(); ++rest) pool_.release(frames[rest]);
        throw;
      }
    }
  }

  void close_fixed(block::frame filled, std::size_t items) {
    auto const view = family_.block_view(filled, items);
    if constexpr (Family::encodes) {
      if (form_.is_encoded()) {
        frame_return const back{pool_, filled};
        encoded_.write(view.items(0, items), hand_over());
        return;
      }
    }
    append(filled, items * family_.item_bytes(), items, family_.make_trigger(view.key(0)));
  }

  /// Gives a frame back at the end of a scope.
  struct frame_return {
    block::buffer_pool& pool;
    block::frame frame;
    ~frame_return() { pool.release(frame); }
  };

  /// What becomes of an encoded block.
  auto hand_over() {
    return [this](block::frame filled, std::size_t used_bytes, std::size_t items,
                  typename Family::trigger trigger) {
      append(filled, used_bytes, items, std::move(trigger));
    };
  }

  // ---- items of many sizes: parts fill blocks of their own, each with a table of ends at its end
  // ----

  struct packed_block {
    block::frame place;
    std::size_t record_bytes = 0;
    std::size_t items = 0;

    std::size_t used_bytes() const noexcept { return packed_bytes(record_bytes, items); }
    bool fits(std::size_t more) const noexcept {
      return packed_bytes(record_bytes + more, items + 1) <= place.size();
    }
    std::uint32_t* table_end() const noexcept {
      return reinterpret_cast<std::uint32_t*>(place.data() + place.size());
    }
    void close_record(std::size_t bytes) noexcept {
      record_bytes += bytes;
      *(table_end() - 1 - items++) = static_cast<std::uint32_t>(record_bytes);
    }
  };

  void write_packed(round& r, std::size_t largest_item_bytes) {
    std::size_t const block_bytes = pool_.buffer_bytes();
    // A part for each thread of some blocks, so that the last one of each weighs little.
    std::size_t const frames =
        std::max(frame_limit(), std::min(pool_.count() / 2, 4 * threads_.threads()));
    // Any two consecutive blocks of a part hold at least B - 3 bytes, so b bytes need at most
    // b / (B/2 - 2) + 1 of them; when items are small against blocks, hardly more than b / (B -
    // item).
    std::size_t const waste = packed_bytes(largest_item_bytes, 1);
    std::size_t const filled =
        std::max(block_bytes / 2 - 2, block_bytes - std::min(block_bytes, waste));
    std::size_t part_count = std::clamp<std::size_t>(frames / 4, 1, threads_.threads());
    std::uint64_t limit = std::uint64_t{frames - part_count} * filled;
    if (part_count == 1) limit = std::max<std::uint64_t>(limit, block_bytes - packed_bytes(0, 0));
    if (run_.entries().empty() && form_.first_bytes != 0)
      limit = std::min<std::uint64_t>(limit, form_.first_bytes);
    r.restrict_to_bytes(limit, sizeof(std::uint32_t));

    auto const parts = r.cut(part_count);
    std::vector<std::vector<packed_block>> blocks(parts.size());
    try {
      reserve_blocks(parts, blocks, filled);
      threads_.parallel_for(parts.size(),
                            [&](std::size_t p) { fill_packed(r, parts[p], blocks[p]); });
    } catch (...) {
      for (auto const& list : blocks)
        for (auto const& b : list) pool_.release(b.place);
      throw;
    }
    for (auto const& list : blocks)
      for (auto const& b : list) run_.add_bytes(b.record_bytes, largest_item_bytes);
    hand_over_packed(blocks);
  }

  void reserve_blocks(std::vector<part> const& parts,
                      std::vector<std::vector<packed_block>>& blocks, std::size_t filled) {
    for (std::size_t p = 0; p < parts.size(); ++p) {
      std::uint64_t const bytes = parts[p].bytes + sizeof(std::uint32_t) * parts[p].items;
      bool const fits_one = bytes + packed_bytes(0, 0) <= pool_.buffer_bytes();
      std::uint64_t const need = fits_one ? 1 : bytes / filled + 1;
      for (std::uint64_t i = 0; i < need; ++i) blocks[p].push_back({.place = queue_.acquire()});
    }
  }

  void fill_packed(round const& r, part const& p, std::vector<packed_block>& blocks) const {
    std::size_t current = 0;
    bool const reduces = equals_ == equal_items::made_one;
    std::optional<typename Family::key_type> last;
    auto emit = [&](typename Family::key_type const& key) {
      if (reduces) {
        if (last && family_.equal(*last, key)) return;
        last = key;
      }
      std::size_t const bytes = family_.size(key);
      if (!blocks[current].fits(bytes)) ++current;
      OUTSIZE_ASSERT(current < blocks.size() && blocks[current].fits(bytes));
      packed_block& b = blocks[current];
      Family::store(key, b.place.data() + b.record_bytes);
      b.close_record(bytes);
    };
    r.merge(p, emit);
  }

  void hand_over_packed(std::vector<std::vector<packed_block>>& blocks) {
    std::vector<packed_block> all;
    for (auto& list : blocks) all.insert(all.end(), list.begin(), list.end());
    for (std::size_t i = 0; i < all.size(); ++i) {
      packed_block const& b = all[i];
      if (b.items == 0) {
        pool_.release(b.place);
        continue;
      }
      try {
        close_packed(b);
      } catch (...) {
        for (std::size_t rest = i + 1; rest < all.size(); ++rest) pool_.release(all[rest].place);
        throw;
      }
    }
  }

  void close_packed(packed_block const& b) {
    std::size_t const length = std::min(block_length(b.used_bytes()), b.place.size());
    std::size_t const table_bytes = b.items * sizeof(std::uint32_t);
    std::memmove(b.place.data() + length - table_bytes,
                 b.place.data() + b.place.size() - table_bytes, table_bytes);
    auto const first = family_.block_view(b.place.first(length), b.items).key(0);
    append(b.place, length, b.items, family_.make_trigger(first));
  }

  Family const& family_;
  storage& store_;
  executor& threads_;
  block::buffer_pool& pool_;
  equal_items equals_;
  run_form form_;
  std::unique_ptr<block::placement> placement_;
  run<Family> run_;
  block::write_queue queue_;    // after run_: its writes end before the run's blocks may be freed
  block::frame open_;           // a block of fixed-size items that is not full yet
  std::size_t open_items_ = 0;  // in it
  // After queue_, from which it takes its buffers.
  [[no_unique_address]] std::conditional_t<Family::encodes, encoded_blocks<Family>, no_encoding>
      encoded_;
};

}  // namespace outsize::detail
