// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sorted items of one C++ type in contiguous memory, as merges see them.
//
// A view (item_sequence.hpp) of a span that the caller keeps. Values; threads share what they view.
// Layer: kernel.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace outsize::detail {

/// Contiguous sorted items.
template <typename T>
class typed_view {
 public:
  /// Small items travel through the merge by value, large ones by address.
  static constexpr bool by_value = sizeof(T) <= 16;
  using key_type = std::conditional_t<by_value, T, T const*>;

  typed_view() = default;
  explicit typed_view(std::span<T const> items) : items_(items.data()), size_(items.size()) {}

  std::size_t size() const noexcept { return size_; }
  key_type key(std::size_t i) const noexcept {
    if constexpr (by_value) {
      return items_[i];
    } else {
      return items_ + i;
    }
  }
  std::uint64_t bytes(std::size_t begin, std::size_t end) const noexcept {
    return (end - begin) * sizeof(T);
  }
  std::span<T const> items(std::size_t begin, std::size_t end) const noexcept {
    return {items_ + begin, end - begin};
  }
  /// Copies some to `to`, and returns its end.
  std::byte* copy_items(std::size_t begin, std::size_t end, std::byte* to) const noexcept {
    std::memcpy(to, items_ + begin, bytes(begin, end));
    return to + bytes(begin, end);
  }
  /// Items are read front to back: the processor sees that by itself.
  void will_need(std::size_t) const noexcept {}

 private:
  T const* items_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace outsize::detail
