// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Items of one type written as the blocks of a run from where they were sorted.
//
//   chunk:  | block 0 | block 1 | … | last block |     nothing is copied
//
// Invariant: no block is freed before its write has ended. One thread at a time uses one. Layer:
// algorithm.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/sort/output_room.hpp>
#include <outsize/algorithm/detail/sort/run.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/checksum_table.hpp>
#include <outsize/block/storage.hpp>

namespace outsize::detail {

/// Writes sorted items of one type as the blocks of one run from where they lie.
template <typename Family>
class in_place_run {
 public:
  /// `index_memory` holds the run's entries.
  in_place_run(Family const& family, grant& index_memory, run_places places)
      : family_(family),
        places_(std::move(places)),
        run_(places_.space(), places_.have_checksums(), index_memory, {},
             trigger_bytes_of(family)) {}
  in_place_run(in_place_run const&) = delete;
  in_place_run& operator=(in_place_run const&) = delete;
  ~in_place_run() {
    for (auto const& writing : writes_) writing->wait_outcome();
  }

  /// The items of a block of up to `block_bytes`, so many that the next block begins where the
  /// disks allow it; 0 if there is no such number.
  static std::size_t items_of_block(Family const& family, block::block_device& disks,
                                    std::size_t block_bytes) {
    std::size_t const step = std::lcm(family.item_bytes(), block_unit_bytes(disks));
    return block_bytes / step * step / family.item_bytes();
  }

  /// Issues the writes of all items, `first_items` (a number as items_of_block() returns it) in the
  /// first block; the memory, of whole pages, stays as it is until finish(). Once only.
  /// @throws out_of_space, budget_error.
  void write(std::span<std::byte const> sorted, std::size_t items_of_block,
             std::size_t first_items) {
    auto const blocks = cut(sorted, items_of_block, first_items);
    write(blocks, [](std::size_t, std::span<std::byte const> whole) { return whole; });
  }
  /// The same; `threads` compute the checksums.
  void write(std::span<std::byte const> sorted, std::size_t items_of_block, std::size_t first_items,
             executor& threads) {
    auto const blocks = cut(sorted, items_of_block, first_items);
    std::vector<std::uint64_t> checksums(blocks.size());
    if (run_.keeps_checksums())
      threads.parallel_for(blocks.size(), [&](std::size_t i) {
        checksums[i] = block::checksum_of({blocks[i].data(), length_of(blocks[i])});
      });
    write(blocks, [&](std::size_t i, std::span<std::byte const>) { return checksums[i]; });
  }

  std::uint64_t index_bytes() const noexcept { return run_.index_bytes(); }
  std::uint64_t bytes() const noexcept { return run_.bytes(); }

  /// Returns the run once all its blocks are on disk. @throws io_error.
  run<Family> finish() {
    io::wait_all(writes_);
    writes_.clear();
    return std::move(run_);
  }

 private:
  std::vector<std::span<std::byte const>> cut(std::span<std::byte const> sorted,
                                              std::size_t items_of_block,
                                              std::size_t first_items) const {
    std::size_t const item = family_.item_bytes();
    std::vector<std::span<std::byte const>> blocks;
    std::size_t bytes = std::min(first_items * item, sorted.size());
    for (; !sorted.empty(); bytes = std::min(items_of_block * item, sorted.size())) {
      blocks.push_back(sorted.first(bytes));
      sorted = sorted.subspan(bytes);
    }
    return blocks;
  }
  std::size_t length_of(std::span<std::byte const> block) const {
    return round_up(block.size(), block_unit_bytes(places_.space()));
  }

  /// `content(i, whole block)`: what run::append() takes for it.
  template <typename Content>
  void write(std::vector<std::span<std::byte const>> const& blocks, Content const& content) {
    writes_.reserve(blocks.size());  // no request is ever lost sight of
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      auto const block = blocks[i];
      std::size_t const items = block.size() / family_.item_bytes();
      auto const id = places_.allocate(length_of(block), run_.items());
      std::span const whole(block.data(), id.length_bytes);  // to the end of a page at most
      auto const first = family_.block_view(block, items).key(0);
      run_.append(id, static_cast<std::uint32_t>(items), 0, family_.make_trigger(first),
                  content(i, whole));
      run_.add_bytes(block.size(), family_.item_bytes());
      writes_.push_back(places_.space().write(id, whole));
    }
  }

  Family const& family_;
  run_places places_;
  run<Family> run_;
  std::vector<io::request_ptr> writes_;  // after run_: they end before its blocks may be freed
};

}  // namespace outsize::detail
