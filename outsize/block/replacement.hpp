// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Which block leaves a full cache: the seam behind which replacement policies live.
//
// A policy keeps the set of those slots of the cache whose blocks may leave, and chooses among
// them. A slot enters the set when its block is no longer pinned, and leaves it when the block is
// pinned again or has left the cache; a policy so learns of every use. One of one's own derives
// from `replacement`. Only the cache that owns it calls a policy. Layer: block.
// Source: STXXL 2008, section 5.1 (LRU, random, and a user's own).

#include <cstddef>
#include <cstdint>
#include <memory>

#include <outsize/block/block_id.hpp>

namespace outsize::block {

/// The slots whose blocks may leave, and the choice among them.
class replacement {
 public:
  replacement() = default;
  replacement(replacement const&) = delete;
  replacement& operator=(replacement const&) = delete;
  virtual ~replacement() = default;

  /// Makes room for slots 0 to slot_count - 1; called once, before all else. So nothing that
  /// follows needs memory, or fails.
  virtual void start(std::size_t slot_count) = 0;
  /// `block` in `slot` may leave from now on. @pre the slot is not in the set.
  virtual void enter(std::size_t slot, block_id block) noexcept = 0;
  /// The block of `slot` is in use again, or has left. @pre the slot is in the set.
  virtual void leave(std::size_t slot) noexcept = 0;
  /// The slot whose block shall leave first; it stays in the set until leave(). @pre the set is not
  /// empty.
  virtual std::size_t choose() noexcept = 0;
};

/// The block whose last use lies back furthest. CPU: O(1) for each call.
std::unique_ptr<replacement> make_lru_replacement();

/// Any block, each with the same probability; the same seed and calls give the same choices. CPU:
/// O(1) for each call.
std::unique_ptr<replacement> make_random_replacement(std::uint64_t seed);

}  // namespace outsize::block
