// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// In which order index_sort puts the records of an order, and in which it should. Layer: testing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/kernel/detail/index_sort.hpp>

namespace outsize::scratch {

/// Numbers of the records in their order, equal ones as they come, or with the first one's number
/// if `equals` wants it; nothing if a prefix got lost.
template <typename Order, typename Equals = detail::equals_unnoted>
std::optional<std::vector<std::uint64_t>> index_places(Order const& order,
                                                       std::vector<std::string> const& records,
                                                       Equals const& equals = {}) {
  std::vector<detail::prefix_entry> entries;
  for (std::size_t i = 0; i < records.size(); ++i)
    entries.push_back({.place = i, .prefix = order.prefix(records[i])});
  auto const record_at = [&](std::uint64_t place) { return std::string_view(records[place]); };
  auto const fetch = [](std::uint64_t, std::size_t) {};
  detail::index_sort(order, record_at, fetch, equals)(entries);
  std::vector<std::uint64_t> places;
  for (auto const& e : entries) {
    if (e.prefix != order.prefix(records[e.place])) return {};
    places.push_back(e.place);
  }
  return places;
}

/// The same by comparisons alone.
template <typename Order>
std::vector<std::uint64_t> stable_places(Order const& order,
                                         std::vector<std::string> const& records) {
  std::vector<std::uint64_t> places(records.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  std::ranges::stable_sort(places, [&](std::uint64_t a, std::uint64_t b) {
    return order.compare(records[a], records[b]) < 0;
  });
  return places;
}

}  // namespace outsize::scratch
