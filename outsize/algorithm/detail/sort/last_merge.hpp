// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The last merge of a sort: runs, and chunks that stayed in memory, merged to windows of memory.
//
//   windows ──▶ cut ──▶ merge ──▶ consumer
//                ▲        │
//                └─ notes ┘  a round has been merged: its blocks may go
//
// Rounds are cut while those cut before are merged, and both run ahead of the consumer by the
// windows that there are (docs/decisions/0045-rounds-cut-ahead.md). Where one merge cannot take all
// runs, the node that cuts does what comes first.
//
// Invariant: what was cut is merged before its blocks go, or never. One thread at a time consumes.
// Layer: algorithm. Source: Dementiev, Sanders: Asynchronous parallel disk sorting, SPAA 2003.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/sort/intermediate_merges.hpp>
#include <outsize/algorithm/detail/sort/merge_feed.hpp>
#include <outsize/algorithm/detail/sort/sort_work.hpp>
#include <outsize/algorithm/detail/sort/sorted_window.hpp>
#include <outsize/algorithm/detail/sort/window_writer.hpp>
#include <outsize/base/error.hpp>
#include <outsize/pipeline/network.hpp>

namespace outsize::detail {

/// What the output asks of windows.
struct output_places {
  std::size_t alignment_bytes = 1;  ///< Of where they begin, with a lead.
  std::uint64_t begin_bytes = 0;    ///< What the output has before the first.
};

template <item_family Family>
class last_merge {
 public:
  /// Starts. With `gives_all_items`, if the order throws, the items that are left come out all the
  /// same, in no order, and equal ones are kept. Makes windows in `windows`, which outlives it.
  /// @pre items that are combined cannot come so.
  last_merge(sort_work<Family>& work, output_places places, bool gives_all_items, buffer& windows)
      : work_(work),
        windows_(windows),
        places_(places),
        emitted_bytes_(places.begin_bytes),
        writer_(work.family, work.store.threads(), work.framing, work.equals()),
        gives_all_items_(gives_all_items),
        network_(work.store.memory(), {.name = "sort, last merge",
                                       .threads = 2,
                                       .tune = false,
                                       .trace = work.options.trace,
                                       .errors_name_stages = false}) {
    work_.output_bytes = 0;
    work_.output_items = 0;
    consumer_ = describe_network();
    network_.start(work_.options.stop);
  }
  last_merge(last_merge const&) = delete;
  last_merge& operator=(last_merge const&) = delete;
  ~last_merge() = default;

  /// The next window, nothing at the end. @throws what a node threw, again and again.
  std::optional<sorted_window> next() {
    if (at_end_) return std::nullopt;
    try {
      if (auto filled = network_.ports_of(consumer_).accept()) {
        sorted_window const window = filled->template user<output_window>().window;
        lent_[window.index] = std::move(*filled);
        return window;
      }
    } catch (pipeline::poisoned const&) {
      network_.rethrow_error();
      throw;
    }
    at_end_ = true;
    for (auto& window : lent_) window.reset();  // they cannot go home later
    network_.finish();
    return std::nullopt;
  }

  /// Gives back the memory of a window that has been used.
  void recycle(sorted_window const& used) noexcept { lent_[used.index].reset(); }

  /// To be called before it goes if its windows are to stay: nothing is written to them any more,
  /// also not to those that come home. Returns where they are. @pre one has been lent.
  std::vector<window_place> stop() {
    std::lock_guard const lock(merging_);
    may_merge_ = false;
    std::vector<window_place> places;
    for (std::size_t at = 0; at < windows_.size(); at += window_bytes_) {
      bool const is_lent = std::ranges::any_of(lent_, [&](pipeline::pooled_buffer const& window) {
        return window && window_offsets_[window.index()] == at;
      });
      places.push_back({at, window_bytes_, is_lent});
    }
    return places;
  }

  bool at_end() const noexcept { return at_end_; }
  /// What its nodes did. @pre at_end().
  pipeline::network_report report() const { return network_.report(); }

  /// What the order has thrown, if anything; windows that come later than it are in no order. From
  /// any thread.
  std::exception_ptr failure() const noexcept {
    return has_failed_.load(std::memory_order_acquire) ? failure_ : nullptr;
  }

 private:
  /// A window and what is to be merged to it.
  struct output_window {
    std::vector<merge_part<typename Family::view>> parts;
    sorted_window window;
  };

  /// Returns the consumer.
  pipeline::stage_id describe_network() {
    auto const windows =
        network_.pool({.name = "windows", .buffer_bytes = 0, .count = window_count});
    auto const notes = network_.pool({.name = "notes", .buffer_bytes = 0, .count = rounds_at_once});
    auto const cut = network_.node("cut", {.inputs = {}, .pools = {windows}, .outputs = 1},
                                   [this](pipeline::ports& p) { cut_output(p); });
    auto const merged =
        network_.node("merge", {.inputs = cut.outputs, .pools = {notes}, .outputs = 2},
                      [this](pipeline::ports& p) { merge_output(p); });
    network_.feed_back(merged[to_cut], cut.id);
    auto const consumer =
        network_.external("consumer", {.inputs = {merged[to_consumer]}, .pools = {}, .outputs = 0});
    return consumer.id;
  }

  // ---- cut ----

  void cut_output(pipeline::ports& p) {
    if (work_.runs.empty())
      cut_resident(p);
    else
      cut_runs(p);
    work_.phase = sort_progress::phase::done;
  }

  void cut_resident(pipeline::ports& p) {
    work_.phase = sort_progress::phase::writing_output;
    std::size_t const largest = work_.largest_resident_bytes;
    std::uint64_t const each =
        std::min<std::uint64_t>(work_.memory.free_bytes() / window_count, resident_window_bytes());
    auto const unused = make_windows(p, each * window_count, largest, largest);
    merge_feed<Family> feed(work_.family, work_.store.threads(), work_.resident, largest);
    cut_windows(feed, p);
  }

  void cut_runs(pipeline::ports& p) {
    intermediate_merges<Family>(work_).merge_down(p);
    work_.phase = sort_progress::phase::writing_output;
    std::span<run<Family> const> const runs = work_.runs;
    auto const [shape, block_bytes] = buffers_for_merge(work_, runs);
    grant_charge const index(work_.memory, block_count(runs) * merge_feed<Family>::bytes_per_block);
    block::buffer_pool in(work_.memory, block_bytes, runs.size() + 2 * shape.ahead);
    auto const unused = make_windows(p, shape.output * block_bytes, 2 * block_bytes, 0);
    merge_feed<Family> feed(work_.family, work_.store.threads(), work_.runs, work_.run_space(), in,
                            shape.ahead, {.keep_blocks = keeps_blocks(), .passes = true});
    feed.add_resident(work_.resident, work_.largest_resident_bytes);
    cut_windows(feed, p);
  }

  /// What was in memory when the input had ended can be read again in any case.
  bool keeps_blocks() const noexcept {
    return work_.options.is_rewindable() || work_.report.runs == 0;
  }

  std::uint64_t resident_window_bytes() const noexcept {
    return std::min<std::uint64_t>(
               work_.store.threads().threads() * 4_MiB,
               work_.report.input_bytes + work_.report.items * work_.framing.overhead_bytes()) +
           places_.alignment_bytes + page_bytes();
  }

  /// Divides `bytes` among the windows; if they would be shorter than `good_bytes`, among as few as
  /// it takes to fill one while another is used. Returns the others, to be held as long.
  std::vector<pipeline::pooled_buffer> make_windows(pipeline::ports& p, std::uint64_t bytes,
                                                    std::size_t good_bytes,
                                                    std::size_t largest_item_bytes) {
    std::size_t const least = largest_item_bytes + work_.framing.overhead_bytes() +
                              places_.alignment_bytes +
                              window_writer<Family>::held_bytes(work_.family);
    std::size_t const good = std::max({least, good_bytes, page_bytes()});
    std::size_t const count = bytes / window_count < good ? least_windows : window_count;
    window_bytes_ =
        round_down<std::size_t>(std::max<std::size_t>(bytes / count, page_bytes()), page_bytes());
    if (window_bytes_ < least) work_.throw_too_long(largest_item_bytes);
    windows_ = work_.memory.allocate_for_overwrite(window_bytes_ * count);

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
      if (ends && !work_.family.combines) break;
      auto b = p.take();
      std::size_t const room = window_bytes_ - (places_.alignment_bytes - 1);
      if (!ends)  // or else without parts: a window for the last item, which is held back
        b.template user<output_window>().parts =
            in_order_or_not([&] { return writer_.cut(round, room); },
                            [&](auto& by) { return by.cut_unordered(round, room); }, writer_);
      feed.pass(round);
      p.convey(std::move(b));
      ++unmerged;
      if (ends) break;
    }
    await_all_but(0);
  }

  // ---- merge ----

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
    window.lead = static_cast<std::size_t>(emitted_bytes_ % places_.alignment_bytes);
    auto const room = window.memory.subspan(window.lead);
    auto const done =
        out.parts.empty()
            ? writer_.flush(room)
            : in_order_or_not([&] { return writer_.write(out.parts, room); },
                              [&](auto& by) { return by.write_unordered(out.parts, room); },
                              writer_);
    window.bytes = done.bytes;
    window.items = done.items;
    emitted_bytes_ += done.bytes;
    work_.output_items += done.items;
    for (auto const& part : out.parts) work_.output_bytes += part.bytes;
    return true;
  }

  /// As long as it is there, what was cut may be merged; its end waits for what is being merged.
  class merge_stop {
   public:
    explicit merge_stop(last_merge& merge) : merge_(merge) { set(true); }
    merge_stop(merge_stop const&) = delete;
    merge_stop& operator=(merge_stop const&) = delete;
    ~merge_stop() { set(false); }

   private:
    void set(bool may_merge) {
      std::lock_guard const lock(merge_.merging_);
      merge_.may_merge_ = may_merge;
    }
    last_merge& merge_;
  };

  // ---- an order that throws ----

  /// Does something that compares; or once that has thrown, if all items shall come, something that
  /// does not, with `what`.
  template <typename Ordered, typename Unordered, typename What>
  auto in_order_or_not(Ordered const& ordered, Unordered const& unordered, What& what) {
    if (has_failed_) return unordered(what);
    if (gives_all_items_) try {
        return ordered();
      } catch (io_error const&) {  // what the disk does not give cannot come
        throw;
      } catch (...) {
        note_failure(std::current_exception());
        return unordered(what);
      }
    return ordered();
  }

  void note_failure(std::exception_ptr failure) {
    std::lock_guard const lock(failing_);
    if (has_failed_) return;
    failure_ = std::move(failure);
    has_failed_.store(true, std::memory_order_release);
  }

  static constexpr std::size_t window_count = 4;  // one is filled while others are written
  static constexpr std::size_t least_windows = 2;
  static constexpr std::size_t rounds_at_once = 2;           // one cut, one merged
  static constexpr std::size_t to_consumer = 0, to_cut = 1;  // outputs of the merging node
  static constexpr std::size_t merged_notes = 0;             // input of the one that cuts

  sort_work<Family>& work_;
  buffer& windows_;
  output_places places_;
  std::uint64_t emitted_bytes_;  // of the output, its beginning too
  std::size_t window_bytes_ = 0;
  std::array<std::size_t, window_count> window_offsets_{};  // in windows_
  window_writer<Family> writer_;                            // of both nodes
  std::mutex merging_;                                      // held as long as parts are merged
  bool may_merge_ = false;                                  // what was cut has not gone
  bool gives_all_items_;
  std::mutex failing_;          // both nodes may do so at the same time
  std::exception_ptr failure_;  // written before it
  std::atomic<bool> has_failed_{false};
  pipeline::stage_id consumer_{};
  pipeline::network network_;  // late: its threads end before anything else does
  std::array<pipeline::pooled_buffer, window_count> lent_;  // to the consumer
  bool at_end_ = false;
};

}  // namespace outsize::detail
