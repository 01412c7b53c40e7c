// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The order in which a merge needs the blocks of its runs, and what follows from it.
//
// Pure functions. Layer: algorithm. Source: STXXL 2008, section 6.1.3 (the prediction sequence).

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <outsize/algorithm/detail/sort/output_room.hpp>
#include <outsize/algorithm/detail/sort/run.hpp>

namespace outsize::detail {

/// A block of a run, by the numbers of both.
struct numbered_block {
  std::uint32_t run;
  std::uint32_t block;
};

/// All blocks by trigger, run and place in the run.
template <typename Family>
std::vector<numbered_block> blocks_in_order(Family const& family,
                                            std::span<run<Family> const> runs) {
  std::vector<numbered_block> order;
  for (std::uint32_t r = 0; r < runs.size(); ++r)
    for (std::uint32_t b = 0; b < runs[r].entries().size(); ++b) order.push_back({r, b});
  std::ranges::stable_sort(order, [&](numbered_block const& a, numbered_block const& b) {
    return family.trigger_before(runs[a.run].trigger_of(a.block), runs[b.run].trigger_of(b.block));
  });
  return order;
}

/// Whether a merge of the runs with `kept_bytes` in memory has read each of their blocks in the
/// room before its output, which begins where the room does, is as long as to reach it. What comes
/// out before a block is read comes before its first item, so it lies in a block whose trigger is
/// no greater, or was kept.
/// @pre items have one length: then triggers tell no wrong order.
template <typename Family>
bool output_stays_behind(Family const& family, std::span<run<Family> const> runs,
                         std::uint64_t kept_bytes, output_room const& room) {
  auto const order = blocks_in_order(family, runs);
  auto const entry_of = [&](numbered_block const& b) -> auto const& {
    return runs[b.run].entries()[b.block];
  };
  auto const trigger_of = [&](numbered_block const& b) -> decltype(auto) {
    return runs[b.run].trigger_of(b.block);
  };
  std::uint64_t written_bytes = kept_bytes;
  for (auto same = order.begin(), end = same; same != order.end(); same = end) {
    for (; end != order.end() && !family.trigger_before(trigger_of(*same), trigger_of(*end)); ++end)
      written_bytes += std::uint64_t{entry_of(*end).items} * family.item_bytes();
    for (; same != end; ++same) {
      auto const id = entry_of(*same).id;
      if (room.holds(id) && id.offset_bytes < written_bytes) return false;
    }
  }
  return true;
}

}  // namespace outsize::detail
