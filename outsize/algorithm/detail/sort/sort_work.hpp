// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What a sort has, whatever it is doing: items, memory and plan, the runs as soon as there are any,
// and what it tells of itself.
//
//   run_formation ──▶ runs, chunks ──▶ intermediate_merges ──▶ fewer runs ──▶ last_merge
//
// One phase at a time changes it; counters are read by any thread. Layer: algorithm.

#include <fmt/format.h>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <outsize/algorithm/detail/sort/family/reduction.hpp>
#include <outsize/algorithm/detail/sort/output_room.hpp>
#include <outsize/algorithm/detail/sort/run.hpp>
#include <outsize/algorithm/detail/sort/window_writer.hpp>
#include <outsize/algorithm/sort_options.hpp>
#include <outsize/algorithm/sort_plan.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/codec/detail/packed_block.hpp>

namespace outsize::detail {

/// What the engine asks of a kind of items; see kernel_items.hpp, number_items.hpp and
/// record_items.hpp.
template <typename F>
concept item_family = requires(F const family, typename F::key_type const key, std::byte* to,
                               typename F::trigger const trigger) {
  typename F::view;
  typename F::chunk;
  { family.item_bytes() } -> std::same_as<std::size_t>;
  { family.less()(key, key) } -> std::convertible_to<bool>;
  { family.equal(key, key) } -> std::convertible_to<bool>;
  { family.store(key, to) } -> std::same_as<std::byte*>;
  { F::chunk_entry_bytes } -> std::convertible_to<std::size_t>;
  { family.combines } -> std::convertible_to<bool>;
  { family.sorts_out_of_place } -> std::convertible_to<bool>;
  { F::has_key_codec } -> std::convertible_to<bool>;
  { family.make_trigger(key) } -> std::same_as<typename F::trigger>;
  { family.trigger_key(trigger) } -> std::same_as<typename F::key_type>;
  { family.trigger_before(trigger, trigger) } -> std::convertible_to<bool>;
};

template <item_family Family>
struct sort_work {
  storage& store;
  Family family;
  sort_options options;
  item_framing framing;
  grant memory;
  sort_plan plan = {};
  sort_report report = {};

  output_room* room = nullptr;  // where runs lie, if not on the storage's disks
  std::vector<run<Family>> runs = {};
  std::vector<typename Family::view> resident = {};  // sorted chunks in memory; after the runs
  std::size_t largest_resident_bytes = 0;            // item
  std::size_t resident_block_bytes = 0;              // of a block that holds it; 0: there is none

  std::atomic<sort_progress::phase> phase{sort_progress::phase::forming_runs};
  std::atomic<std::uint64_t> formed_bytes{0};
  std::atomic<std::uint64_t> to_merge_bytes{0};  // by intermediate merges
  std::atomic<std::uint64_t> merged_bytes{0};    // by them, so far
  std::atomic<std::uint64_t> left_out_bytes{0};  // where equal items are made one
  std::atomic<std::uint64_t> output_bytes{0};
  std::atomic<std::uint64_t> output_items{0};

  /// What the blocks of runs are in.
  block::block_space& run_space() noexcept {
    if (room != nullptr) return room->space();
    return store;
  }

  /// Whether of items that compare equal one is left.
  static bool reduces(Family const& family, sort_options const& options) noexcept {
    return family.combines || options.unique;
  }
  equal_items equals() const noexcept {
    return reduces(family, options) ? equal_items::made_one : equal_items::kept;
  }

  [[noreturn]] void throw_too_long(std::uint64_t item_bytes) const {
    if (item_bytes > most_record_bytes)
      throw budget_error(memory.asker(), most_record_bytes, item_bytes,
                         fmt::format("item of {} bytes is too long to be sorted: {} are the most",
                                     item_bytes, most_record_bytes));
    throw_too_long_for(memory.asker(), item_bytes, report.memory_bytes, store.memory());
  }
};

}  // namespace outsize::detail
