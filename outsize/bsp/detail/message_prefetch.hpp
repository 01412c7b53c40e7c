// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Begins to read messages that are taken one after the other before their turn. One thread.
// Layer: bsp.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <outsize/bsp/detail/bsp_engine.hpp>

namespace outsize::bsp::detail {

class message_prefetch {
 public:
  /// @param messages  In the order in which they will be taken.
  message_prefetch(engine& run, std::vector<message_ticket> messages)
      : run_(run), messages_(std::move(messages)) {}

  /// Message number i, the next one, is about to be taken.
  void before(std::size_t i) {
    if (next_ > i) {
      bytes_ -= messages_[i].length_bytes;
    } else {
      next_ = i + 1;
    }
    for (; next_ < messages_.size() && bytes_ < run_.prefetch_bytes(); ++next_) {
      run_.prefetch(messages_[next_]);
      bytes_ += messages_[next_].length_bytes;
    }
  }

 private:
  engine& run_;
  std::vector<message_ticket> messages_;
  std::size_t next_ = 0;     // those before it are taken, or being read
  std::uint64_t bytes_ = 0;  // of those that are read before their turn
};

}  // namespace outsize::bsp::detail
