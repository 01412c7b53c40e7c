// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Byte strings in, sorted byte strings out: the sorter for lines, words, records of any length.
//
// Invariant: records are pushed before sort(), and read after it. One thread at a time uses a
// sorter. Layer: algorithm. The engine behind it: algorithm/detail/sort/engine.hpp. For items of
// one C++ type: sorter.hpp.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <outsize/algorithm/detail/sort/engine.hpp>
#include <outsize/base/assert.hpp>
#include <outsize/base/detail/owned.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/kernel/byte_order.hpp>

namespace outsize {

/// An order of byte strings that a sorter can use. prefix(a) < prefix(b) implies that a comes
/// before b; equal prefixes decide nothing. compare() is a strict weak order as <0, 0, >0.
/// equal_keys() is compare() == 0 or coarser; `unique` drops records by it. All are const, and
/// called from several threads at once.
///
/// If the order is a deepening_order too, records with equal prefixes are sorted without comparing
/// each with many others. If it has an equals_are_alike() that returns true, as byte_order has,
/// records that compare equal have the same bytes, and repeated ones are kept once in memory and in
/// a block.
template <typename O>
concept record_ordering = requires(O const order, std::string_view r) {
  { order.prefix(r) } -> std::same_as<std::uint64_t>;
  { order.compare(r, r) } -> std::convertible_to<int>;
  { order.equal_keys(r, r) } -> std::convertible_to<bool>;
};

/// Sorts any number of byte strings: push them all, call sort(), then read them.
///
/// Records that compare equal come out in the order in which they were pushed. Asserts that sort()
/// was called before records are read, and that the sorter was not moved from.
///
/// @tparam Order  record_ordering: byte_order, text::line_order, record_order, or one of your own.
///
/// I/Os:    None if the records fit in memory. Otherwise each run and each further pass writes once
///          and reads once the bytes of the records and 8 more for each. Blocks are full but for
///          less than one record.
/// CPU:     O(N log N) comparisons, most of them of 8-byte prefixes.
/// Memory:  as `sorter`. A record may take about a fifth of it; once records spill to disk, a
///          sixteenth, but at most 64 MiB, or 32 blocks if options.block_bytes is named.
/// Disk:    The records and 8 bytes for each; freed by clear(), or as they are read if not
///          `rewindable`.
/// Threads: the storage's; one thread at a time may use a sorter, many sorters may share a storage.
/// Errors:  budget_error (also if a record is too long for the memory or longer than 2 GiB; names
///          both sizes), io_error, out_of_space, cancelled. The sorter can then only be destroyed
///          or cleared; nothing is left on disk.
/// Source:  STXXL 2008, section 6; key-pointer pairs: section 6.2.
/// Checked: outsize/algorithm/record_sorter_test.cpp.
template <record_ordering Order = byte_order>
class record_sorter {
  using engine = detail::sort_engine<detail::record_items<Order>>;

 public:
  /// Takes options.memory_bytes from `store`, which must outlive the sorter. @throws budget_error;
  /// io_error; cancelled.
  explicit record_sorter(storage& store, Order order = {}, sort_options options = {})
      : store_(&store),
        order_(std::make_unique<Order const>(std::move(order))),
        options_(std::move(options)) {
    options_.rewindable = options_.rewindable.value_or(options_.memory_bytes == 0);
    begin_anew();
  }
  /// Does the same on the default storage.
  explicit record_sorter(Order order = {}, sort_options options = {})
      : record_sorter(default_storage(), std::move(order), std::move(options)) {}

  /// Adds a copy of a record. @pre sort() was not called.
  void push(std::string_view record) {
    OUTSIZE_ASSERT(!sorted_ && "a record pushed after sort()");
    engine_at_work().append(record);
    ++pushed_;
  }

  /// Ends the input and goes to the first record.
  /// I/Os:    as for the class.
  void sort() {
    OUTSIZE_ASSERT(!sorted_ && "sort() was called twice");
    engine_at_work().finish_input();
    sorted_ = true;
    advance();
  }

  /// Returns whether all records have been read; false after an error. @pre sort() was called.
  bool empty() const noexcept { return rest_->empty() && is_over(); }
  /// Returns the current record, valid until ++. @pre !empty().
  std::string_view operator*() const {
    need_record();
    return rest_->substr(sizeof(std::uint32_t), length());
  }
  /// Goes to the next record. @pre !empty().
  record_sorter& operator++() {
    need_record();
    rest_->remove_prefix(sizeof(std::uint32_t) + length());
    if (rest_->empty()) advance();
    return *this;
  }

  /// Goes back to the first record. @pre options.rewindable, or all records stayed in memory.
  void rewind() {
    OUTSIZE_ASSERT(sorted_ && (options_.is_rewindable() || report().runs == 0));
    window_.reset();
    *rest_ = {};
    engine_->rewind();
    advance();
  }

  /// Returns the number of records pushed.
  std::uint64_t size() const noexcept {
    check();
    return pushed_;
  }

  /// Drops all records, and accepts new ones.
  void clear() {
    check();
    begin_anew();
  }

  /// Returns runs, passes and memory; complete when empty() after sort().
  sort_report const& report() const noexcept {
    check();
    return engine_ ? engine_->report() : detail::report_of_nothing();
  }
  sort_progress progress() const noexcept {
    check();
    return engine_ ? engine_->progress() : sort_progress();
  }

 private:
  // In a window each record follows its length.
  static constexpr detail::item_framing framing{detail::item_framing::kind::length_prefix};

  std::size_t length() const noexcept {
    std::uint32_t bytes;
    std::memcpy(&bytes, rest_->data(), sizeof bytes);
    return bytes;
  }

  void begin_anew() {
    engine_.reset();
    window_.reset();
    *rest_ = {};
    pushed_ = 0;
    sorted_ = false;
    if (options_.memory_bytes != 0) engine_at_work();
  }
  void check() const noexcept {
    OUTSIZE_ASSERT(*store_ != nullptr && "used after it was moved from or closed");
  }
  /// Makes the engine at the first record, unless memory was named.
  engine& engine_at_work() {
    check();
    if (!engine_)
      engine_ = std::make_unique<engine>(**store_, detail::record_items<Order>(*order_, 0),
                                         options_, framing);
    return *engine_;
  }

  /// Returns whether there are no more records. @pre all records of the window have been read.
  bool is_over() const noexcept {
    OUTSIZE_ASSERT(sorted_ && "sort() was not called");
    return !engine_->has_failed();
  }
  void need_record() const {
    if (!rest_->empty()) [[likely]]
      return;
    OUTSIZE_ASSERT(!is_over() && "a record behind the last one");
    engine_->rethrow_error();
  }

  void advance() {
    *rest_ = {};
    if (window_) engine_->recycle(*std::exchange(window_, std::nullopt));
    window_ = engine_->next();
    if (window_) *rest_ = {reinterpret_cast<char const*>(window_->data().data()), window_->bytes};
  }

  detail::moved_along<storage*> store_;
  std::unique_ptr<Order const> order_;  // at a fixed address, since views of records refer to it
  sort_options options_;
  detail::owned<engine> engine_;
  std::optional<detail::sorted_window> window_;
  detail::moved_along<std::string_view> rest_;  // of the window, unread
  std::uint64_t pushed_ = 0;
  bool sorted_ = false;
};

}  // namespace outsize
