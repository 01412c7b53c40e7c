// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Digests of pages of a file as they were read, to tell a file that was appended to from one that
// was written anew: both are longer afterwards.
//
//   file:   |#   |#   |#   |#   |#  #| appended …     # a sample; every stride, and the last page
//
// Whatever is inserted or left out moves the last page, so that all that escapes is bytes replaced
// by as many others between two samples. There are some thousand, whatever the size.
// Threads: any may note samples at once. Layer: io.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace outsize::io {

class file;

class file_samples {
 public:
  /// Of a file that has `file_bytes` bytes. @throws std::bad_alloc for up to 8 KiB.
  explicit file_samples(std::uint64_t file_bytes);

  /// Takes the samples that lie within what was read at `offset_bytes`.
  void note(std::uint64_t offset_bytes, std::span<std::byte const> read) noexcept;

  /// Reads all that have been noted again. @throws io_error, std::bad_alloc for a page.
  bool are_in(file& source) const;

 private:
  struct place {
    std::uint64_t offset_bytes;
    std::size_t length_bytes;
  };
  place place_of(std::size_t sample) const noexcept;
  std::size_t sample_at_or_behind(std::uint64_t offset_bytes) const noexcept;

  std::uint64_t file_bytes_;
  std::uint64_t stride_bytes_;
  std::vector<std::atomic<std::uint64_t>> digests_;  // 0: not noted; of the last page at the end
};

}  // namespace outsize::io
