// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Records copied one behind the other into an output stream: the counterpart of record_reader. One
// thread at a time. Layer: algorithm.

#include <cstddef>
#include <span>
#include <string_view>

#include <outsize/algorithm/detail/sort/window_writer.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/io/lent_windows.hpp>
#include <outsize/io/output_stream.hpp>

namespace outsize::detail {

/// Records in, windows out; without finish() the stream is not committed.
class record_output {
 public:
  /// Takes 2 * window_bytes (a multiple of the page size) from `memory`; both must outlive it.
  record_output(io::output_stream& out, grant& memory, std::size_t window_bytes,
                item_framing framing = {})
      : out_(out),
        framing_(framing),
        memory_(memory.allocate(2 * window_bytes)),
        windows_(out, memory_.bytes()) {}

  /// Adds bytes as they are. @throws io_error of this or an earlier write.
  void put(std::string_view bytes) { windows_.put(std::as_bytes(std::span(bytes))); }
  /// Adds a record and what ends it. @throws io_error likewise.
  void append(std::string_view record) {
    put(record);
    if (framing_.how == item_framing::kind::terminator) put({&framing_.terminator, 1});
  }

  /// Records end with this byte from now on. @pre they end with one.
  void end_records_with(char terminator) noexcept { framing_.terminator = terminator; }

  /// The rest of the current window, at least `least_bytes`, which fit in one. @throws io_error.
  std::span<std::byte> room(std::size_t least_bytes) { return windows_.room(least_bytes); }
  /// The first `bytes` of room() are filled.
  void used(std::size_t bytes) noexcept { windows_.used(bytes); }

  /// Writes what is left and commits the stream. @throws io_error.
  void finish() {
    windows_.hand_over();
    out_.commit();
  }

 private:
  io::output_stream& out_;
  item_framing framing_;
  buffer memory_;
  io::lent_windows windows_;
};

}  // namespace outsize::detail
