// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Room for what an encoder makes of one piece, which grows when it does not suffice. Kept from
// piece to piece. Private to io. Layer: io.

#include <cstddef>
#include <span>
#include <vector>

namespace outsize::io::detail {

/// Bytes written at the end. One thread at a time.
class growing_bytes {
 public:
  void clear() noexcept { used_ = 0; }
  /// At least one free byte.
  std::span<std::byte> room() {
    if (used_ == bytes_.size()) bytes_.resize(bytes_.size() + step_bytes);
    return std::span(bytes_).subspan(used_);
  }
  void used(std::size_t count) noexcept { used_ += count; }
  std::span<std::byte const> bytes() const noexcept { return std::span(bytes_).first(used_); }

 private:
  static constexpr std::size_t step_bytes = std::size_t{64} << 10;
  std::vector<std::byte> bytes_;
  std::size_t used_ = 0;
};

}  // namespace outsize::io::detail
