// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/sort/vector_sort.hpp>

#include <hwy/contrib/sort/vqsort.h>

#include <cstddef>

namespace outsize::detail {
namespace {

/// One for each thread: making one asks the system for random bits.
hwy::Sorter const& sorter() {
  thread_local hwy::Sorter const instance;
  return instance;
}

}  // namespace

void vector_sort(std::span<std::uint32_t> keys) {
  sorter()(keys.data(), keys.size(), hwy::SortAscending());
}

void vector_sort(std::span<std::uint64_t> keys) {
  sorter()(keys.data(), keys.size(), hwy::SortAscending());
}

void vector_sort(std::span<word_pair> keys) {
  static_assert(sizeof(word_pair) == sizeof(hwy::uint128_t));
  static_assert(offsetof(word_pair, low) == offsetof(hwy::uint128_t, lo));
  static_assert(offsetof(word_pair, high) == offsetof(hwy::uint128_t, hi));
  sorter()(reinterpret_cast<hwy::uint128_t*>(keys.data()), keys.size(), hwy::SortAscending());
}

void vector_sort(std::span<prefix_entry> entries) {
  static_assert(sizeof(prefix_entry) == sizeof(hwy::uint128_t));
  static_assert(offsetof(prefix_entry, place) == offsetof(hwy::uint128_t, lo));
  static_assert(offsetof(prefix_entry, prefix) == offsetof(hwy::uint128_t, hi));
  sorter()(reinterpret_cast<hwy::uint128_t*>(entries.data()), entries.size(), hwy::SortAscending());
}

}  // namespace outsize::detail
