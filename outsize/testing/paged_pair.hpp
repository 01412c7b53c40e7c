// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A container of pages and a standard vector with the same items, for tests of algorithms: what is
// done to a part of one is done to the other. Layer: testing.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <outsize/container/deque.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/scan/policy.hpp>
#include <outsize/testing/counted_storage.hpp>

namespace outsize::scratch {

using numbers = std::vector<std::uint64_t>;

/// Two sequences with the same items, and a part of both.
template <typename Container>
struct paged_pair {
  Container& paged;
  numbers& plain;
  std::uint64_t begin, end;
  std::mt19937_64& random;

  auto first() const { return paged.begin() + static_cast<std::ptrdiff_t>(begin); }
  auto last() const { return paged.begin() + static_cast<std::ptrdiff_t>(end); }
  auto plain_first() const { return plain.begin() + static_cast<std::ptrdiff_t>(begin); }
  auto plain_last() const { return plain.begin() + static_cast<std::ptrdiff_t>(end); }
  /// Whether both iterators are at the same place.
  template <typename I>
  bool same_place(I paged_at, numbers::const_iterator plain_at) const {
    return paged_at - paged.begin() == plain_at - plain.cbegin();
  }
};

struct paged_pairs : testing::Test, counted_storage {
  static constexpr std::size_t page_items = 8;

  using counted_storage::counted_storage;

  static page_options options(std::size_t cache_pages) {
    return {.page_bytes = page_items * sizeof(std::uint64_t),
            .cache_pages = cache_pages,
            .spare_pages = cache_pages % 3,
            .read_ahead_pages = 3};
  }
  template <typename Container>
  Container filled(numbers const& items, std::size_t cache_pages = 6) {
    Container c(store, options(cache_pages));
    for (auto const item : items) c.push_back(item);
    if constexpr (requires { c.pop_front(); }) {  // so that it begins in the middle of a page
      for (auto i = items.size() % 5; i > 0; --i) c.push_front(0);
      for (auto i = items.size() % 5; i > 0; --i) c.pop_front();
    }
    return c;
  }
  /// `count` numbers below `distinct`.
  static numbers some(std::size_t count, std::mt19937_64& random, std::uint64_t distinct) {
    numbers items(count);
    for (auto& item : items) item = random() % distinct;
    return items;
  }
  /// A vector whose pages are on disk, all `count` of them.
  vector<std::uint64_t> on_disk(std::size_t count) {
    vector<std::uint64_t> v(store, options(6));
    for (std::uint64_t i = 0; i < count * page_items; ++i) v.push_back(i);
    v.flush();
    auto const other = filled<vector<std::uint64_t>>(numbers(100));
    for (std::uint64_t i = 0; i < 8; ++i) std::ignore = std::as_const(v)[i * page_items];
    return v;
  }

  /// Calls `step(pair)` for containers of many sizes and caches and random parts of them, the whole
  /// and none included, and compares what is in them afterwards.
  template <typename Step>
  void on_many(Step const& step, std::uint64_t distinct = 10) {
    auto const seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    on_many_of<vector<std::uint64_t>>(step, distinct, random);
    on_many_of<deque<std::uint64_t>>(step, distinct, random);
  }
  /// The same with `step(pair, policy)`, for both policies.
  template <typename Step>
  void on_many_by_both(Step const& step, std::uint64_t distinct = 10) {
    on_many([&](auto const& pair) { step(pair, sequential_policy{}); }, distinct);
    on_many([&](auto const& pair) { step(pair, par); }, distinct);
  }

 private:
  template <typename Container, typename Step>
  void on_many_of(Step const& step, std::uint64_t distinct, std::mt19937_64& random) {
    for (std::size_t const cache_pages : {4U, 6U, 34U})
      for (std::size_t const size : {0U, 1U, 7U, 8U, 9U, 64U, 201U, 600U})
        for (int part = 0; part < 3; ++part) {
          numbers plain = some(size, random, distinct);
          auto paged = filled<Container>(plain, cache_pages);
          std::uint64_t const end = part == 0 ? size : random() % (size + 1);
          std::uint64_t const begin = part == 0 ? 0 : random() % (end + 1);
          SCOPED_TRACE(testing::Message() << "items " << begin << " to " << end << " of " << size
                                          << ", cache of " << cache_pages);
          step(paged_pair<Container>{paged, plain, begin, end, random});
          ASSERT_EQ(numbers(paged.cbegin(), paged.cend()), plain);
          if (HasFatalFailure()) return;
        }
  }
};

}  // namespace outsize::scratch
