// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Merging in memory: the kernels by one thread, whole merges by one and by two, and the cuts
// between the parts of these.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <bench/programs/kernels/random_items.hpp>
#include <bench/programs/kernels/timing.hpp>
#include <bench/programs/typed_items.hpp>
#include <outsize/algorithm/detail/sort/family/record_items.hpp>
#include <outsize/algorithm/detail/sort/family/reduction.hpp>
#include <outsize/algorithm/detail/sort/family/typed_items.hpp>
#include <outsize/algorithm/detail/sort/merge_feed.hpp>
#include <outsize/algorithm/detail/sort/window_writer.hpp>
#include <outsize/base/executor.hpp>
#include <outsize/base/units.hpp>
#include <outsize/kernel/byte_order.hpp>
#include <outsize/kernel/detail/code_tree.hpp>
#include <outsize/kernel/detail/item_sequence.hpp>
#include <outsize/kernel/detail/loser_tree.hpp>
#include <outsize/kernel/detail/multisequence_selection.hpp>
#include <outsize/kernel/detail/slice_merge.hpp>
#include <outsize/kernel/detail/tree_merge.hpp>
#include <outsize/kernel/detail/two_way_merge.hpp>
#include <outsize/kernel/detail/vector_sort.hpp>

namespace kernels {
namespace {

using namespace outsize;
using namespace outsize::detail;

/// Of each sequence.
std::size_t length_of(benchmark::State const& state) {
  return static_cast<std::size_t>(state.range(1));
}

template <typename T>
void merge_of_two(benchmark::State& state) {
  std::size_t const length = count_of(state);
  std::less<> const less;
  auto const items = sorted_sequences<T>(2, length, less);
  std::span<T const> const all(items);
  std::vector<T> out(2 * length);
  measure(
      state, out.size(), [] {},
      [&] { merge_two_ways(all.first(length), all.subspan(length), out.data(), less); },
      [&] { return std::ranges::is_sorted(out); });
}

/// `range(0)` sequences of `range(1)` items.
template <typename T, typename Merge, typename Less>
void merge_by_copying(benchmark::State& state, Merge const& empty, Less less,
                      keys which = keys::all) {
  std::size_t const length = length_of(state);
  auto const items = sorted_sequences<T>(count_of(state), length, less, which);
  std::vector<T> out(items.size());
  std::optional<Merge> merge;
  measure(
      state, out.size(),
      [&] {
        merge.emplace(empty);
        for (std::size_t begin = 0; begin < items.size(); begin += length)
          merge->add_source({std::span<T const>(items).subspan(begin, length)});
      },
      [&] {
        item_place place(std::as_writable_bytes(std::span(out)));
        typed_places<T, item_place> places(place);
        merge->run(places);
      },
      [&] { return std::ranges::is_sorted(out, less); });
}

template <typename T, keys Which = keys::all>
void slice_merge_of(benchmark::State& state) {
  merge_by_copying<T>(state, slice_merge<T>(), std::less<>(), Which);
}

void tree_merge_by_lambda(benchmark::State& state) {
  auto const less = typed::by_group(state.range(0) > 0);
  merge_by_copying<typed::triple>(state, tree_merge<typed::triple, decltype(less)>(less), less);
}

// ---- records ----

using record_family = record_items<byte_order>;

/// Sorted sequences of records of 100 bytes that begin with the same ones.
class sequences_of_records {
 public:
  static constexpr std::size_t record_bytes = 100;

  sequences_of_records(std::size_t count, std::size_t length, std::size_t common)
      : items_(count * length), out_(items_ * record_bytes) {
    for (std::size_t s = 0; s < count; ++s) {
      bytes_.push_back(sorted_records(length, record_bytes, common));
      views_.push_back(family_.block_view(bytes_.back(), length));
    }
  }
  sequences_of_records(sequences_of_records const&) = delete;
  sequences_of_records& operator=(sequences_of_records const&) = delete;

  record_family const& family() const noexcept { return family_; }
  std::size_t items() const noexcept { return items_; }
  std::vector<record_family::view> const& views() const noexcept { return views_; }

  /// Where they are merged to.
  std::span<std::byte> out() noexcept { return out_; }
  bool is_merged() const {
    auto const all = family_.block_view(out_, items_);
    for (std::size_t i = 1; i < all.size(); ++i)
      if (family_.less()(all.key(i), all.key(i - 1))) return false;
    return true;
  }

 private:
  byte_order order_;
  record_family family_{order_, record_bytes};
  std::size_t items_;
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<record_family::view> views_;
  std::vector<std::byte> out_;
};

enum class tree_of { losers, codes };

/// `range(0)` sequences of `range(1)` records that begin with `range(2)` equal bytes, which are
/// copied to their places.
template <tree_of Tree>
void merge_of_records(benchmark::State& state) {
  sequences_of_records records(count_of(state), length_of(state),
                               static_cast<std::size_t>(state.range(2)));
  auto const merge = [&records](auto tree) {
    std::byte* to = records.out().data();
    for (; !tree.empty(); tree.pop()) to = record_family::store(tree.top(), to);
  };
  measure(
      state, records.items(), [] {},
      [&] {
        std::vector<piece_cursor<record_family::view>> cursors;
        for (auto const& v : records.views())
          cursors.emplace_back(std::vector<piece<record_family::view>>{{v, 0, v.size()}});
        if constexpr (Tree == tree_of::codes) {
          merge(code_tree(std::move(cursors), records.family().codes()));
        } else {
          merge(loser_tree(std::move(cursors), records.family().less()));
        }
      },
      [&] { return records.is_merged(); });
}

// ---- by several threads ----

/// What is to be merged, and where to.
template <typename Family>
struct resident_sequences {
  Family const& family;
  std::vector<typename Family::view> const& views;
  std::span<std::byte> out;
};

/// A whole merge, window after window, as sorts end: each is cut into a part for each of `range(2)`
/// threads.
template <typename Family, typename Good>
void merge_by_threads(benchmark::State& state, resident_sequences<Family> const& given, Good good) {
  constexpr std::size_t window_bytes = 8_MiB;
  std::size_t const item = given.family.item_bytes();
  executor threads(static_cast<std::size_t>(state.range(2)));
  measure(
      state, given.out.size() / item, [] {},
      [&] {
        merge_feed<Family> feed(given.family, threads, given.views, item);
        window_writer<Family> writer(given.family, threads, {}, equal_items::kept);
        std::span<std::byte> left = given.out;
        for (auto round = feed.next_round(); round.items() > 0; round = feed.next_round()) {
          auto const window = left.first(std::min(window_bytes, left.size()));
          left = left.subspan(writer.write(round, window).bytes);
          feed.consume(round);
        }
      },
      good);
}

/// `range(0)` sequences of `range(1)` items.
template <typename T, typename Less>
void merge_by_threads_in_order(benchmark::State& state, Less less, keys which = keys::all) {
  auto const items = sorted_sequences<T>(count_of(state), length_of(state), less, which);
  std::vector<typed_view<T>> views;
  for (std::size_t begin = 0; begin < items.size(); begin += length_of(state))
    views.emplace_back(std::span<T const>(items).subspan(begin, length_of(state)));
  std::vector<T> out(items.size());
  using family = typed_items<T, Less>;
  family const order(less, bits_of<T>());
  merge_by_threads<family>(state, {order, views, std::as_writable_bytes(std::span(out))},
                           [&] { return std::ranges::is_sorted(out, less); });
}

template <typename T, keys Which = keys::all>
void merge_by_threads_of(benchmark::State& state) {
  merge_by_threads_in_order<T>(state, std::less<>(), Which);
}

void merge_by_threads_by_lambda(benchmark::State& state) {
  merge_by_threads_in_order<typed::triple>(state, typed::by_group(state.range(0) > 0));
}

void merge_by_threads_of_records(benchmark::State& state) {
  sequences_of_records records(count_of(state), length_of(state), 0);
  merge_by_threads<record_family>(state, {records.family(), records.views(), records.out()},
                                  [&] { return records.is_merged(); });
}

/// One cut in the middle of `range(0)` sequences of `range(1)` items, or before it by up to a
/// `range(2)`th of the rank, if that is not 0; time is for the whole cut.
void selection_of_the_middle(benchmark::State& state) {
  using view = typed_view<std::uint64_t>;
  std::size_t const length = length_of(state);
  auto const items = sorted_sequences<std::uint64_t>(count_of(state), length, std::less<>());
  std::vector<item_sequence<view>> sequences(count_of(state));
  for (std::size_t s = 0; s < sequences.size(); ++s)
    sequences[s].append(view(std::span(items).subspan(s * length, length)));
  std::vector<std::size_t> const limits(sequences.size(), length);
  std::size_t const rank = items.size() / 2;
  std::size_t const slack =
      state.range(2) == 0 ? 0 : rank / static_cast<std::size_t>(state.range(2));
  std::vector<std::size_t> cut;
  measure(
      state, 1, [] {},
      [&] {
        cut =
            multisequence_select(std::span<item_sequence<view> const>(sequences),
                                 std::span<std::size_t const>(limits), rank, std::less<>(), slack);
      },
      [&] {
        std::size_t sum = 0;
        for (std::size_t const each : cut) sum += each;
        return sum <= rank && rank - sum <= slack;
      });
}

BENCHMARK(merge_of_two<std::uint64_t>)->Arg(in_cache)->UseManualTime();
BENCHMARK(merge_of_two<word_pair>)->Arg(in_cache)->UseManualTime();
BENCHMARK(slice_merge_of<std::uint64_t>)->Args({50, 1 << 16})->UseManualTime();
BENCHMARK(slice_merge_of<word_pair>)->Args({50, 1 << 16})->UseManualTime();
BENCHMARK(slice_merge_of<std::uint64_t, keys::few>)->Args({50, 1 << 16})->UseManualTime();
BENCHMARK(tree_merge_by_lambda)->Args({50, 1 << 16})->UseManualTime();
BENCHMARK(merge_of_records<tree_of::losers>)
    ->Args({50, 1 << 13, 0})
    ->Args({50, 1 << 13, 20})
    ->UseManualTime();
BENCHMARK(merge_of_records<tree_of::codes>)
    ->Args({50, 1 << 13, 0})
    ->Args({50, 1 << 13, 20})
    ->UseManualTime();
BENCHMARK(merge_by_threads_of<std::uint64_t>)
    ->Args({50, 1 << 16, 1})
    ->Args({50, 1 << 16, 2})
    ->UseManualTime();
BENCHMARK(merge_by_threads_of<std::uint64_t, keys::of_one_sequence>)
    ->Args({4, 1 << 20, 1})
    ->Args({4, 1 << 20, 2})
    ->UseManualTime();
BENCHMARK(merge_by_threads_of<word_pair>)
    ->Args({50, 1 << 16, 1})
    ->Args({50, 1 << 16, 2})
    ->UseManualTime();
BENCHMARK(merge_by_threads_by_lambda)
    ->Args({50, 1 << 16, 1})
    ->Args({50, 1 << 16, 2})
    ->UseManualTime();
BENCHMARK(merge_by_threads_of_records)
    ->Args({50, 1 << 13, 1})
    ->Args({50, 1 << 13, 2})
    ->UseManualTime();
BENCHMARK(selection_of_the_middle)
    ->Args({50, 1 << 16, 0})
    ->Args({50, 1 << 16, 32})
    ->UseManualTime();

}  // namespace
}  // namespace kernels
