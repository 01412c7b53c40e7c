// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The input_stream over a file: reads ahead into a ring of blocks, or straight into the caller's
// memory.
//
//   file:   | handed out | view | head .. in flight .. | not yet issued | (end)
//                        ^ position_                   ^ issued_
//
// Invariants: issued_ is a multiple of the alignment unless it is at or beyond end_; the blocks in
// flight follow each other from the view to issued_; the block of the view is not in flight. The
// ring fills only when next() or an unaligned read() needs it. What counts is the size at the
// opening: bytes appended later are not read, and a file that was cut short meanwhile ends where it
// ends now. Layer: io.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

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
  struct block {
    std::span<std::byte> memory;
    std::uint64_t offset_bytes = 0;
    request_ptr reading = nullptr;
  };

  void fill_ring();
  bool advance();
  std::size_t take(std::span<std::byte> into);
  bool suits_direct(std::span<std::byte> into) const noexcept;
  std::size_t read_direct(std::span<std::byte> into);
  void end_at(std::uint64_t offset_bytes) noexcept;

  buffer memory_;
  std::vector<block> ring_;
  std::size_t head_ = 0;  // index of the oldest block in flight
  std::size_t in_flight_ = 0;
  file_ptr source_;  // behind the memory, so that it ends first and waits for its reads
  std::size_t block_bytes_;
  std::size_t alignment_bytes_;
  std::uint64_t position_;
  std::uint64_t issued_;
  std::uint64_t end_;
  std::span<std::byte const> view_;
};

}  // namespace outsize::io
