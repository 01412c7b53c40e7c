// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Records copied one behind the other into an output stream: the counterpart of record_reader.
//
// Two windows are lent to the stream in turn: one is filled while the other is written. The room in
// front of a window's data belongs to the stream (outsize/io/output_stream.hpp). One thread at a
// time. Layer: algorithm.

#include <cstddef>
#include <span>
#include <string_view>

#include <outsize/algorithm/sort/window_writer.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/io/output_stream.hpp>

namespace outsize::detail {

/// Records in, windows out; without finish() the stream is not committed.
class record_output {
 public:
  /// Takes 2 * window_bytes (a multiple of the page size) from `memory`; both must outlive it.
  record_output(io::output_stream& out, grant& memory, std::size_t window_bytes,
                item_framing framing = {});
  record_output(record_output const&) = delete;
  record_output& operator=(record_output const&) = delete;
  /// Waits for writes under way, whose memory goes.
  ~record_output();

  /// Adds bytes as they are. @throws io_error of this or an earlier write.
  void put(std::string_view bytes);
  /// Adds a record and what ends it. @throws io_error likewise.
  void append(std::string_view record) {
    put(record);
    if (framing_.how == item_framing::kind::terminator) put({&framing_.terminator, 1});
  }

  /// The rest of the current window, at least `least_bytes`, which fit in one. @throws io_error.
  std::span<std::byte> room(std::size_t least_bytes) {
    if (window().size() - used_ < least_bytes) next_window();
    return window().subspan(used_);
  }
  /// The first `bytes` of room() are filled.
  void used(std::size_t bytes) noexcept { used_ += bytes; }

  /// Writes what is left and commits the stream. @throws io_error.
  void finish();

 private:
  std::span<std::byte> window() const noexcept {
    return windows_.bytes().subspan(current_ * window_bytes_, window_bytes_);
  }
  void begin_window() { used_ = lead_ = out_.lead_bytes(); }
  void next_window();
  void hand_over();

  io::output_stream& out_;
  item_framing framing_;
  std::size_t window_bytes_;
  buffer windows_;  // both
  std::size_t current_ = 0;
  std::size_t lead_ =
      0;  // bytes in front of the data that are the stream's, or already handed over
  std::size_t used_ = 0;
};

}  // namespace outsize::detail
