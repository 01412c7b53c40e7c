// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Run formation: chunks of memory take turns at being filled, sorted and written out as runs.
//
//   chunks ──▶ producer ──▶ sort ──▶ spill ──▶ written ──▶ runs on disk
//   demands ─────┘ └──────────────────▲
//
// Nothing is spilled before it must be: input that fits in the chunks stays there. From the first
// spill on (from the beginning, if the input is known to be too large) every chunk is spilled as
// soon as it is sorted, so that filling, sorting and writing overlap; but for the last ones, which
// stay in memory if the merge can do without theirs. How many chunks the input fills is planned;
// or where lengths vary, foreseen from those that it has filled.
//
// Where equal items are made one, that happens as soon as a chunk is sorted.
//
// Items of one type are written from where they were sorted, if each chunk is sorted by one thread;
// the parts of several threads are merged, and records gathered, into blocks. Runs are encoded on
// the way where that pays (codec_policy.hpp).
//
// Where memory is not named (chunk_memory), chunks get theirs one by one, as they are needed and
// others leave it, and give it back, but for the one that is being filled: those that are free, or
// sorted, once they are spilled. With another plan a second formation follows the first.
//
// Invariant: runs, and chunks still in memory, are in the order of the input; each is sorted; a
// chunk without memory is with the producer. The producer is one thread at a time; the rest is a
// network, which asks nobody for memory. Layer: algorithm.
// Source: STXXL 2008, section 6.1.1; Dementiev, Sanders: Asynchronous parallel disk sorting, SPAA
// 2003.

#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/sort/codec_policy.hpp>
#include <outsize/algorithm/detail/sort/in_place_run.hpp>
#include <outsize/algorithm/detail/sort/merge_feed.hpp>
#include <outsize/algorithm/detail/sort/run_writer.hpp>
#include <outsize/algorithm/sort_plan.hpp>
#include <outsize/base/assert.hpp>
#include <outsize/base/detail/page_supply.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/machine.hpp>
#include <outsize/base/memory_holder.hpp>
#include <outsize/pipeline/network.hpp>

namespace outsize::detail {

/// Where run formation has memory from that was not named.
class chunk_memory {
 public:
  /// Makes the grant longer by `bytes`, if they are its share.
  virtual bool grow(std::uint64_t bytes) = 0;
  /// The same, whatever it takes. @throws budget_error, io_error.
  virtual void extend(std::uint64_t bytes) = 0;
  /// The same as far as that goes. @throws io_error.
  virtual void extend_if_possible(std::uint64_t bytes) = 0;
  /// Takes note that run formation cannot do without `bytes` of the grant from now on.
  virtual void note_least(std::uint64_t bytes) = 0;

 protected:
  ~chunk_memory() = default;
};

template <typename Family>
class run_formation {
 public:
  using chunk = typename Family::chunk;
  using view = typename Family::view;

  /// Takes chunks and write buffers as planned from `memory`, and charges the index of the runs to
  /// it. `stop` makes everything give up with `cancelled`, this call too if it has been triggered.
  /// In the input each item has `overhead_bytes` more. With `source`, `memory` grows as it is
  /// needed; after `runs_before` of former formations, it has room for what spilling takes.
  run_formation(Family const& family, storage& store, grant& memory, sort_plan const& plan,
                equal_items equals = equal_items::kept, std::stop_token stop = {},
                bool trace = false, std::size_t overhead_bytes = 0, chunk_memory* source = nullptr,
                std::size_t runs_before = 0)
      : family_(family),
        store_(store),
        memory_(memory),
        source_(source),
        plan_(plan),
        block_bytes_(plan.block_bytes),
        codecs_(family, store, plan.codec, plan.chunks * plan.chunk_bytes),
        slots_(plan.chunks),
        equals_(equals),
        overhead_bytes_(overhead_bytes),
        runs_before_(runs_before),
        spilling_(plan.runs > 0),
        least_runs_(plan.runs > 0 ? plan.runs : every_chunk),
        network_(store.memory(), {.name = "sort, forming runs",
                                  .threads = plan.sorts_at_once + 1,  // and one that spills
                                  .tune = false,
                                  .trace = trace,
                                  .errors_name_stages = false}) {
    if (source_ == nullptr) {
      for (std::size_t i = 0; i < slots_.size(); ++i) give_memory(i);
      for (std::size_t i = 0; i < plan.scratch_chunks; ++i) add_scratch();
      if (spilling_) supply_pages();  // all chunks will be filled
    } else if (runs_before == 0) {
      source_->extend(plan.chunk_bytes);
    } else {
      for (std::size_t i = 0; i < plan.scratch_chunks; ++i) add_scratch();
      may_spill_ = true;
    }
    auto const producer = describe_network();
    network_.start(std::move(stop));
    ports_.emplace(network_.ports_of(producer));
    with_real_error([&] {
      while (source_ != nullptr && without_memory_.size() < slots_.size())
        without_memory_.push_back(ports_->take(chunk_pool));
      if (source_ != nullptr) return_with_memory();
      next_chunk();
    });
  }

  // ---- memory that comes and goes ----

  /// What it cannot do without, of what it has now: the chunk that is being filled, and what goes
  /// to disk with it.
  std::uint64_t least_bytes() const noexcept {
    std::size_t const chunks = std::min<std::size_t>(with_memory_, 1);
    return chunks * plan_.chunk_bytes + beside_chunks_bytes();
  }
  /// Of a plan, to spill whatever comes, with one chunk.
  static std::uint64_t spilling_with_one_chunk(sort_plan const& plan) noexcept {
    return (1 + plan.scratch_chunks) * plan.chunk_bytes + spilling_bytes(plan);
  }
  bool has_spilled() const noexcept { return demanded_ > 0; }
  /// Of those that have come in.
  std::size_t largest_item_bytes() noexcept {
    return std::max(largest_, current_ ? current().largest_item_bytes() : 0);
  }
  /// Gives back to the grant the memory of chunks: as many bytes, or a little more, but for the
  /// least. @throws what a stage threw.
  void give_back(std::uint64_t bytes, give_cost most) {
    if (ended_) return;
    std::uint64_t given = 0;
    auto const may_give = [&] { return given < bytes && with_memory_ > 1; };
    with_real_error([&] {
      while (may_give()) {
        auto freed = ports_->try_take(chunk_pool);
        if (!freed && most == give_cost::written && demanded_ < submitted_) {
          spilling_ = true;
          while (demanded_ < submitted_) demand();
        }
        if (!freed && (most != give_cost::written || taken_ - demanded_ >= with_memory_)) break;
        if (!freed) freed = ports_->take(chunk_pool);
        slots_[freed->index()].reset();
        without_memory_.push_back(std::move(*freed));
        --with_memory_;
        given += plan_.chunk_bytes;
      }
    });
    memory_.shrink(given);
  }

  /// A full block of a plain run of items of one length, in a sort that is planned so.
  /// @throws io_error, if disks have to be asked.
  static full_block plain_block(Family const& family, storage& store, sort_plan const& plan) {
    std::size_t const item = family.item_bytes(), unit = block_unit_bytes(store);
    std::size_t items = 0;
    if constexpr (Family::fixed_size) {
      if (parts_of_sort(store, plan) == 1)
        items = in_place_run<Family>::items_of_block(family, store, plan.block_bytes);
    }
    if (items == 0) items = round_up(std::max(plan.block_bytes, item), unit) / item;
    return {items, item, round_up(items * item, unit)};
  }

  /// Runs are to lie in `room`. @pre no chunk was handed over; `room` outlives the runs.
  void put_runs_in(output_room& room) noexcept { room_ = &room; }

  /// The chunk to fill.
  chunk& current() noexcept { return slot_of(current_).items; }

  /// Hands the current chunk over to be sorted and waits for an empty one. @throws what a stage
  /// threw.
  void hand_over() {
    with_real_error([&] {
      submit();
      next_chunk();
    });
  }

  /// Ends the input: afterwards runs() holds the first chunks, and resident_views() those that come
  /// after them; none with `spills_all`. @throws what a stage threw.
  void finish(bool spills_all = false) {
    with_real_error([&] {
      if (current_ && current().count() > 0) submit();
      current_.reset();
      ports_->close(to_sort);
      while (spills_all && demanded_ < submitted_) demand();
      if (demanded_ > 0 || runs_before_ > 0 || must_spill())
        while (demanded_ + chunks_to_keep(runs_before_ + submitted_) < submitted_) demand();
      ports_->close(to_spill);
      without_memory_.clear();
    });
    ended_ = true;
    network_.finish();
    OUTSIZE_ASSERT(!ending_);
    supply_.reset();  // before any memory goes
    scratch_.clear();
    pool_.reset();
    release_spilled_chunks();
  }

  std::vector<run<Family>>& runs() noexcept { return runs_; }

  /// What its stages did. @pre finish() has returned.
  pipeline::network_report report() const { return network_.report(); }

  /// Sorted views of what stayed in memory, in its order, as long as this object lives.
  std::vector<view> resident_views() const {
    std::vector<view> all;
    for (slot const* s : resident_) all.insert(all.end(), s->views.begin(), s->views.end());
    return all;
  }
  /// That of the chunks that stayed.
  std::uint64_t resident_memory_bytes() const noexcept {
    return resident_.size() * plan_.chunk_bytes;
  }
  std::size_t resident_largest_item_bytes() const noexcept {
    std::size_t largest = 0;
    for (slot const* s : resident_) largest = std::max(largest, s->items.largest_item_bytes());
    return largest;
  }

  /// The length of blocks that hold items of this size.
  std::size_t block_for(std::size_t item_bytes) const {
    return round_up(block_before_rounding(item_bytes), block_unit_bytes(store_));
  }
  /// The same, but for what disks ask for: they are not asked.
  std::size_t block_before_rounding(std::size_t item_bytes) const {
    std::size_t const need = family_.item_bytes() != 0 ? item_bytes : packed_bytes(item_bytes, 1);
    return std::max(block_bytes_.load(), need);
  }

 private:
  // ---- memory that comes and goes ----

  void give_memory(std::size_t index) {
    slots_[index] = std::make_unique<slot>(family_, memory_, plan_.chunk_bytes);
    ++with_memory_;
  }
  void add_scratch() {
    scratch_.push_back(memory_.allocate(plan_.chunk_bytes));
    ++scratch_count_;
  }
  /// Of a chunk without memory, for which the grant has room: it can be taken from now on.
  void return_with_memory() {
    pipeline::pooled_buffer const goes_home = std::move(without_memory_.back());
    without_memory_.pop_back();
    give_memory(goes_home.index());
  }
  /// Whether another chunk can be taken that needs not be waited for.
  bool grow() {
    std::uint64_t const beside = may_spill_ ? 0 : spilling_bytes();
    if (without_memory_.empty() || !source_->grow(plan_.chunk_bytes + beside)) return false;
    may_spill_ = true;  // at any time, also to give memory back
    return_with_memory();
    return true;
  }
  /// Of what goes to disk: buffers, the index of the runs; with what chunks are sorted into.
  std::uint64_t beside_chunks_bytes() const noexcept {
    return scratch_count_ * plan_.chunk_bytes + (may_spill_ ? spilling_bytes() : 0);
  }
  std::uint64_t spilling_bytes() const noexcept { return spilling_bytes(plan_); }
  static std::uint64_t spilling_bytes(sort_plan const& plan) noexcept {
    return plan.write_buffers * plan.block_bytes + plan.index_bytes + page_bytes();
  }
  /// Whether what has come in is more than may stay in memory beside the output.
  bool must_spill() const noexcept {
    return source_ != nullptr &&
           submitted_ * plan_.chunk_bytes > plan_.merge_bytes + plan_.index_bytes;
  }

  struct slot {
    chunk items;
    std::vector<view> views;                       // sorted parts, once sorted
    std::optional<in_place_run<Family>> in_place;  // what writes it, if it stays until that ends
    std::optional<run_writer<Family>> copied;      // likewise

    slot(Family const& family, grant& memory, std::size_t bytes)
        : items(make_chunk(family, memory, bytes)) {}
  };

  static chunk make_chunk(Family const& family, grant& memory, std::size_t bytes) {
    if constexpr (requires { chunk(family, memory, bytes); }) {
      return chunk(family, memory, bytes);
    } else {
      return chunk(memory, bytes);
    }
  }

  static constexpr auto every_chunk = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::size_t chunk_pool = 0, demand_pool = 1;  // of the producer
  static constexpr std::size_t to_sort = 0, to_spill = 1;
  static constexpr std::size_t sorted_input = 0, demand_input = 1;  // of the spilling node

  void supply_pages() {
    std::vector<std::span<std::byte>> chunks;
    for (auto const& s : slots_) chunks.push_back(s->items.memory());
    supply_.emplace(std::move(chunks));
  }

  /// Returns the producer.
  pipeline::stage_id describe_network() {
    auto const chunks =
        network_.pool({.name = "chunks", .buffer_bytes = 0, .count = slots_.size()});
    auto const demands =
        network_.pool({.name = "demands", .buffer_bytes = 0, .count = slots_.size()});
    auto const produced =
        network_.external("producer", {.inputs = {}, .pools = {chunks, demands}, .outputs = 2});
    auto const sorted =
        produced[to_sort] | pipeline::stage("sort", [this](pipeline::pooled_buffer& b) {
                              sort(slot_of(b));
                            }).replicate(plan_.sorts_at_once);
    auto const spilled =
        network_.node("spill", {.inputs = {sorted, produced[to_spill]}, .pools = {}, .outputs = 1},
                      [this](pipeline::ports& p) { spill_on_demand(p); });
    auto written = pipeline::stage("written", [this](pipeline::pooled_buffer& b) {
      slot& s = slot_of(b);
      runs_.push_back(s.copied ? s.copied->finish() : s.in_place->finish());
      s.copied.reset();
      s.in_place.reset();
    });
    spilled[0] | std::move(written).waits();
    return produced.id;
  }

  /// Of each chunk: as many as there are threads for.
  static std::size_t parts_of_sort(storage& store, sort_plan const& plan) noexcept {
    return store.threads().threads() / plan.sorts_at_once;
  }
  std::size_t parts_of_sort() const noexcept { return parts_of_sort(store_, plan_); }

  void sort(slot& s) {
    if (family_.sorts_out_of_place)
      sort_out_of_place(s);
    else
      s.views = s.items.sort(family_, store_.threads(), parts_of_sort(), equals_);
    codecs_.note_sorted(s.items.bytes());
  }

  void sort_out_of_place(slot& s) {
    buffer scratch = take_scratch();
    if constexpr (requires {
                    s.items.sort(family_, store_.threads(), parts_of_sort(), equals_, scratch);
                  })
      s.views = s.items.sort(family_, store_.threads(), parts_of_sort(), equals_, scratch);
    std::lock_guard const lock(scratch_mutex_);
    scratch_.push_back(std::move(scratch));
  }

  /// There is one for each chunk that is being sorted.
  buffer take_scratch() {
    std::lock_guard const lock(scratch_mutex_);
    buffer taken = std::move(scratch_.back());
    scratch_.pop_back();
    return taken;
  }

  /// Does what the producer has to do in its ports; says why if the network has ended.
  void with_real_error(auto const& in_ports) {
    try {
      in_ports();
    } catch (pipeline::poisoned const&) {
      network_.rethrow_error();
      throw;
    }
  }

  slot& slot_of(pipeline::pooled_buffer const& b) noexcept { return *slots_[b.index()]; }

  /// What holds no item, or only such as are on disk, is memory for the merge and the output.
  void release_spilled_chunks() {
    for (auto& s : slots_)
      if (std::ranges::find(resident_, s.get()) == resident_.end()) s.reset();
  }

  /// How many of the last of `chunks` chunks the merge can do without.
  std::size_t chunks_to_keep(std::uint64_t chunks) const {
    std::size_t const most_growth = blocks_may_grow(chunks) ? 2 : 1;
    return chunks_beside_merge(plan_, chunks,
                               most_growth * codecs_.held_bytes(block_for(largest_)));
  }
  /// Whether blocks may yet grow with the index of so many runs.
  bool blocks_may_grow(std::uint64_t runs) const {
    if (least_runs_ == every_chunk) return true;
    if (family_.item_bytes() != 0) return false;  // it was planned for them
    std::uint64_t const of_run = most_run_index_bytes_.load();
    return of_run == 0 || runs * of_run > plan_.index_bytes / 2;
  }

  void submit() {
    current_.resize(current().bytes());
    largest_ = std::max(largest_, current().largest_item_bytes());
    if (source_ != nullptr && scratch_count_ < plan_.scratch_chunks) {
      source_->extend(plan_.chunk_bytes);
      {
        std::lock_guard const lock(scratch_mutex_);
        add_scratch();
      }
      source_->note_least(least_bytes());
    }
    submitted_bytes_ += current().bytes() + current().count() * overhead_bytes_;
    ports_->convey(std::move(current_), to_sort);
    ++submitted_;
    if (family_.item_bytes() == 0) foresee_runs();
  }

  /// From the chunks so far, as long as not all that was announced has come.
  void foresee_runs() {
    std::uint64_t const announced = plan_.input_bytes.value_or(0);
    if (announced <= submitted_bytes_ || submitted_bytes_ == 0) return;
    double const rest = static_cast<double>(announced - submitted_bytes_) *
                        static_cast<double>(submitted_) / static_cast<double>(submitted_bytes_);
    std::uint64_t const chunks = submitted_ + static_cast<std::uint64_t>(std::ceil(rest));
    least_runs_ = chunks - chunks_to_keep(chunks);
  }

  void demand() {
    if (source_ != nullptr && !std::exchange(may_spill_, true)) source_->extend(spilling_bytes());
    // Of what comes the index may be longer than was planned.
    if (std::uint64_t const more = 4 * most_run_index_bytes_.load();
        source_ != nullptr && memory_.free_bytes() < more && !source_->grow(more))
      source_->extend_if_possible(more);
    if (demanded_ == submitted_) return;  // to give memory back on the way
    ports_->convey(ports_->take(demand_pool), to_spill);
    ++demanded_;
  }

  void next_chunk() {
    auto next = ports_->try_take(chunk_pool);
    if (!next && source_ != nullptr && grow()) next = ports_->take(chunk_pool);
    // Of the chunks ever free, with_memory_ were so from the start and one more for each demand.
    if (with_memory_ + demanded_ <= taken_) {
      spilling_ = true;
      // There is more than was foreseen, perhaps not much.
      if (least_runs_ != every_chunk)
        least_runs_ = std::max<std::uint64_t>(least_runs_, demanded_) +
                      std::exchange(unforeseen_runs_, 2 * unforeseen_runs_);
    }
    while (spilling_ && demanded_ < std::min<std::uint64_t>(submitted_, least_runs_)) demand();
    current_ = next ? std::move(*next) : ports_->take(chunk_pool);
    if (supply_) supply_->claim(current_.index());
    current().clear();  // here, as a failure elsewhere brings chunks home in any state
    ++taken_;
  }

  void spill_on_demand(pipeline::ports& p) {
    while (p.accept(demand_input)) {
      auto sorted = p.accept(sorted_input);
      spill(std::move(*sorted), p);
    }
    finish_ending();
    while (auto const sorted = p.accept(sorted_input)) resident_.push_back(&slot_of(*sorted));
  }

  void spill(pipeline::pooled_buffer sorted, pipeline::ports& p) {
    slot& s = slot_of(sorted);
    if constexpr (Family::fixed_size) {
      if (parts_of_sort() == 1) {
        spill_in_order(s);
        p.convey(std::move(sorted));
        return;
      }
    }
    prepare_pool(s.items.largest_item_bytes());
    auto current = std::make_unique<run_writer<Family>>(family_, store_, store_.threads(), memory_,
                                                        *pool_, equals_, form_for(s), places_of(s));
    run_writer<Family>& writer = *current;
    merge_feed<Family> feed(family_, store_.threads(), s.views, s.items.largest_item_bytes());
    for (auto round = feed.next_round(); round.items() > 0; round = feed.next_round()) {
      p.check();
      writer.write(round, feed.largest_item_bytes());
      feed.consume(round);
    }
    writer.end();
    sorted.reset();  // the last blocks are still being written, but they are copies
    note_spilled(writer);
    finish_ending();
    ending_ = std::move(current);
  }

  /// Waits for the blocks of the run before this one: its last writes had the time of a whole run.
  void finish_ending() {
    if (ending_) runs_.push_back(ending_->finish());
    ending_.reset();
  }

  /// Issues the writes of a chunk sorted in one part: from where it lies; or copied, if its run is
  /// encoded, or no two blocks of such items can lie side by side.
  void spill_in_order(slot& s)
    requires(Family::fixed_size)
  {
    if (codecs_.may_encode()) {
      prepare_pool(family_.item_bytes());
      if (run_form const form = form_for(s); form.is_encoded()) return spill_copies(s, form);
    }
    fit_blocks_to_index();
    std::size_t const of_block =
        in_place_run<Family>::items_of_block(family_, store_, block_bytes_);
    if (of_block == 0) {
      prepare_pool(family_.item_bytes());
      return spill_copies(s, {.first_bytes = staggered_bytes(block_bytes_, spilled_runs_)});
    }
    s.in_place.emplace(family_, memory_, places_of(s));
    std::size_t const first = in_place_run<Family>::items_of_block(
        family_, store_, staggered_bytes(block_bytes_, spilled_runs_));
    s.in_place->write(items_of(s), of_block, first > 0 ? first : of_block);
    note_spilled(*s.in_place);
  }

  /// @pre there is a pool.
  void spill_copies(slot& s, run_form form)
    requires(Family::fixed_size)
  {
    s.copied.emplace(family_, store_, store_.threads(), memory_, *pool_, equals_, form,
                     places_of(s));
    s.copied->write(items_of(s));
    s.copied->end();
    note_spilled(*s.copied);
  }

  /// Of the blocks of a sorted chunk.
  run_places places_of(slot const& s) const {
    std::uint64_t items = 0;
    for (view const& v : s.views) items += v.size();
    return {store_, room_, items};
  }

  /// Of a chunk sorted in one part.
  static std::span<std::byte const> items_of(slot const& s) noexcept {
    return std::as_bytes(s.views[0].items(0, s.views[0].size()));
  }

  template <typename Writer>
  void note_spilled(Writer const& writer) {
    ++spilled_runs_;
    next_index_bytes_ = writer.index_bytes();
    most_run_index_bytes_ = std::max(most_run_index_bytes_.load(), next_index_bytes_);
    index_bytes_ += next_index_bytes_;
    codecs_.note_written(writer);
  }

  /// How the run of a sorted chunk is to be written. @pre there is a pool.
  run_form form_for(slot const& s) {
    return codecs_.form_for(s.views[0], *pool_, block_bytes_,
                            staggered_bytes(block_bytes_, spilled_runs_));
  }

  /// Sees that blocks grow before their index fills its share of memory.
  void fit_blocks_to_index() {
    // To three quarters of the share, seven eighths, …: what is left lasts for ever more bytes.
    while (index_bytes_ + next_index_bytes_ >
               plan_.index_bytes - (plan_.index_bytes >> (index_doublings_ + 2)) &&
           plan_.write_buffers * plan_.block_bytes >= 4 * 2 * block_bytes_) {
      block_bytes_ = 2 * block_bytes_;
      next_index_bytes_ /= 2;
      ++index_doublings_;
    }
  }

  /// Sees that blocks hold the largest item.
  void prepare_pool(std::size_t largest_item_bytes) {
    fit_blocks_to_index();
    std::size_t const bytes = block_for(largest_item_bytes);
    if (pool_ && pool_->buffer_bytes() == bytes) return;
    std::size_t const count = plan_.write_buffers * plan_.block_bytes / bytes;
    if (count < 2)
      throw_too_long_for(memory_.asker(), largest_item_bytes, plan_.memory_bytes, store_.memory());
    release_pool();
    pool_.emplace(memory_, bytes, count);
  }

  /// Waits for the writes of runs that have ended, but may still be under way.
  void release_pool() {
    if (!pool_) return;
    finish_ending();
    std::vector<block::frame> all(pool_->count());
    for (block::frame& f : all) f = pool_->acquire();
    for (block::frame const f : all) pool_->release(f);
    pool_.reset();
  }

  Family const& family_;
  storage& store_;
  grant& memory_;
  chunk_memory* source_;  // nullptr: memory has all that it needs
  sort_plan plan_;
  std::atomic<std::size_t> block_bytes_;  // grows in the spilling node
  unsigned index_doublings_ = 0;
  std::uint64_t index_bytes_ = 0;       // of the runs; of the spilling node
  std::uint64_t next_index_bytes_ = 0;  // likewise: what a run like the last one adds
  std::uint64_t spilled_runs_ = 0;      // likewise
  std::atomic<std::uint64_t> most_run_index_bytes_{0};  // set by it
  codec_policy<Family> codecs_;
  // Until finish() of the stage "written", if chunks are sorted in one part and have one type, or
  // else of the spilling node.
  std::vector<run<Family>> runs_;
  std::optional<block::buffer_pool> pool_;      // of the spilling node
  std::unique_ptr<run_writer<Family>> ending_;  // likewise: its last blocks are being written

  std::mutex scratch_mutex_;
  std::vector<buffer> scratch_;  // those that nobody is sorting into
  std::vector<std::unique_ptr<slot>> slots_;
  std::vector<slot*> resident_;
  std::optional<page_supply> supply_;  // of chunks that have not been filled yet

  std::size_t with_memory_ = 0;  // chunks
  std::size_t scratch_count_ = 0;
  bool may_spill_ = false;  // the grant has room for that
  bool ended_ = false;
  std::size_t taken_ = 0;
  std::size_t submitted_ = 0;
  std::uint64_t submitted_bytes_ = 0;  // of the input
  std::size_t demanded_ = 0;
  std::size_t largest_ = 0;  // item submitted
  equal_items equals_;
  std::size_t overhead_bytes_;  // of each item in the input
  std::size_t runs_before_;
  output_room* room_ = nullptr;
  bool spilling_;
  std::uint64_t least_runs_;           // to be spilled as soon as they are sorted
  std::uint64_t unforeseen_runs_ = 1;  // that are added to them if there is more
  pipeline::network network_;          // late: its threads end before anything else does
  std::optional<pipeline::ports> ports_;
  std::vector<pipeline::pooled_buffer> without_memory_;  // chunks, with the producer
  pipeline::pooled_buffer current_;                      // the producer's
};

}  // namespace outsize::detail
