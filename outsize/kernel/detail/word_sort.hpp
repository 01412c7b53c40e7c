// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sorting small items of any type by an order that one word decides, in memory, stable: what sorts
// by an integer or floating-point key of items are.
//
// Items are distributed by the leading bits of their words to buckets that fit in cache, out of
// place and in their order; there they are sorted by digits (digit_sort.hpp), or, where words are
// spread too unevenly, by proxies of word and place (proxy_sort.hpp):
//
//   items ──most significant bits──▶ to: | bucket | bucket | … |, each put in order where it is
//
// What one bucket would take most of is sorted by comparing. One thread. Layer: kernel. Source:
// STXXL 2008, section 6.2 (ksort: distribution by the most significant bits, then key and place in
// cache).
//
// Nanoseconds for each of 2^28 bytes of random items, one core of a 3.6 GHz Zen 4: 12 for 16 bytes,
// 20 for 32, 31 for 64, where merge_sort.hpp took 39, 43 and 62 (before decision 0047).

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <outsize/base/assert.hpp>
#include <outsize/kernel/detail/bucket_partition.hpp>
#include <outsize/kernel/detail/digit_sort.hpp>
#include <outsize/kernel/detail/merge_sort.hpp>
#include <outsize/kernel/detail/proxy_sort.hpp>
#include <outsize/kernel/detail/vector_sort.hpp>

namespace outsize::detail {

/// Orders that one word of each item decides: less.word(a) < less.word(b) exactly if less(a, b).
template <typename Less, typename T>
concept word_order = requires(Less const less, T const item) {
  { less.word(item) } -> std::same_as<std::uint64_t>;
};

/// Larger items are sorted by an index of them: they are moved once then, when they are merged.
inline constexpr std::size_t most_bytes_by_word = 64;

/// Memory and method for items of type T.
template <typename T, word_order<T> Less>
class word_sort {
 public:
  explicit word_sort(Less const& less) : less_(less), digits_(digit_sort<T, Less>(less)) {}

  /// Sorts `items` into `to`, which is as long and does not overlap; what `items` held is lost.
  void sort_into(std::span<T> items, std::span<T> to) {
    OUTSIZE_ASSERT(items.size() == to.size());
    sort_into(items, to, most_levels);
  }

  /// Sorts items that fit in cache where they are. The memory grows to twice theirs, and is kept.
  void sort_in_cache(std::span<T> items) {
    digits_(items, [this](std::span<T> uneven) { sort_uneven(uneven); });
  }

 private:
  static constexpr unsigned most_levels = 3;

  using bounds = std::array<std::size_t, bucket_rule::most_buckets + 1>;

  void sort_into(std::span<T> items, std::span<T> to, unsigned levels) {
    if (items.size() <= cache_items<T>) {
      copy(items, to);
      return sort_in_cache(to);
    }
    if (std::ranges::is_sorted(items, less_)) return copy(items, to);
    auto const rule =
        levels > 0 ? bucket_rule::for_items(std::span<T const>(items), items.size() / bucket_items,
                                            [this](T const& item) { return less_.word(item); })
                   : std::nullopt;
    if (!rule) return merge_sort<T, Less>(less_).sort_into(items, to);
    auto const places = distribute(items, to, *rule);
    for (std::size_t b = 0; b < rule->count; ++b) {
      auto const bucket = to.subspan(places[b], places[b + 1] - places[b]);
      if (bucket.size() <= cache_items<T>) {
        sort_in_cache(bucket);
      } else {
        auto const other = items.subspan(places[b], bucket.size());
        copy(bucket, other);
        sort_into(other, bucket, levels - 1);
      }
    }
  }

  static constexpr std::size_t bucket_items = std::max<std::size_t>(1, cache_items<T> / 4);

  static void copy(std::span<T const> from, std::span<T> to) {
    std::ranges::copy(from, to.begin());
  }

  /// Moves the items of bucket i to [result[i], result[i + 1]) of `to`, in their order.
  bounds distribute(std::span<T const> items, std::span<T> to, bucket_rule rule) const {
    bounds next{};
    for (T const& item : items) ++next[rule(less_.word(item)) + 1];
    for (std::size_t b = 1; b < next.size(); ++b) next[b] += next[b - 1];
    bounds const result = next;
    T* const out = to.data();
    for (T const& item : items) out[next[rule(less_.word(item))]++] = item;
    return result;
  }

  void sort_uneven(std::span<T> items) {
    if (!proxies_) proxies_.emplace(less_);
    (*proxies_)(
        items, [](std::span<std::uint64_t> words) { vector_sort(words); },
        [this](std::span<T> equals) { sort_equals(equals); });
  }

  /// Items of which only the first bits of the words are equal.
  void sort_equals(std::span<T> equals) {
    if (std::ranges::is_sorted(equals, less_)) return;
    if (equals_.size() < equals.size()) equals_.resize(equals.size());
    std::span const to = std::span(equals_).first(equals.size());
    merge_sort<T, Less>(less_).sort_into(equals, to);
    copy(to, equals);
  }

  [[no_unique_address]] Less less_;
  trusting_sort<digit_sort<T, Less>> digits_;
  std::optional<proxy_sort<T, Less>> proxies_;
  std::vector<T> equals_;
};

}  // namespace outsize::detail
