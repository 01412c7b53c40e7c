// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The first records of an order, out of any number: a record_sorter that forgets at once what
// cannot be among them.
//
//   push ─► after the bound? ─no─► chunk ──full──► sort it, keep the first `count`: the last of
//              │ yes                               them is the bound
//              ▼                                     │ they fill more than half of a chunk
//           forgotten                                ▼
//                                                  record_sorter, for these and all that follow
//
// Invariant: what is forgotten comes after `count` records that are kept; among records that
// compare equal those pushed first are kept. One thread at a time. Layer: algorithm.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <outsize/algorithm/detail/item_scan.hpp>
#include <outsize/algorithm/detail/sort/family/record_items.hpp>
#include <outsize/algorithm/item_sources.hpp>
#include <outsize/algorithm/record_sorter.hpp>
#include <outsize/base/assert.hpp>
#include <outsize/base/detail/owned.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>

namespace outsize {

/// Keeps the first `count` of any number of byte strings: push them all, call sort(), then read
/// them in order. With options.unique, the first `count` of those that remain.
///
/// @tparam Order  as for record_sorter.
///
/// To ask for records before sort() was called, or to use one that was moved from, is a mistake
/// that is asserted.
///
/// I/Os:    Nothing if the first `count` records fit in a sixteenth of the memory; else as
///          record_sorter for those that were not forgotten, but the output ends after `count`.
/// CPU:     O(N) comparisons with the bound, and O(R log R) for the R records that were before it
///          when they came: O(count log(N / count)) of N in random order.
/// Memory:  while the records fit, a quarter of options.memory_bytes, or of what others can do
///          without; then all that was named, or as record_sorter.
/// Disk:    As record_sorter.
/// Threads: as record_sorter.
/// Errors:  as record_sorter.
/// Checked: outsize/algorithm/top_sorter_test.cpp.
template <record_ordering Order = byte_order>
class top_sorter {
 public:
  static constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();

  /// `store` must outlive it. With `count` = all it is a record_sorter from the start.
  /// @throws budget_error; io_error.
  top_sorter(storage& store, Order order, std::uint64_t count, sort_options options = {})
      : store_(&store),
        order_(std::make_unique<Order const>(std::move(order))),
        items_(*order_, 0),
        count_(count),
        options_(std::move(options)) {
    if (count_ == all) {
      begin_sorter(options_.memory_bytes);
    } else {
      chunk_bytes_ =
          std::max(page_bytes(),
                   round_down<std::size_t>(detail::memory_of(store, options_) / 8, page_bytes()));
      kept_ = std::make_unique<counted_chunk>(*store_, chunk_bytes_);
      spare_ = std::make_unique<counted_chunk>(*store_, chunk_bytes_);
    }
  }

  /// Before sort(): adds a record; its bytes are copied, if they are needed.
  void push(std::string_view record) {
    OUTSIZE_ASSERT(!*sorted_ && "a record pushed after sort()");
    order_.get();  // it is there
    ++report_.items;
    report_.input_bytes += record.size();
    if (count_ == 0 || is_behind_bound(record)) return;
    if (!sorter_ && !append(record)) spill();
    if (sorter_) sorter_->push(record);
  }

  /// Ends the input and goes to the first record.
  void sort() {
    OUTSIZE_ASSERT(!*sorted_ && "sort() was called twice");
    order_.get();  // it is there
    if (!sorter_ && !shrink()) spill();
    if (sorter_)
      sorter_->sort();
    else
      view_ = kept_->records.sort_whole(items_);
    at_ = 0;
    *sorted_ = true;
  }

  /// After sort(): whether all of the first `count` records have been read.
  bool empty() const noexcept {
    OUTSIZE_ASSERT(*sorted_ && "sort() was not called");
    if (at_ == count_) return true;
    return sorter_ ? sorter_->empty() : at_ == view_.size();
  }
  /// The current record, valid until ++. @pre !empty().
  std::string_view operator*() const {
    OUTSIZE_ASSERT(!empty());
    return sorter_ ? **sorter_ : view_.key(at_).record();
  }
  /// Goes to the next record. @pre !empty().
  top_sorter& operator++() {
    OUTSIZE_ASSERT(!empty());
    ++at_;
    if (sorter_ && at_ < count_) ++*sorter_;
    return *this;
  }

  /// Records in and out so far, runs, passes: complete when empty() after sort().
  sort_report report() const noexcept {
    sort_report report = sorter_ ? sorter_->report() : sort_report{};
    report.items = report_.items;
    report.input_bytes = report_.input_bytes;
    report.output_items = at_;
    return report;
  }

 private:
  using items = detail::record_items<Order>;
  using chunk = typename items::chunk;

  /// A chunk and its share of the budget.
  struct counted_chunk {
    counted_chunk(storage& store, std::size_t bytes)
        : memory(store.memory().take(bytes, "top")), records(memory, bytes) {}
    grant memory;
    chunk records;
  };

  bool is_behind_bound(std::string_view record) const {
    if (!bound_) return false;
    std::uint64_t const prefix = order_->prefix(record);
    return prefix != bound_prefix_ ? prefix > bound_prefix_ : order_->compare(record, *bound_) >= 0;
  }

  /// Adds it to the chunk, if the first records leave room for that.
  bool append(std::string_view record) {
    if (kept_->records.append(items_, record)) return true;
    if (!shrink() || kept_->records.used_bytes() > chunk_bytes_ / 2) return false;
    return is_behind_bound(record) || kept_->records.append(items_, record);
  }

  /// Forgets all but the first `count` of the chunk, which lie in it in order then. Returns whether
  /// they fit into another one: what is there again has no bytes where that is noticed, which
  /// depends on what comes between. If not, nothing is forgotten.
  bool shrink() {
    auto const view = kept_->records.sort_whole(items_);
    spare_->records.clear();
    std::optional<std::string_view> last;
    for (std::size_t i = 0; i < view.size() && spare_->records.count() < count_; ++i) {
      auto const record = view.key(i).record();
      if (options_.unique && last && order_->equal_keys(*last, record)) continue;
      last = record;
      if (!spare_->records.append(items_, record)) return false;
    }
    if (last && spare_->records.count() == count_) {
      bound_ = *last;
      bound_prefix_ = order_->prefix(*bound_);
    }
    std::swap(kept_, spare_);
    return true;
  }

  /// With memory that is named; 0: its share.
  void begin_sorter(std::uint64_t named_bytes) {
    sorter_ = std::make_unique<record_sorter<Order>>(
        *store_, *order_, named_bytes != 0 ? with_memory(options_, named_bytes) : options_);
  }

  /// Goes on with a sorter, which has the rest of the memory.
  void spill() {
    spare_.reset();
    begin_sorter(options_.memory_bytes - (options_.memory_bytes != 0 ? chunk_bytes_ : 0));
    auto const view = kept_->records.sort_whole(items_);
    for (std::size_t i = 0; i < view.size(); ++i) sorter_->push(view.key(i).record());
    kept_.reset();
  }

  storage* store_;
  detail::owned<Order const> order_;  // at a fixed address, since views of records refer to it
  items items_;
  std::uint64_t count_;
  sort_options options_;
  std::size_t chunk_bytes_ = 0;
  std::unique_ptr<counted_chunk> kept_;  // until the sorter has taken over
  std::unique_ptr<counted_chunk> spare_;
  detail::record_view<Order> view_;  // of what was kept, after sort()
  std::unique_ptr<record_sorter<Order>> sorter_;
  std::optional<std::string> bound_;  // nothing behind it is needed
  std::uint64_t bound_prefix_ = 0;
  std::uint64_t at_ = 0;
  detail::moved_along<bool> sorted_;
  sort_report report_;
};

}  // namespace outsize
