// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A kind of items of one C++ type: its bytes, its model, and its sorts from and to ranges.
// Layer: tests.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <outsize/algorithm/reduce_by_key.hpp>
#include <outsize/algorithm/sort.hpp>
#include <outsize/base/units.hpp>
#include <tests/conformance/sort_kind.hpp>

namespace outsize::conformance {

/// The bytes of items.
template <typename T>
std::string bytes_of(std::vector<T> const& items) {
  return {reinterpret_cast<char const*>(items.data()), items.size() * sizeof(T)};
}

template <typename T>
std::vector<T> items_of(std::string const& bytes) {
  std::vector<T> items(bytes.size() / sizeof(T));
  std::memcpy(static_cast<void*>(items.data()), bytes.data(), bytes.size());
  return items;
}

/// Sorted items with equal ones made one where that is asked for.
template <typename T, typename Less, typename Combine>
std::vector<T> expected(std::vector<T> items, way how, Less less, Combine combine) {
  std::stable_sort(items.begin(), items.end(), less);
  if (how == way::plain || how == way::stable) return items;
  std::vector<T> left;
  for (T const& item : items) {
    if (left.empty() || less(left.back(), item)) {
      left.push_back(item);
    } else if (how == way::combining) {
      left.back() = combine(left.back(), item);
    }
  }
  return left;
}

template <typename In, typename Out, typename Less, typename Combine>
sort_report sort_one_way(job const& work, In const& in, Out out, Less less, Combine combine) {
  switch (work.how) {
    case way::plain:
      return sort(work.store, in, out, less, work.options);
    case way::stable:
      return stable_sort(work.store, in, out, less, work.options);
    case way::unique:
      return sort_unique(work.store, in, out, less, work.options);
    default:
      return reduce_by_key(work.store, in, out, less, combine, work.options);
  }
}

template <typename T, typename Less, typename Combine>
outcome sort_range(job const& work, Less less, Combine combine) {
  auto const in = items_of<T>(work.input);
  std::vector<T> sorted;
  auto const report = sort_one_way(work, in, std::back_inserter(sorted), less, combine);
  return {bytes_of(sorted), report};
}

/// A kind of 1.6 MB of items, which `make(random, place)` makes.
template <typename T, typename Less, typename Combine, typename Make>
kind typed_kind(char const* name, Less less, Combine combine, Make make) {
  std::mt19937_64 random(7);
  std::vector<T> items(1'600'000 / sizeof(T));
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = make(random, i);
  return {
      .name = name,
      .input = bytes_of(items),
      .expect = [=](auto const& in,
                    way how) { return bytes_of(expected(items_of<T>(in), how, less, combine)); },
      .sort = [=](job const& work) { return sort_range<T>(work, less, combine); },
      .memory_bytes = 1_MiB,
      .least_block_bytes = sizeof(T) <= 64 ? 512U : 1024U};
}

}  // namespace outsize::conformance
