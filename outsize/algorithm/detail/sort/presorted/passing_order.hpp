// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The order that items of one size are to be in, seen from a pass over a file, which may go from
// its front to its end or from its end to its front.
//
// "Taken before" is what the pass says; of items that compare equal, those nearer to the front of
// the file come first in any case. So a pass from the end puts an item in front of an equal one
// that it has taken before. One thread at a time. Layer: algorithm.

#include <cstddef>
#include <cstring>
#include <functional>
#include <span>

#include <outsize/base/external_item.hpp>

namespace outsize::detail {

/// What can be done with items of one size that lie side by side, as the user gave them.
struct item_operations {
  std::size_t item_bytes;
  /// Whether sorting these items would leave them as they are; or, for `descending`, whether it
  /// would turn them round exactly.
  std::function<bool(std::span<std::byte const> items, bool descending)> in_order;
  /// Copies the items in the opposite order.
  std::function<void(std::span<std::byte const> from, std::byte* to)> reverse;
  /// Memory that `sort` needs for so many bytes of items.
  std::function<std::size_t(std::size_t items_bytes)> scratch_bytes;
  /// Sorts items where they lie, equal ones as they come. From any thread.
  std::function<void(std::span<std::byte> items, std::span<std::byte> scratch)> sort;
};

class passing_order {
 public:
  using items = std::span<std::byte const>;

  /// `operations` must outlive it.
  passing_order(item_operations const& operations, bool from_the_end)
      : operations_(operations), from_the_end_(from_the_end), pair_(2 * operations.item_bytes) {}

  std::size_t item_bytes() const noexcept { return operations_.item_bytes; }
  bool is_from_the_end() const noexcept { return from_the_end_; }

  /// Whether `item` may stand behind one that was taken before it.
  bool follows(std::byte const* before, std::byte const* item) {
    std::size_t const size = item_bytes();
    std::memcpy(pair_.data(), from_the_end_ ? item : before, size);
    std::memcpy(pair_.data() + size, from_the_end_ ? before : item, size);
    return operations_.in_order(pair_, from_the_end_);
  }

  /// Bytes of sorted items, from the front, that must stand in front of one taken before them.
  std::size_t front_before(std::byte const* before, items sorted) {
    return stretch(sorted.size() / item_bytes(),
                   [&](std::size_t i) { return !follows(before, &sorted[i * item_bytes()]); });
  }
  /// Bytes of sorted items, from the back, that must stand behind one taken after them.
  std::size_t back_behind(items sorted, std::byte const* after) {
    return stretch(sorted.size() / item_bytes(), [&](std::size_t i) {
      return !follows(&sorted[sorted.size() - (i + 1) * item_bytes()], after);
    });
  }
  /// Bytes of sorted items, from the back, that may stand behind one taken before them.
  std::size_t back_following(std::byte const* before, items sorted) {
    return stretch(sorted.size() / item_bytes(), [&](std::size_t i) {
      return follows(before, &sorted[sorted.size() - (i + 1) * item_bytes()]);
    });
  }

 private:
  /// Bytes of the first items of which `belongs(i)` is true, found in steps that double.
  template <typename Belongs>
  std::size_t stretch(std::size_t count, Belongs const& belongs) const {
    std::size_t known = 0, step = 1;  // the first `known` belong
    while (known + step <= count && belongs(known + step - 1)) {
      known += step;
      step *= 2;
    }
    for (; step > 0; step /= 2)
      if (known + step <= count && belongs(known + step - 1)) known += step;
    return known * item_bytes();
  }

  item_operations const& operations_;
  bool from_the_end_;
  aligned_bytes pair_;
};

}  // namespace outsize::detail
