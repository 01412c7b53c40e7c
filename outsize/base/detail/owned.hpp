// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Members of movable classes that make the use of an object that was moved from, or closed, an
// assertion that fails: it must not look as if it were empty, or still had what it has given away.
// Plain values for one thread. Layer: base.

#include <memory>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/detail/process_mark.hpp>

namespace outsize::detail {

/// The only owner of an object, as process_ptr. To use what is not there any more is a mistake,
/// asserted in release builds too.
template <typename T>
class owned {
 public:
  owned() = default;
  owned(std::unique_ptr<T> from) noexcept : at_(std::move(from)) {}

  T* operator->() const noexcept { return get(); }
  T& operator*() const noexcept { return *get(); }
  T* get() const noexcept {
    OUTSIZE_ASSERT(at_ != nullptr && "used after it was moved from or closed");
    return at_.get();
  }
  explicit operator bool() const noexcept { return at_ != nullptr; }
  /// Returns whether there is one, and this process is not the copy of the one that has it.
  bool is_usable() const noexcept { return at_ != nullptr && at_.get_deleter().made.is_current(); }
  void reset() noexcept { at_.reset(); }
  void swap(owned& other) noexcept { at_.swap(other.at_); }

 private:
  process_ptr<T> at_;
};

/// A value that goes along with a move, and leaves T() behind.
template <typename T>
class moved_along {
 public:
  moved_along() = default;
  moved_along(T value) noexcept : value_(std::move(value)) {}
  moved_along(moved_along&& other) noexcept : value_(std::exchange(other.value_, T())) {}
  moved_along& operator=(moved_along&& other) noexcept {
    value_ = std::exchange(other.value_, T());
    return *this;
  }

  T const& operator*() const noexcept { return value_; }
  T& operator*() noexcept { return value_; }
  T const* operator->() const noexcept { return &value_; }
  T* operator->() noexcept { return &value_; }

 private:
  T value_{};
};

}  // namespace outsize::detail
