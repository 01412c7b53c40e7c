// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The items of a priority queue that wait in memory: sorted sequences in slabs, and behind them the
// open segment, in which pushed items lie as they come.
//
//   full slab:  | consumed | sequence | consumed | sequence | … |      the oldest is written next
//   full slab:  | sequence | segment, being sorted |     while the open one is filled
//   open slab:  | sequence | sequence | open segment ...   | room |
//
// Slabs and sequences are in the order of age, the oldest first. While a slab is written its items
// can still be consumed. The items consumed are the beginning of the array that it becomes.
//
// Invariant: each item is in one sequence or in the open segment. An exception changes nothing but
// the order inside the open segment. One thread at a time; it has the team sort. Layer: container.
// Source: Bingmann, Keh, Sanders 2015, section 3 (insertion heaps, internal arrays).

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/sort/family/typed_items.hpp>
#include <outsize/algorithm/detail/sort/in_place_run.hpp>
#include <outsize/algorithm/detail/sort/run_writer.hpp>
#include <outsize/base/detail/side_thread.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/detail/priority/external_arrays.hpp>
#include <outsize/container/detail/priority/queue_plan.hpp>
#include <outsize/kernel/detail/item_sequence.hpp>
#include <outsize/kernel/detail/parallel_sort.hpp>

namespace outsize::detail {

/// Sorts items of a family where they lie, by all threads: into one sequence if that needs no other
/// memory, else into some.
template <typename Family>
class slab_sorter {
 public:
  slab_sorter(Family const& family, executor& threads, grant& memory, queue_plan const& plan)
      : family_(family), threads_(threads) {
    std::size_t const item = family.item_bytes();
    if constexpr (Family::has_key_codec) {
      segment_items_ = plan.slab_items(item) / 16;
    } else {
      segment_items_ = std::max<std::size_t>(1, plan.segment_bytes / item);
      for (std::size_t i = 0; i < 2 * plan.sorters; ++i)
        scratch_.push_back(memory.allocate(segment_items_ * item));
    }
  }

  /// Sorts pushed items, which become items as they are merged: the first `encoded`, in items, are
  /// such already, and in the end all are. Returns the ends of the sorted sequences, in items. An
  /// exception leaves all items there.
  std::vector<std::size_t> sort(std::span<std::byte> items, std::size_t& encoded) const {
    bool const is_new = encoded == 0;
    bool const is_sorted = is_new && family_.in_order(as_items(items), false);
    if constexpr (Family::has_key_codec) {
      std::vector<std::size_t> ends{count(items)};
      bool const is_reversed = is_new && !is_sorted && family_.in_order(as_items(items), true);
      encode(items.subspan(encoded * family_.item_bytes()));
      encoded = count(items);
      if (is_reversed)
        std::ranges::reverse(as_items(items));
      else if (!is_sorted)
        sort_encoded(items);
      return ends;
    } else {
      encoded = 0;
      return is_sorted ? std::vector<std::size_t>{count(items)} : sort_segments(items);
    }
  }
  /// The same for two sequences that lie side by side, the first of so many items. @pre no more
  /// items than segment_items()
  void merge(std::span<std::byte> items, std::size_t first_items) const {
    std::size_t const item = family_.item_bytes();
    auto const all = family_.block_view(items, items.size() / item);
    if (!family_.less()(all.key(first_items), all.key(first_items - 1))) return;
    if constexpr (Family::has_key_codec) {
      sort_encoded(items);
    } else {
      sort_segments(items);
    }
  }
  /// The same by the calling thread.
  void encode_alone(std::span<std::byte> items) const noexcept {
    if constexpr (Family::has_key_codec) family_.bits().encode_all(as_items(items));
  }
  /// Turns items as the user has them into items as they are merged.
  void encode(std::span<std::byte> items) const {
    if constexpr (Family::has_key_codec) {
      constexpr std::size_t least_piece = std::size_t{1} << 16U;
      auto const all = as_items(items);
      std::size_t const pieces =
          std::clamp<std::size_t>(all.size() / least_piece, 1, threads_.threads());
      threads_.parallel_for(pieces, [&](std::size_t i) {
        std::size_t const begin = all.size() * i / pieces, end = all.size() * (i + 1) / pieces;
        family_.bits().encode_all(all.subspan(begin, end - begin));
      });
    }
  }
  /// The length of a sequence that is cheap to sort anew.
  std::size_t segment_items() const noexcept { return segment_items_; }

 private:
  static auto as_items(std::span<std::byte> bytes) noexcept {
    if constexpr (Family::has_key_codec) {
      using item = typename Family::item;
      return std::span(reinterpret_cast<item*>(bytes.data()), bytes.size() / sizeof(item));
    } else {
      return bytes;
    }
  }
  std::size_t count(std::span<std::byte> bytes) const noexcept {
    return bytes.size() / family_.item_bytes();
  }
  void sort_encoded(std::span<std::byte> items) const {
    if constexpr (std::same_as<typename Family::item, word_pair>) {
      parallel_sort(as_items(items), ordered_words{.key_is_first = false}, threads_);
    } else {
      parallel_sort(as_items(items), ordered_bits{}, threads_);
    }
  }

  std::vector<std::size_t> sort_segments(std::span<std::byte> items) const {
    std::size_t const item = family_.item_bytes(), all = count(items);
    std::vector<std::size_t> ends;
    for (std::size_t end = 0; end < all;) ends.push_back(end = std::min(all, end + segment_items_));
    std::size_t const at_once = scratch_.size() / 2;
    for (std::size_t first = 0; first < ends.size(); first += at_once) {
      threads_.parallel_for(std::min(at_once, ends.size() - first), [&](std::size_t i) {
        std::size_t const begin = (first + i) * segment_items_;
        sort_segment(items.subspan(begin * item, (ends[first + i] - begin) * item), i);
      });
    }
    return ends;
  }
  void sort_segment(std::span<std::byte> items, std::size_t thread) const {
    auto const copy = scratch_[2 * thread].bytes().first(items.size());
    auto const other = scratch_[2 * thread + 1].bytes().first(items.size());
    std::memcpy(copy.data(), items.data(), items.size());
    try {
      family_.sort_here(items, other);
    } catch (...) {
      std::memcpy(items.data(), copy.data(), items.size());
      throw;
    }
  }

  Family const& family_;
  executor& threads_;
  std::size_t segment_items_;
  std::vector<buffer> scratch_;  // two for each thread that sorts at once
};

template <typename Family>
class push_slabs {
 public:
  using view = typename Family::view;
  using round = merge_round<Family>;

  /// Full slabs are sorted by `side`, which does nothing else between room() and sort_open().
  push_slabs(Family const& family, storage& store, grant& memory, queue_plan const& plan,
             external_arrays<Family>& arrays, side_thread& side)
      : family_(family),
        store_(store),
        plan_(plan),
        arrays_(arrays),
        side_(side),
        sorter_(family, store.threads(), memory, plan) {
    for (std::size_t i = 0; i < plan.slabs; ++i) {
      free_.push_back(std::make_unique<slab>());
      free_.back()->memory = memory.allocate(plan.slab_bytes);
    }
    slabs_.push_back(take_free());
  }
  push_slabs(push_slabs const&) = delete;
  push_slabs& operator=(push_slabs const&) = delete;

  slab_sorter<Family> const& sorter() const noexcept { return sorter_; }
  std::size_t sequence_count() const noexcept {
    std::size_t sum = 0;
    for (auto const& s : slabs_) sum += s->sequences.size();
    return sum;
  }
  void clear() noexcept {
    if (std::exchange(is_sorting_, false)) try {
        side_.wait();
      } catch (...) {  // the items go anyway
      }
    unsorted_ = nullptr;
    while (!slabs_.empty()) {
      free_.push_back(std::move(slabs_.back()));
      slabs_.pop_back();
    }
    for (auto& s : free_) s->clear();
    slabs_.push_back(take_free());
  }

  /// Whether room() needs no other slab.
  bool has_room(std::size_t least_items) const noexcept {
    return slabs_.back()->filled + least_items <= slab_items();
  }
  /// Returns room for at least `least_items` in the open segment. Has a slab written if the open
  /// one is full. @throws io_error, out_of_space, budget_error, or as the order does.
  std::span<std::byte> room(std::size_t least_items) {
    if (!has_room(least_items)) next_slab();
    return at(open(), open().filled, slab_items());
  }
  void grow(std::size_t items) noexcept { open().filled += items; }

  /// Sorts the open segment, and waits until the last full slab is sorted; then all items are in
  /// sequences. @throws as the order does.
  void sort_open() {
    finish_sort();
    begin_sort(open());
    finish_sort();
  }

  /// Appends all sequences, the oldest first. @pre sort_open()
  void append_sequences(std::vector<item_sequence<view>>& to) const {
    for (auto const& s : slabs_)
      for (auto const& q : s->sequences) to.emplace_back().append(view_of(*s, q));
  }
  /// Drops the first counts(i) items of each of these sequences.
  template <typename Counts>
  void consume(Counts const& counts) noexcept {
    std::size_t i = 0;
    for (auto& s : slabs_) {
      for (auto& q : s->sequences) q.begin += counts(i++);
      std::erase_if(s->sequences, [](sequence const& q) { return q.begin == q.end; });
    }
    // A slab without items is free, unless it is being written.
    for (std::size_t k = 0; k + 1 < slabs_.size();) {
      if (slabs_[k]->items() == 0 && !slabs_[k]->is_written()) {
        slabs_[k]->clear();
        free_.push_back(std::move(slabs_[k]));
        slabs_.erase(slabs_.begin() + static_cast<std::ptrdiff_t>(k));
      } else {
        ++k;
      }
    }
    if (open().items() == 0 && !open().is_written()) open().clear();
  }

  /// Makes arrays of all items. @throws io_error, out_of_space, budget_error, or as the order does;
  /// an item is in a slab or in an array then.
  void write_all() {
    sort_open();
    while (slabs_.front()->is_written()) finish_oldest();
    if (sequence_count() == 0) return;
    arrays_.make_room();
    arrays_.add_youngest(merged(slabs_.size()), 0);
    clear();
  }

 private:
  struct sequence {
    std::size_t begin, end;  // items of the slab
  };
  struct slab {
    buffer memory;
    std::vector<sequence> sequences = {};
    std::size_t open_begin = 0;  // items: of the open segment
    std::size_t filled = 0;
    std::size_t encoded = 0;  // of the open segment, after a sort that failed
    // While it is written:
    std::unique_ptr<in_place_run<Family>> in_place = {};
    std::uint64_t written_items = 0;

    std::uint64_t items() const noexcept {
      std::uint64_t sum = filled - open_begin;
      for (auto const& q : sequences) sum += q.end - q.begin;
      return sum;
    }
    bool is_written() const noexcept { return in_place != nullptr; }
    void clear() noexcept {
      in_place.reset();
      sequences.clear();
      open_begin = filled = encoded = 0;
      written_items = 0;
    }
  };

  slab& open() noexcept { return *slabs_.back(); }
  std::size_t slab_items() const noexcept { return plan_.slab_items(family_.item_bytes()); }
  std::span<std::byte> at(slab const& s, std::size_t begin, std::size_t end) const noexcept {
    std::size_t const item = family_.item_bytes();
    return s.memory.bytes().subspan(begin * item, (end - begin) * item);
  }
  view view_of(slab const& s, sequence const& q) const noexcept {
    return family_.block_view(at(s, q.begin, q.end), q.end - q.begin);
  }
  std::unique_ptr<slab> take_free() noexcept {
    auto taken = std::move(free_.back());
    free_.pop_back();
    return taken;
  }

  /// Notes that the segment behind its sequences is to be sorted.
  void begin_sort(slab& s) noexcept {
    if (s.open_begin != s.filled) unsorted_ = &s;
  }
  /// Has it sorted while the owner goes on.
  void begin_sort_aside() {
    if (unsorted_ == nullptr || store_.threads().threads() == 1) return;
    try {
      side_.start([this, &s = *unsorted_] { ends_ = sort_segment_of(s); });
      is_sorting_ = true;
    } catch (std::exception const&) {  // without a thread it is sorted later
    }
  }
  std::vector<std::size_t> sort_segment_of(slab& s) const {
    return sorter_.sort(at(s, s.open_begin, s.filled), s.encoded);
  }
  /// Makes sequences of the segment. If its order throws, the next call sorts it again.
  void finish_sort() {
    if (unsorted_ == nullptr) return;
    slab& s = *unsorted_;
    bool is_sorted = false;
    if (std::exchange(is_sorting_, false)) try {
        side_.wait();
        is_sorted = true;
      } catch (...) {  // as it is sorted here, the reason is met again
      }
    if (!is_sorted) ends_ = sort_segment_of(s);
    s.sequences.reserve(s.sequences.size() + ends_.size());
    std::size_t const begin = s.open_begin;
    for (std::size_t from = begin; std::size_t const end : ends_) {
      s.sequences.push_back({from, begin + end});
      from = begin + end;
    }
    s.open_begin = s.filled;
    s.encoded = 0;
    unsorted_ = nullptr;
    join_last(s);
  }

  /// Short sequences at the end become one, so that there are never many.
  void join_last(slab& s) {
    auto const length = [&](std::size_t back) {
      auto const& q = s.sequences[s.sequences.size() - back];
      return q.end - q.begin;
    };
    std::size_t const most = sorter_.segment_items();
    while (s.sequences.size() > 1 && length(2) <= 2 * length(1) && length(1) + length(2) <= most) {
      sequence& before = s.sequences[s.sequences.size() - 2];
      sequence const last = s.sequences.back();
      std::size_t const count = last.end - last.begin;
      if (before.end != last.begin)
        std::memmove(at(s, before.end, before.end + count).data(),
                     at(s, last.begin, last.end).data(), count * family_.item_bytes());
      s.sequences.back() = {before.end, before.end + count};
      s.open_begin = s.filled = before.end + count;
      try {
        sorter_.merge(at(s, before.begin, before.end + count), before.end - before.begin);
      } catch (...) {
        if constexpr (Family::has_key_codec) reopen_last_two(s);
        throw;
      }
      before.end += count;
      s.sequences.pop_back();
    }
  }

  /// Items that a sort has left in any order.
  void reopen_last_two(slab& s) noexcept {
    s.sequences.pop_back();
    s.open_begin = s.sequences.back().begin;
    s.encoded = s.filled - s.open_begin;
    s.sequences.pop_back();
    unsorted_ = &s;
  }

  void next_slab() {
    finish_sort();
    if (free_.empty()) finish_oldest();
    slab& full = open();
    slabs_.emplace_back();
    slabs_.back() = take_free();
    begin_sort(full);
    begin_sort_aside();
    if (free_.empty()) try {
        begin_oldest();
      } catch (std::exception const&) {  // finish_oldest() tries again, and reports it
      }
  }

  /// Has the oldest slab written, if that needs no other memory.
  void begin_oldest() {
    slab& s = *slabs_.front();
    if (&s == unsorted_ || s.is_written() || s.sequences.size() != 1 ||
        s.sequences.front().begin != 0)
      return;
    std::size_t const block_items =
        in_place_run<Family>::items_of_block(family_, arrays_.space(), plan_.block_bytes);
    if (block_items == 0) return;
    arrays_.make_room();
    auto in_place =
        std::make_unique<in_place_run<Family>>(family_, arrays_.memory(), arrays_.places());
    auto const& all = s.sequences.front();
    in_place->write(at(s, 0, all.end), block_items, first_items(block_items), store_.threads());
    s.written_items = all.end;
    s.in_place = std::move(in_place);
  }
  /// How many items the first block of the next array has.
  std::size_t first_items(std::size_t block_items) {
    std::size_t const bytes = staggered_bytes(block_items * family_.item_bytes(), number_++);
    std::size_t const some = in_place_run<Family>::items_of_block(family_, arrays_.space(), bytes);
    return some != 0 ? some : block_items;
  }

  /// Makes the oldest slab an array, and is free of it.
  void finish_oldest() {
    arrays_.make_room();
    slab& s = *slabs_.front();
    if (s.items() > 0) {
      std::uint64_t const before = s.is_written() ? s.written_items : s.items();
      run<Family> sorted = s.is_written() ? written(s) : merged(1);
      arrays_.add_youngest(std::move(sorted), before - s.items());
    }
    s.clear();
    free_.push_back(std::move(slabs_.front()));
    slabs_.pop_front();
  }
  run<Family> written(slab& s) {
    auto const writing = std::move(s.in_place);  // on errors it is written anew
    return writing->finish();
  }
  /// Merges the sequences of the oldest slabs.
  run<Family> merged(std::size_t slabs) {
    run_writer<Family> out(family_, store_, store_.threads(), arrays_.memory(),
                           arrays_.write_pool(), equal_items::kept,
                           {.first_bytes = staggered_bytes(plan_.block_bytes, number_++)},
                           arrays_.places());
    struct piece {
      slab const& in;
      std::size_t begin, end;
    };
    std::vector<piece> left;
    for (std::size_t i = 0; i < slabs; ++i)
      for (auto const& q : slabs_[i]->sequences) left.push_back({*slabs_[i], q.begin, q.end});
    for (;;) {
      std::vector<item_sequence<view>> sequences;
      for (auto const& p : left) sequences.emplace_back().append(view_of(p.in, {p.begin, p.end}));
      round r(family_, store_.threads(), std::span<item_sequence<view> const>(sequences));
      if (r.items() == 0) return out.finish();
      out.write(r, family_.item_bytes());
      for (std::size_t i = 0; i < left.size(); ++i) left[i].begin += r.limit(i);
    }
  }

  Family const& family_;
  storage& store_;
  queue_plan const& plan_;
  external_arrays<Family>& arrays_;
  side_thread& side_;
  slab_sorter<Family> sorter_;
  std::deque<std::unique_ptr<slab>> slabs_;  // the oldest first, the open one last
  std::vector<std::unique_ptr<slab>> free_;
  std::uint64_t number_ = 0;       // of arrays
  slab* unsorted_ = nullptr;       // whose open segment is to be sorted
  bool is_sorting_ = false;        // by side_
  std::vector<std::size_t> ends_;  // of its sequences
};

}  // namespace outsize::detail
