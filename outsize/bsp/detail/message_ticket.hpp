// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Where a message lies in the store. A value. Layer: bsp.

#include <cstdint>

namespace outsize::bsp::detail {

struct stored_block;  // message_store.hpp

/// Each reader of a message gives it back to its store once.
struct message_ticket {
  std::uint32_t offset_bytes = 0;  ///< In the first block.
  std::uint64_t length_bytes = 0;
  stored_block* first = nullptr;  ///< nullptr: an empty message.
};

}  // namespace outsize::bsp::detail
