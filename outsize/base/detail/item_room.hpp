// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Memory for items that is filled from the front: what stands between a push() and the chunks or
// blocks behind it. A plain value for one thread; it owns nothing. Layer: base.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/external_item.hpp>

namespace outsize::detail {

template <external_item T>
class item_room {
 public:
  /// Full from the start: begin() says where items go.
  item_room() = default;
  /// What was moved from is full, and has no items.
  item_room(item_room&& other) noexcept
      : to_(other.to_), capacity_(other.capacity_), filled_(other.end()) {}
  item_room& operator=(item_room&& other) noexcept {
    to_ = other.to_;
    capacity_ = other.capacity_;
    filled_ = other.end();
    return *this;
  }

  /// Fills `room` from now on, which may hold another type of the same size.
  template <typename Stored>
  void begin(std::span<Stored> room) noexcept {
    static_assert(sizeof(Stored) == sizeof(T));
    to_ = reinterpret_cast<std::byte*>(room.data());
    capacity_ = room.size();
    filled_ = 0;
  }

  bool full() const noexcept { return filled_ == capacity_; }
  std::size_t filled() const noexcept { return filled_; }

  /// @pre !full()
  void put(T const& item) noexcept {
    std::memcpy(to_ + filled_ * sizeof(T), &item, sizeof(T));
    ++filled_;
  }
  /// Takes as many of the items as there is room for and returns the others.
  std::span<T const> put(std::span<T const> items) noexcept {
    std::size_t const count = std::min(items.size(), capacity_ - filled_);
    if (count > 0) std::memcpy(to_ + filled_ * sizeof(T), items.data(), count * sizeof(T));
    filled_ += count;
    return items.subspan(count);
  }

  /// Ends the room: returns how many items are in it, and is full.
  std::size_t end() noexcept {
    capacity_ = 0;
    to_ = nullptr;
    return std::exchange(filled_, 0);
  }

 private:
  std::byte* to_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t filled_ = 0;
};

}  // namespace outsize::detail
