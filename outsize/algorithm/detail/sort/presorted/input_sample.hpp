// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Pieces from everywhere in a file, of which a sort learns in what order its input may be.
//
//   | piece 0 |      | piece 1 |      | piece 2 |   …   | piece 63 |     the last one ends the
//                                                                       file, but for a unit of
//                                                                       the disk
// One thread at a time. Layer: algorithm.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <outsize/base/memory_budget.hpp>
#include <outsize/io/file.hpp>

namespace outsize::detail {

class input_sample {
 public:
  static constexpr std::size_t places = 64;

  /// Reads the pieces, which begin at multiples of `unit_bytes`, all at once, into memory of the
  /// budget. @pre 1 <= piece_bytes <= file_bytes. @throws io_error, budget_error.
  input_sample(io::file& from, std::uint64_t file_bytes, std::size_t piece_bytes,
               std::size_t unit_bytes, memory_budget& budget);

  /// Whether each piece was read to its end; not if the file has become shorter.
  bool is_complete() const noexcept { return is_complete_; }
  /// In the order of the file; they may overlap in a short one.
  std::vector<std::span<std::byte>> pieces() const;

 private:
  std::size_t piece_bytes_;
  grant memory_;
  buffer all_;
  bool is_complete_ = true;
};

}  // namespace outsize::detail
