// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Items of one size that only a kernel looks into, for the sorting engine: their bytes in memory
// and on disk are what typed_items have.
//
// The engine of this family is compiled once, for all types (engine.cpp). Several threads may use a
// family; each chunk and view is for one at a time. Layer: algorithm. A model of `item_family`
// (sort_work.hpp).

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/sort/family/reduction.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/kernel/detail/item_kernel.hpp>

namespace outsize::detail {

/// Sorted items side by side.
class kernel_view {
 public:
  using key_type = std::byte const*;

  kernel_view() = default;
  kernel_view(std::span<std::byte const> items, std::size_t item_bytes)
      : items_(items.data()), size_(items.size() / item_bytes), item_bytes_(item_bytes) {}

  std::size_t size() const noexcept { return size_; }
  key_type key(std::size_t i) const noexcept { return items_ + i * item_bytes_; }
  std::uint64_t bytes(std::size_t begin, std::size_t end) const noexcept {
    return (end - begin) * item_bytes_;
  }
  std::span<std::byte const> items(std::size_t begin, std::size_t end) const noexcept {
    return {key(begin), bytes(begin, end)};
  }
  /// Copies some to `to`, and returns its end.
  std::byte* copy_items(std::size_t begin, std::size_t end, std::byte* to) const noexcept {
    std::memcpy(to, key(begin), bytes(begin, end));
    return to + bytes(begin, end);
  }
  void will_need(std::size_t) const noexcept {}

 private:
  std::byte const* items_ = nullptr;
  std::size_t size_ = 0;
  std::size_t item_bytes_ = 0;
};

class kernel_chunk;

class kernel_items {
 public:
  using view = kernel_view;
  using key_type = view::key_type;
  using chunk = kernel_chunk;
  using trigger = std::byte const*;  // an item, that a run copies
  static constexpr bool fixed_size = true;
  static constexpr bool merges_by_copying = true;
  static constexpr std::size_t chunk_entry_bytes = 0;
  static constexpr bool has_key_codec = false;

  struct key_less {
    item_kernel const* kernel;
    bool operator()(key_type a, key_type b) const { return kernel->less(a, b); }
  };

  explicit kernel_items(std::shared_ptr<item_kernel const> kernel)
      : sorts_out_of_place(kernel->traits().sorts_out_of_place),
        combines(kernel->traits().combines),
        item_bytes_(kernel->traits().item_bytes),
        less_{kernel.get()},
        kernel_(std::move(kernel)) {}

  bool sorts_out_of_place;
  bool combines;

  std::size_t item_bytes() const noexcept { return item_bytes_; }
  key_less const& less() const noexcept { return less_; }
  /// @pre b does not come before a.
  bool equal(key_type a, key_type b) const { return !less_(a, b); }

  void sort(std::span<std::byte> items, std::span<std::byte> to) const { kernel_->sort(items, to); }
  void merge(std::vector<sorted_pieces> const& sources, merge_places& out) const {
    kernel_->merge(sources, out);
  }
  std::size_t reduce(std::span<std::byte> items) const { return kernel_->reduce(items); }
  void combine(std::byte* first, std::byte const* second) const {
    if (combines) kernel_->combine(first, second);
  }
  bool in_order(std::span<std::byte const> items, bool descending) const {
    return kernel_->in_order(items, descending);
  }
  void reverse(std::span<std::byte const> items, std::byte* to) const {
    kernel_->reverse(items, to);
  }

  /// Memory that sort_here() needs for so many bytes of items.
  std::size_t scratch_bytes(std::size_t items_bytes) const noexcept {
    return sorts_out_of_place ? items_bytes : 0;
  }
  /// Sorts items where they lie. @pre `scratch`, of scratch_bytes(), is aligned as they are.
  void sort_here(std::span<std::byte> items, std::span<std::byte> scratch) const {
    if (!sorts_out_of_place) return sort(items, {});
    sort(items, scratch.first(items.size()));
    std::memcpy(items.data(), scratch.data(), items.size());
  }

  view block_view(std::span<std::byte const> block, std::size_t count) const noexcept {
    return view(block.first(count * item_bytes_), item_bytes_);
  }
  view view_of_one(std::span<std::byte const> item) const noexcept { return block_view(item, 1); }

  std::size_t size(key_type) const noexcept { return item_bytes_; }
  std::byte* store(key_type key, std::byte* to) const noexcept {
    std::memcpy(to, key, item_bytes_);
    return to + item_bytes_;
  }
  void finish(std::span<std::byte>) const noexcept {}

  static trigger make_trigger(key_type key) noexcept { return key; }
  std::size_t trigger_bytes() const noexcept { return item_bytes_; }
  static bool trigger_is_exact(trigger) noexcept { return true; }
  static key_type trigger_key(trigger t) noexcept { return t; }
  bool trigger_before(trigger a, trigger b) const { return less_(a, b); }

 private:
  std::size_t item_bytes_;
  key_less less_;
  std::shared_ptr<item_kernel const> kernel_;
};

/// Memory that is filled with items and then sorted, in one part for each thread.
class kernel_chunk {
 public:
  kernel_chunk(kernel_items const& family, grant& memory, std::size_t bytes)
      : memory_(memory.allocate(bytes)), item_bytes_(family.item_bytes()) {}

  std::size_t count() const noexcept { return count_; }
  std::uint64_t bytes() const noexcept { return count_ * item_bytes_; }
  std::size_t largest_item_bytes() const noexcept { return item_bytes_; }
  void clear() noexcept { count_ = 0; }
  std::span<std::byte> memory() const noexcept { return memory_.bytes(); }

  /// The part that is still to be filled, of whole items; call grow() with the number of items
  /// written there.
  std::span<std::byte> room() noexcept {
    std::size_t const whole = round_down(memory_.size(), item_bytes_);
    return memory_.bytes().first(whole).subspan(bytes());
  }
  void grow(std::size_t count) noexcept { count_ += count; }

  /// Sorts the items in up to `most_parts` parts at once, and of each leaves what is to be left.
  std::vector<kernel_view> sort(kernel_items const& family, executor& threads,
                                std::size_t most_parts, equal_items equals);
  /// The same out of place: `scratch`, as large as the chunk, changes places with its memory.
  std::vector<kernel_view> sort(kernel_items const& family, executor& threads,
                                std::size_t most_parts, equal_items equals, buffer& scratch);

 private:
  std::vector<kernel_view> sort_parts(kernel_items const& family, executor& threads,
                                      std::size_t most_parts, equal_items equals, buffer* unsorted);

  buffer memory_;
  std::size_t item_bytes_;
  std::size_t count_ = 0;
};

}  // namespace outsize::detail
