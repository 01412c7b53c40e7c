// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// What is done with items that are in order already, or nearly: seeing that they are, turning them
// round, making equal ones one, merging those that are not at their places.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <bench/programs/kernels/random_items.hpp>
#include <bench/programs/kernels/timing.hpp>
#include <bench/programs/typed_items.hpp>
#include <outsize/algorithm/detail/file_sort.hpp>
#include <outsize/algorithm/detail/sort/family/combining_items.hpp>
#include <outsize/algorithm/detail/sort/family/record_items.hpp>
#include <outsize/algorithm/detail/sort/family/reduction.hpp>
#include <outsize/algorithm/detail/sort/family/typed_items.hpp>
#include <outsize/algorithm/detail/sort/presorted/outliers.hpp>
#include <outsize/algorithm/detail/sort/presorted/passing_order.hpp>
#include <outsize/algorithm/detail/sort/presorted/presorted_lines.hpp>
#include <outsize/algorithm/item_order.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/kernel/byte_order.hpp>
#include <outsize/kernel/detail/vector_sort.hpp>

namespace kernels {
namespace {

using namespace outsize;
using namespace outsize::detail;

template <typename T>
typed_items<T, std::less<>> family_as_is() {
  return typed_items<T, std::less<>>({}, bits_of<T>());
}

template <typename T>
std::vector<T> sorted_items(std::size_t count) {
  return sorted_sequences<T>(1, count, std::less<>());
}

// ---- whether they are, as a sort of a file asks of its input ----

enum class direction { upwards, downwards };

template <direction Which = direction::upwards, typename Family>
void measure_order_check(benchmark::State& state, Family const& family,
                         std::span<std::byte const> items) {
  auto const checks = operations_of(family);
  bool good = false;
  measure(
      state, items.size() / checks.item_bytes, [] {},
      [&] { good = checks.in_order(items, Which == direction::downwards); }, [&] { return good; });
}

template <typename T, direction Which>
void order_check_of(benchmark::State& state) {
  auto items = sorted_items<T>(count_of(state));
  if (Which == direction::downwards) std::ranges::reverse(items);
  measure_order_check<Which>(state, family_as_is<T>(), std::as_bytes(std::span(items)));
}

void order_check_by_lambda(benchmark::State& state) {
  auto const less = typed::by_group(state.range(0) > 0);  // true, but not to the compiler
  auto const items = sorted_sequences<typed::triple>(1, count_of(state), less);
  measure_order_check(state, typed_items<typed::triple, std::remove_const_t<decltype(less)>>(less),
                      std::as_bytes(std::span(items)));
}

constexpr std::size_t record_bytes = 100;

void order_check_of_records(benchmark::State& state) {
  byte_order const order;
  measure_order_check(state, record_items(order, record_bytes),
                      sorted_records(count_of(state), record_bytes));
}

/// Lines of 20 bytes, each of which is found as well.
void order_check_of_lines(benchmark::State& state) {
  auto const numbers = sorted_items<std::uint64_t>(count_of(state));
  text_lines const lines(numbers.size(), [&, i = std::size_t{0}]() mutable {
    return std::to_string(numbers[i++] / 10 + 1'000'000'000'000'000'000);  // of as many digits each
  });
  byte_order const order;
  auto const operations = operations_of_lines(order, '\n', 1_MiB);
  std::optional<std::uint64_t> found;
  measure(
      state, lines.size(), [] {}, [&] { found = operations.count_in_order(lines.text()); },
      [&] { return found == lines.size(); });
}

// ---- those that are not ----

/// Items of a buffer in the opposite order, on their way to another one.
template <typename Family>
void measure_reversal(benchmark::State& state, Family const& family,
                      std::span<std::byte const> items) {
  auto const operations = operations_of(family);
  std::size_t const item = operations.item_bytes;
  std::vector<std::byte> out(items.size());
  measure(
      state, items.size() / item, [] {}, [&] { operations.reverse(items, out.data()); },
      [&] {
        return std::ranges::equal(std::span(out).first(item), items.last(item)) &&
               std::ranges::equal(std::span(out).last(item), items.first(item));
      });
}

template <typename T>
void reversal_of(benchmark::State& state) {
  auto const items = sorted_items<T>(count_of(state));
  measure_reversal(state, family_as_is<T>(), std::as_bytes(std::span(items)));
}

void reversal_of_records(benchmark::State& state) {
  byte_order const order;
  measure_reversal(state, record_items(order, record_bytes),
                   sorted_records(count_of(state), record_bytes));
}

/// Records of a buffer, each of which lies a few places away from its own, sorted where they lie.
void sort_of_near_records(benchmark::State& state) {
  byte_order const order;
  record_items const family(order, record_bytes);
  auto const operations = operations_of(family);
  auto const sorted = sorted_records(count_of(state), record_bytes);
  auto given = sorted;
  constexpr std::size_t stretch = 8 * record_bytes;
  for (std::size_t at = 0; at + stretch <= given.size(); at += stretch)
    std::rotate(&given[at], &given[at + record_bytes], given.data() + at + stretch);
  auto items = given;
  std::vector<std::uint64_t> scratch(
      div_up(operations.scratch_bytes(given.size()), sizeof(std::uint64_t)));
  measure(
      state, count_of(state), [&] { items = given; },
      [&] { operations.sort(items, std::as_writable_bytes(std::span(scratch))); },
      [&] { return items == sorted; });
}

/// How many items at the front of a buffer of `range(0)` must be in front of one that came before;
/// time is for the whole search.
void places_in_a_buffer(benchmark::State& state) {
  auto const items = sorted_items<std::uint64_t>(count_of(state));
  auto const sought = random_items<std::uint64_t>(1024);
  auto const family = family_as_is<std::uint64_t>();
  auto const operations = operations_of(family);
  passing_order order(operations, false);
  std::vector<std::size_t> found(sought.size());
  auto const bytes = std::as_bytes(std::span(items));
  measure(
      state, sought.size(), [] {},
      [&] {
        std::ranges::transform(sought, found.begin(), [&](std::uint64_t const& item) {
          return order.front_before(reinterpret_cast<std::byte const*>(&item), bytes);
        });
      },
      [&] {
        return std::ranges::equal(found, sought, {}, {}, [&](std::uint64_t item) {
          auto const place = std::ranges::lower_bound(items, item);
          return static_cast<std::size_t>(place - items.begin()) * sizeof item;
        });
      });
}

/// One of 256 items merged into the others, which lie in a file in memory, by two threads.
void merge_of_outliers(benchmark::State& state) {
  constexpr std::size_t buffer_bytes = 256_KiB;
  auto const ordered = sorted_items<std::uint64_t>(count_of(state));
  auto const late = random_items<std::uint64_t>(ordered.size() / 256);
  auto const bytes = std::as_bytes(std::span(ordered));
  auto const family = family_as_is<std::uint64_t>();
  auto const operations = operations_of(family);
  memory_budget budget(16_MiB);
  auto const file = io::make_memory_file("kernel");
  std::optional<outliers> others;
  measure(
      state, ordered.size(),
      [&] {
        file->write(0, bytes)->wait();
        others.reset();
        others.emplace(budget, 4_MiB, operations, false);
        others->put_late(std::as_bytes(std::span(late)));
      },
      [&] {
        others->merge_into(*file, bytes.size(), budget, {.threads = 2, .tune = false}, buffer_bytes,
                           {});
      },
      [&] {
        std::vector<std::uint64_t> merged(ordered.size() + late.size());
        file->read(0, std::as_writable_bytes(std::span(merged)))->wait();
        return std::ranges::is_sorted(merged);
      });
}

// ---- equal ones made one ----

/// Sorted items of which every second one is equal to the one before.
void reduction_to_unique(benchmark::State& state) {
  auto const family = family_of<std::uint64_t, std::less<>>::make({});
  std::vector<std::uint64_t> given(count_of(state));
  for (std::size_t i = 0; i < given.size(); ++i) given[i] = i / 2;
  auto items = given;
  std::size_t left = 0;
  measure(
      state, given.size(), [&] { items = given; },
      [&] { left = reduce_sorted(family, std::as_writable_bytes(std::span(items))); },
      [&] { return left == given.size() / 2 * sizeof(std::uint64_t); });
}

/// The same of items with a number that is added up.
void reduction_to_sums(benchmark::State& state) {
  auto const less = by(&typed::pair::key);
  auto const add = [](typed::pair const& a, typed::pair const& b) {
    return typed::pair{a.key, a.payload + b.payload};
  };
  using base = family_of<typed::pair, std::remove_const_t<decltype(less)>>;
  combining_items<base::type, typed::pair, std::remove_const_t<decltype(add)>> const family(
      base::make(less), add);
  std::vector<word_pair> given(count_of(state));
  for (std::size_t i = 0; i < given.size(); ++i) given[i] = {.low = 1, .high = i / 2};
  auto items = given;
  std::size_t left = 0;
  measure(
      state, given.size(), [&] { items = given; },
      [&] { left = reduce_sorted(family, std::as_writable_bytes(std::span(items))); },
      [&] {
        return left == given.size() / 2 * sizeof(word_pair) &&
               std::ranges::all_of(std::span(items).first(given.size() / 2),
                                   [](word_pair const& item) { return item.low == 2; });
      });
}

BENCHMARK(order_check_of<std::uint32_t, direction::upwards>)
    ->Arg(in_cache)
    ->Arg(beyond_cache)
    ->UseManualTime();
BENCHMARK(order_check_of<std::uint64_t, direction::upwards>)
    ->Arg(in_cache)
    ->Arg(beyond_cache)
    ->UseManualTime();
BENCHMARK(order_check_of<word_pair, direction::upwards>)
    ->Arg(in_cache)
    ->Arg(beyond_cache)
    ->UseManualTime();
BENCHMARK(order_check_of<std::uint64_t, direction::downwards>)->Arg(in_cache)->UseManualTime();
BENCHMARK(order_check_by_lambda)->Arg(in_cache)->UseManualTime();
BENCHMARK(order_check_of_records)->Arg(in_cache)->UseManualTime();
BENCHMARK(order_check_of_lines)->Arg(in_cache)->UseManualTime();
BENCHMARK(reversal_of<std::uint32_t>)->Arg(in_cache)->UseManualTime();
BENCHMARK(reversal_of<std::uint64_t>)->Arg(in_cache)->UseManualTime();
BENCHMARK(reversal_of<word_pair>)->Arg(in_cache)->UseManualTime();
BENCHMARK(reversal_of_records)->Arg(in_cache)->UseManualTime();
BENCHMARK(sort_of_near_records)->Arg(in_cache)->UseManualTime();
BENCHMARK(places_in_a_buffer)->Arg(1 << 18)->UseManualTime();
BENCHMARK(merge_of_outliers)->Arg(1 << 20)->UseManualTime();
BENCHMARK(reduction_to_unique)->Arg(in_cache)->UseManualTime();
BENCHMARK(reduction_to_sums)->Arg(in_cache)->UseManualTime();

}  // namespace
}  // namespace kernels
