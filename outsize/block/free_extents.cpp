// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/free_extents.hpp>

#include <iterator>

#include <outsize/base/assert.hpp>

namespace outsize::block {

std::optional<std::uint64_t> free_extents::take(std::uint64_t length_bytes) {
  OUTSIZE_ASSERT(length_bytes > 0);
  if (length_bytes > total_bytes_) return std::nullopt;
  for (auto extent = extents_.begin(); extent != extents_.end(); ++extent) {
    auto const [offset, length] = *extent;
    if (length < length_bytes) continue;
    auto const after = extents_.erase(extent);
    if (length > length_bytes)
      extents_.emplace_hint(after, offset + length_bytes, length - length_bytes);
    total_bytes_ -= length_bytes;
    return offset;
  }
  return std::nullopt;
}

void free_extents::give(std::uint64_t offset_bytes, std::uint64_t length_bytes) {
  OUTSIZE_ASSERT(length_bytes > 0);
  total_bytes_ += length_bytes;
  auto next = extents_.lower_bound(offset_bytes);
  OUTSIZE_ASSERT(next == extents_.end() || offset_bytes + length_bytes <= next->first);
  if (next != extents_.end() && next->first == offset_bytes + length_bytes) {
    length_bytes += next->second;
    next = extents_.erase(next);
  }
  if (next != extents_.begin()) {
    auto const before = std::prev(next);
    OUTSIZE_ASSERT(before->first + before->second <= offset_bytes);
    if (before->first + before->second == offset_bytes) {
      before->second += length_bytes;
      return;
    }
  }
  extents_.emplace_hint(next, offset_bytes, length_bytes);
}

}  // namespace outsize::block
