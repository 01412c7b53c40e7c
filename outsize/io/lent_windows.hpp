// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Bytes put one behind the other into an output stream, through two windows that are lent to it in
// turn: one is filled while the other is written.
//
//   | lead | bytes … | room |      the lead belongs to the stream (output_stream.hpp)
//
// Invariant: what is put has been written, or lies in the current window behind its lead. One
// thread at a time. Layer: io.

#include <cstddef>
#include <span>

#include <outsize/io/output_stream.hpp>

namespace outsize::io {

/// The two halves of some memory as windows of an output stream.
class lent_windows {
 public:
  /// `memory`, both windows, begins at an address that the stream's alignment divides, as it
  /// divides half of its length; it and `out` must outlive this.
  lent_windows(output_stream& out, std::span<std::byte> memory);
  lent_windows(lent_windows const&) = delete;
  lent_windows& operator=(lent_windows const&) = delete;
  /// Waits for writes under way, whose memory may go.
  ~lent_windows();

  /// Adds bytes, which are copied. @throws io_error of this or an earlier write.
  void put(std::span<std::byte const> bytes);

  /// The rest of the current window, at least `least_bytes`, which fit in one. @throws io_error.
  std::span<std::byte> room(std::size_t least_bytes) {
    if (window().size() - used_ < least_bytes) hand_over();
    return window().subspan(used_);
  }
  /// The first `bytes` of room() are filled.
  void used(std::size_t bytes) noexcept { used_ += bytes; }

  /// Writes what has been put, and goes on in the other window. @throws io_error.
  void hand_over();

 private:
  std::span<std::byte> window() const noexcept {
    std::size_t const window_bytes = memory_.size() / 2;
    return memory_.subspan(current_ * window_bytes, window_bytes);
  }

  output_stream& out_;
  std::span<std::byte> memory_;
  std::size_t current_ = 0;
  std::size_t lead_;
  std::size_t used_;  // the lead included
};

}  // namespace outsize::io
