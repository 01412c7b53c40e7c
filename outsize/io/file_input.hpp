// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The input_stream over a file: reads run ahead, into the caller's memory as far as that reaches
// and into a ring of blocks behind it, so that the disk goes on between two calls.
//
//   file:   | handed out | view | in flight: to the caller .. to the ring | not yet issued | (end)
//                        ^ position_                                      ^ issued_
//
// Invariants: issued_ is a multiple of the alignment unless it is at or beyond end_; what is in
// flight follows on the view without gaps up to issued_, at most as many requests as the ring has
// blocks; blocks of the ring take turns, and none is in flight while it is the view. Between calls
// nothing is in flight to the caller's memory. A failed read stays the oldest in flight, so that
// whoever asks again meets it again. What counts is the file at the opening: bytes appended later
// are not read but told of, and other changes until all of it is read are errors, as
// file_version.hpp says. One thread at a time. Layer: io.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <outsize/io/file_samples.hpp>
#include <outsize/io/input_stream.hpp>

namespace outsize::io {

/// Whether file_input can read `source` with the memory that grants give.
bool can_stream_from(file const& source) noexcept;

/// The stream that open_input makes for regular files and block devices.
class file_input final : public input_stream {
 public:
  /// Reads `source` from `begin_bytes` on. @pre can_stream_from(*source).
  /// @throws budget_error if `memory` has less than input_stream_memory_bytes(options).
  file_input(file_ptr source, grant& memory, input_stream_options const& options,
             std::uint64_t begin_bytes = 0);

  std::span<std::byte const> next() override;
  std::size_t read(std::span<std::byte> into) override;
  std::optional<std::uint64_t> remaining_bytes() const override;
  std::string const& name() const noexcept override { return source_->name(); }

 private:
  struct pending {
    request_ptr reading;
    std::span<std::byte> memory;
    std::uint64_t offset_bytes;
    bool to_caller;
  };

  void issue_reads(std::span<std::byte> wanted);
  std::span<std::byte> direct_target(std::span<std::byte> wanted) const noexcept;
  bool advance();
  void keep_only_failed() noexcept;
  void take(std::span<std::byte> into);

  buffer memory_;
  std::vector<std::span<std::byte>> ring_;
  std::size_t next_of_ring_ = 0;
  std::deque<pending> in_flight_;  // in the order of the file
  file_ptr source_;  // behind the memory, so that it ends first and waits for its reads
  std::size_t block_bytes_;
  std::size_t alignment_bytes_;
  file_version opened_;   // the source as it was then
  file_samples samples_;  // of it
  growth_listener on_growth_;
  std::uint64_t position_;
  std::uint64_t issued_;
  std::uint64_t end_;
  std::span<std::byte const> view_;
};

}  // namespace outsize::io
