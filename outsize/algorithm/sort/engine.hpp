// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The sorting engine: items go in, sorted windows of memory come out.
//
//   fill / append … finish_input()   run formation; items stay in memory if they all fit
//   next(), recycle() …              the last merge, running ahead of its consumer
//
// A `Family` says what items are: typed_items (one C++ type) or record_items (byte strings).
// Everything else, I/O, buffers, threads, division of memory, is the same for both.
//
// Invariant: all large memory comes from one grant, taken before the first I/O. Equal input gives
// equal output for any number of threads, memory and block size: ties are decided by the order of
// the input. One thread at a time uses an engine. Layer: algorithm. Source: Dementiev, Sanders:
// Asynchronous parallel disk sorting, SPAA 2003; STXXL 2008, section 6.

#include <algorithm>
#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include <outsize/algorithm/sort/merge_feed.hpp>
#include <outsize/algorithm/sort/record_items.hpp>
#include <outsize/algorithm/sort/reduction.hpp>
#include <outsize/algorithm/sort/run_formation.hpp>
#include <outsize/algorithm/sort/run_writer.hpp>
#include <outsize/algorithm/sort/sort_options.hpp>
#include <outsize/algorithm/sort/sort_plan.hpp>
#include <outsize/algorithm/sort/typed_items.hpp>
#include <outsize/algorithm/sort/window_writer.hpp>
#include <outsize/base/error.hpp>
#include <outsize/pipeline/network.hpp>

namespace outsize::detail {

/// What the engine asks of a kind of items; see typed_items.hpp and record_items.hpp.
template <typename F>
concept item_family = requires(F const family, typename F::key_type const key, std::byte* to,
                               typename F::trigger const trigger) {
  typename F::view;
  typename F::chunk;
  { family.item_bytes() } -> std::same_as<std::size_t>;
  { family.less()(key, key) } -> std::convertible_to<bool>;
  { family.equal(key, key) } -> std::convertible_to<bool>;
  { F::store(key, to) } -> std::same_as<std::byte*>;
  { F::combines } -> std::convertible_to<bool>;
  { F::has_key_codec } -> std::convertible_to<bool>;
  { family.make_trigger(key) } -> std::same_as<typename F::trigger>;
  { family.trigger_key(trigger) } -> std::same_as<typename F::key_type>;
};

/// Sorted items in a piece of the engine's memory: `lead` free bytes, then the items.
struct sorted_window {
  std::span<std::byte> memory;
  std::size_t lead = 0;
  std::size_t bytes = 0;
  std::size_t items = 0;
  std::size_t index = 0;  // of the engine's windows

  std::span<std::byte> data() const noexcept { return memory.subspan(lead, bytes); }
};

template <item_family Family>
class sort_engine {
 public:
  using chunk = typename Family::chunk;
  static constexpr bool can_give_all_items = !Family::combines;

  /// Takes its memory at once. @throws budget_error if it is too little; io_error if a disk cannot
  /// be used.
  sort_engine(storage& store, Family family, sort_options options, item_framing framing = {},
              std::uint64_t input_stream_bytes = 0);
  ~sort_engine();

  sort_engine(sort_engine const&) = delete;
  sort_engine& operator=(sort_engine const&) = delete;

  /// Memory for each block on disk.
  static std::size_t index_entry_bytes(storage const& store) noexcept {
    return run<Family>::entry_bytes(store) + merge_feed<Family>::bytes_per_block;
  }

  /// What a sort is planned from that has `memory_bytes`, those of the input stream included.
  /// @throws io_error, if disks have to be asked.
  static sort_job job_of(storage& store, Family const& family, sort_options const& options,
                         std::uint64_t memory_bytes, std::uint64_t input_stream_bytes) {
    // Only blocks of whole pages do for any disk.
    std::size_t const block_bytes = options.block_bytes % page_bytes() == 0
                                        ? options.block_bytes
                                        : round_up(options.block_bytes, block_unit_bytes(store));
    return {.memory_bytes = memory_bytes,
            .input_stream_bytes = input_stream_bytes,
            .input_bytes = options.input_bytes,
            .item_bytes = family.item_bytes(),
            .index_entry_bytes = index_entry_bytes(store),
            .out_of_place = Family::sorts_out_of_place,
            .block_bytes = block_bytes,
            .codec = options.codec,
            .key_codec = Family::has_key_codec,
            .threads = store.threads().threads(),
            .most_fan_in = options.most_fan_in};
  }

  /// Whether of items that compare equal one is left.
  static bool reduces(sort_options const& options) noexcept {
    return Family::combines || options.unique;
  }

  Family const& family() const noexcept { return family_; }
  sort_plan const& plan() const noexcept { return plan_; }

  // ---- in ----

  /// The chunk to fill with items of one type; chunk_full() when its room is used up.
  chunk& current_chunk() noexcept { return formation_->current(); }
  void chunk_full();

  /// Adds a record (families of byte strings). @throws budget_error naming both sizes if it is too
  /// long for the memory; what a stage threw.
  void append(std::string_view record)
    requires(!Family::fixed_size)
  {
    if (formation_->current().append(family_, record)) return;
    if (formation_->current().count() > 0) {
      chunk_full();
      if (formation_->current().append(family_, record)) return;
    }
    throw_too_long(record.size());
  }

  /// The same for many at once, which is faster.
  void append(std::span<std::string_view const> records)
    requires(!Family::fixed_size)
  {
    for (;;) {
      records = records.subspan(formation_->current().append(family_, records));
      if (records.empty()) return;
      append(records.front());  // which finds room in the next chunk
      records = records.subspan(1);
    }
  }

  [[noreturn]] void throw_too_long(std::uint64_t item_bytes) const {
    if (item_bytes > most_record_bytes)
      throw budget_error(memory_.asker(), most_record_bytes, item_bytes,
                         fmt::format("item of {} bytes is too long to be sorted: {} are the most",
                                     item_bytes, most_record_bytes));
    throw budget_error(memory_.asker(), report_.memory_bytes, item_bytes,
                       fmt::format("item of {} bytes is too long to be sorted with a memory budget "
                                   "of {} bytes",
                                   item_bytes, report_.memory_bytes));
  }

  /// Ends the input and starts the merge. Windows begin at multiples of `output_alignment`, with a
  /// lead; the first one is for an output that has `output_begin_bytes` already.
  /// @throws what a stage threw.
  void finish_input(std::size_t output_alignment = 1, std::uint64_t output_begin_bytes = 0);

  // ---- out ----

  /// From here on, if the order throws in the last merge, the items that are left come out all the
  /// same, in no order, and equal ones are kept: for who has put the first ones in their place
  /// already. failure() tells. @pre finish_input() was not called; items have one size.
  void give_all_items() noexcept
    requires can_give_all_items
  {
    gives_all_items_ = true;
  }
  /// What the order has thrown, if anything; windows that come later than it are in no order. Also
  /// while next() runs.
  std::exception_ptr failure() const noexcept {
    return has_failed_.load(std::memory_order_acquire) ? failure_ : nullptr;
  }

  /// The next window of sorted items, nothing at the end. @throws what a stage threw.
  std::optional<sorted_window> next();

  /// Gives back the memory of a window that has been used. @pre no rewind() since it came.
  void recycle(sorted_window const& used) noexcept { lent_[used.index].reset(); }

  /// Starts the output again from its first item. @pre options.rewindable, or nothing was spilled.
  void rewind();

  sort_report const& report() const noexcept { return report_; }

  sort_progress progress() const noexcept {
    sort_progress p;
    std::uint64_t const formed = formed_bytes_.load();
    std::uint64_t const total = std::max(options_.input_bytes.value_or(0), formed);
    p.now = phase_.load();
    p.done_bytes = formed + merged_bytes_.load() + output_bytes_.load();
    if (options_.input_bytes || p.now != sort_progress::phase::forming_runs)
      p.total_bytes = 2 * total - left_out_bytes_.load() + to_merge_bytes_.load();
    return p;
  }

 private:
  // ---- bookkeeping ----

  void count_chunk() noexcept {
    report_.items += formation_->current().count();
    report_.input_bytes += formation_->current().bytes();
    formed_bytes_ = report_.input_bytes;
  }

  equal_items equals() const noexcept {
    return reduces(options_) ? equal_items::made_one : equal_items::kept;
  }

  /// Of the items in runs, or in memory.
  std::uint64_t bytes_left() const {
    std::uint64_t sum = 0;
    for (auto const& r : runs_) sum += r.bytes();
    for (auto const& v : resident_) sum += v.bytes(0, v.size());
    return sum;
  }

  void report_progress() {
    if (options_.on_progress) options_.on_progress(progress());
  }

  // ---- merging ----

  std::size_t entries_of(std::span<run<Family> const> runs) const noexcept {
    std::size_t sum = 0;
    for (auto const& r : runs) sum += r.entries().size();
    return sum;
  }

  /// What a merge of these runs may use for its blocks.
  std::uint64_t merge_memory_bytes(std::span<run<Family> const> runs) const noexcept {
    std::uint64_t const index = entries_of(runs) * index_entry_bytes(store_) + page_bytes() * 4;
    return memory_.free_bytes() - std::min(memory_.free_bytes(), index);
  }

  merge_shape shape_for(std::span<run<Family> const> runs, std::size_t& block_bytes) const {
    block_bytes = round_up(plan_.block_bytes, block_unit_bytes(store_));
    for (auto const& r : runs) block_bytes = std::max(block_bytes, r.buffer_bytes());
    if (largest_resident_bytes_ > 0)
      block_bytes = std::max(block_bytes, formation_->block_for(largest_resident_bytes_));
    std::size_t const most =
        options_.most_fan_in != 0 ? std::min(options_.most_fan_in, runs.size()) : runs.size();
    merge_shape const shape =
        shape_merge(merge_memory_bytes(runs), block_bytes, store_.threads().threads(),
                    std::max<std::size_t>(2, most));
    if (shape.fan_in < 2)
      throw budget_error(memory_.asker(), merge_memory_bytes(runs), block_bytes * 8);
    return shape;
  }

  /// Merges until one more merge can do the rest. Neighbours only, so that ties stay in input
  /// order.
  void merge_down(pipeline::ports const& p) {
    std::size_t block_bytes = 0;
    for (;;) {
      std::size_t const fan_in = shape_for(runs_, block_bytes).fan_in;
      report_.fan_in = std::max(report_.fan_in, fan_in);
      if (runs_.size() <= fan_in) return;
      phase_ = sort_progress::phase::merging_runs;
      ++report_.passes;
      std::vector<run<Family>> merged;
      std::size_t next = 0;
      // Just as many as it takes to bring the number down to the fan-in, if one pass can do that.
      while (next < runs_.size() && merged.size() + (runs_.size() - next) > fan_in) {
        std::size_t const surplus = merged.size() + (runs_.size() - next) - fan_in;
        std::size_t const count = std::min({fan_in, surplus + 1, runs_.size() - next});
        if (count < 2) break;  // the next pass brings it down
        auto const group = std::span(runs_).subspan(next, count);
        merged.push_back(merge_group(group, p));
        for (auto& r : group)
          r = run<Family>(store_, memory_);  // their index makes room for the new one's
        next += count;
      }
      for (; next < runs_.size(); ++next) merged.push_back(std::move(runs_[next]));
      runs_ = std::move(merged);
    }
  }

  /// That of runs merged to one, which is encoded if they are.
  run_form form_of_merged(std::span<run<Family> const> group) const noexcept {
    run_form form{.first_bytes = staggered_bytes(plan_.block_bytes, report_.merges),
                  .coding = group[0].form().coding};
    for (auto const& r : group) {
      if (!r.form().is_encoded()) return {.first_bytes = form.first_bytes};
      form.block_bytes = std::max(form.block_bytes, r.form().block_bytes);
      form.held_bytes = std::max(form.held_bytes, r.form().held_bytes);
    }
    return form;
  }

  run<Family> merge_group(std::span<run<Family>> group, pipeline::ports const& p) {
    std::size_t block_bytes = 0;
    merge_shape const shape = shape_for(group, block_bytes);
    std::uint64_t group_bytes = 0;
    for (auto const& r : group) group_bytes += r.bytes();
    to_merge_bytes_ += group_bytes;
    ++report_.merges;
    grant_charge const index(memory_, entries_of(group) * merge_feed<Family>::bytes_per_block);
    block::buffer_pool in(memory_, block_bytes, group.size() + 2 * shape.ahead);
    block::buffer_pool out(memory_, block_bytes, shape.output);
    run_writer<Family> writer(family_, store_, store_.threads(), memory_, out, equals(),
                              form_of_merged(group));
    merge_feed<Family> feed(family_, store_.threads(), group, store_, in, shape.ahead, {});
    for (auto round = feed.next_round(); round.items() > 0; round = feed.next_round()) {
      p.check();
      writer.write(round, feed.largest_item_bytes());
      merged_bytes_ += round.bytes();
      feed.consume(round);
    }
    auto merged = writer.finish();
    left_out_bytes_ += group_bytes - merged.bytes();
    return merged;
  }

  // ---- the output ----
  //
  //   windows ──▶ cut ──▶ merge ──▶ consumer
  //                ▲        │
  //                └─ notes ┘  a round has been merged: its blocks may go

  /// A window and what is to be merged to it.
  struct output_window {
    std::vector<merge_part<typename Family::view>> parts;
    sorted_window window;
  };

  void start_output() {
    output_bytes_ = 0;
    output_items_ = 0;
    emitted_bytes_ = output_begin_bytes_;
    report_.output_items = 0;
    at_end_ = false;
    output_.emplace(store_.memory(), pipeline::network_options{.name = "sort, last merge",
                                                               .threads = 2,
                                                               .tune = false,
                                                               .trace = options_.trace,
                                                               .errors_name_stages = false});
    writer_.emplace(family_, store_.threads(), framing_, equals());
    auto const windows =
        output_->pool({.name = "windows", .buffer_bytes = 0, .count = window_count});
    auto const notes = output_->pool({.name = "notes", .buffer_bytes = 0, .count = rounds_at_once});
    auto const cut = output_->node("cut", {.inputs = {}, .pools = {windows}, .outputs = 1},
                                   [this](pipeline::ports& p) { cut_output(p); });
    auto const merged = output_->node("merge", {.inputs = cut, .pools = {notes}, .outputs = 2},
                                      [this](pipeline::ports& p) { merge_output(p); });
    output_->feed_back(merged[to_cut], "cut");
    output_->external("consumer", {.inputs = {merged[to_consumer]}, .pools = {}, .outputs = 0});
    output_->start(options_.stop);
  }

  void stop_output() {
    for (auto& window : lent_) window.reset();
    output_.reset();
    windows_ = buffer();
  }

  void cut_output(pipeline::ports& p) {
    if (runs_.empty()) {
      phase_ = sort_progress::phase::writing_output;
      std::size_t const largest = largest_resident_bytes_;
      std::uint64_t const each =
          std::min<std::uint64_t>(memory_.free_bytes() / window_count, resident_window_bytes());
      auto const unused = make_windows(p, each * window_count, largest, largest);
      merge_feed<Family> feed(family_, store_.threads(), resident_, largest);
      cut_windows(feed, p);
    } else {
      merge_down(p);
      phase_ = sort_progress::phase::writing_output;
      std::size_t block_bytes = 0;
      merge_shape const shape = shape_for(runs_, block_bytes);
      grant_charge const index(memory_, entries_of(runs_) * merge_feed<Family>::bytes_per_block);
      block::buffer_pool in(memory_, block_bytes, runs_.size() + 2 * shape.ahead);
      auto const unused = make_windows(p, shape.output * block_bytes, 2 * block_bytes, 0);
      merge_feed<Family> feed(family_, store_.threads(), runs_, store_, in, shape.ahead,
                              {.keep_blocks = options_.rewindable, .passes = true});
      feed.add_resident(resident_, largest_resident_bytes_);
      cut_windows(feed, p);
    }
    phase_ = sort_progress::phase::done;
  }

  std::uint64_t resident_window_bytes() const noexcept {
    return std::min<std::uint64_t>(
               store_.threads().threads() * 4_MiB,
               report_.input_bytes + report_.items * framing_.overhead_bytes()) +
           output_alignment_ + page_bytes();
  }

  /// Divides `bytes` among the windows; if they would be shorter than `good_bytes`, among as few as
  /// it takes to fill one while another is used. Returns the others, to be held as long.
  std::vector<pipeline::pooled_buffer> make_windows(pipeline::ports& p, std::uint64_t bytes,
                                                    std::size_t good_bytes,
                                                    std::size_t largest_item_bytes) {
    std::size_t const least = largest_item_bytes + framing_.overhead_bytes() + output_alignment_ +
                              window_writer<Family>::held_bytes(family_);
    std::size_t const count =
        bytes / window_count < std::max(least, good_bytes) ? least_windows : window_count;
    window_bytes_ =
        round_down<std::size_t>(std::max<std::size_t>(bytes / count, page_bytes()), page_bytes());
    if (window_bytes_ < least) throw_too_long(largest_item_bytes);
    windows_ = memory_.allocate_for_overwrite(window_bytes_ * count);

    std::vector<pipeline::pooled_buffer> unused;
    while (unused.size() < window_count - count) unused.push_back(p.take());
    std::size_t place = 0;
    for (std::size_t i = 0; i < window_count; ++i) {
      bool const used =
          std::ranges::none_of(unused, [i](auto const& other) { return other.index() == i; });
      if (used) window_offsets_[i] = window_bytes_ * place++;
    }
    return unused;
  }

  /// Cuts what goes to each window from the rounds of the merge, while what was cut before is
  /// merged.
  void cut_windows(merge_feed<Family>& feed, pipeline::ports& p) {
    merge_stop const stop(*this);
    std::size_t unmerged = 0;
    auto const await_all_but = [&](std::size_t rounds) {
      for (; unmerged > rounds || !feed.can_read(); --unmerged) {
        p.accept(merged_notes);
        feed.release_passed();
      }
    };
    for (;;) {
      await_all_but(rounds_at_once - 1);
      auto round = in_order_or_not([&] { return feed.next_round(); },
                                   [](auto& from) { return from.next_unordered_round(); }, feed);
      bool const ends = round.items() == 0;
      if (ends && !Family::combines) break;
      auto b = p.take();
      std::size_t const room = window_bytes_ - (output_alignment_ - 1);
      if (!ends)  // or else without parts: a window for the last item, which is held back
        b.template user<output_window>().parts =
            in_order_or_not([&] { return writer_->cut(round, room); },
                            [&](auto& by) { return by.cut_unordered(round, room); }, *writer_);
      feed.pass(round);
      p.convey(std::move(b));
      ++unmerged;
      if (ends) break;
    }
    await_all_but(0);
  }

  /// Merges what has been cut for each window, and conveys it unless it stays empty: all that came
  /// may equal the last one before.
  void merge_output(pipeline::ports& p) {
    while (auto b = p.accept()) {
      auto& out = b->template user<output_window>();
      auto note = p.take();
      if (!fill_window(out, b->index())) continue;  // the next call of accept() says why
      out.parts.clear();
      p.convey(std::move(note), to_cut);
      if (out.window.items == 0) continue;
      b->resize(out.window.bytes);
      p.convey(std::move(*b), to_consumer);
    }
  }

  /// Returns false if what was cut has gone.
  bool fill_window(output_window& out, std::size_t index) {
    std::lock_guard const lock(merging_);
    if (!may_merge_) return false;
    sorted_window& window = out.window;
    window.index = index;
    window.memory = windows_.bytes().subspan(window_offsets_[index], window_bytes_);
    window.lead = static_cast<std::size_t>(emitted_bytes_ % output_alignment_);
    auto const room = window.memory.subspan(window.lead);
    auto const done =
        out.parts.empty()
            ? writer_->flush(room)
            : in_order_or_not([&] { return writer_->write(out.parts, room); },
                              [&](auto& by) { return by.write_unordered(out.parts, room); },
                              *writer_);
    window.bytes = done.bytes;
    window.items = done.items;
    emitted_bytes_ += done.bytes;
    output_items_ += done.items;
    for (auto const& part : out.parts) output_bytes_ += part.bytes;
    return true;
  }

  /// As long as it is there, what was cut may be merged; its end waits for what is being merged.
  class merge_stop {
   public:
    explicit merge_stop(sort_engine& engine) : engine_(engine) { set(true); }
    merge_stop(merge_stop const&) = delete;
    merge_stop& operator=(merge_stop const&) = delete;
    ~merge_stop() { set(false); }

   private:
    void set(bool may_merge) {
      std::lock_guard const lock(engine_.merging_);
      engine_.may_merge_ = may_merge;
    }
    sort_engine& engine_;
  };

  /// Does something that compares; or once that has thrown, if all items shall come, something that
  /// does not, with `what`, which must be generic where items cannot come so.
  template <typename Ordered, typename Unordered, typename What>
  auto in_order_or_not(Ordered const& ordered, Unordered const& unordered, What& what) {
    if constexpr (can_give_all_items) {
      if (has_failed_) return unordered(what);
      if (gives_all_items_) try {
          return ordered();
        } catch (io_error const&) {  // what the disk does not give cannot come
          throw;
        } catch (...) {
          note_failure(std::current_exception());
          return unordered(what);
        }
    }
    return ordered();
  }

  void note_failure(std::exception_ptr failure) {
    std::lock_guard const lock(failing_);
    if (has_failed_) return;
    failure_ = std::move(failure);
    has_failed_.store(true, std::memory_order_release);
  }

  /// Memory held elsewhere, counted for the duration of a scope.
  class grant_charge {
   public:
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

  static constexpr std::size_t window_count = 4;  // one is filled while others are written
  static constexpr std::size_t least_windows = 2;
  static constexpr std::size_t rounds_at_once = 2;           // one cut, one merged
  static constexpr std::size_t to_consumer = 0, to_cut = 1;  // outputs of the merging node
  static constexpr std::size_t merged_notes = 0;             // input of the one that cuts

  storage& store_;
  Family family_;
  sort_options options_;
  item_framing framing_;
  grant memory_;
  sort_plan plan_;
  sort_report report_;
  std::size_t output_alignment_ = 1;
  std::uint64_t output_begin_bytes_ = 0;

  std::atomic<sort_progress::phase> phase_{sort_progress::phase::forming_runs};
  std::atomic<std::uint64_t> formed_bytes_{0};
  std::atomic<std::uint64_t> to_merge_bytes_{0};  // by intermediate merges
  std::atomic<std::uint64_t> merged_bytes_{0};    // by them, so far
  std::atomic<std::uint64_t> left_out_bytes_{0};  // where equal items are made one
  std::atomic<std::uint64_t> output_bytes_{0};
  std::atomic<std::uint64_t> output_items_{0};  // report() is for the consumer's thread

  std::vector<run<Family>> runs_;
  std::optional<run_formation<Family>> formation_;  // as long as it holds chunks
  std::vector<typename Family::view> resident_;     // the chunks, sorted; after the runs
  std::size_t largest_resident_bytes_ = 0;          // item
  std::uint64_t emitted_bytes_ = 0;                 // of the output, its beginning too
  buffer windows_;
  std::size_t window_bytes_ = 0;
  std::array<std::size_t, window_count> window_offsets_{};  // in windows_
  std::optional<window_writer<Family>> writer_;             // of the output's nodes
  std::mutex merging_;                                      // held as long as parts are merged
  bool may_merge_ = false;                                  // what was cut has not gone
  bool gives_all_items_ = false;
  std::mutex failing_;          // nodes of the output may do so at the same time
  std::exception_ptr failure_;  // written before it
  std::atomic<bool> has_failed_{false};
  std::optional<pipeline::network> output_;  // late: its threads end before anything else does
  std::array<pipeline::pooled_buffer, window_count> lent_;  // to the consumer
  bool at_end_ = false;
};

// What a user of an engine calls for whole chunks and windows stands outside of the class, so that
// an engine that is compiled once (below) is compiled nowhere else.

template <item_family Family>
sort_engine<Family>::sort_engine(storage& store, Family family, sort_options options,
                                 item_framing framing, std::uint64_t input_stream_bytes)
    : store_(store),
      family_(std::move(family)),
      options_(std::move(options)),
      framing_(framing),
      memory_(store.memory().take(
          options_.memory_bytes != 0 ? options_.memory_bytes : store.memory().free_bytes(),
          "sort")) {
  report_.memory_bytes = memory_.total_bytes() + input_stream_bytes;
  plan_ = plan_sort(job_of(store, family_, options_, report_.memory_bytes, input_stream_bytes));
  memory_.keep_pages();  // of chunks for merges
  report_.block_bytes = plan_.block_bytes;
  formation_.emplace(family_, store_, memory_, plan_, equals(), options_.stop, options_.trace);
}

template <item_family Family>
sort_engine<Family>::~sort_engine() = default;

template <item_family Family>
void sort_engine<Family>::chunk_full() {
  count_chunk();
  formation_->hand_over();
  report_progress();
}

template <item_family Family>
void sort_engine<Family>::finish_input(std::size_t output_alignment,
                                       std::uint64_t output_begin_bytes) {
  count_chunk();
  formation_->finish();
  report_.networks.push_back(formation_->report());
  runs_ = std::move(formation_->runs());
  report_.runs = runs_.size();
  report_.passes = runs_.empty() ? 0 : 1;
  for (auto const& r : runs_) {
    report_.run_items += r.items();
    report_.run_disk_bytes += r.disk_bytes();
    report_.encoded_runs += r.form().is_encoded() ? 1 : 0;
  }
  resident_ = formation_->resident_views();
  largest_resident_bytes_ = formation_->resident_largest_item_bytes();
  if (equals() == equal_items::made_one) left_out_bytes_ = report_.input_bytes - bytes_left();
  if (resident_.empty()) formation_.reset();
  output_alignment_ = output_alignment;
  output_begin_bytes_ = output_begin_bytes;
  start_output();
}

template <item_family Family>
std::optional<sorted_window> sort_engine<Family>::next() {
  if (at_end_) return std::nullopt;
  try {
    auto filled = output_->ports_of("consumer").accept();
    report_progress();
    if (filled) {
      sorted_window const window = filled->template user<output_window>().window;
      lent_[window.index] = std::move(*filled);
      return window;
    }
  } catch (pipeline::poisoned const&) {
    output_->rethrow_error();
    throw;
  }
  at_end_ = true;
  for (auto& window : lent_) window.reset();  // they cannot go home later
  output_->finish();
  report_.networks.resize(1);  // of a rewound output the last time tells
  report_.networks.push_back(output_->report());
  report_.peak_disk_bytes = store_.peak_allocated_bytes();
  report_.output_items = output_items_.load();
  return std::nullopt;
}

template <item_family Family>
void sort_engine<Family>::rewind() {
  stop_output();
  start_output();
}

extern template class sort_engine<typed_items<std::uint32_t, std::less<>>>;
extern template class sort_engine<typed_items<std::uint64_t, std::less<>>>;
extern template class sort_engine<typed_items<word_pair, std::less<>>>;

}  // namespace outsize::detail
