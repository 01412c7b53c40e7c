// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Operations of a hash table that wait in memory, to be done for many items at once: the last one
// of each key.
//
//   slots:   | assign a | – | erase b | assign c | – | – …     from ⌊hash · slots / 2⁶⁴⌋ on
//   order:   | bucket 3, slot 2 | bucket 3, slot 0 | bucket 7, slot 3 | …
//
// Open addressing with linear probing; nothing is taken out but all at once. Memory: what it was
// given, from the storage's budget. Invariant: a key is in one slot at most; a quarter of the slots
// is free. Threads: as a container of the standard library. Layer: container.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/detail/mixed_bits.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/detail/hash/bucket_numbers.hpp>

namespace outsize::detail {

/// Assignments and erasures of items of type Item, whose key is `first`.
template <typename Item, typename KeyEqual>
class pending_operations {
 public:
  using key = decltype(Item::first);
  enum class kind : std::uint8_t { none, assign, erase };
  struct operation {
    std::uint64_t hash;
    Item item;  // of which erase has the key alone
    kind what;
  };
  /// An operation, and the bucket that it belongs to.
  struct placed {
    std::uint64_t bucket;
    std::uint64_t slot;
  };

  /// Takes about `memory_bytes` from the storage's budget; if they are not named, less where others
  /// need it more, but a sixteenth of it at least. @throws budget_error.
  pending_operations(storage& store, std::size_t memory_bytes, KeyEqual equal = {},
                     bool is_named = true)
      : equal_(std::move(equal)),
        memory_(store.memory().take(claim_of(memory_bytes, is_named), "oblivious operations")),
        slot_count_(round_down<std::uint64_t>(memory_.total_bytes(), page_bytes()) / slot_bytes),
        buffer_(memory_.allocate(slot_count_ * slot_bytes)) {
    static_assert(std::is_trivially_copyable_v<operation>);  // and zeros are of kind none
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  /// Whether no further key has room.
  bool full() const noexcept { return size_ == most(); }
  std::size_t slot_count() const noexcept { return slot_count_; }
  /// How many are of a kind. CPU: O(slot_count()).
  std::size_t count(kind what) const noexcept {
    auto const all = std::span(slots(), slot_count_);
    return static_cast<std::size_t>(std::ranges::count(all, what, &operation::what));
  }

  operation const& operator[](std::uint64_t slot) const noexcept { return slots()[slot]; }
  /// The operation of a key, or one of kind none. The key may be of any type that KeyEqual takes.
  template <typename K>
  operation const& find(std::uint64_t hash, K const& k) const {
    return slots()[slot_of(hash, k)];
  }
  template <typename K>
  std::uint64_t slot_of(std::uint64_t hash, K const& k) const {
    std::uint64_t slot = scaled_bits(hash, slot_count_);
    for (;; slot = slot + 1 == slot_count_ ? 0 : slot + 1) {
      operation const& each = slots()[slot];
      if (each.what == kind::none || (each.hash == hash && equal_(each.item.first, k))) return slot;
    }
  }
  /// In place of what waits for the key. @pre that is there, or it is not full().
  void put(std::uint64_t hash, Item const& item, kind what) {
    operation& slot = slots()[slot_of(hash, item.first)];
    if (slot.what == kind::none) {
      OUTSIZE_ASSERT(!full());
      ++size_;
    }
    slot = {hash, item, what};
  }

  /// All of them, by their buckets; valid until the next change.
  std::span<placed const> by_bucket(bucket_numbers const& numbers) {
    auto const order = std::span(placed_begin(), size_);
    std::size_t count = 0;
    for (std::uint64_t slot = 0; slot < slot_count_; ++slot)
      if (slots()[slot].what != kind::none) order[count++] = {numbers.of(slots()[slot].hash), slot};
    std::ranges::sort(order, {}, [](placed const& p) { return std::pair(p.bucket, p.slot); });
    return order;
  }
  void clear() noexcept {
    for (std::uint64_t slot = 0; slot < slot_count_; ++slot) slots()[slot].what = kind::none;
    size_ = 0;
  }

 private:
  static constexpr std::size_t least_slots = 16;
  static constexpr std::size_t slot_bytes = sizeof(operation) + sizeof(placed);

  static memory_claim claim_of(std::size_t memory_bytes, bool is_named) noexcept {
    auto const rounded = [](std::size_t bytes) {
      return round_up(std::max(bytes, least_slots * slot_bytes), page_bytes());
    };
    std::size_t const most = rounded(memory_bytes);
    if (is_named) return memory_claim::fixed(most);
    return {rounded(memory_bytes / 16), most, most};
  }

  std::size_t most() const noexcept { return slot_count_ / 4 * 3; }
  operation* slots() const noexcept { return reinterpret_cast<operation*>(buffer_.data()); }
  placed* placed_begin() const noexcept {
    // Behind the slots; as an operation has a number of 64 bits in it, it is aligned.
    static_assert(alignof(operation) >= alignof(placed));
    return reinterpret_cast<placed*>(buffer_.data() + slot_count_ * sizeof(operation));
  }

  [[no_unique_address]] KeyEqual equal_;
  grant memory_;
  std::size_t slot_count_;
  buffer buffer_;
  std::size_t size_ = 0;
};

}  // namespace outsize::detail
