// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Every algorithm of <algorithm> and <numeric> does to vectors what it does to standard ones, and
// returns the same. Pages and caches are tiny.

#include <outsize/container/vector.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <numeric>
#include <random>
#include <ranges>
#include <utility>
#include <vector>

#include <outsize/container/deque.hpp>
#include <outsize/container/queue.hpp>
#include <outsize/container/stack.hpp>
#include <outsize/scan/algorithms.hpp>
#include <outsize/testing/counted_storage.hpp>

namespace outsize {
namespace {

using number = std::uint64_t;
using results = std::vector<std::int64_t>;

bool odd(number x) { return x % 2 == 1; }
bool low(number x) { return x < 5; }
number twice(number x) { return 2 * x; }

/// Three sequences: two to work on, of which the second is shorter, and one for output.
template <typename Sequence>
struct three {
  Sequence a, b, out;

  auto const& ca() const { return a; }
  auto const& cb() const { return b; }
  /// Where an iterator into one of them is.
  template <typename I>
  std::int64_t in_a(I at) {
    return place(a, at);
  }
  template <typename I>
  std::int64_t in_b(I at) {
    return place(b, at);
  }
  template <typename I>
  std::int64_t in_out(I at) {
    return place(out, at);
  }

 private:
  template <typename I>
  static std::int64_t place(Sequence& sequence, I at) {
    if constexpr (std::is_convertible_v<I, typename Sequence::iterator>)
      return at - sequence.begin();
    else
      return at - std::as_const(sequence).begin();
  }
};

struct standard_algorithms : testing::Test, scratch::counted_storage {
  page_options const tiny{.page_bytes = 64, .cache_pages = 5, .spare_pages = 1};

  vector<number> paged(std::vector<number> const& items) {
    vector<number> v(store, tiny);
    for (auto const item : items) v.push_back(item);
    return v;
  }
  static std::vector<number> some(std::size_t count, number seed) {
    std::mt19937_64 random(seed);
    std::vector<number> items(count);
    for (auto& item : items) item = random() % 10;
    return items;
  }
  static void expect_equal(vector<number> const& found, std::vector<number> const& expected) {
    EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin(), expected.end()));
  }

  /// Calls `algorithm` with sequences of both kinds; it returns what there is to be compared.
  template <typename Algorithm>
  void same(Algorithm const& algorithm, bool sorted = false) {
    for (number seed = 1; seed <= 2; ++seed) {
      three<std::vector<number>> plain{some(seed * 90, seed), some(seed * 30, seed + 5),
                                       some(seed * 150, seed + 9)};
      if (sorted) {
        std::ranges::sort(plain.a);
        std::ranges::sort(plain.b);
      }
      three<vector<number>> ours{paged(plain.a), paged(plain.b), paged(plain.out)};
      EXPECT_EQ(results(algorithm(ours)), results(algorithm(plain)));
      expect_equal(ours.a, plain.a);
      expect_equal(ours.b, plain.b);
      expect_equal(ours.out, plain.out);
    }
  }
  template <typename Algorithm>
  void same_of_sorted(Algorithm const& algorithm) {
    same(algorithm, true);
  }
};

// ---- that change nothing ----

TEST_F(standard_algorithms, look_at_items) {
  same([](auto& s) -> results {
    auto const &a = s.ca(), &b = s.cb();
    number sum = 0;
    std::for_each(a.begin(), a.end(), [&](number x) { sum += x; });
    auto const n = std::for_each_n(a.begin(), 50, [&](number x) { sum += x; });
    std::ranges::for_each(a, [&](number x) { sum += x; });
    auto const m = std::ranges::for_each_n(a.begin(), 50, [&](number x) { sum += x; });
    return {static_cast<std::int64_t>(sum),
            s.in_a(n),
            s.in_a(m.in),
            std::all_of(a.begin(), a.end(), low),
            std::any_of(a.begin(), a.end(), low),
            std::none_of(a.begin(), a.end(), low),
            std::ranges::all_of(b, low),
            std::ranges::any_of(b, low),
            std::ranges::none_of(b, low),
            std::count(a.begin(), a.end(), 4U),
            std::count_if(a.begin(), a.end(), odd),
            std::ranges::count(a, 4U),
            std::ranges::count_if(a, odd)};
  });
}

TEST_F(standard_algorithms, find_items) {
  same([](auto& s) -> results {
    auto const &a = s.ca(), &b = s.cb();
    auto const four = b.begin() + 4, six = b.begin() + 6;
    return {s.in_a(std::find(a.begin(), a.end(), 7U)),
            s.in_a(std::find_if(a.begin(), a.end(), odd)),
            s.in_a(std::find_if_not(a.begin(), a.end(), odd)),
            s.in_a(std::ranges::find(a, 7U)),
            s.in_a(std::ranges::find_if(a, odd)),
            s.in_a(std::ranges::find_if_not(a, odd)),
            s.in_a(std::find_end(a.begin(), a.end(), four, six)),
            s.in_a(std::ranges::find_end(a.begin(), a.end(), four, six).begin()),
            s.in_a(std::find_first_of(a.begin(), a.end(), four, six)),
            s.in_a(std::ranges::find_first_of(a, std::ranges::subrange(four, six))),
            s.in_a(std::adjacent_find(a.begin(), a.end())),
            s.in_a(std::ranges::adjacent_find(a, std::ranges::greater())),
            s.in_a(std::search(a.begin(), a.end(), four, six)),
            s.in_a(std::ranges::search(a.begin(), a.end(), four, six).begin()),
            s.in_a(std::search(a.begin(), a.end(), std::default_searcher(four, six))),
            s.in_a(std::search_n(a.begin(), a.end(), 2, 3U)),
            s.in_a(std::ranges::search_n(a, 2, 3U).begin())};
  });
}

TEST_F(standard_algorithms, compare_sequences) {
  same([](auto& s) -> results {
    auto const &a = s.ca(), &b = s.cb();
    auto const first = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    auto const again = std::ranges::mismatch(a, b);
    return {
        s.in_a(first.first), s.in_b(first.second), s.in_a(again.in1),
        std::equal(a.begin(), a.end(), b.begin(), b.end()),
        std::equal(a.begin(), a.end(), s.a.begin()), std::ranges::equal(a, s.a),
        std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end()),
        std::ranges::lexicographical_compare(b, a),
        std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end()) < 0,
        std::is_permutation(a.begin(), a.begin() + 20, b.begin()),
        // libstdc++ 12 keeps a reference to an item while it goes over the others.
        std::ranges::is_permutation(s.a.begin(), s.a.begin() + 16, s.b.begin(), s.b.begin() + 16)};
  });
}

TEST_F(standard_algorithms, find_the_least_and_the_greatest) {
  same([](auto& s) -> results {
    auto const& a = s.ca();
    auto const both = std::minmax_element(a.begin(), a.end());
    auto const again = std::ranges::minmax_element(a);
    return {s.in_a(std::min_element(a.begin(), a.end())),
            s.in_a(std::max_element(a.begin(), a.end(), std::greater<>())),
            s.in_a(both.first),
            s.in_a(both.second),
            s.in_a(std::ranges::min_element(a)),
            s.in_a(std::ranges::max_element(a)),
            s.in_a(again.min),
            s.in_a(again.max),
            static_cast<std::int64_t>(std::ranges::min(a)),
            static_cast<std::int64_t>(std::ranges::max(a)),
            static_cast<std::int64_t>(std::ranges::minmax(a).max),
            static_cast<std::int64_t>(std::min(a[3], a[8])),
            static_cast<std::int64_t>(std::max(a[3], a[8])),
            static_cast<std::int64_t>(std::clamp(s.a[3], s.a[8], s.a[8]))};
  });
}

TEST_F(standard_algorithms, see_whether_and_how_far_there_is_order) {
  same_of_sorted([](auto& s) -> results {
    s.a[60] = 0;
    auto const& a = s.ca();
    return {std::is_sorted(a.begin(), a.end()),
            s.in_a(std::is_sorted_until(a.begin(), a.end())),
            std::ranges::is_sorted(a),
            s.in_a(std::ranges::is_sorted_until(a)),
            std::is_partitioned(a.begin(), a.end(), low),
            std::ranges::is_partitioned(a, low),
            std::is_heap(a.begin(), a.end(), std::greater<>()),
            s.in_a(std::is_heap_until(a.begin(), a.end(), std::greater<>())),
            std::ranges::is_heap(a, std::ranges::greater()),
            s.in_a(std::ranges::is_heap_until(a, std::ranges::greater()))};
  });
}

TEST_F(standard_algorithms, search_in_sorted_sequences) {
  same_of_sorted([](auto& s) -> results {
    auto const& a = s.ca();
    auto const range = std::equal_range(a.begin(), a.end(), 6U);
    auto const again = std::ranges::equal_range(a, 6U);
    return {s.in_a(std::lower_bound(a.begin(), a.end(), 6U)),
            s.in_a(std::upper_bound(a.begin(), a.end(), 6U)),
            s.in_a(range.first),
            s.in_a(range.second),
            std::binary_search(a.begin(), a.end(), 11U),
            s.in_a(std::ranges::lower_bound(a, 6U)),
            s.in_a(std::ranges::upper_bound(a, 6U)),
            s.in_a(again.begin()),
            s.in_a(again.end()),
            std::ranges::binary_search(a, 3U),
            s.in_a(std::partition_point(a.begin(), a.end(), low)),
            s.in_a(std::ranges::partition_point(a, low)),
            std::includes(a.begin(), a.end(), s.b.begin(), s.b.end()),
            std::ranges::includes(a, s.b)};
  });
}

// ---- that change items ----

TEST_F(standard_algorithms, copy_and_move) {
  same([](auto& s) -> results {
    auto &a = s.a, &b = s.b, &out = s.out;
    return {s.in_out(std::copy(a.begin(), a.end(), out.begin())),
            s.in_out(std::copy_if(a.begin(), a.end(), out.begin() + 3, odd)),
            s.in_out(std::copy_n(b.begin(), 20, out.begin() + 40)),
            s.in_out(std::copy_backward(out.begin(), out.begin() + 50, out.begin() + 60)),
            s.in_a(std::move(b.begin(), b.end(), a.begin() + 7)),
            s.in_a(std::move_backward(a.begin(), a.begin() + 50, a.begin() + 63)),
            s.in_out(std::ranges::copy(a, out.begin() + 5).out),
            s.in_out(std::ranges::copy_if(a, out.begin(), low).out),
            s.in_out(std::ranges::copy_n(a.begin(), 9, out.begin() + 9).out),
            s.in_out(std::ranges::copy_backward(b, out.end()).out),
            s.in_out(std::ranges::move(b, out.begin() + 11).out),
            s.in_out(std::ranges::move_backward(b, out.end() - 5).out)};
  });
}

TEST_F(standard_algorithms, make_and_transform_items) {
  same([](auto& s) -> results {
    auto &a = s.a, &b = s.b, &out = s.out;
    auto const numbers = [next = number{3}]() mutable { return next++; };
    std::fill(a.begin() + 3, a.begin() + 13, 8);
    std::generate(b.begin() + 5, b.end(), numbers);
    std::ranges::fill(a.begin() + 30, a.begin() + 35, 1U);
    std::ranges::generate(b.begin(), b.begin() + 3, numbers);
    return {s.in_a(std::fill_n(a.begin() + 20, 17, 2)),
            s.in_b(std::generate_n(b.begin() + 4, 9, numbers)),
            s.in_a(std::ranges::fill_n(a.begin() + 60, 5, 2U)),
            s.in_b(std::ranges::generate_n(b.begin() + 20, 3, numbers)),
            s.in_a(std::transform(a.begin(), a.end(), a.begin(), twice)),
            s.in_out(std::transform(b.begin(), b.end(), a.begin(), out.begin(), std::plus<>())),
            s.in_a(std::ranges::transform(a, a.begin(), twice).out),
            s.in_out(std::ranges::transform(a, b, out.begin(), std::minus<>()).out)};
  });
}

TEST_F(standard_algorithms, remove_and_replace_items) {
  same([](auto& s) -> results {
    auto &a = s.a, &b = s.b, &out = s.out;
    std::replace(b.begin(), b.end(), 4U, 40U);
    std::replace_if(b.begin(), b.end(), odd, 41U);
    std::ranges::replace(b, 2U, 42U);
    std::ranges::replace_if(b, low, 43U);
    results r = {s.in_out(std::remove_copy(a.begin(), a.end(), out.begin(), 3U)),
                 s.in_out(std::remove_copy_if(a.begin(), a.end(), out.begin() + 7, odd)),
                 s.in_out(std::ranges::remove_copy(a, out.begin() + 9, 5U).out),
                 s.in_out(std::ranges::remove_copy_if(a, out.begin(), low).out),
                 s.in_out(std::replace_copy(b.begin(), b.end(), out.begin(), 41U, 1U)),
                 s.in_out(std::replace_copy_if(b.begin(), b.end(), out.begin() + 9, odd, 2U)),
                 s.in_out(std::ranges::replace_copy(b, out.begin() + 20, 6U, 60U).out),
                 s.in_out(std::ranges::replace_copy_if(b, out.begin() + 50, odd, 3U).out),
                 s.in_out(std::unique_copy(a.begin(), a.end(), out.begin())),
                 s.in_out(std::ranges::unique_copy(b, out.begin()).out)};
    auto const shorten = [&](auto end) { a.erase(end, a.end()); };
    shorten(std::unique(a.begin(), a.end()));
    shorten(std::ranges::unique(a).begin());
    shorten(std::remove(a.begin(), a.end(), 3U));
    shorten(std::ranges::remove(a, 4U).begin());
    shorten(std::remove_if(a.begin(), a.end(), [](number x) { return x % 5 == 0; }));
    shorten(std::ranges::remove_if(a, [](number x) { return x == 7; }).begin());
    return r;
  });
}

TEST_F(standard_algorithms, move_items_around) {
  same([](auto& s) -> results {
    auto &a = s.a, &b = s.b, &out = s.out;
    std::mt19937_64 random(7);
    std::reverse(a.begin(), a.end());
    std::ranges::reverse(b);
    std::iter_swap(a.begin(), a.begin() + 40);
    std::ranges::iter_swap(a.begin() + 3, b.begin() + 9);
    std::swap(a[5], a[45]);
    std::ranges::swap(a[6], b[6]);
    std::shuffle(a.begin(), a.end(), random);
    std::ranges::shuffle(a, random);
    // What shifts leave at the other end has no known value.
    auto const left = std::shift_left(b.begin(), b.end(), 3);
    std::fill(left, b.end(), 1);
    auto const right = std::shift_right(b.begin(), b.end(), 2);
    std::fill(b.begin(), right, 1);
    return {s.in_b(left),
            s.in_b(right),
            s.in_a(std::rotate(a.begin(), a.begin() + 31, a.end())),
            s.in_a(std::ranges::rotate(a, a.begin() + 8).begin()),
            s.in_out(std::reverse_copy(a.begin(), a.end(), out.begin())),
            s.in_out(std::ranges::reverse_copy(b, out.begin() + 7).out),
            s.in_out(std::rotate_copy(a.begin(), a.begin() + 9, a.end(), out.begin())),
            s.in_out(std::ranges::rotate_copy(b, b.begin() + 4, out.begin() + 3).out),
            s.in_a(std::swap_ranges(b.begin(), b.end(), a.begin() + 20)),
            s.in_a(std::ranges::swap_ranges(b, a).in2),
            s.in_out(std::sample(a.begin(), a.end(), out.begin(), 15, random)),
            s.in_out(std::ranges::sample(a, out.begin() + 20, 15, random))};
  });
}

TEST_F(standard_algorithms, partition_items) {
  same([](auto& s) -> results {
    auto &a = s.a, &b = s.b, &out = s.out;
    auto const both =
        std::partition_copy(a.begin(), a.begin() + 40, out.begin(), out.begin() + 60, low);
    auto const again =
        std::ranges::partition_copy(a.begin(), a.begin() + 40, out.begin(), out.begin() + 60, odd);
    return {s.in_out(both.first),
            s.in_out(again.out2),
            s.in_a(std::partition(a.begin(), a.end(), odd)),
            s.in_b(std::stable_partition(b.begin(), b.end(), odd)),
            s.in_a(std::ranges::partition(a, low).begin()),
            s.in_b(std::ranges::stable_partition(b, low).begin())};
  });
}

TEST_F(standard_algorithms, sort_items) {
  same([](auto& s) -> results {
    auto &a = s.a, &b = s.b, &out = s.out;
    std::nth_element(a.begin(), a.begin() + 20, a.end());
    std::ranges::nth_element(a, a.begin() + 40, std::ranges::greater());
    std::partial_sort(a.begin(), a.begin() + 30, a.end());
    std::ranges::partial_sort(a, a.begin() + 50, std::ranges::greater());
    std::sort(b.begin(), b.end());
    std::ranges::sort(b, std::ranges::greater());
    std::ranges::stable_sort(out);
    std::stable_sort(out.begin(), out.end(), std::greater<>());
    std::sort(out.rbegin(), out.rend(), std::greater<>());
    return {s.in_out(std::partial_sort_copy(a.begin(), a.end(), out.begin(), out.begin() + 30)),
            s.in_out(std::ranges::partial_sort_copy(
                         b, std::ranges::subrange(out.begin() + 30, out.begin() + 50))
                         .out)};
  });
}

TEST_F(standard_algorithms, merge_sorted_sequences) {
  same_of_sorted([](auto& s) -> results {
    auto &a = s.a, &b = s.b, &out = s.out;
    auto const by_both = [&](auto const& algorithm) {
      return s.in_out(algorithm(a.begin(), a.end(), b.begin(), b.end(), out.begin()));
    };
    results r = {
        by_both([](auto... x) { return std::merge(x...); }),
        by_both([](auto... x) { return std::set_union(x...); }),
        by_both([](auto... x) { return std::set_intersection(x...); }),
        by_both([](auto... x) { return std::set_difference(x...); }),
        by_both([](auto... x) { return std::set_symmetric_difference(x...); }),
        s.in_out(std::ranges::merge(b, a, out.begin()).out),
        s.in_out(std::ranges::set_union(b, a, out.begin()).out),
        s.in_out(std::ranges::set_intersection(b, a, out.begin()).out),
        s.in_out(std::ranges::set_difference(a, b, out.begin()).out),
        s.in_out(std::ranges::set_symmetric_difference(a, b, out.begin()).out),
    };
    std::copy(b.begin(), b.end(), a.begin());
    std::sort(a.begin() + static_cast<std::ptrdiff_t>(b.size()), a.end());
    std::inplace_merge(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(b.size()), a.end());
    std::rotate(b.begin(), b.begin() + 12, b.end());
    std::sort(b.begin(), b.begin() + 12);
    std::sort(b.begin() + 12, b.end());
    std::ranges::inplace_merge(b, b.begin() + 12);
    return r;
  });
}

TEST_F(standard_algorithms, keep_heaps) {
  same([](auto& s) -> results {
    auto &a = s.a, &b = s.b;
    std::make_heap(a.begin(), a.end());
    std::pop_heap(a.begin(), a.end());
    a.back() = 100;
    std::push_heap(a.begin(), a.end());
    std::ranges::make_heap(b, std::ranges::greater());
    std::ranges::pop_heap(b, std::ranges::greater());
    b.back() = 0;
    std::ranges::push_heap(b, std::ranges::greater());
    results r = {static_cast<std::int64_t>(a.front()), static_cast<std::int64_t>(b.front())};
    std::sort_heap(a.begin(), a.end());
    std::ranges::sort_heap(b, std::ranges::greater());
    return r;
  });
}

TEST_F(standard_algorithms, permute) {
  same([](auto& s) -> results {
    auto &a = s.a, &b = s.b;
    results r;
    for (int i = 0; i < 20; ++i) {
      r.push_back(std::next_permutation(a.begin(), a.end()));
      r.push_back(std::prev_permutation(b.begin(), b.end()));
      r.push_back(std::ranges::next_permutation(a).found);
      r.push_back(std::ranges::prev_permutation(b).found);
    }
    return r;
  });
}

TEST_F(standard_algorithms, calculate) {
  same([](auto& s) -> results {
    auto &a = s.a, &b = s.b, &out = s.out;
    auto const& ca = s.ca();
    std::iota(b.begin(), b.end(), number{100});
    number const values[] = {
        std::accumulate(ca.begin(), ca.end(), number{5}),
        std::inner_product(ca.begin(), ca.begin() + 20, b.begin(), number{0}),
        std::reduce(ca.begin(), ca.end()),
        std::reduce(ca.begin(), ca.end(), number{7}, std::bit_xor<>()),
        std::transform_reduce(ca.begin(), ca.end(), number{0}, std::plus<>(), twice),
        std::transform_reduce(ca.begin(), ca.begin() + 20, b.begin(), number{0})};
    results r(std::begin(values), std::end(values));
    std::int64_t const ends[] = {
        s.in_out(std::partial_sum(a.begin(), a.end(), out.begin())),
        s.in_out(std::adjacent_difference(a.begin(), a.end(), out.begin() + 7)),
        s.in_out(std::inclusive_scan(b.begin(), b.end(), out.begin() + 5)),
        s.in_out(std::exclusive_scan(b.begin(), b.end(), out.begin() + 45, number{3})),
        s.in_b(std::transform_inclusive_scan(b.begin(), b.end(), b.begin(), std::plus<>(), twice)),
        s.in_a(std::transform_exclusive_scan(a.begin(), a.end(), a.begin(), number{1},
                                             std::plus<>(), twice))};
    r.insert(r.end(), std::begin(ends), std::end(ends));
    return r;
  });
}

/// Gives items of a container to its own functions, whose pages leave meanwhile.
template <typename Container>
void take_own_items(Container& c) {
  for (std::size_t i = 0; i < 20; ++i) c.push_back({i, 2 * i, 3 * i});
  for (std::size_t i = 0; i < 60; ++i) {
    c.push_back(c[i]);
    c.emplace_back(c[i + 1]);
    c[i] = c[c.size() - 1] = c[i / 2];
    std::swap(c[i], c[c.size() - 2]);
    c.resize(c.size() + 7, c[i + 2]);
    c.insert(c.begin() + 5, c[i + 3]);
    c.insert(c.end(), 6, c[i]);
  }
}

TEST_F(standard_algorithms, and_functions_of_containers_take_items_of_the_same_container) {
  using triple = std::array<number, 3>;
  std::vector<triple> model;
  take_own_items(model);
  vector<triple> v(store, tiny);
  take_own_items(v);
  EXPECT_TRUE(std::ranges::equal(std::as_const(v), model));
  std::deque<triple> other_model;
  deque<triple> d(store, tiny);
  auto const in_front = [](auto& c) {
    take_own_items(c);
    for (std::size_t i = 0; i < 60; ++i) c.push_front(c[3 * i]);
    c.emplace_front(c.back());
  };
  in_front(other_model);
  in_front(d);
  EXPECT_TRUE(std::ranges::equal(std::as_const(d), other_model));
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(find(v, v[i]) - v.begin(), std::ranges::find(model, model[i]) - model.begin());
    EXPECT_EQ(count(v, v[i]), std::ranges::count(model, model[i]));
  }
  auto const removed = model[7];
  EXPECT_EQ(erase(v, v[7]), std::erase(model, removed));
  EXPECT_TRUE(std::ranges::equal(std::as_const(v), model));
  v.assign(30, v[3]);
  EXPECT_EQ(count(v, model[3]), 30);

  stack<triple> s(store, tiny);
  queue<triple> q(store, tiny);
  s.push(removed);
  q.push(removed);
  for (int i = 0; i < 50; ++i) {
    s.push(s.top());
    q.push(q.front());
    q.push(q.back());
  }
  for (; !s.empty(); s.pop()) EXPECT_EQ(s.top(), removed);
  for (; !q.empty(); q.pop()) EXPECT_EQ(q.front(), removed);
}

}  // namespace
}  // namespace outsize
