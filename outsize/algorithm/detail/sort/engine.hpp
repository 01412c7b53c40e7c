// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The sorting engine: items go in, sorted windows of memory come out.
//
//   fill / append … finish_input()   run_formation: items stay in memory if they all fit
//   next(), recycle() …              last_merge, running ahead of its consumer
//
// finish_input() is end_input() and begin_output(). Between these two the sorted runs rest: they
// take little memory, and give that to others who need it.
//
// A `Family` says what items are: typed_items (one C++ type) or record_items (byte strings).
// Everything else, I/O, buffers, threads, division of memory, is the same for both.
//
// Memory that is named is taken at once. Else it comes and goes (engine_memory.hpp).
//
// Invariant: all large memory comes from one grant. Equal input gives equal output for any number
// of threads, memory and block size: ties are decided by the order of the input. One thread at a
// time uses an engine; others have it give memory back. Layer: algorithm. Source: Dementiev,
// Sanders: Asynchronous parallel disk sorting, SPAA 2003; STXXL 2008, section 6.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <outsize/algorithm/detail/sort/family/kernel_items.hpp>
#include <outsize/algorithm/detail/sort/family/number_items.hpp>
#include <outsize/algorithm/detail/sort/family/record_items.hpp>
#include <outsize/algorithm/detail/sort/family/typed_chunk.hpp>
#include <outsize/algorithm/detail/sort/family/typed_items.hpp>
#include <outsize/algorithm/detail/sort/last_merge.hpp>
#include <outsize/algorithm/detail/sort/output_room.hpp>
#include <outsize/algorithm/detail/sort/run_formation.hpp>
#include <outsize/algorithm/detail/sort/run_order.hpp>
#include <outsize/algorithm/detail/sort/sort_work.hpp>
#include <outsize/algorithm/sort_options.hpp>
#include <outsize/algorithm/sort_plan.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/memory_holder.hpp>

namespace outsize::detail {

template <item_family Family>
class sort_engine final : private memory_giver, private chunk_memory {
 public:
  using chunk = typename Family::chunk;

  /// Takes options.memory_bytes at once, or if these are 0, what it needs for a chunk.
  /// @throws budget_error if it is too little; io_error if a disk cannot be used.
  sort_engine(storage& store, Family family, sort_options options, item_framing framing = {},
              std::uint64_t input_stream_bytes = 0);
  ~sort_engine();

  sort_engine(sort_engine const&) = delete;
  sort_engine& operator=(sort_engine const&) = delete;

  /// Memory for each block on disk.
  static std::size_t index_entry_bytes(storage const& store, Family const& family) noexcept {
    return run<Family>::entry_bytes(store) + trigger_bytes_of(family) +
           merge_feed<Family>::bytes_per_block;
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
            .chunk_entry_bytes = Family::chunk_entry_bytes,
            .index_entry_bytes = index_entry_bytes(store, family),
            .out_of_place = family.sorts_out_of_place,
            .block_bytes = block_bytes,
            .codec = options.codec,
            .key_codec = Family::has_key_codec,
            .threads = store.threads().threads(),
            .most_fan_in = options.most_fan_in};
  }

  /// Whether of items that compare equal one is left.
  static bool reduces(Family const& family, sort_options const& options) noexcept {
    return sort_work<Family>::reduces(family, options);
  }

  Family const& family() const noexcept { return work_.family; }
  sort_plan const& plan() const noexcept { return work_.plan; }

  // ---- in ----

  /// Runs are to lie in the room of the output, which output_fits_room() is told of afterwards.
  /// @pre nothing has come in; items have one length; `room` outlives the engine.
  void put_runs_in(output_room& room) {
    work_.room = &room;
    formation_->put_runs_in(room);
  }

  /// Items end with this byte in the output. @pre they end with one; not after finish_input().
  void end_items_with(char terminator) noexcept { work_.framing.terminator = terminator; }

  /// The chunk to fill with items of one type; chunk_full() when its room is used up.
  chunk& current_chunk() noexcept { return formation_->current(); }
  /// @param next_item_bytes  Of the one that had no room any more; 0: no longer than others.
  void chunk_full(std::size_t next_item_bytes = 0);

  /// Adds a record (families of byte strings). @throws budget_error naming both sizes if it is too
  /// long for the memory; what a stage threw.
  void append(std::string_view record)
    requires(!Family::fixed_size)
  {
    if (formation_->current().append(work_.family, record)) return;
    if (formation_->current().count() > 0) {
      chunk_full(record.size());
      if (formation_->current().append(work_.family, record)) return;
    }
    if (plan_for_item(record.size()) && formation_->current().append(work_.family, record)) return;
    work_.throw_too_long(record.size());
  }

  /// The same for many at once, which is faster.
  void append(std::span<std::string_view const> records)
    requires(!Family::fixed_size)
  {
    for (;;) {
      records = records.subspan(formation_->current().append(work_.family, records));
      if (records.empty()) return;
      append(records.front());  // which finds room in the next chunk
      records = records.subspan(1);
    }
  }

  [[noreturn]] void throw_too_long(std::uint64_t item_bytes) const {
    work_.throw_too_long(item_bytes);
  }

  /// Ends the input and starts the merge. Windows begin at multiples of `output_alignment`, with a
  /// lead; the first one is for an output that has `output_begin_bytes` already.
  /// @throws what a stage threw.
  void finish_input(std::size_t output_alignment = 1, std::uint64_t output_begin_bytes = 0);
  /// Ends the input. @throws as finish_input().
  void end_input();
  /// Starts the merge, as finish_input() does, with `most_bytes` of memory if that is enough: where
  /// several sorts begin one after another, so that the first leaves their shares to the others.
  /// @pre end_input() was called.
  void begin_output(std::uint64_t most_bytes = UINT64_MAX);
  /// Returns the memory that begin_output() can use: the least; for one merge of all runs; all that
  /// it would take. @pre end_input() was called, and begin_output() was not.
  memory_claim output_claim();
  /// Returns the memory that it has now.
  std::uint64_t memory_bytes() const noexcept { return work_.memory.total_bytes(); }

  // ---- out ----

  /// Whether what comes out may be written from the beginning of the room on: then it is always
  /// behind what is read. @pre finish_input() was called.
  bool output_fits_room() const noexcept { return output_fits_room_; }

  /// From here on, if the order throws in the last merge, the items that are left come out all the
  /// same, in no order, and equal ones are kept: for who has put the first ones in their place
  /// already. failure() tells. @pre finish_input() was not called; items have one size, and are not
  /// combined.
  void give_all_items() noexcept { gives_all_items_ = true; }
  /// What the order has thrown, if anything; windows that come later than it are in no order. Also
  /// while next() runs.
  std::exception_ptr failure() const noexcept { return output_ ? output_->failure() : failure_; }

  /// The next window of sorted items, nothing at the end. @throws what a stage threw, from then on
  /// always: what is missing must not look like the end.
  std::optional<sorted_window> next();

  /// Whether next() has thrown.
  bool has_failed() const noexcept { return error_ != nullptr; }
  /// Throws it again, if so.
  void rethrow_error() const {
    if (error_) std::rethrow_exception(error_);
  }

  /// Gives back the memory of a window that has been used. @pre no rewind() since it came.
  void recycle(sorted_window const& used) noexcept {
    auto const here = enter();
    if (suspended_windows_.have(used))
      suspended_windows_.recycle(used);
    else if (output_)
      output_->recycle(used);
  }

  /// Starts the output again from its first item. @pre options.rewindable, or nothing was spilled.
  void rewind();

  sort_report const& report() const noexcept { return work_.report; }

  sort_progress progress() const noexcept {
    sort_progress p;
    std::uint64_t const formed = work_.formed_bytes.load();
    std::uint64_t const total = std::max(work_.options.input_bytes.value_or(0), formed);
    p.now = work_.phase.load();
    p.done_bytes = formed + work_.merged_bytes.load() +
                   std::max(work_.output_bytes.load(), suspended_at_bytes_.load());
    if (work_.options.input_bytes || p.now != sort_progress::phase::forming_runs)
      p.total_bytes = 2 * total - work_.left_out_bytes.load() + work_.to_merge_bytes.load();
    return p;
  }

 private:
  void count_chunk() noexcept {
    work_.report.items += formation_->current().count();
    work_.report.input_bytes += formation_->current().bytes();
    work_.formed_bytes = work_.report.input_bytes;
  }

  void begin_formation();
  void end_formation();
  void begin_output_at(output_places const& places);
  void note_formation();
  void note_resident();
  bool stays_behind() const;
  void start_output();
  std::optional<sorted_window> next_undelivered();
  void note_end();

  // ---- memory that was not named ----

  static constexpr std::uint64_t least_share_bytes = min_sort_memory_bytes / 4;
  static constexpr std::size_t resident_buffers = 8;

  std::unique_lock<memory_holder> enter() {
    return holder_ ? std::unique_lock(*holder_) : std::unique_lock<memory_holder>();
  }
  sort_plan plan_for(std::uint64_t memory_bytes, std::uint64_t input_stream_bytes,
                     std::uint64_t left_bytes = 0) const;
  void begin_with_share();
  memory_claim widest_claim() const noexcept {
    return {std::min(least_share_bytes, knee_bytes_), knee_bytes_, most_bytes_};
  }
  void plan_with_share(std::uint64_t share, std::uint64_t left_bytes);
  bool plan_anew(std::size_t next_item_bytes);
  bool plan_for_item(std::size_t item_bytes);
  void form_anew();
  bool holds_items_of(std::size_t item_bytes) const noexcept;
  std::uint64_t index_of_runs() const noexcept;
  bool grow(std::uint64_t bytes) override;
  void extend(std::uint64_t bytes) override;
  void extend_if_possible(std::uint64_t bytes) override;
  void note_least(std::uint64_t bytes) override { claim(bytes); }
  void give_back(std::uint64_t bytes, give_cost most) override;
  void claim(std::uint64_t least);
  void take_output_memory();
  memory_claim claim_of_output() const;
  std::uint64_t least_merge() const;
  std::uint64_t index_of_merge() const;
  std::uint64_t windows_bytes() const;
  std::uint64_t least_windows_bytes() const;
  std::uint64_t resident_bytes() const;
  std::size_t resident_block() const;
  std::uint64_t resident_writing_bytes(std::size_t buffers) const;
  void write_resident();
  bool may_be_suspended() const noexcept;
  std::uint64_t suspended_bytes() const;
  void suspend(std::uint64_t bytes);
  void end_output();
  void rest();

  /// Of the items in runs, or in memory.
  std::uint64_t bytes_left() const {
    std::uint64_t sum = 0;
    for (auto const& r : work_.runs) sum += r.bytes();
    for (auto const& v : work_.resident) sum += v.bytes(0, v.size());
    return sum;
  }

  void report_progress() {
    if (work_.options.on_progress) work_.options.on_progress(progress());
  }

  sort_work<Family> work_;
  output_places places_;
  bool output_fits_room_ = false;
  bool gives_all_items_ = false;
  std::optional<run_formation<Family>> formation_;  // as long as it holds chunks
  buffer windows_;                                  // of the output
  std::optional<last_merge<Family>> output_;
  std::exception_ptr error_;    // of next()
  std::exception_ptr failure_;  // of an output that has ended
  enum class step : std::uint8_t { forming, giving_out, suspended, at_rest };
  step step_ = step::forming;
  bool has_windows_ = false;  // one of the output has come out
  windows_at_large suspended_windows_;
  delivered_items delivered_, to_skip_;
  std::atomic<std::uint64_t> suspended_at_bytes_{0};  // of output_bytes
  std::size_t formations_ = 0;                        // that have ended
  sort_options given_;                                // before memory was divided
  std::uint64_t knee_bytes_ = 0, most_bytes_ = 0;
  std::uint64_t most_output_bytes_ = UINT64_MAX;
  memory_holder* gate_ = nullptr;        // the holder, for others: they may ask while it ends
  std::optional<memory_holder> holder_;  // of memory that was not named; last: it ends first
};

// What a user of an engine calls for whole chunks and windows stands outside of the class, so that
// an engine that is compiled once (below) is compiled nowhere else.

template <item_family Family>
sort_engine<Family>::sort_engine(storage& store, Family family, sort_options options,
                                 item_framing framing, std::uint64_t input_stream_bytes)
    : work_{.store = store,
            .family = std::move(family),
            .options = std::move(options),
            .framing = framing,
            .memory = {}} {
  bool const is_named = work_.options.memory_bytes != 0;
  work_.memory = store.memory().take(work_.options.memory_bytes, "sort");
  work_.memory.keep_pages();  // of chunks for merges
  if (is_named)
    work_.plan = plan_for(work_.memory.total_bytes(), input_stream_bytes);
  else
    begin_with_share();
  auto const here = enter();
  begin_formation();
}

template <item_family Family>
void sort_engine<Family>::begin_formation() {
  work_.report.memory_bytes = work_.plan.memory_bytes;
  work_.report.block_bytes = work_.plan.block_bytes;
  formation_.emplace(work_.family, work_.store, work_.memory, work_.plan, work_.equals(),
                     work_.options.stop, work_.options.trace, work_.framing.input_overhead_bytes(),
                     holder_ ? static_cast<chunk_memory*>(this) : nullptr, work_.runs.size());
  if (holder_) claim(formation_->least_bytes());
}

template <item_family Family>
sort_engine<Family>::~sort_engine() = default;

template <item_family Family>
void sort_engine<Family>::chunk_full(std::size_t next_item_bytes) {
  count_chunk();
  {
    auto const here = enter();
    if (!plan_anew(next_item_bytes)) formation_->hand_over();
    if (holder_) claim(formation_->least_bytes());
  }
  report_progress();
}

template <item_family Family>
void sort_engine<Family>::finish_input(std::size_t output_alignment,
                                       std::uint64_t output_begin_bytes) {
  count_chunk();
  auto const here = enter();
  end_formation();
  begin_output_at({output_alignment, output_begin_bytes});
}

template <item_family Family>
void sort_engine<Family>::end_input() {
  count_chunk();
  auto const here = enter();
  end_formation();
  if (holder_) rest();
}

template <item_family Family>
void sort_engine<Family>::begin_output(std::uint64_t most_bytes) {
  auto const here = enter();
  most_output_bytes_ = most_bytes;
  begin_output_at({});
}

template <item_family Family>
memory_claim sort_engine<Family>::output_claim() {
  auto const here = enter();
  return holder_ ? claim_of_output() : memory_claim::fixed(work_.memory.total_bytes());
}

template <item_family Family>
void sort_engine<Family>::end_formation() {
  formation_->finish();
  note_formation();
  note_resident();
}

template <item_family Family>
void sort_engine<Family>::begin_output_at(output_places const& places) {
  places_ = places;
  if (holder_) take_output_memory();
  output_fits_room_ = work_.room != nullptr && stays_behind();
  start_output();
}

template <item_family Family>
void sort_engine<Family>::start_output() {
  has_windows_ = false;
  output_.emplace(work_, places_, gives_all_items_, windows_);
}

/// Takes the runs of one that has ended.
template <item_family Family>
void sort_engine<Family>::note_formation() {
  sort_report& report = work_.report;
  report.networks.push_back(formation_->report());
  report.peak_memory_bytes = work_.memory.peak_used_bytes();
  formations_ = report.networks.size();
  for (auto& r : formation_->runs()) {
    report.run_items += r.items();
    report.run_disk_bytes += r.disk_bytes();
    report.encoded_runs += r.form().is_encoded() ? 1 : 0;
    work_.runs.push_back(std::move(r));
  }
  report.runs = work_.runs.size();
  report.passes = work_.runs.empty() ? 0 : 1;
}

template <item_family Family>
void sort_engine<Family>::note_resident() {
  sort_report const& report = work_.report;
  work_.resident = formation_->resident_views();
  if (work_.resident.empty()) {
    formation_.reset();
  } else if (std::size_t const largest = formation_->resident_largest_item_bytes(); largest > 0) {
    work_.largest_resident_bytes = largest;
    // Nothing goes to a disk that needs none.
    if (!work_.runs.empty()) work_.resident_block_bytes = formation_->block_for(largest);
  }
  if (reduces(work_.family, work_.options))
    work_.left_out_bytes = report.input_bytes - bytes_left();
}

template <item_family Family>
bool sort_engine<Family>::stays_behind() const {
  std::uint64_t kept_bytes = 0;
  for (auto const& v : work_.resident) kept_bytes += v.bytes(0, v.size());
  return output_stays_behind(work_.family, std::span<run<Family> const>(work_.runs), kept_bytes,
                             *work_.room);
}

template <item_family Family>
std::optional<sorted_window> sort_engine<Family>::next() {
  rethrow_error();
  try {
    std::optional<sorted_window> window;
    {
      auto const here = enter();
      if (step_ == step::suspended) {
        step_ = step::giving_out;
        to_skip_ = delivered_;
        start_output();
      }
      if (!output_ || output_->at_end()) return std::nullopt;
      window = next_undelivered();
      if (!window) note_end();
    }
    report_progress();
    return window;
  } catch (...) {
    error_ = std::current_exception();
    throw;
  }
}

/// The next window, but for what had come before the output was suspended.
template <item_family Family>
std::optional<sorted_window> sort_engine<Family>::next_undelivered() {
  for (;;) {
    auto window = output_->next();
    if (!window) return window;
    to_skip_.skip_in(*window);
    if (window->bytes == 0) {
      output_->recycle(*window);
      continue;
    }
    delivered_.add(*window);
    bool const is_first = !std::exchange(has_windows_, true);
    if (is_first && holder_) claim(work_.memory.total_bytes());
    return window;
  }
}

template <item_family Family>
void sort_engine<Family>::note_end() {
  work_.report.networks.resize(formations_);  // of a rewound output the last time tells
  work_.report.networks.push_back(output_->report());
  work_.report.peak_disk_bytes = work_.store.peak_allocated_bytes();
  work_.report.peak_memory_bytes = work_.memory.peak_used_bytes();
  work_.report.output_items = work_.output_items.load();
  if (holder_) end_output();
}

template <item_family Family>
void sort_engine<Family>::rewind() {
  auto const here = enter();
  output_.reset();
  windows_ = {};
  suspended_windows_ = {};
  delivered_ = to_skip_ = {};
  suspended_at_bytes_ = 0;
  error_ = nullptr;
  work_.report.output_items = 0;
  try {
    if (holder_) take_output_memory();
    start_output();
  } catch (...) {
    error_ = std::current_exception();
    throw;
  }
}

}  // namespace outsize::detail

#include <outsize/algorithm/detail/sort/engine_memory.hpp>  // of which it is a part

namespace outsize::detail {

extern template class sort_engine<number_items<std::uint32_t>>;
extern template class sort_engine<number_items<std::uint64_t>>;
extern template class sort_engine<number_items<word_pair>>;
extern template class sort_engine<kernel_items>;

}  // namespace outsize::detail
