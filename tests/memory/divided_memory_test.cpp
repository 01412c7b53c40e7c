// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Objects of one storage that share its memory without a word about it, with data ten times as
// long: what comes out is right, and nobody gets more than there is.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <outsize/algorithm/merge.hpp>
#include <outsize/algorithm/nth_element.hpp>
#include <outsize/algorithm/record_sorter.hpp>
#include <outsize/algorithm/sort.hpp>
#include <outsize/algorithm/sorter.hpp>
#include <outsize/algorithm/top_k.hpp>
#include <outsize/algorithm/top_sorter.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/deque.hpp>
#include <outsize/container/map.hpp>
#include <outsize/container/matrix.hpp>
#include <outsize/container/queue.hpp>
#include <outsize/container/set.hpp>
#include <outsize/container/stack.hpp>
#include <outsize/container/unordered_map.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/kernel/byte_order.hpp>
#include <outsize/page/page_pool.hpp>

namespace outsize {
namespace {

using number = std::uint64_t;

struct entry {
  number key, value;
  friend auto operator<=>(entry const&, entry const&) = default;
};

constexpr number mixed(number i) noexcept { return (i + 1) * 0x9e3779b97f4a7c15ULL; }

class divided_memory : public testing::TestWithParam<std::uint64_t> {
 protected:
  std::uint64_t const memory_bytes = GetParam();
  std::uint64_t const count = 10 * memory_bytes / sizeof(number);
  storage store{{.disks = {disk_options("disk",
                                        [this](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("disk", 64 * memory_bytes);
                                        })},
                 .memory_bytes = memory_bytes,
                 .threads = 2}};
  std::uint64_t const at_first = store.memory().free_bytes();

  void TearDown() override {
    EXPECT_LE(store.memory().peak_bytes(), memory_bytes);
    EXPECT_EQ(store.memory().free_bytes(), at_first);
  }

  void fill(sorter<number>& s, number of, number seed = 0) {
    for (number i = 0; i < of; ++i) s.push(mixed(i) + seed);
  }
  /// Reads all, and compares it with what fill() pushed.
  template <typename Sorted>
  void expect_filled(Sorted& s, number of, number seed = 0) {
    number last = 0, sum = 0, seen = 0;
    for (; !s.empty(); ++s, ++seen) {
      ASSERT_LE(last, *s);
      last = *s;
      sum += *s;
    }
    ASSERT_EQ(seen, of);
    number expected = 0;
    for (number i = 0; i < of; ++i) expected += mixed(i) + seed;
    ASSERT_EQ(sum, expected);
  }
};

TEST_P(divided_memory, a_vector_is_sorted_to_the_back_of_another) {
  vector<number> v(store), w(store);
  for (number i = 0; i < count; ++i) v.push_back(mixed(i));
  sort(store, v, std::back_inserter(w));
  ASSERT_EQ(w.size(), count);
  number last = 0, sum = 0;
  for (number const x : w) {
    ASSERT_LE(last, x);
    last = x;
    sum += x;
  }
  for (number i = 0; i < count; ++i) sum -= mixed(i);
  EXPECT_EQ(sum, 0U);
}

TEST_P(divided_memory, two_sorters_are_filled_in_turns_and_read_in_turns) {
  sorter<number> a(store), b(store);
  for (number i = 0; i < count; ++i) {
    a.push(mixed(i));
    if (i % 2 == 0) b.push(mixed(i) + 7);
  }
  a.sort();
  b.sort();
  number last_a = 0, last_b = 0, seen = 0;
  for (; !a.empty() || !b.empty(); ++seen) {
    if (!a.empty()) {
      ASSERT_LE(last_a, *a);
      last_a = *a;
      ++a;
    }
    if (!b.empty()) {
      ASSERT_LE(last_b, *b);
      last_b = *b;
      ++b;
    }
  }
  EXPECT_EQ(seen, count);
  a.rewind();
  expect_filled(a, count);
}

TEST_P(divided_memory, a_sorter_fills_a_map_that_fills_a_sorter) {
  sorter<number> first(store);
  number const some = count / 4;
  fill(first, some);
  first.sort();
  map<number, number> m(store);
  for (; !first.empty(); ++first) m.insert({*first, *first + 1});
  sorter<number> second(store);
  for (auto const& [key, value] : m) second.push(value - 1);
  second.sort();
  expect_filled(second, some);
  first.rewind();
  expect_filled(first, some);
}

TEST_P(divided_memory, eight_containers_are_touched_in_turns) {
  number const each = count / 16, seed = std::random_device()();
  SCOPED_TRACE(seed);
  vector<number> v(store);
  deque<number> d(store);
  stack<number> s(store);
  queue<number> q(store);
  map<number, number> m(store);
  set<number> t(store);
  unordered_map<number, number> u(store);
  vector<std::uint32_t> w(store);
  for (number i = 0; i < each; ++i) {
    v.push_back(i);
    d.push_back(i);
    s.push(i);
    q.push(i);
    w.push_back(static_cast<std::uint32_t>(i));
  }
  std::mt19937_64 draw(seed);
  std::unordered_map<number, number> model;
  for (int i = 0; i < 20'000; ++i) {
    number const at = draw() % each, x = draw();
    v[at] = at + x;
    ASSERT_EQ(v[at], at + x);
    v[at] = at;
    ASSERT_EQ(d[at], at);
    ASSERT_EQ(w[at], at);
    ASSERT_EQ(s.top(), each - 1);
    ASSERT_EQ(q.front(), static_cast<number>(i) % each);
    q.push(q.front());
    q.pop();
    m.insert_or_assign(at, x);
    u.insert_or_assign(at, x);
    t.insert(at);
    model[at] = x;
    number const key = draw() % each;
    auto const found = model.find(key);
    ASSERT_EQ(m.contains(key), found != model.end());
    ASSERT_EQ(t.contains(key), found != model.end());
    if (found == model.end()) continue;
    ASSERT_EQ(m.at(key), found->second);
    ASSERT_EQ(u.find(key)->second, found->second);
  }
}

TEST_P(divided_memory, a_map_is_built_from_a_sorter_while_a_vector_is_scanned) {
  vector<number> v(store);
  for (number i = 0; i < count; ++i) v.push_back(i);
  sorter<entry> s(store);
  for (number i = 0; i < count / 4; ++i) s.push({mixed(i), i});
  s.sort();
  map<number, number> m(store);
  number sum = 0;
  auto reader = v.begin();
  for (; !s.empty(); ++s, ++reader) {
    m.insert({s->key, s->value});
    sum += *reader;
  }
  EXPECT_EQ(sum, (count / 4) * (count / 4 - 1) / 2);
  EXPECT_EQ(m.size(), count / 4);
  EXPECT_EQ(m.at(mixed(77)), 77U);
}

TEST_P(divided_memory, an_unordered_map_counts_while_a_sorter_fills) {
  unordered_map<number, number> counts(store);
  sorter<number> s(store);
  number const keys = count / 40;
  for (number i = 0; i < count / 2; ++i) {
    s.push(mixed(i));
    if (i % 16 == 0) ++counts[mixed(i) % keys];
  }
  s.sort();
  expect_filled(s, count / 2);
  number sum = 0;
  for (auto const& each : counts) sum += each.second;
  EXPECT_EQ(sum, (count / 2 + 15) / 16);
}

TEST_P(divided_memory, a_sort_is_called_in_a_loop_over_a_sorter) {
  sorter<number> outer(store);
  fill(outer, count / 2);
  outer.sort();
  number last = 0;
  for (number i = 0; !outer.empty(); ++outer, ++i) {
    ASSERT_LE(last, *outer);
    last = *outer;
    if (i % (count / 8) != 0) continue;
    vector<number> v(store);
    for (number k = 0; k < count / 16; ++k) v.push_back(mixed(k));
    vector<number> w(store);
    sort(store, v, std::back_inserter(w));
    ASSERT_TRUE(std::is_sorted(w.begin(), w.end()));
  }
}

TEST_P(divided_memory, a_container_is_made_after_a_sorter_was_read) {
  sorter<number> s(store);
  fill(s, count);
  s.sort();
  expect_filled(s, count);
  EXPECT_GT(store.memory().obtainable_bytes(), memory_bytes / 2);
  vector<number> v(store);
  map<number, number> m(store);
  for (number i = 0; i < count / 8; ++i) {
    v.push_back(i);
    m.insert({i, i});
  }
  EXPECT_EQ(m.size(), v.size());
  s.rewind();
  expect_filled(s, count);
}

TEST_P(divided_memory, many_sorters_are_filled_in_turns_and_read_in_turns) {
  std::size_t const sorters = memory_bytes <= 4_MiB ? 4 : 8;
  std::vector<sorter<number>> all;
  for (number k = 0; k < sorters; ++k) all.emplace_back(store);
  number const each = count / 4;
  for (number i = 0; i < each; ++i)
    for (number k = 0; k < sorters; ++k) all[k].push(mixed(i) + k);
  for (auto& s : all) s.sort();
  std::vector<number> last(sorters), sum(sorters);
  for (number i = 0; i < each; ++i) {
    for (number k = 0; k < sorters; ++k) {
      ASSERT_FALSE(all[k].empty());
      ASSERT_LE(last[k], *all[k]);
      last[k] = *all[k];
      sum[k] += last[k];
      ++all[k];
    }
  }
  number expected = 0;
  for (number i = 0; i < each; ++i) expected += mixed(i);
  for (number k = 0; k < sorters; ++k, expected += each) {
    EXPECT_TRUE(all[k].empty());
    EXPECT_EQ(sum[k], expected);
  }
}

TEST_P(divided_memory, calls_leave_memory_to_the_containers_that_they_fill) {
  vector<number> merged(store), first(store), counts(store);
  std::vector<vector<number>> both;
  for (int k = 0; k < 2; ++k) both.emplace_back(store);
  for (number i = 0; i < count / 2; ++i) both[i % 2].push_back(i);
  merge(store, both, std::back_inserter(merged));
  ASSERT_EQ(merged.size(), count / 2);
  for (number i = 0; i < count / 2; i += 1009) ASSERT_EQ(merged[i], i);
  top_k(store, merged, std::back_inserter(first), count / 8, std::greater<>());
  ASSERT_EQ(first.size(), count / 8);
  EXPECT_EQ(first[count / 16], count / 2 - 1 - count / 16);
  sort(store, merged, std::back_inserter(counts), {}, {.unique = true});
  EXPECT_EQ(counts.size(), count / 2);
  EXPECT_EQ(nth_element(store, first, 0), count / 2 - count / 8);
  both[0][7] = both[1][9];
  EXPECT_EQ(both[0][7], 19U);
}

TEST_P(divided_memory, the_first_of_many_records_are_kept_beside_containers) {
  vector<number> v(store);
  top_sorter<byte_order> few(store, {}, 100), many(store, {}, count / 64);
  map<number, number> m(store);
  for (number i = 0; i < count / 8; ++i) {
    few.push(std::to_string(mixed(i)));
    many.push(std::to_string(mixed(i)));
    v.push_back(i);
    if (i % 8 == 0) m.insert({mixed(i), i});
  }
  few.sort();
  many.sort();
  for (int i = 0; i < 100; ++i, ++few, ++many) ASSERT_EQ(*few, *many);
  EXPECT_TRUE(few.empty());
  EXPECT_EQ(v[77], 77U);
  EXPECT_EQ(m.at(mixed(80)), 80U);
}

TEST_P(divided_memory, matrices_that_came_first_leave_memory_to_others) {
  auto const side = static_cast<number>(std::sqrt(static_cast<double>(count / 4)));
  page_pool const pool = matrix_pool(store);
  matrix<double> a(pool, side, side), b(pool, side, side);
  a.fill([](auto i, auto j) { return i == j ? 2 : 0; });
  b.fill([](auto, auto) { return 3; });
  matrix<double> c = a * b;
  vector<number> v(store);
  sorter<number> s(store);
  for (number i = 0; i < count / 4; ++i) v.push_back(i);
  fill(s, count);
  s.sort();
  c += a;
  expect_filled(s, count);
  EXPECT_EQ(std::as_const(c)(side / 2, side / 2), 8);
  EXPECT_EQ(std::as_const(c)(side / 2, side / 3), 6);
}

TEST_P(divided_memory, matrices_are_multiplied_beside_containers) {
  auto const side = static_cast<number>(std::sqrt(static_cast<double>(count / 16)));
  vector<number> v(store);
  sorter<number> s(store);
  fill(s, count / 8);
  page_pool const pool = matrix_pool(store);
  matrix<double> a(pool, side, side), b(pool, side, side), c(pool, side, side);
  a.fill([](auto i, auto j) { return i == j ? 2 : 0; });
  b.fill([](auto, auto) { return 3; });
  c = a * b;
  for (number i = 0; i < count / 8; ++i) v.push_back(i);
  s.sort();
  expect_filled(s, count / 8);
  map<number, number> m(store);
  for (number i = 0; i < 10'000; ++i) m.insert({i, i});
  EXPECT_EQ(std::as_const(c)(side / 2, side / 3), 6);
}

TEST_P(divided_memory, thousands_of_small_containers_come_and_go) {
  std::vector<vector<number>> some;
  for (number i = 0; i < 3'000; ++i) {
    vector<number> v(store);
    v.push_back(i);
    map<number, number> m(store);
    m.insert({i, i});
    ASSERT_EQ(v[0] + m.at(i), 2 * i);
    if (i % 300 == 0) some.push_back(std::move(v));
  }
  for (number i = 0; i < some.size(); ++i) ASSERT_EQ(some[i][0], 300 * i);
}

TEST_P(divided_memory, eight_containers_and_two_sorters_are_there_at_once) {
  std::vector<vector<number>> v;
  for (int i = 0; i < 8; ++i) v.emplace_back(store);
  sorter<number> a(store);
  record_sorter<> b(store);
  for (number i = 0; i < count / 4; ++i) {
    for (auto& each : v)
      if (i % 8 == 0) each.push_back(i);
    a.push(mixed(i));
    if (i % 4 == 0) b.push(std::to_string(i));
  }
  a.sort();
  b.sort();
  expect_filled(a, count / 4);
  number seen = 0;
  for (; !b.empty(); ++b) ++seen;
  EXPECT_EQ(seen, (count / 4 + 3) / 4);
  for (auto& each : v) {
    ASSERT_EQ(each.size(), (count / 4 + 7) / 8);
    ASSERT_EQ(each[each.size() / 2], each.size() / 2 * 8);
  }
}

TEST_P(divided_memory, forty_vectors_fit) {
  std::vector<vector<number>> v;
  for (int i = 0; i < 40; ++i) v.emplace_back(store).push_back(i);
  for (number i = 0; i < count; ++i) v[mixed(i) % v.size()].push_back(i);
  number seen = 0;
  for (auto& each : v) seen += each.size() - 1;
  EXPECT_EQ(seen, count);
  for (number i = 0; i < v.size(); ++i) EXPECT_EQ(v[i][0], i);
}

TEST_P(divided_memory, a_vector_that_is_read_at_random_has_what_nobody_else_needs) {
  number const half = memory_bytes / sizeof(number) / 2;
  vector<number> v(store);
  for (number i = 0; i < half; ++i) v.push_back(i);
  for (number i = 0; i < 3'000; ++i) {
    number const at = mixed(i) % half;
    ASSERT_EQ(std::as_const(v)[at], at);
  }
  std::uint64_t has = 0;
  for (auto const& share : store.memory_report().shares) has = std::max(has, share.has_bytes);
  EXPECT_GT(has, memory_bytes / 2);
  v.flush();
  auto const read = store.total_statistics().read_bytes;
  for (number i = 3'000; i < 6'000; ++i) {
    number const at = mixed(i) % half;
    ASSERT_EQ(std::as_const(v)[at], at);
  }
  EXPECT_EQ(store.total_statistics().read_bytes, read) << "all pages are in memory";
  sorter<number> s(store);  // to which it gives what it can be without
  fill(s, count / 4);
  s.sort();
  expect_filled(s, count / 4);
}

TEST_P(divided_memory, a_vector_that_is_read_in_order_has_no_more_than_helps) {
  vector<number> v(store);
  for (number i = 0; i < count; ++i) v.push_back(i);
  number sum = 0;
  for (number const x : std::as_const(v)) sum += x;
  EXPECT_EQ(sum, count * (count - 1) / 2);
  for (number i = 0; i < count; i += 64) sum -= v[i];  // page by page, past the readers
  EXPECT_LE(store.memory_report().shares[0].has_bytes, memory_bytes / 4);
}

TEST_P(divided_memory, a_sorter_with_options_gives_memory_to_what_is_filled_from_it) {
  sorter<number> s(store, {}, {.unique = true});
  fill(s, count / 2);
  s.sort();
  std::vector<vector<number>> v;
  for (int i = 0; i < 14; ++i) v.emplace_back(store);
  number seen = 0;
  for (; !s.empty(); ++s) v[seen++ % v.size()].push_back(*s);
  EXPECT_EQ(seen, count / 2);
}

TEST_P(divided_memory, records_are_as_long_beside_others_as_these_can_give_for_them) {
  std::size_t const long_bytes = memory_bytes / 48;
  std::vector<vector<number>> v;
  v.emplace_back(store);
  sorter<number> s(store);
  fill(s, count / 16);
  for (number i = 0; i < count / 16; ++i) v[i % v.size()].push_back(i);
  record_sorter<> r(store);
  std::uint64_t bytes = 0;
  for (number i = 0; i < 20'000; ++i) {
    std::string const record(i % 3'000 == 2'999 ? long_bytes : 200,
                             static_cast<char>('a' + i % 26));
    r.push(record);
    bytes += record.size();
    if (i % 50 == 0) {
      s.push(mixed(i));
      v[i % v.size()].push_back(i);
    }
  }
  r.sort();
  for (; !r.empty(); ++r) bytes -= (*r).size();
  EXPECT_EQ(bytes, 0U);
}

TEST_P(divided_memory, the_index_of_many_runs_has_what_is_free) {
  std::vector<vector<number>> v;
  for (int i = 0; i < 10; ++i) v.emplace_back(store);
  for (number i = 0; i < 10 * 40'000; ++i) v[i % v.size()].push_back(i);
  sorter<number> s(store);
  number const many = 3 * count;
  for (number i = 0; i < many; ++i) {
    s.push(mixed(i));
    if (i % 1'000 == 0) v[i % v.size()].push_back(i);
  }
  s.sort();
  expect_filled(s, many);
}

INSTANTIATE_TEST_SUITE_P(of, divided_memory, testing::Values(4_MiB, 16_MiB),
                         [](auto const& one) { return std::to_string(one.param >> 20) + "_MiB"; });

}  // namespace
}  // namespace outsize
