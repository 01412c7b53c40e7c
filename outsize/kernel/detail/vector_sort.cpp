// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/kernel/detail/vector_sort.hpp>

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include <outsize/base/detail/idle_tools.hpp>
#include <outsize/kernel/detail/bucket_partition.hpp>
#include <outsize/kernel/detail/digit_sort.hpp>
#include <outsize/kernel/detail/proxy_sort.hpp>

namespace outsize::detail {
namespace {

/// One for each thread: on some machines it has memory of its own.
hwy::Sorter const& sorter() {
  thread_local hwy::Sorter const instance;
  return instance;
}

// ---- the vector kernel alone ----

void sort_numbers(std::span<std::uint32_t> keys) {
  sorter()(keys.data(), keys.size(), hwy::SortAscending());
}

void sort_numbers(std::span<std::uint64_t> keys) {
  sorter()(keys.data(), keys.size(), hwy::SortAscending());
}

/// As numbers of 128 bits.
void sort_numbers(std::span<word_pair> items) {
  static_assert(sizeof(word_pair) == sizeof(hwy::uint128_t));
  static_assert(offsetof(word_pair, low) == offsetof(hwy::uint128_t, lo));
  static_assert(offsetof(word_pair, high) == offsetof(hwy::uint128_t, hi));
  sorter()(reinterpret_cast<hwy::uint128_t*>(items.data()), items.size(), hwy::SortAscending());
}

void sort_numbers(std::span<prefix_entry> entries) {
  static_assert(sizeof(prefix_entry) == sizeof(hwy::uint128_t));
  static_assert(offsetof(prefix_entry, place) == offsetof(hwy::uint128_t, lo));
  static_assert(offsetof(prefix_entry, prefix) == offsetof(hwy::uint128_t, hi));
  sorter()(reinterpret_cast<hwy::uint128_t*>(entries.data()), entries.size(), hwy::SortAscending());
}

// ---- in cache ----

/// Memory to sort items in cache, up to 0.5 MiB, or 1.25 MiB where they are spread unevenly.
template <typename T>
struct cache_tools {
  trusting_sort<digit_sort<T>> digits;
  proxy_sort<T> proxies;
};
template <>
struct cache_tools<std::uint32_t> {
  trusting_sort<digit_sort<std::uint32_t>> digits;
  std::vector<std::uint64_t> words;
};
template <>
struct cache_tools<std::uint64_t> {
  trusting_sort<digit_sort<std::uint64_t>> digits;
};

template <typename T>
auto take_tools() {
  static auto& all = *new idle_tools<cache_tools<T>>();
  return all.take();
}

/// As numbers of 64 bits.
void sort_uneven(std::span<std::uint32_t> keys, cache_tools<std::uint32_t>& tools) {
  tools.words.assign(keys.begin(), keys.end());
  sort_numbers(std::span(tools.words));
  std::ranges::transform(tools.words, keys.begin(),
                         [](std::uint64_t word) { return static_cast<std::uint32_t>(word); });
}

void sort_uneven(std::span<std::uint64_t> keys, cache_tools<std::uint64_t>&) { sort_numbers(keys); }

/// By words.
template <typename T>
void sort_uneven(std::span<T> items, cache_tools<T>& tools) {
  tools.proxies(
      items, [](std::span<std::uint64_t> words) { sort_numbers(words); },
      [](std::span<T> equals) {
        constexpr std::size_t few = 32;
        if (equals.size() > few) {
          sort_numbers(equals);
        } else {
          std::ranges::sort(equals, own_order());
        }
      });
}

template <typename T>
void sort_in_cache(std::span<T> items, cache_tools<T>& tools) {
  tools.digits(items, [&](std::span<T> uneven) { sort_uneven(uneven, tools); });
}

// ---- in two levels ----

// The vector kernel asks the system for random bits at each call, as long as sorting so many takes.
constexpr std::size_t very_few_items = 32;
constexpr std::size_t few_items = 128;  // for words digits are no faster than the vector kernel

template <typename T>
void sort_in_buckets(std::span<T> items, cache_tools<T>& tools, unsigned levels = 3) {
  if (items.size() <= very_few_items) {
    std::ranges::sort(items, own_order());
    return;
  }
  if (items.size() <= few_items) return sort_numbers(items);
  if (items.size() <= cache_items<T>) return sort_in_cache(items, tools);
  auto const rule =
      levels > 0 ? bucket_rule::for_items(std::span<T const>(items),
                                          items.size() / (cache_items<T> / 4), own_order::word<T>)
                 : std::nullopt;
  if (!rule) return sort_numbers(items);
  auto const bounds = bucket_partition<T>()(items, *rule);
  for (std::size_t b = 0; b < rule->count; ++b)
    sort_in_buckets(items.subspan(bounds[b], bounds[b + 1] - bounds[b]), tools, levels - 1);
}

template <typename T>
void sort_by_digits(std::span<T> items) {
  // A lease takes longer than these do.
  if (items.size() <= very_few_items) {
    std::ranges::sort(items, own_order());
    return;
  }
  if (items.size() <= few_items) return sort_numbers(items);
  auto const tools = take_tools<T>();
  sort_in_buckets(items, *tools);
}

/// The shortest time of three that `sort` takes for keys without order.
template <typename Sort>
std::chrono::steady_clock::duration trial(Sort const& sort) {
  std::array<std::uint32_t, 4096> keys{};
  auto shortest = std::chrono::steady_clock::duration::max();
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < keys.size(); ++i)
      keys[i] = static_cast<std::uint32_t>(i * 0x9E3779B97F4A7C15U >> 32);
    auto const begin = std::chrono::steady_clock::now();
    sort(std::span(keys));
    shortest = std::min(shortest, std::chrono::steady_clock::now() - begin);
  }
  return shortest;
}

/// Whether 32-bit keys are sorted faster by digits: a processor that compresses vectors of them in
/// microcode (Zen 4) takes five times as long as for words.
bool prefers_digits() {
  auto const tools = take_tools<std::uint32_t>();
  return trial([&](std::span<std::uint32_t> keys) { sort_in_cache(keys, *tools); }) <
         trial([](std::span<std::uint32_t> keys) { sort_numbers(keys); });
}

}  // namespace

void vector_sort(std::span<std::uint32_t> keys) {
  static bool const by_digits = prefers_digits();
  by_digits ? sort_by_digits(keys) : sort_numbers(keys);
}

void vector_sort(std::span<std::uint64_t> keys) { sort_by_digits(keys); }

void vector_sort(std::span<word_pair> items) { sort_by_digits(items); }

void vector_sort(std::span<prefix_entry> entries) { sort_by_digits(entries); }

}  // namespace outsize::detail
