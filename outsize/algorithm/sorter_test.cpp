// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The sorter against std::stable_sort: sizes around every boundary, tiny blocks and memory so that
// runs spill and merges take several passes, one thread and several, one disk and several.

#include <outsize/algorithm/sorter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <ranges>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <outsize/algorithm/is_sorted.hpp>
#include <outsize/algorithm/merge.hpp>
#include <outsize/algorithm/nth_element.hpp>
#include <outsize/algorithm/sort.hpp>
#include <outsize/algorithm/top_k.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/decorators/throttled_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/testing/effort.hpp>

namespace outsize {
namespace {

storage_options tiny(std::size_t threads, std::size_t disks = 1) {
  storage_options options;
  options.memory_bytes = 4_MiB;
  options.threads = threads;
  for (std::size_t d = 0; d < disks; ++d)
    options.disks.emplace_back("memory " + std::to_string(d), [d](io::request_queue&) {
      return io::make_memory_file("memory " + std::to_string(d));
    });
  return options;
}

/// One disk whose blocks are of whole pages.
storage_options of_pages(std::uint64_t memory_bytes) {
  return {.disks = {{"memory",
                     [](io::request_queue&) {
                       return io::make_memory_file("memory", 1_GiB, {.alignment_bytes = 4096});
                     }}},
          .memory_bytes = memory_bytes,
          .threads = 2};
}

struct pair16 {
  std::uint64_t key;
  std::uint64_t order;
  friend bool operator==(pair16 const&, pair16 const&) = default;
};

struct wide {
  std::uint32_t key;
  std::uint32_t order;
  char text[92];
  friend bool operator==(wide const&, wide const&) = default;
};

template <typename T, typename Less>
std::vector<T> sort_all(storage& store, std::vector<T> const& in, Less less, sort_options options) {
  sorter<T, Less> s(store, less, std::move(options));
  std::size_t const half = in.size() / 2;
  for (std::size_t i = 0; i < half; ++i) s.push(in[i]);
  s.push(std::span(in).subspan(half));
  EXPECT_EQ(s.size(), in.size());
  std::vector<T> out;
  for (s.sort(); !s.empty(); ++s) out.push_back(*s);
  EXPECT_EQ(s.report().items, in.size());
  return out;
}

template <typename T, typename Less, typename Make>
void expect_sorts(std::size_t count, Less less, Make make, std::size_t threads, std::size_t disks,
                  std::uint64_t memory, std::size_t block, run_codec codec = run_codec::automatic) {
  SCOPED_TRACE("n " + std::to_string(count) + ", threads " + std::to_string(threads) + ", disks " +
               std::to_string(disks) + ", memory " + std::to_string(memory) + ", block " +
               std::to_string(block));
  storage store(tiny(threads, disks));
  std::mt19937_64 random(count * 31 + threads);
  std::vector<T> in(count);
  for (std::size_t i = 0; i < count; ++i) in[i] = make(random, i);
  auto const out = sort_all(store, in, less,
                            {.memory_bytes = memory,
                             .block_bytes = block,
                             .input_bytes = count * sizeof(T),
                             .codec = codec});
  std::vector<T> want = in;
  std::stable_sort(want.begin(), want.end(), less);
  EXPECT_TRUE(out == want);
  EXPECT_EQ(store.allocated_bytes(), 0U);
  EXPECT_EQ(store.memory().free_bytes(), store.memory().total_bytes());
}

TEST(sorter, sorts_integers_at_every_boundary) {
  auto const make = [](std::mt19937_64& random, std::size_t) { return random(); };
  for (std::size_t count : {0, 1, 511, 512, 513, 4095, 4096, 4097, 40000, 150000})
    for (std::size_t threads : {1, 2, 5})
      expect_sorts<std::uint64_t>(count, std::less<>(), make, threads, 1, 144_KiB, 4096);
}

TEST(sorter, sorts_through_encoded_runs) {
  for (std::uint64_t most : {std::uint64_t{1}, std::uint64_t{300}, ~std::uint64_t{0}}) {
    auto const number = [most](std::mt19937_64& random, std::size_t) { return random() % most; };
    auto const small = [most](std::mt19937_64& random, std::size_t) {
      return static_cast<std::int32_t>(random() % most);
    };
    auto const pair = [most](std::mt19937_64& random, std::size_t i) {
      return pair16{random() % most, i};
    };
    for (std::size_t count : {100, 40000, 80000 + scratch::operations(70000)})
      for (std::size_t threads : {1, 2, 8}) {
        std::size_t const disks = threads % 3;
        for (std::size_t block : {512, 4096})
          expect_sorts<std::uint64_t>(block == 512 ? count / 5 : count, std::less<>(), number,
                                      threads, disks, 512_KiB, block, run_codec::always);
        expect_sorts<std::int32_t>(count, std::greater<>(), small, threads, disks, 512_KiB, 4096,
                                   run_codec::always);
        expect_sorts<pair16>(count, by(&pair16::key), pair, threads, disks, 512_KiB, 4096,
                             run_codec::always);
      }
  }
}

TEST(sorter, sorts_items_of_any_kind_through_encoded_runs) {
  auto const number = [](std::mt19937_64& random, std::size_t) { return random() % 5000; };
  auto const last_digits = [](std::uint64_t a, std::uint64_t b) { return a % 100 < b % 100; };
  auto const large = [](std::mt19937_64& random, std::size_t i) {
    wide w{static_cast<std::uint32_t>(random() % 1000), static_cast<std::uint32_t>(i), {}};
    w.text[random() % sizeof w.text] = 'x';
    return w;
  };
  for (std::size_t most : {100, 5000, 60000})
    for (std::size_t threads : {1, 2, 3})
      for (std::size_t block : {1024, 4096}) {
        std::size_t const disks = 1 + threads % 2, count = most * block / 4096;
        expect_sorts<std::uint64_t>(count, last_digits, number, threads, disks, 256_KiB, block,
                                    run_codec::always);
        expect_sorts<wide>(count / 10, by(&wide::key), large, threads, disks, 256_KiB, block,
                           run_codec::always);
      }
}

TEST(sorter, does_not_encode_blocks_of_few_units_of_the_disk) {
  for (std::size_t const block : {4096, 8192, 65536}) {
    storage_options options{.memory_bytes = 4_MiB, .threads = 2};
    options.disks.emplace_back("sectors", [](io::request_queue&) {
      return io::make_memory_file("sectors", 1_GiB, {.alignment_bytes = 4096});
    });
    storage store(std::move(options));
    std::vector<wide> in(30'000);
    for (std::uint32_t i = 0; i < in.size(); ++i) in[i] = {i * 7919U % 1000, i, {}};
    auto const out =
        sort_all(store, in, by(&wide::key),
                 {.memory_bytes = 2_MiB, .block_bytes = block, .codec = run_codec::always});
    std::ranges::stable_sort(in, {}, &wide::key);
    EXPECT_TRUE(out == in) << block;
  }
}

TEST(sorter, tells_how_much_encoding_has_saved) {
  std::vector<std::uint64_t> in(100'000);
  std::mt19937_64 random(8);
  for (auto& x : in) x = random();
  auto const report = [&](run_codec codec) {
    storage store(tiny(2));
    sorter<std::uint64_t> s(store, {},
                            {.memory_bytes = 256_KiB,
                             .block_bytes = 4096,
                             .input_bytes = in.size() * 8,
                             .codec = codec,
                             .rewindable = true});
    s.push(in);
    s.sort();
    auto want = in;
    std::ranges::sort(want);
    for (int time = 0; time < 2; ++time, s.rewind()) {
      std::vector<std::uint64_t> out;
      for (; !s.empty(); ++s) out.push_back(*s);
      EXPECT_EQ(out, want);
    }
    return s.report();
  };
  auto const plain = report(run_codec::none), encoded = report(run_codec::always);
  EXPECT_EQ(plain.encoded_runs, 0U);
  EXPECT_GE(plain.run_disk_bytes, plain.run_items * 8);
  EXPECT_EQ(encoded.encoded_runs, encoded.runs);
  EXPECT_LT(encoded.run_disk_bytes, encoded.run_items * 8 * 9 / 10);
  EXPECT_EQ(report(run_codec::automatic).encoded_runs, 0U);  // blocks are too short
}

TEST(sorter, keeps_the_input_order_of_equal_items) {
  auto const make = [](std::mt19937_64& random, std::size_t i) { return pair16{random() % 50, i}; };
  auto const less = [](pair16 const& a, pair16 const& b) { return a.key < b.key; };
  for (std::size_t count : {100, 5000, 60000})
    for (std::size_t disks : {1, 3})
      for (std::size_t threads : {1, 3})
        expect_sorts<pair16>(count, less, make, threads, disks, 160_KiB, 4096);
}

TEST(sorter, moves_large_items_by_address) {
  auto const make = [](std::mt19937_64& random, std::size_t i) {
    return wide{static_cast<std::uint32_t>(random() % 1000), static_cast<std::uint32_t>(i), "text"};
  };
  auto const less = [](wide const& a, wide const& b) { return a.key > b.key; };
  for (std::size_t count : {10, 10000}) expect_sorts<wide>(count, less, make, 2, 2, 320_KiB, 4096);
}

TEST(sorter, merges_in_several_passes) {
  storage store(tiny(2));
  std::mt19937_64 random(5);
  std::vector<std::uint64_t> in(150000);
  for (auto& x : in) x = random() % 100000;
  sorter<std::uint64_t> s(
      store, {}, {.memory_bytes = 144_KiB, .block_bytes = 4096, .input_bytes = in.size() * 8});
  s.push(in);
  s.sort();
  std::vector<std::uint64_t> out;
  for (; !s.empty(); ++s) out.push_back(*s);
  std::sort(in.begin(), in.end());
  EXPECT_EQ(in, out);
  EXPECT_GT(s.report().passes, 1U);
  EXPECT_GT(s.report().runs, s.report().fan_in);
}

/// Where there is memory for one block more, more may be read ahead, and the fan-in be lower: some
/// runs, whose index is shorter than that of all, have that memory.
TEST(sorter, merges_in_several_passes_with_a_little_more_memory_for_some_runs) {
  auto const own_order = [](std::uint64_t a, std::uint64_t b) { return a < b; };
  for (std::size_t pages = 545; pages <= 560; pages += scratch::one_of(2) * 7) {
    SCOPED_TRACE(pages);
    storage store(tiny(2));
    std::vector<std::uint64_t> in(pages * 4_KiB * 22 / sizeof(std::uint64_t));
    std::ranges::generate(in, std::mt19937_64(pages));
    auto const out =
        sort_all(store, in, own_order,
                 {.memory_bytes = pages * 4_KiB, .input_bytes = in.size() * sizeof(std::uint64_t)});
    std::ranges::sort(in);
    EXPECT_TRUE(out == in);
  }
}

TEST(sorter, makes_blocks_as_long_as_the_disk_asks) {
  storage store(of_pages(4_MiB));
  std::vector<std::uint64_t> in(60000);
  std::ranges::generate(in, std::mt19937_64(1));
  auto const out =
      sort_all(store, in, std::less<>(), {.memory_bytes = 256_KiB, .block_bytes = 256});
  std::ranges::sort(in);
  EXPECT_TRUE(out == in);
}

TEST(sorter, merges_no_run_by_itself_and_counts_no_pass_again) {
  for (std::size_t const count : {60'000, 70'000, 80'000, 90'000, 100'000}) {
    storage store(tiny(2));
    sorter<std::uint64_t> s(
        store, {},
        {.memory_bytes = 128_KiB, .block_bytes = 4096, .most_fan_in = 2, .rewindable = true});
    for (std::size_t i = 0; i < count; ++i) s.push(i * 7919 % count);
    s.sort();
    auto const merged = s.report();
    ASSERT_GT(merged.runs, 2U);
    EXPECT_EQ(merged.merges, merged.runs - 2) << "each of two runs, until there are two";
    s.rewind();
    for (std::size_t i = 0; i < count; ++i, ++s) ASSERT_EQ(*s, i);
    EXPECT_TRUE(s.empty());
    EXPECT_EQ(s.report().passes, merged.passes);
  }
}

/// Some chunks are worth encoding, others are not, and no two blocks of such items can lie side by
/// side on this disk: their runs are written in two ways.
TEST(sorter, keeps_the_input_order_where_only_some_runs_are_encoded) {
  struct record {
    std::uint32_t key;
    std::uint32_t place;
    std::array<std::uint64_t, 32> rest;
  };
  // As fast as disks are, or how busy the machine is decides.
  auto const make_slow = [](io::request_queue&) -> io::file_ptr {
    return std::make_unique<io::throttled_file>(
        io::make_memory_file("memory", 1_GiB, {.alignment_bytes = 4096}),
        io::throttle{.bytes_per_second = 400 << 20});
  };
  storage store({.disks = {{"memory", make_slow}}, .memory_bytes = 6_MiB, .threads = 2});
  auto const less = [](record const& a, record const& b) { return a.key < b.key; };
  sorter<record, decltype(less)> s(store, less, {.memory_bytes = 6_MiB, .block_bytes = 128_KiB});
  std::mt19937_64 random(5);
  std::uint32_t const count = 200'000;
  for (std::uint32_t i = 0; i < count; ++i) {
    record r{static_cast<std::uint32_t>(random() % 3), i, {}};
    if (i / 2048 % 4 < 2) std::ranges::generate(r.rest, std::ref(random));
    s.push(r);
  }
  s.sort();
  record last{};
  for (std::uint32_t i = 0; i < count; ++i, ++s) {
    if (i > 0) {
      ASSERT_TRUE(last.key < (*s).key || (last.key == (*s).key && last.place < (*s).place)) << i;
    }
    last = *s;
  }
  EXPECT_TRUE(s.empty());
  EXPECT_GT(s.report().encoded_runs, 0U);
  EXPECT_LT(s.report().encoded_runs, s.report().runs);
}

TEST(sorter, orders_floating_point_totally) {
  using limits = std::numeric_limits<double>;
  std::vector<double> const want{-limits::quiet_NaN(),
                                 -limits::infinity(),
                                 -1.5,
                                 -limits::denorm_min(),
                                 -0.0,
                                 0.0,
                                 limits::denorm_min(),
                                 2.0,
                                 limits::infinity(),
                                 limits::quiet_NaN()};
  auto in = want;
  std::shuffle(in.begin(), in.end(), std::mt19937_64(3));
  storage store(tiny(2));
  auto const out = sort_all(store, in, std::less<>(), {});
  ASSERT_EQ(out.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_EQ(std::bit_cast<std::uint64_t>(out[i]), std::bit_cast<std::uint64_t>(want[i])) << i;
}

TEST(sorter, sorts_signed_and_descending_numbers) {
  auto const make = [](std::mt19937_64& random, std::size_t) {
    return static_cast<std::int32_t>(random());
  };
  expect_sorts<std::int32_t>(50000, std::less<>(), make, 2, 1, 128_KiB, 4096);
  expect_sorts<std::int32_t>(50000, std::greater<>(), make, 2, 1, 128_KiB, 4096);
}

TEST(sorter, drops_repeated_items_when_asked) {
  for (std::size_t count : {0, 1, 2, 5000, 80000}) {
    storage store(tiny(3));
    std::mt19937_64 random(count);
    std::vector<std::uint64_t> in(count);
    for (auto& x : in) x = random() % 3000;
    auto const out = sort_all(store, in, std::less<>(),
                              {.unique = true, .memory_bytes = 128_KiB, .block_bytes = 4096});
    std::sort(in.begin(), in.end());
    in.erase(std::unique(in.begin(), in.end()), in.end());
    EXPECT_EQ(in, out);
  }
}

TEST(sorter, rewinds_in_memory_and_on_disk) {
  for (std::size_t count : {100, 80000}) {
    storage store(tiny(2));
    sorter<std::uint64_t> s(store, {},
                            {.memory_bytes = 128_KiB, .block_bytes = 4096, .rewindable = true});
    for (std::size_t i = 0; i < count; ++i) s.push(i * 7919 % count);
    s.sort();
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < count / (round == 0 ? 2U : 1U); ++i, ++s) ASSERT_EQ(*s, i);
      s.rewind();
    }
    s.clear();
    EXPECT_EQ(s.size(), 0U);
    s.push(3);
    s.sort();
    EXPECT_EQ(*s, 3U);
  }
}

TEST(sorter, needs_no_disk_for_what_fits_in_memory) {
  storage_options options;
  options.memory_bytes = 8_MiB;
  options.threads = 2;
  options.disks.emplace_back("none", [](io::request_queue&) -> io::file_ptr {
    ADD_FAILURE() << "a disk was used";
    return io::make_memory_file("none");
  });
  storage store(options);
  std::vector<std::uint64_t> in(800000, 1);
  EXPECT_EQ(
      sort_all(store, in, std::less<>(), {.memory_bytes = store.memory().free_bytes()}).size(),
      in.size());
  in.resize(450000);  // or less than three quarters of it, if nobody says how much it may have
  EXPECT_EQ(sort_all(store, in, std::less<>(), {}).size(), in.size());
}

TEST(sorter, refuses_a_budget_below_the_minimum) {
  storage store(tiny(1));
  try {
    sorter<std::uint64_t> s(store, {}, {.memory_bytes = 1_MiB});
    FAIL() << "a budget of 1 MiB was accepted";
  } catch (budget_error const& e) {
    EXPECT_EQ(e.have_bytes(), 1_MiB);
    EXPECT_EQ(e.need_bytes(), min_sort_memory_bytes);
  }
  EXPECT_THROW(sorter<std::uint64_t>(store, {}, {.memory_bytes = 1_GiB}), budget_error);
}

TEST(sorter, combines_items_that_compare_equal_and_does_so_again_after_rewind) {
  struct add_orders {
    pair16 operator()(pair16 const& a, pair16 const& b) const { return {a.key, a.order + b.order}; }
  };
  std::mt19937_64 random(12);
  std::map<std::uint64_t, std::uint64_t> sums;
  storage store(tiny(2));
  sorter<pair16, decltype(by(&pair16::key)), add_orders> s(
      store, by(&pair16::key), {.memory_bytes = 128_KiB, .block_bytes = 4096, .rewindable = true},
      {});
  for (std::size_t i = 0; i < 60'000; ++i) {
    pair16 const item{random() % 300, random() % 1000};
    sums[item.key] += item.order;
    s.push(item);
  }
  s.sort();
  for (int round = 0; round < 2; ++round) {
    auto want = sums.begin();
    for (; !s.empty(); ++s, ++want) {
      ASSERT_NE(want, sums.end());
      EXPECT_EQ(*s, (pair16{want->first, want->second}));
    }
    EXPECT_EQ(want, sums.end());
    EXPECT_EQ(s.report().output_items, 300U);
    EXPECT_LE(s.report().run_items, 300 * s.report().runs);
    s.rewind();
  }
}

TEST(sorter, is_a_source_of_all_algorithms) {
  storage store(tiny(2));
  sort_options const small{.memory_bytes = 160_KiB, .block_bytes = 4096, .rewindable = true};
  std::vector<std::uint64_t> model, odd;
  sorter<std::uint64_t> s(store, {}, small), other(store, {}, small);
  std::mt19937_64 random(11);
  for (std::uint64_t i = 0; i < 60'000; ++i) {
    std::uint64_t const x = random() >> 20;
    model.push_back(x);
    s.push(x);
    if (x % 2 == 0) continue;
    odd.push_back(x);
    other.push(x);
  }
  std::ranges::sort(model);
  static_assert(std::ranges::input_range<sorter<std::uint64_t>>);
  s.sort();
  other.sort();
  EXPECT_GT(s.report().runs, 1U);
  EXPECT_TRUE(std::ranges::equal(s, model));
  EXPECT_TRUE(s.empty());

  s.rewind();
  EXPECT_TRUE(is_sorted(store, s));
  s.rewind();
  EXPECT_EQ(nth_element(store, s, 777, std::greater<>(), small), model[model.size() - 1 - 777]);
  std::vector<std::uint64_t> out;
  s.rewind();
  top_k(store, s, std::back_inserter(out), 10, std::greater<>(), {.memory_bytes = 1_MiB});
  EXPECT_TRUE(std::ranges::equal(out, model | std::views::reverse | std::views::take(10)));
  out.clear();
  s.rewind();
  sort(store, s, std::back_inserter(out), std::greater<>(), small);
  EXPECT_TRUE(std::ranges::equal(out, model | std::views::reverse));

  out.clear();
  s.rewind();
  std::array const both{std::views::all(s), std::views::all(other)};
  merge(store, both, std::back_inserter(out), {}, {.memory_bytes = 1_MiB});
  model.insert(model.end(), odd.begin(), odd.end());
  std::ranges::sort(model);
  EXPECT_TRUE(out == model);
}

/// Of each block on disk the first item is kept in memory.
template <std::size_t Bytes>
struct long_item {
  std::uint32_t key;
  std::array<char, Bytes - sizeof(std::uint32_t)> rest;
  bool operator<(long_item const& other) const { return key < other.key; }
};

TEST(sorter, sorts_long_items_of_which_nobody_says_how_many) {
  storage store(of_pages(2_MiB));
  sorter<long_item<3000>> sorted(store, {}, {.memory_bytes = store.memory().free_bytes()});
  constexpr std::uint32_t count = 4000;
  for (std::uint32_t i = 0; i < count; ++i) sorted.push({i * 7919 % 10007, {}});
  sorted.sort();
  std::uint32_t before = 0, found = 0;
  for (; !sorted.empty(); ++sorted, ++found) {
    ASSERT_LE(before, sorted->key);
    before = sorted->key;
  }
  EXPECT_EQ(found, count);
}

TEST(sorter, names_what_is_missing_when_the_index_of_blocks_is_full) {
  storage store(of_pages(2_MiB));
  sorter<long_item<8192>> sorted(store);
  try {
    for (std::uint32_t i = 0; i < 10'000; ++i) sorted.push({i * 7919 % 10007, {}});
    sorted.sort();
    for (; !sorted.empty(); ++sorted) continue;
    ADD_FAILURE() << "there was room for the index";
  } catch (budget_error const& e) {
    EXPECT_NE(std::string(e.what()).find("index of blocks"), std::string::npos) << e.what();
  }
}

// It is known of a range, whose index is as long as it must be.
TEST(sort, of_ranges_knows_how_many_long_items_there_are) {
  storage store(of_pages(3_MiB));
  std::vector<long_item<3008>> items(9'000), found;
  for (std::uint32_t i = 0; i < items.size(); ++i) items[i].key = i * 7919 % 10007;
  sort(store, items, std::back_inserter(found));
  EXPECT_TRUE(std::ranges::is_sorted(found, {}, &long_item<3008>::key));
  EXPECT_EQ(found.size(), items.size());
}

static_assert(std::ranges::input_range<sorter<int>> && !std::ranges::sized_range<sorter<int>>);

// In memory, and in windows of blocks.
TEST(sorter, goes_on_as_a_range_where_a_loop_was_left) {
  for (std::uint64_t const count : {100, 100'000}) {
    storage store(tiny(2));
    sorter<std::uint64_t> s(store, {}, {.memory_bytes = 256_KiB, .block_bytes = 4_KiB});
    for (std::uint64_t i = 0; i < count; ++i) s.push(count - 1 - i);
    s.sort();
    std::uint64_t next = 0;
    for (std::uint64_t round = 0; !s.empty(); ++round) {
      for (auto const item : s) {
        ASSERT_EQ(item, next++);
        if (item % (1000 + round) == 17) break;
      }
      for (auto const item : s | std::views::take(3)) ASSERT_EQ(item, next++);
    }
    EXPECT_EQ(next, count);
  }
}

TEST(sorter_death_test, asserts_that_sort_was_called) {
  auto const forgotten = [](auto use) {
    storage store(tiny(1));
    sorter<std::uint64_t> s(store);
    s.push(1);
    use(s);
  };
  EXPECT_DEATH(forgotten([](auto& s) { std::ignore = s.empty(); }), "sort\\(\\) was not called");
  EXPECT_DEATH(forgotten([](auto& s) { std::ignore = *s; }), "sort\\(\\) was not called");
  EXPECT_DEATH(forgotten([](auto& s) { ++s; }), "sort\\(\\) was not called");
  EXPECT_DEATH(forgotten([](auto& s) { std::ignore = s.pull(); }), "sort\\(\\) was not called");
  EXPECT_DEATH(forgotten([](auto& s) {
                 for (auto const& item : s) std::ignore = item;
               }),
               "sort\\(\\) was not called");
  EXPECT_DEATH(forgotten([](auto& s) {
                 s.sort();
                 s.push(2);
               }),
               "pushed after sort");
}

TEST(sorter_death_test, asserts_that_it_was_not_moved_from) {
  auto const moved = [](bool is_sorted, auto use) {
    storage store(tiny(1));
    sorter<std::uint64_t> s(store);
    s.push(1);
    if (is_sorted) s.sort();
    auto const other = std::move(s);
    use(s);
  };
  for (bool const is_sorted : {false, true}) {
    EXPECT_DEATH(moved(is_sorted, [](auto& s) { s.push(2); }), "moved from|after sort");
    EXPECT_DEATH(moved(is_sorted, [](auto& s) { s.sort(); }), "moved from|twice");
    EXPECT_DEATH(moved(is_sorted, [](auto& s) { std::ignore = s.empty(); }),
                 "moved from|not called");
    EXPECT_DEATH(moved(is_sorted, [](auto& s) { std::ignore = *s; }), "moved from|not called");
    EXPECT_DEATH(moved(is_sorted, [](auto& s) { std::ignore = s.size(); }), "moved from");
    EXPECT_DEATH(moved(is_sorted, [](auto& s) { s.clear(); }), "moved from");
  }
}

// What cannot be read must not look like the end.
TEST(sorter, is_not_empty_after_an_error) {
  auto const plan = std::make_shared<io::fault_plan>();
  storage_options options = tiny(2);
  options.disks = {disk_options("faulty", [plan](io::request_queue&) -> io::file_ptr {
    return std::make_unique<io::faulty_file>(io::make_memory_file("faulty"), plan);
  })};
  storage store(options);
  sorter<std::uint64_t> s(store, {}, {.memory_bytes = 256_KiB, .block_bytes = 4_KiB});
  for (std::uint64_t i = 0; i < 100'000; ++i) s.push(i * 7919 % 100'000);
  s.sort();
  plan->script(io::fault_point::read, 200, io::fault::fail(EIO));
  std::uint64_t seen = 0;
  auto const read_on = [&] {
    for (; !s.empty(); ++s) seen += *s == seen ? 1 : 0;
  };
  for (int tries = 0; tries < 3; ++tries) EXPECT_THROW(read_on(), io_error);
  EXPECT_LT(seen, 100'000U);
  EXPECT_FALSE(s.empty());
}

}  // namespace
}  // namespace outsize
