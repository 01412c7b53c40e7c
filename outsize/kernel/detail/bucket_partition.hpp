// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Distribution of items to buckets by the leading bits of their key words, in place: the first of
// two levels of sorting more keys than a cache holds.
//
// Items are collected in one block for each bucket, which stays in cache; a full block goes to the
// front of the array, where all items have been read already. Then the blocks change places until
// those of a bucket are neighbours, and what is left in the collecting blocks is put behind them:
//
//   distribute:  | b3 b0 b3 b1 b0 .. | read already | to be read .... |   + 256 part-filled blocks
//   permute:     | b0 b0 b1 b3 b3 .. |             free               |
//   fill in:     | b0 b0 b0' | b1 b1' | b2' | b3 b3 b3' ............... |
//
// Every item is moved two or three times whatever their number. Not stable. One thread. Layer:
// kernel. Source: Axtmann, Witt, Ferizovic, Sanders: In-place parallel super scalar samplesort,
// 2017, sections 3 and 4 (blocks); which buckets there are is decided by bits, not by splitters.
//
// Cycles for each of 2^23 random items in huge pages, one core of a 2.5 GHz Cascade Lake: 14 for
// words, 20 for two words; of a 3.6 GHz Zen 4: 10 and 17.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/base/detail/aligned_memory.hpp>
#include <outsize/kernel/detail/vector_sort.hpp>

namespace outsize::detail {

/// Which bucket a key word belongs to: a few bits of it, below those that all have in common.
struct bucket_rule {
  std::uint64_t least = 0;  ///< Keys below go to the first bucket, those beyond all to the last.
  unsigned shift = 0;
  std::size_t count = 1;

  std::size_t operator()(std::uint64_t key) const noexcept {
    return std::min<std::uint64_t>((std::max(key, least) - least) >> shift, count - 1);
  }

  static constexpr std::size_t most_buckets = 256;

  /// For these items, at least one of them, by `word(item)`; about `most` buckets. Nothing if that
  /// is of no use.
  template <typename T, typename Word>
  static std::optional<bucket_rule> for_items(std::span<T const> items, std::size_t most,
                                              Word const& word) {
    std::array<std::uint64_t, 1024> sample{};
    for (std::size_t i = 0; i < sample.size(); ++i)  // at places without a period
      sample[i] = word(items[(i * 0x9E3779B97F4A7C15U) % items.size()]);
    return from_sample(sample, most);
  }

  /// For items whose keys are like those of `sample`, which is put in order; about `most` buckets.
  /// Nothing if too much would be left in one bucket for this to be of use.
  static std::optional<bucket_rule> from_sample(std::span<std::uint64_t> sample, std::size_t most);
};

/// Memory and method for partitioning items of type T, of which key_word(item) decides.
template <typename T>
class bucket_partition {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  static constexpr std::size_t most_buckets = bucket_rule::most_buckets;
  using bounds = std::array<std::size_t, most_buckets + 1>;

  /// Moves the items of bucket i to [result[i], result[i + 1]).
  bounds operator()(std::span<T> items, bucket_rule const& rule) {
    OUTSIZE_ASSERT(rule.count <= most_buckets);
    distribute(items, rule);
    permute(items.data(), rule.count);
    return fill_in(items.data(), rule.count);
  }

 private:
  static constexpr std::size_t block_bytes = 1024;
  static constexpr std::size_t block_items = block_bytes / sizeof(T);
  static_assert(block_items * sizeof(T) == block_bytes);

  T* block(std::size_t bucket) const noexcept { return blocks_.get() + bucket * block_items; }

  void distribute(std::span<T> items, bucket_rule rule) {
    owners_.clear();
    owners_.reserve(items.size() / block_items);
    for (std::size_t b = 0; b < rule.count; ++b) ends_[b] = block(b);
    T* to = items.data();
    for (T const& item : items) {
      std::size_t const b = rule(key_word(item));
      *ends_[b]++ = item;
      if (reinterpret_cast<std::uintptr_t>(ends_[b]) % block_bytes != 0) [[likely]]
        continue;
      ends_[b] -= block_items;
      std::memcpy(to, ends_[b], block_bytes);
      to += block_items;
      owners_.push_back(static_cast<std::uint8_t>(b));
    }
  }

  static void exchange_blocks(T* a, T* b) noexcept {
    alignas(block_bytes) std::array<std::byte, block_bytes> old_a;
    std::memcpy(old_a.data(), a, block_bytes);
    std::memcpy(a, b, block_bytes);
    std::memcpy(b, old_a.data(), block_bytes);
  }

  /// Asks for a block that will be exchanged soon; may be none of the items'.
  static void prefetch_block(T const* block) noexcept {
    auto const* const bytes = reinterpret_cast<std::byte const*>(block);
    for (std::size_t i = 0; i < block_bytes; i += 64) __builtin_prefetch(bytes + i, 1);
  }

  /// Brings the full blocks of each bucket together, each with one move or two.
  void permute(T* items, std::size_t count) {
    firsts_.fill(0);
    for (std::uint8_t const owner : owners_) ++firsts_[owner + 1];
    for (std::size_t b = 0; b < count; ++b) firsts_[b + 1] += firsts_[b];
    auto next = firsts_;
    for (std::size_t b = 0; b < count; ++b)
      for (; next[b] < firsts_[b + 1]; ++next[b]) {
        std::size_t const here = next[b];
        while (owners_[here] != b) {
          std::size_t const owner = owners_[here];
          while (owners_[next[owner]] == owner) ++next[owner];
          std::size_t const there = next[owner]++;
          exchange_blocks(items + here * block_items, items + there * block_items);
          std::swap(owners_[here], owners_[there]);
          prefetch_block(items + next[owner] * block_items);
        }
      }
  }

  /// Makes room between the buckets, from the last one on, for what is in the collecting blocks.
  bounds fill_in(T* items, std::size_t count) {
    bounds result{};
    std::size_t before = 0;  // items in the collecting blocks of this and all earlier buckets
    for (std::size_t b = 0; b < count; ++b) {
      result[b] = firsts_[b] * block_items + before;
      before += static_cast<std::size_t>(ends_[b] - block(b));
    }
    result[count] = firsts_[count] * block_items + before;
    for (std::size_t b = count; b-- > 0;) {
      T* const from = items + firsts_[b] * block_items;
      T* const to = items + result[b];
      std::size_t const full = (firsts_[b + 1] - firsts_[b]) * block_items;
      auto const by = static_cast<std::size_t>(to - from);
      // What stands in front of the bucket's place goes to its end: there is no order to keep.
      if (by < full) {
        std::memcpy(to + full - by, from, by * sizeof(T));
      } else {
        std::memmove(to, from, full * sizeof(T));
      }
      std::copy(block(b), ends_[b], to + full);
    }
    return result;
  }

  aligned_memory<T> blocks_ = allocate_aligned<T>(most_buckets * block_items, block_bytes);
  std::array<T*, most_buckets> ends_{};                 // of what each collecting block holds
  std::vector<std::uint8_t> owners_;                    // of the full blocks
  std::array<std::size_t, most_buckets + 1> firsts_{};  // full block of each bucket
};

}  // namespace outsize::detail
