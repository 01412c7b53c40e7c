// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Sorting in memory: the kernels, what is done before and after them, and std::sort beside them.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include <bench/programs/kernels/random_items.hpp>
#include <bench/programs/kernels/timing.hpp>
#include <bench/programs/typed_items.hpp>
#include <outsize/algorithm/detail/sort/family/keyed_items.hpp>
#include <outsize/algorithm/detail/sort/family/typed_items.hpp>
#include <outsize/algorithm/item_order.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/kernel/detail/bucket_partition.hpp>
#include <outsize/kernel/detail/digit_sort.hpp>
#include <outsize/kernel/detail/merge_sort.hpp>
#include <outsize/kernel/detail/ordered_bits.hpp>
#include <outsize/kernel/detail/parallel_sort.hpp>
#include <outsize/kernel/detail/proxy_sort.hpp>
#include <outsize/kernel/detail/vector_sort.hpp>
#include <outsize/kernel/detail/word_sort.hpp>

namespace kernels {
namespace {

using namespace outsize;
using namespace outsize::detail;

/// `sort(items, to)` puts them in order; whether in `to` is what it returns.
template <typename T, typename Less = std::less<>, typename Sort>
void measure_sort(benchmark::State& state, Sort sort, Less less = {}) {
  auto const given = random_items<T>(count_of(state));
  auto items = given, to = given;
  bool in_to = false;
  measure(
      state, given.size(), [&] { items = given; },
      [&] { in_to = sort(std::span(items), std::span(to)); },
      [&] { return std::ranges::is_sorted(in_to ? to : items, less); });
}

void standard_sort(benchmark::State& state) {
  measure_sort<std::uint64_t>(state, [](auto items, auto) {
    std::ranges::sort(items);
    return false;
  });
}

template <typename T>
void vector_sort_of(benchmark::State& state) {
  measure_sort<T>(state, [](auto items, auto) {
    vector_sort(items);
    return false;
  });
}

template <typename T>
void digit_sort_of(benchmark::State& state) {
  digit_sort<T> sort;
  measure_sort<T>(state, [&](auto items, auto) { return !sort(items); });
}

template <typename T>
void proxy_sort_of(benchmark::State& state) {
  proxy_sort<T> sort;
  measure_sort<T>(state, [&](auto items, auto) {
    auto const plainly = [](auto some) { vector_sort(some); };
    sort(items, plainly, plainly);
    return false;
  });
}

template <typename T, typename Less>
void word_sort_in_order(benchmark::State& state, Less less) {
  measure_sort<T>(
      state,
      [&](auto items, auto to) {
        word_sort<T, Less>(less).sort_into(items, to);
        return true;
      },
      less);
}

/// Items of `Bytes` by their keys.
template <std::size_t Bytes>
void word_sort_of(benchmark::State& state) {
  word_sort_in_order<keyed<Bytes>>(state, by(&keyed<Bytes>::key));
}

/// The same by what a function yields of them.
template <std::size_t Bytes>
void word_sort_by_function(benchmark::State& state) {
  word_sort_in_order<keyed<Bytes>>(
      state, by([](auto const& item) { return static_cast<std::int32_t>(item.key); }));
}

/// Items of `Bytes` by their keys, too large to be moved more than once: by an index of keys and
/// places, and then to their places.
template <std::size_t Bytes>
void index_sort_of_items(benchmark::State& state) {
  using item = keyed<Bytes>;
  auto const less = by(&item::key);
  using words = typed_words<item, std::remove_const_t<decltype(less)>>;
  static_assert(is_keyed_item<item, std::remove_const_t<decltype(less)>>);
  keyed_items const items(std::make_shared<words const>(less));
  auto const given = random_items<item>(count_of(state));
  // The index, and what the room lacks to whole pages.
  std::size_t const bytes = (given.size() + page_bytes()) * (Bytes + sizeof(prefix_entry));
  memory_budget budget(round_up(bytes, page_bytes()));
  grant memory = budget.take(budget.total_bytes(), "kernel");
  keyed_chunk chunk(items, memory, bytes);
  executor threads(1);
  std::vector<item> out(given.size());
  measure(
      state, given.size(),
      [&] {
        chunk.clear();
        std::memcpy(chunk.room().data(), given.data(), given.size() * Bytes);
        chunk.grow(given.size());
      },
      [&] {
        auto const sorted = chunk.sort(items, threads, 1).front();
        auto* to = reinterpret_cast<std::byte*>(out.data());
        for (std::size_t i = 0; i < out.size(); ++i) {
          sorted.will_need(i);
          to = keyed_items::store(sorted.key(i), to);
        }
      },
      [&] { return std::ranges::is_sorted(out, less); });
}

/// Items of `Bytes` by a lambda, in place: too large to be moved at each level.
template <std::size_t Bytes>
void sort_in_place_by_lambda(benchmark::State& state) {
  using item = keyed<Bytes>;
  bool const upwards = state.range(0) > 0;  // true, but not to the compiler
  auto const less = [upwards](item const& a, item const& b) { return (a.key < b.key) == upwards; };
  typed_items<item, std::remove_const_t<decltype(less)>> const family(less);
  static_assert(!family.sorts_out_of_place);
  measure_sort<item>(
      state,
      [&](auto items, auto) {
        family.sort_part(items);
        return false;
      },
      less);
}

/// By `range(1)` threads.
template <typename T>
void parallel_sort_of(benchmark::State& state) {
  executor threads(static_cast<std::size_t>(state.range(1)));
  measure_sort<T>(state, [&](auto items, auto) {
    parallel_sort(items, bits_of<T>(), threads);
    return false;
  });
}

/// Of `range(1)` different numbers.
void vector_sort_of_few(benchmark::State& state) {
  auto given = random_items<std::uint64_t>(count_of(state));
  auto const different = static_cast<std::size_t>(state.range(1));
  for (std::size_t i = different; i < given.size(); ++i)
    given[i] = given[random_bits()() % different];
  auto items = given;
  measure(
      state, given.size(), [&] { items = given; }, [&] { vector_sort(std::span(items)); },
      [&] { return std::ranges::is_sorted(items); });
}

/// Three of five are the least, by `range(1)` threads.
void parallel_sort_of_mostly_least(benchmark::State& state) {
  executor threads(static_cast<std::size_t>(state.range(1)));
  auto given = random_items<std::uint64_t>(count_of(state));
  for (std::size_t i = 0; i < given.size(); ++i)
    if (i % 5 < 3) given[i] = 0;
  auto items = given;
  measure(
      state, given.size(), [&] { items = given; },
      [&] { parallel_sort(std::span(items), bits_of<std::uint64_t>(), threads); },
      [&] { return std::ranges::is_sorted(items); });
}

/// Signed and floating-point numbers, which are turned into others and back on the way.
template <typename T>
void sort_of_numbers(benchmark::State& state) {
  auto const bits = ordered_bits_of<T, std::less<>>();
  using word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  std::vector<word> given = random_items<word>(count_of(state));
  for (word& item : given)
    item = std::bit_cast<word>(static_cast<T>(static_cast<std::int32_t>(item)));
  executor threads(1);
  auto items = given;
  measure(
      state, given.size(), [&] { items = given; },
      [&] { parallel_sort(std::span(items), bits, threads); },
      [&] {
        return std::ranges::is_sorted(items, {}, [](word item) { return std::bit_cast<T>(item); });
      });
}

/// Keys in eight clusters: too uneven for digits.
template <typename T>
void vector_sort_of_clusters(benchmark::State& state) {
  auto given = random_items<T>(count_of(state));
  std::uint64_t constexpr kept = 0xE0000000000FFFFF;
  for (T& item : given) {
    if constexpr (std::same_as<T, word_pair>) {
      item.high &= kept;
    } else {
      item &= kept;
    }
  }
  auto items = given;
  measure(
      state, given.size(), [&] { items = given; }, [&] { vector_sort(items); },
      [&] { return std::ranges::is_sorted(items); });
}

void merge_sort_by_lambda(benchmark::State& state) {
  auto const less = typed::by_group(state.range(0) > 0);  // true, but not to the compiler
  measure_sort<typed::triple>(
      state,
      [&](auto items, auto to) {
        merge_sort<typed::triple, decltype(less)>(less).sort_into(items, to);
        return true;
      },
      less);
}

template <typename T>
void bucket_partition_of(benchmark::State& state) {
  auto const given = random_items<T>(count_of(state));
  std::vector<std::uint64_t> sample;
  for (std::size_t i = 0; i < given.size(); i += given.size() / 1024)
    sample.push_back(key_word(given[i]));
  auto const rule = bucket_rule::from_sample(sample, bucket_rule::most_buckets).value();
  bucket_partition<T> partition;
  auto items = given;
  typename bucket_partition<T>::bounds bounds{};
  measure(
      state, given.size(), [&] { items = given; }, [&] { bounds = partition(items, rule); },
      [&] {
        for (std::size_t b = 0; b < rule.count; ++b)
          for (std::size_t i = bounds[b]; i < bounds[b + 1]; ++i)
            if (rule(key_word(items[i])) != b) return false;
        return bounds[rule.count] == items.size();
      });
}

/// Numbers to integers of the same order, as before a sort and, the other way, behind it.
template <typename T>
void conversion_of(benchmark::State& state) {
  using word = typename family_of<T, std::less<>>::bits;
  auto const given = random_items<word>(count_of(state));
  auto const bits = ordered_bits_of<T, std::less<>>();
  auto items = given;
  measure(
      state, given.size(), [&] { items = given; }, [&] { bits.encode_all(std::span(items)); },
      [&] {
        bits.decode_all(std::span(items));
        return items == given;
      });
}

BENCHMARK(standard_sort)->Arg(in_cache)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(vector_sort_of<std::uint32_t>)->Arg(in_cache)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(vector_sort_of<std::uint64_t>)->Arg(in_cache)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(vector_sort_of<word_pair>)->Arg(in_cache)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(vector_sort_of_few)->Args({beyond_cache, 16})->Args({beyond_cache, 1})->UseManualTime();
BENCHMARK(sort_of_numbers<std::int32_t>)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(sort_of_numbers<float>)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(sort_of_numbers<std::int64_t>)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(sort_of_numbers<double>)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(vector_sort_of<prefix_entry>)->Arg(in_cache)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(bucket_partition_of<std::uint64_t>)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(bucket_partition_of<word_pair>)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(digit_sort_of<std::uint64_t>)->Arg(in_cache)->UseManualTime();
BENCHMARK(digit_sort_of<word_pair>)->Arg(in_cache)->UseManualTime();
BENCHMARK(proxy_sort_of<word_pair>)->Arg(in_cache)->UseManualTime();
BENCHMARK(vector_sort_of_clusters<std::uint64_t>)->Arg(in_cache)->UseManualTime();
BENCHMARK(vector_sort_of_clusters<word_pair>)->Arg(in_cache)->UseManualTime();
BENCHMARK(word_sort_of<16>)->Arg(in_cache)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(word_sort_of<32>)->Arg(in_cache)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(word_sort_of<64>)->Arg(in_cache)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(word_sort_by_function<32>)->Arg(in_cache)->Arg(beyond_cache)->UseManualTime();
BENCHMARK(index_sort_of_items<72>)->Arg(in_cache)->Arg(beyond_cache / 16)->UseManualTime();
BENCHMARK(index_sort_of_items<104>)->Arg(in_cache)->Arg(beyond_cache / 16)->UseManualTime();
BENCHMARK(merge_sort_by_lambda)->Arg(in_cache)->Arg(beyond_cache / 4)->UseManualTime();
BENCHMARK(sort_in_place_by_lambda<48>)->Arg(in_cache)->Arg(beyond_cache / 16)->UseManualTime();
BENCHMARK(sort_in_place_by_lambda<104>)->Arg(in_cache)->Arg(beyond_cache / 16)->UseManualTime();
BENCHMARK(parallel_sort_of<std::uint32_t>)
    ->Args({beyond_cache, 1})
    ->Args({beyond_cache, 2})
    ->UseManualTime();
BENCHMARK(parallel_sort_of<std::uint64_t>)
    ->Args({beyond_cache, 1})
    ->Args({beyond_cache, 2})
    ->UseManualTime();
BENCHMARK(parallel_sort_of<word_pair>)
    ->Args({beyond_cache, 1})
    ->Args({beyond_cache, 2})
    ->UseManualTime();
BENCHMARK(parallel_sort_of_mostly_least)
    ->Args({beyond_cache, 1})
    ->Args({beyond_cache, 2})
    ->UseManualTime();
BENCHMARK(conversion_of<std::int32_t>)->Arg(in_cache)->UseManualTime();
BENCHMARK(conversion_of<float>)->Arg(in_cache)->UseManualTime();
BENCHMARK(conversion_of<double>)->Arg(in_cache)->UseManualTime();

}  // namespace
}  // namespace kernels
