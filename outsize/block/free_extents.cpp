// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/block/free_extents.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include <outsize/base/assert.hpp>

namespace outsize::block {

std::optional<std::uint64_t> free_extents::take(std::uint64_t length_bytes,
                                                std::uint64_t least_offset_bytes) {
  OUTSIZE_ASSERT(length_bytes > 0);
  if (length_bytes > total_bytes_) return std::nullopt;
  auto extent = extents_.upper_bound(least_offset_bytes);
  if (extent != extents_.begin()) --extent;  // it may reach beyond that place
  for (; extent != extents_.end(); ++extent) {
    std::uint64_t const begin = std::max(extent->first, least_offset_bytes);
    std::uint64_t const extent_end = extent->first + extent->second;
    if (extent_end < begin || extent_end - begin < length_bytes) continue;
    std::uint64_t const end = begin + length_bytes;
    if (begin > extent->first) {
      if (end < extent_end) extents_.emplace_hint(std::next(extent), end, extent_end - end);
      extent->second = begin - extent->first;
    } else {
      auto node = extents_.extract(extent);
      if (end < extent_end) {  // the rest, without new memory
        node.key() = end;
        node.mapped() = extent_end - end;
        extents_.insert(std::move(node));
      }
    }
    total_bytes_ -= length_bytes;
    return begin;
  }
  return std::nullopt;
}

void free_extents::give(std::uint64_t offset_bytes, std::uint64_t length_bytes) {
  OUTSIZE_ASSERT(length_bytes > 0);
  std::uint64_t const end_bytes = offset_bytes + length_bytes;
  auto const next = extents_.lower_bound(offset_bytes);
  OUTSIZE_ASSERT(next == extents_.end() || end_bytes <= next->first);
  bool const joins_next = next != extents_.end() && next->first == end_bytes;
  if (next != extents_.begin()) {
    auto const before = std::prev(next);
    OUTSIZE_ASSERT(before->first + before->second <= offset_bytes);
    if (before->first + before->second == offset_bytes) {
      before->second += length_bytes + (joins_next ? next->second : 0);
      if (joins_next) extents_.erase(next);
      total_bytes_ += length_bytes;
      return;
    }
  }
  if (joins_next) {
    auto node = extents_.extract(next);
    node.key() = offset_bytes;
    node.mapped() += length_bytes;
    extents_.insert(std::move(node));
  } else {
    extents_.emplace_hint(next, offset_bytes, length_bytes);
  }
  total_bytes_ += length_bytes;
}

}  // namespace outsize::block
