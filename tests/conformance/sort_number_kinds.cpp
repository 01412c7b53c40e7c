// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Numbers, which are sorted as keys of vector_sort, and, where they lie, by all threads.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <outsize/algorithm/item_order.hpp>
#include <tests/conformance/typed_kind.hpp>

namespace outsize::conformance {
namespace {

struct keep_first {
  template <typename T>
  T operator()(T const& a, T const&) const {
    return a;
  }
};

/// One of some thousand numbers, from all of the range.
template <typename T>
T random_number(std::mt19937_64& random) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(random() % 5000) / 8 - 300 + T{1} / 16;  // no zero, which has two forms
  } else if constexpr (detail::wide_integer<T>) {
    auto const high = static_cast<detail::wide_unsigned>(random() % 70 * (UINT64_MAX / 70));
    return static_cast<T>(high << 64 | random() % 70 << 40);
  } else {
    return static_cast<T>((random() % 5000) * (std::numeric_limits<T>::max() / 2500));
  }
}

/// Numbers of which each comes some times; equal ones are equal bytes.
template <typename T, typename Less = std::less<>>
kind numbers(char const* name, Less less = {}) {
  return typed_kind<T>(name, less, keep_first(), [](std::mt19937_64& random, std::size_t) {
    return random_number<T>(random);
  });
}

/// To where the items lie already: if the memory is enough, all threads sort numbers there.
template <typename T, typename Less, typename Combine>
outcome sort_in_place(job const& work, Less less, Combine combine) {
  auto items = items_of<T>(work.input);
  auto const report = sort_one_way(work, items, items.begin(), less, combine);
  items.resize(report.output_items);
  return {bytes_of(items), report};
}

kind numbers_in_place() {
  auto made = numbers<std::uint64_t>("in_place");
  made.sort = [](job const& work) {
    return sort_in_place<std::uint64_t>(work, std::less<>(), keep_first());
  };
  return made;
}

}  // namespace

void add_number_kinds(std::vector<kind>& kinds) {
  kinds.push_back(numbers<std::uint32_t>("u32"));
  kinds.push_back(numbers<std::int32_t>("i32"));
  kinds.push_back(numbers<std::uint64_t>("u64"));
  kinds.push_back(numbers<std::int64_t>("i64_greatest_first", std::greater<>()));
  kinds.push_back(numbers<float>("f32"));
  kinds.push_back(numbers<double>("f64"));
  kinds.push_back(numbers<detail::wide_unsigned>("u128"));
  kinds.push_back(numbers<detail::wide_signed>("i128_greatest_first", std::greater<>()));
  kinds.push_back(numbers_in_place());
}

}  // namespace outsize::conformance
