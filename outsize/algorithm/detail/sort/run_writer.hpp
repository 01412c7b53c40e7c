// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The writer of runs: rounds of a merge, or sorted items, as blocks.
//
// Each thread merges its part of a round to its final place in frames, which become the blocks. Of
// integer keys those are a step on the way, if the run is encoded:
//
//   round ──merge──▶ frames of items ─────────────────────────────▶ run_blocks ──▶ disk
//   sorted items ───────────┴──▶ encoded_blocks (integer keys) ──────────▲
//
// Frames of items of one size wait to be encoded until the next round is merged: all threads do
// both at once, and wait for each other once.
//
// Invariant: frames are the pool's, this object's, or given to its blocks. One thread at a time
// uses a writer. Layer: algorithm. Source: STXXL 2008, section 6.1.2.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/sort/encoded_blocks.hpp>
#include <outsize/algorithm/detail/sort/family/reduction.hpp>
#include <outsize/algorithm/detail/sort/merge_round.hpp>
#include <outsize/algorithm/detail/sort/run_blocks.hpp>
#include <outsize/base/assert.hpp>
#include <outsize/base/units.hpp>
#include <outsize/codec/detail/packed_block.hpp>

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
      : run_writer(family, store, threads, index_memory, pool, equals, form, run_places(store)) {}
  /// The same for blocks in `places`.
  run_writer(Family const& family, storage& store, executor& threads, grant& index_memory,
             block::buffer_pool& pool, equal_items equals, run_form form, run_places places)
      : family_(family),
        threads_(threads),
        pool_(pool),
        equals_(equals),
        form_(reduces_rounds(form, equals) ? run_form{} : form),
        blocks_(family, store, threads, index_memory, pool, form, std::move(places)),
        encoded_(family, pool, blocks_.queue(), form, blocks_.block_length(1)) {}
  run_writer(run_writer const&) = delete;
  run_writer& operator=(run_writer const&) = delete;
  ~run_writer() {
    if (!open_.empty()) pool_.release(open_);
  }

  /// Takes sorted items, none of which comes before those of earlier calls. They are copies
  /// afterwards. @throws io_error, out_of_space, budget_error.
  void write(std::span<std::byte const> sorted)
    requires(Family::fixed_size)
  {
    blocks_.add_bytes(sorted.size(), family_.item_bytes());
    if constexpr (Family::has_key_codec) {
      std::size_t const items = sorted.size() / family_.item_bytes();
      if (form_.is_encoded())
        return encoded_.write(family_.block_view(sorted, items).items(0, items), hand_over());
    }
    write_in_blocks(sorted);
  }

  /// Takes as much of the round as a part of the pool's buffers holds, at least one item; tells how
  /// much from each sequence by restricting the round.
  /// @throws io_error, out_of_space, budget_error.
  void write(round& r, std::size_t largest_item_bytes) {
    if constexpr (Family::fixed_size) {
      write_fixed(r);
    } else if (family_.item_bytes() != 0) {
      write_fixed(r);
    } else {
      write_packed(r, largest_item_bytes);
    }
  }

  /// Issues the writes of what is left in memory: nothing comes after it.
  void end() {
    auto const encode_waiting = [this] {
      append_waiting(
          [this](std::size_t count, auto const& encode) { threads_.parallel_for(count, encode); });
    };
    encode_waiting();
    if (open_items_ > 0) {
      leased_frames last(pool_);
      last.add(std::exchange(open_, {}));
      std::size_t const items = std::exchange(open_items_, 0);
      close_fixed(last, items, items);
      encode_waiting();
    }
    if constexpr (Family::has_key_codec) encoded_.finish(hand_over());
  }

  /// The same, and returns the finished run once all its blocks are on disk.
  run<Family> finish() {
    end();
    return blocks_.finish();
  }

  std::uint64_t index_bytes() const noexcept { return blocks_.index_bytes(); }
  std::uint64_t bytes() const noexcept { return blocks_.bytes(); }
  /// What encoding took of all threads.
  std::chrono::nanoseconds encoding_time() const noexcept {
    if constexpr (Family::has_key_codec) {
      return encoded_.time();
    } else {
      return blocks_.encoding_time();
    }
  }

 private:
  /// Whether equal items meet in rounds only: then these are not cut short for a first block.
  static bool reduces_rounds(run_form const& form, equal_items equals) noexcept {
    return equals == equal_items::made_one && !form.is_encoded();
  }

  /// For families whose blocks are encoded as a whole.
  struct no_key_codec {
    no_key_codec(auto const&...) {}
  };

  /// What one round fills, of the pool's buffers: the disk writes the other three quarters
  /// meanwhile.
  std::size_t frame_limit() const noexcept { return std::max<std::size_t>(1, pool_.count() / 4); }
  /// Whether blocks of items of one size are encoded while those of the next round are filled:
  /// there are those, what they become, and the next ones.
  bool encodes_behind() const noexcept {
    return blocks_.encodes_blocks() && pool_.count() >= least_behind;
  }
  std::size_t fixed_limit() const noexcept {
    return encodes_behind() ? pool_.count() / least_behind : frame_limit();
  }
  static constexpr std::size_t least_behind = 8;

  /// Calls run(count, body), which is to call body(i) for each i below the count, to encode the
  /// blocks that wait for that; then appends them.
  template <typename Run>
  void append_waiting(Run const& run) {
    if (waiting_) waiting_->acquire();
    std::size_t const encodings = waiting_ ? waiting_->encodings() : 0;
    run(encodings, [this](std::size_t i) { waiting_->encode(i); });
    if (!waiting_) return;
    waiting_->append();
    waiting_.reset();
  }

  /// Whether items go through frames into blocks of other lengths.
  bool encodes_items() const noexcept { return form_.is_encoded() && Family::has_key_codec; }

  /// What becomes of a block of encoded keys.
  auto hand_over() {
    return [this](block::frame filled, std::size_t used_bytes, std::size_t items,
                  typename Family::trigger trigger) {
      blocks_.append(filled, used_bytes, items, std::move(trigger), items * family_.item_bytes());
    };
  }

  // ---- items of one size: every block but the first and the last is full, and a round may begin
  // inside one ----

  /// The items of the next block, or of the blocks after that.
  std::size_t items_of_block(bool first) const {
    std::size_t const item = family_.item_bytes();
    std::size_t const full = std::max<std::size_t>(1, blocks_.most_item_bytes() / item);
    return first ? std::clamp<std::size_t>(form_.first_bytes / item, 1, full) : full;
  }
  bool is_first_block() const noexcept {
    return form_.first_bytes != 0 && blocks_.is_empty() && !waiting_ && !encodes_items();
  }

  void write_in_blocks(std::span<std::byte const> sorted) {
    std::size_t const item = family_.item_bytes();
    while (!sorted.empty()) {
      bool const first = is_first_block();
      std::size_t const most = first ? 1 : std::max<std::size_t>(1, pool_.count() / 2);
      std::vector<filled_block> blocks;
      while (!sorted.empty() && blocks.size() < most) {
        std::size_t const items = std::min(items_of_block(first), sorted.size() / item);
        blocks.push_back({sorted.first(items * item), items, {}});
        sorted = sorted.subspan(items * item);
      }
      blocks_.append_all(std::move(blocks));
    }
  }

  /// Walks through the places for items in consecutive frames.
  class frame_places final : public merge_places {
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

    std::span<std::byte> room() override {
      if (to_ == end_) next_frame();
      return {to_, end_};
    }
    void used(std::size_t bytes) noexcept override { to_ += bytes; }

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
    bool const first = is_first_block();
    std::size_t const per_block = items_of_block(first);
    std::size_t const limit = (first ? 1 : fixed_limit()) * per_block - open_items_;
    if (r.items() > limit) r.restrict_to_first(limit);
    std::size_t const open = std::exchange(open_items_, 0), total = r.items();

    leased_frames frames(pool_);
    if (open > 0) frames.add(std::exchange(open_, {}));
    while (frames.size() * per_block < open + total) frames.add(blocks_.acquire());
    auto const parts = r.cut(threads_.threads());
    auto const merge = [&](std::size_t p) {
      frame_places places(frames.frames(), item, per_block, open + parts[p].first_rank);
      if constexpr (Family::merges_by_copying) {
        merge_items(family_, parts[p], places);
      } else {
        auto emit = [&](typename Family::key_type const& key) {
          family_.store(key, places.next_item());
        };
        merge_keys(family_, parts[p], emit);
      }
    };
    append_waiting([&](std::size_t count, auto const& encode) {
      threads_.parallel_for(parts.size() + count, [&](std::size_t i) {
        i < parts.size() ? merge(i) : encode(i - parts.size());
      });
    });
    std::size_t const filled = equals_ == equal_items::made_one
                                   ? reduce(frames.frames(), parts, per_block, open)
                                   : open + total;
    blocks_.add_bytes((filled - open) * item, item);
    close_fixed(frames, filled, per_block);
  }

  /// Makes equal items one in frames that hold the open block's items and the merged parts. Returns
  /// how many are left.
  std::size_t reduce(std::vector<block::frame> const& frames, std::vector<part> const& parts,
                     std::size_t per_block, std::size_t open) {
    std::size_t const item = family_.item_bytes();
    auto const at = [&](std::size_t i) { return &frames[i / per_block][i % per_block * item]; };
    std::vector<std::span<std::byte>> stretches;  // of a part in a frame
    for (part const& p : parts) {
      std::size_t const end = open + p.first_rank + p.items;
      for (std::size_t i = open + p.first_rank, next; i < end; i = next) {
        next = std::min(end, (i / per_block + 1) * per_block);
        stretches.emplace_back(at(i), (next - i) * item);
      }
    }
    threads_.parallel_for(stretches.size(), [&](std::size_t s) {
      stretches[s] = stretches[s].first(reduce_sorted(family_, stretches[s]));
    });
    std::size_t kept = open;
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
    return kept;
  }

  bool equal_at(std::byte const* before, std::byte const* after) const {
    std::size_t const item = family_.item_bytes();
    auto const a = family_.view_of_one({before, item}), b = family_.view_of_one({after, item});
    return family_.equal(a.key(0), b.key(0));
  }

  /// Appends the full blocks of `frames`, which hold so many items; the last one stays open for the
  /// next round if it is not full.
  void close_fixed(leased_frames& frames, std::size_t items, std::size_t per_block) {
    std::size_t const item = family_.item_bytes();
    std::vector<filled_block> full;
    full.reserve(items / per_block);
    for (std::size_t f = 0; f < items / per_block; ++f) {
      auto const content = frames.frames()[f].first(per_block * item);
      if constexpr (Family::has_key_codec) {
        if (form_.is_encoded()) {
          encoded_.write(family_.block_view(content, per_block).items(0, per_block), hand_over());
          frames.release(f);
          continue;
        }
      }
      full.push_back({content, per_block, frames.give(f)});
    }
    if (items % per_block != 0) {
      open_ = frames.give(items / per_block);
      open_items_ = items % per_block;
    }
    if (full.empty()) return;
    if (encodes_behind())
      waiting_.emplace(blocks_, std::move(full));
    else
      blocks_.append_all(std::move(full));
  }

  // ---- items of many sizes: parts fill blocks of their own, packed ones ----

  struct open_block {
    block::frame place;
    packed_block packed;
  };

  void write_packed(round& r, std::size_t largest_item_bytes) {
    std::size_t const waste = packed_bytes(largest_item_bytes, 1);
    std::size_t const block_bytes = std::min(
        pool_.buffer_bytes(), std::max(blocks_.most_item_bytes(), blocks_.block_length(waste)));
    // A part for each thread of some blocks, so that the last one of each weighs little.
    std::size_t const frames =
        std::max(frame_limit(), std::min(pool_.count() / 2, 4 * threads_.threads()));
    // Any two consecutive blocks of a part hold at least B - 3 bytes, so b bytes need at most
    // b / (B/2 - 2) + 1 of them; when items are small against blocks, hardly more than b / (B -
    // item).
    std::size_t const filled =
        std::max(block_bytes / 2 - 2, block_bytes - std::min(block_bytes, waste));
    std::size_t part_count = std::clamp<std::size_t>(frames / 4, 1, threads_.threads());
    std::uint64_t limit = std::uint64_t{frames - part_count} * filled;
    if (part_count == 1) limit = std::max<std::uint64_t>(limit, block_bytes - packed_bytes(0, 0));
    if (blocks_.is_empty() && form_.first_bytes != 0)
      limit = std::min<std::uint64_t>(limit, form_.first_bytes);
    r.restrict_to_bytes(limit, sizeof(record_end));

    auto const parts = r.cut(part_count);
    leased_frames places(pool_);
    std::vector<std::vector<open_block>> blocks(parts.size());
    for (std::size_t p = 0; p < parts.size(); ++p) {
      for (std::size_t i = blocks_of_part(parts[p], block_bytes, filled); i > 0; --i) {
        places.add(blocks_.acquire());
        block::frame const place = places.frames().back();
        blocks[p].push_back({place, packed_block(place.first(block_bytes))});
      }
    }
    threads_.parallel_for(parts.size(), [&](std::size_t p) { fill_packed(parts[p], blocks[p]); });
    close_packed(places, blocks, largest_item_bytes);
  }

  static std::size_t blocks_of_part(part const& p, std::size_t block_bytes, std::size_t filled) {
    std::uint64_t const bytes = p.bytes + sizeof(record_end) * p.items;
    bool const fits_one = bytes + packed_bytes(0, 0) <= block_bytes;
    return fits_one ? 1 : static_cast<std::size_t>(bytes / filled + 1);
  }

  void fill_packed(part const& p, std::vector<open_block>& blocks) const {
    std::size_t current = 0;
    bool const reduces = equals_ == equal_items::made_one;
    std::optional<typename Family::key_type> last;
    auto emit = [&](typename Family::key_type const& key) {
      if (reduces) {
        if (last && family_.equal(*last, key)) return;
        last = key;
      }
      if (blocks[current].packed.append(key.record())) return;
      ++current;
      bool const fits = current < blocks.size() && blocks[current].packed.append(key.record());
      OUTSIZE_ASSERT(fits);
    };
    merge_keys(family_, p, emit);
  }

  void close_packed(leased_frames& places, std::vector<std::vector<open_block>> const& blocks,
                    std::size_t largest_item_bytes) {
    std::vector<filled_block> full;
    full.reserve(places.size());
    std::size_t i = 0;
    for (auto const& list : blocks) {
      for (auto const& [place, packed] : list) {
        block::frame const owned = places.give(i++);
        if (packed.items() == 0) {
          pool_.release(owned);
          continue;
        }
        blocks_.add_bytes(packed.record_bytes(), largest_item_bytes);
        full.push_back({shrunk(packed), packed.items(), owned});
      }
    }
    blocks_.append_all(std::move(full));
  }

  /// As long as it is on disk if it is not encoded.
  std::span<std::byte const> shrunk(packed_block const& b) const {
    return b.shrink(std::min(blocks_.block_length(b.used_bytes()), b.place_bytes()));
  }

  Family const& family_;
  executor& threads_;
  block::buffer_pool& pool_;
  equal_items equals_;
  run_form form_;
  run_blocks<Family> blocks_;
  std::optional<typename run_blocks<Family>::step> waiting_;  // full, to be encoded
  block::frame open_;           // a block of fixed-size items that is not full yet
  std::size_t open_items_ = 0;  // in it
  // After blocks_, from whose queue it takes its buffers.
  [[no_unique_address]] std::conditional_t<Family::has_key_codec, encoded_blocks<Family>,
                                           no_key_codec>
      encoded_;
};

}  // namespace outsize::detail
