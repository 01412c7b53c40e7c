// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A block on disk that several use: a context and messages that read it. Any thread. Layer: bsp.

#include <outsize/block/block_id.hpp>
#include <outsize/block/storage.hpp>

namespace outsize::bsp::detail {

/// Freed with its last user, so it is held by a shared_ptr.
class shared_block {
 public:
  shared_block(storage& store, block::block_id place) noexcept : store_(store), place_(place) {}
  shared_block(shared_block const&) = delete;
  shared_block& operator=(shared_block const&) = delete;
  ~shared_block() { store_.free(place_); }

  block::block_id place() const noexcept { return place_; }

 private:
  storage& store_;
  block::block_id place_;
};

}  // namespace outsize::bsp::detail
