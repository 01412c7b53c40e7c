// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Combining items in place, in whatever form they travel; and engines that do so in chunks, in
// intermediate merges and across windows, against a map.

#include <outsize/algorithm/detail/sort/family/combining_items.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <outsize/algorithm/detail/sort/engine.hpp>
#include <outsize/algorithm/item_order.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::detail {
namespace {

/// Travels as a word_pair whose key has its sign bit turned.
struct tally {
  std::uint64_t count;
  std::int64_t key;
};
/// By address, in input order: `first` and `last` tell who was combined with whom.
struct span_of_places {
  std::uint32_t key, first, last, count;
  std::array<char, 8> rest;
};

struct sum_up {
  tally operator()(tally const& a, tally const& b) const { return {a.count + b.count, a.key}; }
};
struct join_places {
  span_of_places operator()(span_of_places const& a, span_of_places const& b) const {
    EXPECT_LT(a.last, b.first);
    return {a.key, a.first, b.last, a.count + b.count, {}};
  }
};

template <typename T, typename Less, typename Combine>
auto combining(Less less, Combine combine) {
  using base = family_of<T, Less>;
  return combining_items<typename base::type, T, Combine>(base::make(std::move(less)),
                                                          std::move(combine));
}

storage_options in_memory(std::size_t threads) {
  storage_options options{.memory_bytes = 8_MiB, .threads = threads};
  options.disks.emplace_back("memory",
                             [](io::request_queue&) { return io::make_memory_file("memory"); });
  return options;
}

template <typename T, typename Family>
std::vector<T> run(Family family, std::vector<T> const& in, std::size_t threads,
                   sort_options const& options, sort_report& report) {
  storage store(in_memory(threads));
  std::vector<T> out;
  {
    sort_engine<Family> engine(store, std::move(family), options);
    for (T const& item : in) {
      if (engine.current_chunk().room().empty()) engine.chunk_full();
      std::memcpy(static_cast<void*>(engine.current_chunk().room().data()), &item, sizeof item);
      engine.current_chunk().grow(1);
    }
    engine.finish_input();
    while (auto const window = engine.next()) {
      std::size_t const before = out.size();
      out.resize(before + window->items);
      EXPECT_EQ(window->bytes, window->items * sizeof(T));
      std::memcpy(static_cast<void*>(&out[before]), window->data().data(), window->bytes);
      engine.recycle(*window);
    }
    report = engine.report();
    auto const progress = engine.progress();
    EXPECT_EQ(progress.done_bytes, progress.total_bytes);
  }
  EXPECT_EQ(store.allocated_bytes(), 0U);
  return out;
}

TEST(combining_items, sees_items_as_they_were_given) {
  auto const family = combining<tally>(by(&tally::key), sum_up{});
  word_pair first = family.encode({3, static_cast<std::uint64_t>(-7)});
  word_pair const second = family.encode({4, static_cast<std::uint64_t>(-7)});
  family.combine(reinterpret_cast<std::byte*>(&first), reinterpret_cast<std::byte const*>(&second));
  EXPECT_EQ(family.decode(first), (word_pair{7, static_cast<std::uint64_t>(-7)}));
}

TEST(combining_items, adds_up_the_same_for_any_memory_and_threads) {
  for (std::uint64_t keys : {1, 16, 3000, 200'000})
    for (std::size_t threads : {1, 2, 9})
      for (std::uint64_t memory : {128_KiB, 4_MiB}) {
        std::mt19937_64 random(keys);
        std::vector<tally> in(60'000);
        std::map<std::int64_t, std::uint64_t> want;
        for (tally& t : in) {
          t = {random() % 10, static_cast<std::int64_t>(random() % keys) - 8};
          want[t.key] += t.count;
        }
        SCOPED_TRACE(std::to_string(keys) + " keys, " + std::to_string(threads) + " threads, " +
                     std::to_string(memory));
        sort_report report;
        auto const out =
            run(combining<tally>(by(&tally::key), sum_up{}), in, threads,
                {.memory_bytes = memory, .block_bytes = 4096, .most_fan_in = 3}, report);
        ASSERT_EQ(out.size(), want.size());
        EXPECT_EQ(report.output_items, want.size());
        EXPECT_EQ(report.items, in.size());
        EXPECT_EQ(report.runs > 3, memory == 128_KiB);
        EXPECT_TRUE(std::ranges::equal(out, want, [](tally const& t, auto const& entry) {
          return t.key == entry.first && t.count == entry.second;
        }));
      }
}

TEST(combining_items, of_any_type_meets_equal_items_in_the_order_of_the_input) {
  for (std::uint32_t keys : {1, 16, 3000})
    for (std::size_t threads : {1, 2, 9}) {
      std::mt19937_64 random(keys);
      std::vector<span_of_places> in(40'000);
      std::map<std::uint32_t, span_of_places> want;
      for (std::uint32_t i = 0; i < in.size(); ++i) {
        in[i] = {static_cast<std::uint32_t>(random() % keys), i, i, 1, {}};
        auto& w = want.try_emplace(in[i].key, span_of_places{in[i].key, i, i, 0, {}}).first->second;
        w.last = i;
        ++w.count;
      }
      sort_report report;
      auto const out =
          run(combining<span_of_places>(by(&span_of_places::key), join_places{}), in, threads,
              {.memory_bytes = 128_KiB, .block_bytes = 4096, .most_fan_in = 2}, report);
      EXPECT_GT(report.passes, 2U);
      EXPECT_TRUE(std::ranges::equal(out, want,
                                     [](span_of_places const& s, auto const& entry) {
                                       return std::memcmp(&s, &entry.second, sizeof s) == 0;
                                     }))
          << keys << " keys, " << threads << " threads";
    }
}

}  // namespace
}  // namespace outsize::detail
