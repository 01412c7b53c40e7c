// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/kernel/detail/parallel_sort.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>

namespace outsize::detail {
namespace {

constexpr std::size_t least_stretch = 16'384;  // items: below, threads cost more than they bring
constexpr std::size_t sample_items = 1023;     // for a pivot

/// Part p of `count`, nearly equal ones.
template <typename T>
std::span<T> part_of(std::span<T> items, std::size_t p, std::size_t count) {
  std::size_t const begin = items.size() * p / count, end = items.size() * (p + 1) / count;
  return items.subspan(begin, end - begin);
}

/// Calls body(part) for parts of the items, by all threads.
template <typename T, typename Body>
void for_each_part(std::span<T> items, executor& threads, Body const& body) {
  std::size_t const count = items.size() < least_stretch ? 1 : threads.threads();
  threads.parallel_for(count, [&](std::size_t p) { body(part_of(items, p, count)); });
}

/// Moves what belongs there to the front, and returns how much that is. Without a jump.
template <typename T, typename Predicate>
std::size_t split_piece(std::span<T> items, Predicate const& in_front) {
  std::size_t count = 0;
  for (T& item : items) {
    T const moved = item;
    item = items[count];
    items[count] = moved;
    count += static_cast<std::size_t>(in_front(moved));
  }
  return count;
}

template <typename T>
struct chosen_pivot {
  T value;
  bool is_frequent;  // more of the sample is equal to it than half a thread's share
};

/// The item of a sample that has `share` of it before itself, for so many threads.
template <typename T>
chosen_pivot<T> choose_pivot(std::span<T const> items, double share, std::size_t threads) {
  std::vector<T> sample(std::min(sample_items, items.size()));
  for (std::size_t i = 0; i < sample.size(); ++i)
    sample[i] = items[items.size() * i / sample.size()];
  auto const place = static_cast<std::ptrdiff_t>(share * static_cast<double>(sample.size()));
  std::ranges::nth_element(sample, sample.begin() + place);
  T const value = sample[static_cast<std::size_t>(place)];
  auto const equal = std::ranges::count_if(
      sample, [&](T const& item) { return !(item < value) && !(value < item); });
  return {value, 2 * static_cast<std::size_t>(equal) * threads > sample.size()};
}

/// Items that lie side by side but belong elsewhere, and as many places for them.
template <typename T>
struct exchange {
  std::span<T> low, high;
};

/// Pairs stretches of the same length out of two lists of the same total length.
template <typename T>
std::vector<exchange<T>> pair_up(std::vector<std::span<T>> const& lows,
                                 std::vector<std::span<T>> const& highs) {
  std::vector<exchange<T>> pairs;
  std::size_t l = 0, h = 0, of_l = 0, of_h = 0;
  while (l < lows.size() && h < highs.size()) {
    auto const low = lows[l].subspan(of_l), high = highs[h].subspan(of_h);
    std::size_t const count = std::min({low.size(), high.size(), least_stretch});
    if (count > 0) pairs.push_back({low.first(count), high.first(count)});
    of_l += count;
    of_h += count;
    if (of_l == lows[l].size()) ++l, of_l = 0;
    if (of_h == highs[h].size()) ++h, of_h = 0;
  }
  return pairs;
}

/// Moves what belongs there to the front, by all threads; returns how much that is.
template <typename T, typename Predicate>
std::size_t split(std::span<T> items, executor& threads, Predicate const& in_front) {
  std::size_t const count = threads.threads();
  std::vector<std::size_t> lesser(count);
  threads.parallel_for(
      count, [&](std::size_t p) { lesser[p] = split_piece(part_of(items, p, count), in_front); });
  std::size_t border = 0;
  for (std::size_t const of_piece : lesser) border += of_piece;
  std::vector<std::span<T>> lows, highs;  // on the wrong side
  for (std::size_t p = 0; p < count; ++p) {
    auto const piece = part_of(items, p, count);
    auto const first = static_cast<std::size_t>(piece.data() - items.data());
    std::size_t const middle = first + lesser[p], end = first + piece.size();
    if (middle > border) {
      std::size_t const begin = std::max(first, border);
      lows.push_back(items.subspan(begin, middle - begin));
    } else if (middle < border) {
      highs.push_back(items.subspan(middle, std::min(end, border) - middle));
    }
  }
  auto const pairs = pair_up(lows, highs);
  threads.parallel_for(
      pairs.size(), [&](std::size_t i) { std::ranges::swap_ranges(pairs[i].low, pairs[i].high); });
  return border;
}

/// Items that nothing outside comes between.
template <typename T>
struct stretch {
  std::span<T> items;
  bool are_equal = false;
};

/// Of so many threads those for the first of two stretches, by their sizes; neither has none.
std::size_t share_of(std::size_t threads, std::size_t first, std::size_t second) {
  auto const share = static_cast<double>(first) / static_cast<double>(first + second);
  auto const rounded = static_cast<std::size_t>(share * static_cast<double>(threads) + 0.5);
  return std::clamp<std::size_t>(rounded, 1, threads - 1);
}

/// Adds to `stretches` those into which the items fall, one for each of so many threads, and those
/// of an item that is there so often that it would be too much for one.
template <typename T>
void split_for(std::size_t count, std::span<T> items, executor& threads,
               std::vector<stretch<T>>& stretches) {
  if (count == 1 || items.size() < least_stretch) {
    stretches.push_back({items});
    return;
  }
  std::size_t half = count / 2;
  auto const pivot = choose_pivot(std::span<T const>(items),
                                  static_cast<double>(half) / static_cast<double>(count), count);
  auto const front =
      items.first(split(items, threads, [&](T const& item) { return item < pivot.value; }));
  auto back = items.subspan(front.size());
  if (pivot.is_frequent) {
    auto const equal =
        back.first(split(back, threads, [&](T const& item) { return !(pivot.value < item); }));
    for (std::size_t p = 0; p < count; ++p) stretches.push_back({part_of(equal, p, count), true});
    back = back.subspan(equal.size());
    if (front.empty()) return split_for(count, back, threads, stretches);
    if (back.empty()) return split_for(count, front, threads, stretches);
    half = share_of(count, front.size(), back.size());
  }
  split_for(half, front, threads, stretches);
  split_for(count - half, back, threads, stretches);
}

template <typename T, typename Form>
void sort_values(std::span<T> values, Form const& form, executor& threads) {
  if (values.empty()) return;
  for_each_part(values, threads, [&](std::span<T> part) { form.encode_all(part); });
  std::vector<stretch<T>> stretches;
  split_for(threads.threads(), values, threads, stretches);
  threads.parallel_for(stretches.size(), [&](std::size_t s) {
    auto const& [items, are_equal] = stretches[s];
    if (!are_equal) vector_sort(items);
    form.decode_all(items);
  });
}

}  // namespace

void parallel_sort(std::span<std::uint32_t> values, ordered_bits bits, executor& threads) {
  sort_values(values, bits, threads);
}

void parallel_sort(std::span<std::uint64_t> values, ordered_bits bits, executor& threads) {
  sort_values(values, bits, threads);
}

void parallel_sort(std::span<word_pair> items, ordered_words const& words, executor& threads) {
  sort_values(items, words, threads);
}

}  // namespace outsize::detail
