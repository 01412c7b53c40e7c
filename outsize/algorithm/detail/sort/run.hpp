// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A sorted run on disk: the list of its blocks.
//
// A run's blocks hold whole items in order. For each block the first item, or the beginning of a
// long one, is kept in memory as its trigger: the order of the triggers is the order in which a
// merge will need the blocks. If the storage says so, the block's checksum is kept as well. A run
// owns its blocks and frees them when destroyed; a merge takes them out one by one. What writes
// one: in_place_run.hpp, run_writer.hpp. One thread at a time changes a run. Layer: algorithm.
// Source: STXXL 2008, section 6.1.2.

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/algorithm/sort_plan.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/external_item.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/block/block_device.hpp>
#include <outsize/block/checksum_table.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/codec/detail/byte_codec.hpp>

namespace outsize::detail {

/// What the lengths of blocks are multiples of on these disks; makes them, if they are not there
/// yet. @throws io_error.
inline std::size_t block_unit_bytes(block::block_device& disks) {
  return std::max(least_block_unit_bytes, disks.alignment_bytes());
}

/// How a run's blocks hold its items: as they are, unless held_bytes says otherwise.
struct run_form {
  std::size_t block_bytes = 0;            ///< Of encoded blocks, the most.
  std::size_t held_bytes = 0;             ///< What it takes to decode one; 0: they are not encoded.
  std::size_t first_bytes = 0;            ///< Of the first block, about; 0: as long as the others.
  byte_coding coding = byte_coding::lz4;  ///< Of encoded blocks, if not of integer keys.

  bool is_encoded() const noexcept { return held_bytes != 0; }
};

/// The length of the first of the blocks of run number `index`. Runs of equally distributed items
/// would otherwise end their blocks at the same keys, and a merge would need the next blocks of all
/// of them at once and then none for long.
inline std::size_t staggered_bytes(std::size_t block_bytes, std::uint64_t index) noexcept {
  // Multiples of the golden ratio are spread evenly, however many there are.
  constexpr std::uint64_t ratio = 0x9E3779B97F4A7C15;
  std::uint64_t const share = (ratio * (index + 1)) >> 32;
  // In units of what items in place are aligned to.
  return std::max<std::size_t>(64, (block_bytes * share >> 32) / 64 * 64);
}

/// Families whose triggers are items of one size that is not known to the compiler: a run has them
/// side by side, beside its entries.
template <typename Family>
concept has_triggers_beside = requires(Family const& family) { family.trigger_bytes(); };

/// What a trigger takes beside the entry of its block.
template <typename Family>
std::size_t trigger_bytes_of(Family const& family) noexcept {
  if constexpr (has_triggers_beside<Family>) {
    return family.trigger_bytes();
  } else {
    return 0;
  }
}

template <typename Family>
class run {
 public:
  using trigger_type = typename Family::trigger;
  struct no_trigger {};
  struct entry {
    block::block_id id;
    std::uint32_t items;
    std::uint32_t content_bytes;  // once it is decoded; 0: it is not encoded
    [[no_unique_address]] std::conditional_t<has_triggers_beside<Family>, no_trigger, trigger_type>
        trigger;
  };

  /// Blocks are freed in `space`. `memory` is charged for the entries, and for what triggers take
  /// beside them.
  run(block::block_space& space, bool keeps_checksums, grant& memory, run_form form = {},
      std::size_t trigger_bytes = 0)
      : space_(&space),
        keeps_checksums_(keeps_checksums),
        memory_(&memory),
        form_(form),
        trigger_bytes_(trigger_bytes) {}
  run(storage& store, grant& memory) : run(store, has_checksums(store), memory) {}
  run(run&& other) noexcept
      : space_(other.space_),
        keeps_checksums_(other.keeps_checksums_),
        memory_(other.memory_),
        entries_(std::exchange(other.entries_, {})),
        checksums_(std::exchange(other.checksums_, {})),
        triggers_(std::exchange(other.triggers_, {})),
        charged_bytes_(std::exchange(other.charged_bytes_, 0)),
        items_(other.items_),
        bytes_(other.bytes_),
        disk_bytes_(other.disk_bytes_),
        form_(other.form_),
        trigger_bytes_(other.trigger_bytes_),
        largest_item_bytes_(other.largest_item_bytes_),
        largest_block_bytes_(other.largest_block_bytes_) {}
  run& operator=(run&& other) noexcept {
    std::swap(space_, other.space_);
    std::swap(keeps_checksums_, other.keeps_checksums_);
    std::swap(memory_, other.memory_);
    entries_.swap(other.entries_);
    checksums_.swap(other.checksums_);
    triggers_.swap(other.triggers_);
    std::swap(charged_bytes_, other.charged_bytes_);
    items_ = other.items_;
    bytes_ = other.bytes_;
    disk_bytes_ = other.disk_bytes_;
    form_ = other.form_;
    trigger_bytes_ = other.trigger_bytes_;
    largest_item_bytes_ = other.largest_item_bytes_;
    largest_block_bytes_ = other.largest_block_bytes_;
    return *this;
  }
  ~run() {
    for (entry const& e : entries_)
      if (e.items != 0) space_->free(e.id);
    memory_->discharge(charged_bytes_);
  }

  /// Returns whether runs on the disks of a storage have checksums of their own: where all blocks
  /// have them, none are needed.
  static bool has_checksums(storage const& store) noexcept {
    return store.options().checksums == block_checksums::of_runs;
  }
  /// What a block costs in the index of a run on `store`.
  static std::size_t entry_bytes(storage const& store) noexcept {
    return entry_bytes(has_checksums(store));
  }

  /// Owns the block from now on, and frees it if it throws; then the run can only be destroyed.
  /// @param content  All that is written to the block, padding too.
  void append(block::block_id id, std::uint32_t items, std::uint32_t content_bytes,
              trigger_type first, std::span<std::byte const> content) {
    append(id, items, content_bytes, std::move(first),
           keeps_checksums() ? block::checksum_of(content) : 0);
  }
  /// The same for content with this checksum.
  void append(block::block_id id, std::uint32_t items, std::uint32_t content_bytes,
              trigger_type first, std::uint64_t checksum) {
    try {
      charge_entry();
      if (keeps_checksums()) checksums_.push_back(checksum);
      if constexpr (has_triggers_beside<Family>) {
        triggers_.insert(triggers_.end(), first, first + trigger_bytes_);
        entries_.push_back({id, items, content_bytes, {}});
      } else {
        entries_.push_back({id, items, content_bytes, std::move(first)});
      }
    } catch (...) {
      space_->free(id);
      throw;
    }
    items_ += entries_.back().items;
    disk_bytes_ += entries_.back().id.length_bytes;
    largest_block_bytes_ =
        std::max<std::size_t>(largest_block_bytes_, entries_.back().id.length_bytes);
  }
  void add_bytes(std::uint64_t bytes, std::size_t largest_item_bytes) noexcept {
    bytes_ += bytes;
    largest_item_bytes_ = std::max(largest_item_bytes_, largest_item_bytes);
  }

  bool keeps_checksums() const noexcept { return keeps_checksums_; }
  /// @pre keeps_checksums().
  std::uint64_t checksum_of(std::size_t index) const noexcept { return checksums_[index]; }
  /// Compares what has been read of block `index` with its checksum. May be called by several
  /// threads at once. @pre keeps_checksums(). @throws corrupt_block.
  void check_block(std::size_t index, std::span<std::byte const> read) const {
    space_->check(entries_[index].id, read, checksums_[index]);
  }

  /// Says that what has been read of block `index` cannot be what was written.
  /// @throws corrupt_block.
  [[noreturn]] void throw_corrupt(std::size_t index) const {
    auto const id = entries_[index].id;
    throw corrupt_block(space_->disk_name(id.disk), id.offset_bytes, id.length_bytes,
                        "it makes no sense");
  }

  /// Frees block `index`, which has been read.
  void free_block(std::size_t index) noexcept {
    space_->free(entries_[index].id);
    entries_[index].items = 0;
  }

  std::vector<entry> const& entries() const noexcept { return entries_; }
  decltype(auto) trigger_of(std::size_t index) const noexcept {
    if constexpr (has_triggers_beside<Family>) {
      return trigger_type(triggers_.data() + index * trigger_bytes_);
    } else {
      return (entries_[index].trigger);
    }
  }
  /// Returns the bytes of the trigger of a block beside its entry.
  std::size_t trigger_bytes() const noexcept { return trigger_bytes_; }
  std::uint64_t index_bytes() const noexcept { return charged_bytes_; }
  std::uint64_t items() const noexcept { return items_; }
  /// Of the items.
  std::uint64_t bytes() const noexcept { return bytes_; }
  std::size_t largest_item_bytes() const noexcept { return largest_item_bytes_; }
  /// Of all blocks, on disk.
  std::uint64_t disk_bytes() const noexcept { return disk_bytes_; }
  run_form const& form() const noexcept { return form_; }
  /// What a merge needs for a block.
  std::size_t buffer_bytes() const noexcept {
    return std::max(largest_block_bytes_, form_.held_bytes);
  }

  /// Returns the place of its blocks.
  block::block_space& space() const noexcept { return *space_; }

 private:
  static std::size_t entry_bytes(bool with_checksum) noexcept {
    return sizeof(entry) + (with_checksum ? sizeof(std::uint64_t) : 0);
  }
  void charge_entry() {
    std::size_t const bytes = entry_bytes(keeps_checksums_) + trigger_bytes_;
    try {
      memory_->charge(bytes);
    } catch (budget_error const& e) {
      throw budget_error(
          e.asker(), e.have_bytes(), bytes,
          fmt::format("{}: no memory is left for the index of blocks on disk; it takes "
                      "less where the size of the input is known, or allow more memory",
                      e.asker()));
    }
    charged_bytes_ += bytes;
  }

  block::block_space* space_;
  bool keeps_checksums_;
  grant* memory_;
  std::vector<entry> entries_;
  std::vector<std::uint64_t> checksums_;  // of the entries' blocks, or none
  aligned_bytes triggers_;                // of them, if they are not in the entries
  std::uint64_t charged_bytes_ = 0;
  std::uint64_t items_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t disk_bytes_ = 0;
  run_form form_;
  std::size_t trigger_bytes_;
  std::size_t largest_item_bytes_ = 0;
  std::size_t largest_block_bytes_ = 0;
};

}  // namespace outsize::detail
