// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Which bucket a hash value belongs to, where the number of buckets grows one by one: linear
// hashing, of any number of buckets to begin with.
//
//   base 3:                 0     1     2
//   one more divides 0:     0     1     2     3
//   then 1, 2, and 0 again: 0  1  2  3  4  5  6 …
//
// The first bucket of a hash value h is ⌊h · base / 2⁶⁴⌋, so that in the order of h is in the order
// of buckets, whatever the base. The low bits of h say into which half it goes each time that its
// bucket is divided.
//
// Invariant: span = base · parts is the number of buckets when the last round of divisions was
// complete; span <= count < 2 · span, or there are none. Layer: container.
// Source: Litwin: Linear hashing, VLDB 1980.

#include <bit>
#include <cstdint>

#include <outsize/base/assert.hpp>
#include <outsize/base/detail/mixed_bits.hpp>

namespace outsize::detail {

/// Numbers of buckets; see the top of this file.
class bucket_numbers {
 public:
  /// None, to begin with one.
  constexpr bucket_numbers() = default;
  /// @pre 1 <= base, and count is 0 or at least base.
  constexpr bucket_numbers(std::uint64_t base, std::uint64_t count) noexcept
      : base_(base), count_(count) {
    while (count_ >= 2 * span()) parts_ *= 2;
  }

  constexpr std::uint64_t count() const noexcept { return count_; }
  constexpr std::uint64_t base() const noexcept { return base_; }

  /// The bucket of a hash value. @pre count() > 0.
  constexpr std::uint64_t of(std::uint64_t hash) const noexcept {
    std::uint64_t const first = scaled_bits(hash, base_);
    std::uint64_t const divided = first + base_ * (hash & (2 * parts_ - 1));
    return divided < count_ ? divided : first + base_ * (hash & (parts_ - 1));
  }
  /// The bucket that add() divides between itself and the new one.
  constexpr std::uint64_t next_divided() const noexcept { return count_ - span(); }
  /// Adds bucket number count(). @pre count() > 0.
  constexpr void add() noexcept {
    OUTSIZE_ASSERT(count_ > 0);
    if (++count_ == 2 * span()) parts_ *= 2;
  }
  /// Takes the last one away; its items go where add() would take them from.
  /// @pre count() > base().
  constexpr void remove() noexcept {
    OUTSIZE_ASSERT(count_ > base_);
    if (count_-- == span()) parts_ /= 2;
  }

  friend bool operator==(bucket_numbers const&, bucket_numbers const&) = default;

 private:
  constexpr std::uint64_t span() const noexcept { return base_ * parts_; }

  std::uint64_t base_ = 1;
  std::uint64_t parts_ = 1;  // of each of the first buckets, a power of two
  std::uint64_t count_ = 0;
};

}  // namespace outsize::detail
