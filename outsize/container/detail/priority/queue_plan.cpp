// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/container/detail/priority/queue_plan.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>

namespace outsize::detail {
namespace {

constexpr std::size_t least_block_bytes = 4_KiB, most_block_bytes = 2_MiB;

/// A block has room for an item, and whole units.
std::size_t whole_block(queue_needs const& needs, std::size_t bytes) noexcept {
  return round_up(std::max(bytes, needs.item_bytes), needs.block_unit_bytes);
}

/// All parts, perhaps more than there is memory for.
queue_plan divide(queue_needs const& needs) noexcept {
  std::uint64_t const memory = needs.memory_bytes;
  queue_plan p;
  p.memory_bytes = memory;
  std::uint64_t const shortest = std::min<std::uint64_t>(32_KiB, std::bit_floor(memory / 64));
  std::uint64_t const usual =
      std::clamp<std::uint64_t>(std::bit_floor(memory / 256), shortest, most_block_bytes);
  p.block_bytes = whole_block(needs, needs.block_bytes != 0 ? needs.block_bytes : usual);

  std::uint64_t left = memory;
  p.slabs = 4;
  p.slab_bytes = round_down<std::uint64_t>(memory / 8, p.block_bytes);
  left -= p.slabs * p.slab_bytes;
  p.window_items = std::max<std::uint64_t>(8, memory / 64 / needs.item_bytes);
  p.window_items = std::min(p.window_items, p.slab_items(needs.item_bytes));
  p.leftover_items = 2 * p.window_items;
  left -=
      std::min<std::uint64_t>(left, (4 * p.window_items + 1) * needs.item_bytes + 4 * page_bytes());
  p.near_items = std::clamp<std::size_t>(256_KiB / needs.item_bytes, 2, 2048);
  p.near_items = std::min(p.near_items, p.window_items);
  p.index_bytes = memory / 32;
  left -= std::min(left, p.index_bytes);
  if (needs.needs_scratch) {
    std::size_t const least_segment = std::max(2 * needs.item_bytes, page_bytes());
    p.sorters = std::clamp<std::size_t>(memory / 32 / (2 * least_segment), 1, needs.threads);
    std::size_t const share = memory / 32 / (2 * p.sorters);
    p.segment_bytes = std::max(share, 2 * needs.item_bytes);
    left -= std::min<std::uint64_t>(left, 2 * p.sorters * round_up(p.segment_bytes, page_bytes()));
  }
  std::size_t const all_frames = static_cast<std::size_t>(left / p.block_bytes);
  std::size_t const blocks_of_slab = p.slab_bytes / p.block_bytes;
  p.write_frames = std::clamp<std::size_t>(blocks_of_slab / 4, 2, 8);
  p.frames = all_frames - std::min(all_frames, p.write_frames);
  p.ahead = std::clamp<std::size_t>(blocks_of_slab / 4, 1, 8);
  p.most_arrays = std::max<std::size_t>(2, p.frames - std::min(p.frames, 2 * p.ahead));
  return p;
}

/// Whether two arrays can be merged, and read ahead.
bool is_enough(queue_plan const& p) noexcept { return p.frames >= p.most_arrays + 2 * p.ahead; }

}  // namespace

std::uint64_t least_queue_bytes(queue_needs needs) noexcept {
  std::uint64_t const block =
      whole_block(needs, needs.block_bytes != 0 ? needs.block_bytes : least_block_bytes);
  needs.memory_bytes = least_queue_blocks * block;
  while (!is_enough(divide(needs))) needs.memory_bytes += 4 * block;
  return needs.memory_bytes;
}

queue_plan plan_queue(queue_needs const& needs, std::string const& asker) {
  std::uint64_t const least = least_queue_bytes(needs);
  queue_plan const p = divide(needs);
  if (needs.memory_bytes < least || !is_enough(p))
    throw budget_error(asker, needs.memory_bytes, least,
                       fmt::format("{}: {} of memory, at least {} needed", asker,
                                   format_bytes(needs.memory_bytes), format_bytes(least)));
  return p;
}

}  // namespace outsize::detail
