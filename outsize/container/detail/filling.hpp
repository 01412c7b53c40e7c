// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What containers are filled from: files of their items, and ranges of what becomes one, as pairs
// become the items of maps. Layer: container.

#include <concepts>
#include <ranges>
#include <type_traits>
#include <utility>

#include <outsize/algorithm/detail/item_scan.hpp>
#include <outsize/algorithm/item_sources.hpp>
#include <outsize/algorithm/sort_options.hpp>
#include <outsize/base/external_item.hpp>

namespace outsize {
namespace detail {

template <typename In, typename T>
concept exact_source_of =
    (is_item_file<std::remove_cvref_t<In>> || std::ranges::input_range<In>)&&std::same_as<
        typename item_of_source<std::remove_cvref_t<In>>::type, T>;

}  // namespace detail

/// A file of items T, or an input range whose elements are or become such items.
template <typename In, typename T>
concept source_of =
    detail::exact_source_of<In, T> ||
    (std::ranges::input_range<In> && std::convertible_to<std::ranges::range_reference_t<In>, T>);

namespace detail {

/// Shows all items of a source to `visit(std::span<T const>)` until it says false.
/// @throws as scan_items().
template <external_item T, source_of<T> In, typename Visit>
void scan_source(storage& store, In&& in, sort_options const& options, Visit&& visit) {
  if constexpr (exact_source_of<In, T>) {
    scan_items(store, std::forward<In>(in), options, visit);
  } else {
    auto const as_item = [](std::ranges::range_reference_t<In> one) -> T {
      return std::forward<std::ranges::range_reference_t<In>>(one);
    };
    scan_items(store, std::views::transform(std::forward<In>(in), as_item), options, visit);
  }
}

}  // namespace detail
}  // namespace outsize
