// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Runs merged through as few buffers as there may be: whatever their triggers predict, every item
// comes in order.

#include <outsize/algorithm/detail/sort/merge_feed.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include <outsize/algorithm/detail/sort/family/record_items.hpp>
#include <outsize/algorithm/detail/sort/family/typed_items.hpp>
#include <outsize/algorithm/detail/sort/run_writer.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/codec/detail/packed_block.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/kernel/byte_order.hpp>

namespace outsize::detail {
namespace {

using records = std::vector<std::string>;

/// Sorts by the first `length` bytes: the rest tells where a record came from.
struct start_order {
  std::size_t length = 1000;
  std::string_view key(std::string_view r) const { return r.substr(0, length); }
  std::uint64_t prefix(std::string_view r) const { return byte_order{}.prefix(key(r)); }
  int compare(std::string_view a, std::string_view b) const { return key(a).compare(key(b)); }
  bool equal_keys(std::string_view a, std::string_view b) const { return key(a) == key(b); }
};

/// Sorts by the last bytes, of which a trigger of a long record knows nothing.
struct end_order {
  std::uint64_t prefix(std::string_view) const { return 0; }
  int compare(std::string_view a, std::string_view b) const {
    return std::string(a.rbegin(), a.rend()).compare(std::string(b.rbegin(), b.rend()));
  }
  bool equal_keys(std::string_view a, std::string_view b) const { return a == b; }
};

template <typename Order>
struct merging {
  using family_type = record_items<Order>;

  Order order;
  family_type family{order, 0};
  std::shared_ptr<io::fault_plan> plan = std::make_shared<io::fault_plan>();
  storage store;
  grant memory = store.memory().take(8_MiB, "test");
  std::vector<run<family_type>> runs;
  records want;

  explicit merging(Order o, std::size_t disk_count = 2) : order(o), store(disks(disk_count)) {}

  storage_options disks(std::size_t count) {
    storage_options options{.memory_bytes = 8_MiB, .threads = 2};
    for (std::size_t d = 0; d < count; ++d)
      options.disks.emplace_back("memory", [this](io::request_queue&) -> io::file_ptr {
        return std::make_unique<io::faulty_file>(io::make_memory_file("memory"), plan);
      });
    return options;
  }

  void add_run(records const& in, std::size_t block_bytes) {
    record_chunk<family_type> chunk(memory, 2_MiB);
    for (auto const& r : in) ASSERT_TRUE(chunk.append(family, r));
    auto const views = chunk.sort(family, store.threads(), 2);
    block::buffer_pool pool(memory, block_bytes, 8);
    run_writer<family_type> writer(family, store, store.threads(), memory, pool);
    merge_feed<family_type> feed(family, store.threads(), views, chunk.largest_item_bytes());
    for (auto round = feed.next_round(); round.items() > 0; round = feed.next_round()) {
      writer.write(round, feed.largest_item_bytes());
      feed.consume(round);
    }
    runs.push_back(writer.finish());
    want.insert(want.end(), in.begin(), in.end());
  }

  /// Takes all that is there in each round, or with `stops` a random number of items of it.
  records merge(std::size_t ahead, bool keep_blocks, std::mt19937_64* stops = nullptr) {
    std::size_t block_bytes = 1;
    for (auto const& r : runs) block_bytes = std::max(block_bytes, r.buffer_bytes());
    block::buffer_pool pool(memory, block_bytes, runs.size() + 2 * ahead);
    records out;
    {
      merge_feed<family_type> feed(family, store.threads(), runs, store, pool, ahead,
                                   {.keep_blocks = keep_blocks});
      for (auto round = feed.next_round(); round.items() > 0; round = feed.next_round()) {
        if (stops != nullptr) round.restrict_to_first(1 + (*stops)() % round.items());
        merge_parts(round.cut(2), out);
        feed.consume(round);
      }
    }
    EXPECT_EQ(pool.free_count(), pool.count());
    return out;
  }

  void merge_parts(std::vector<merge_part<typename family_type::view>> const& parts, records& out) {
    auto emit = [&](record_key_ref const& key) { out.emplace_back(key.record()); };
    for (auto const& part : parts) merge_keys(family, part, emit);
  }

  /// The same, but each round is merged as late as can be, when up to `most_passed` more were cut.
  records merge_later(std::size_t ahead, std::size_t most_passed, std::mt19937_64& stops) {
    std::size_t block_bytes = 1;
    for (auto const& r : runs) block_bytes = std::max(block_bytes, r.buffer_bytes());
    block::buffer_pool pool(memory, block_bytes, runs.size() + 2 * ahead);
    records out;
    std::deque<std::vector<merge_part<typename family_type::view>>> passed;
    {
      merge_feed<family_type> feed(family, store.threads(), runs, store, pool, ahead,
                                   {.keep_blocks = true, .passes = true});
      auto const merge_oldest = [&] {
        merge_parts(passed.front(), out);
        passed.pop_front();
        feed.release_passed();
      };
      for (;;) {
        while (passed.size() > most_passed || !feed.can_read()) merge_oldest();
        auto round = feed.next_round();
        if (round.items() == 0) break;
        round.restrict_to_first(1 + stops() % round.items());
        passed.push_back(round.cut(2));
        feed.pass(round);
      }
      while (!passed.empty()) merge_oldest();
    }
    EXPECT_EQ(pool.free_count(), pool.count());
    return out;
  }

  void expect_merges() {
    std::stable_sort(want.begin(), want.end(),
                     [this](auto const& a, auto const& b) { return order.compare(a, b) < 0; });
    std::mt19937_64 random(3);
    for (std::size_t ahead : {1, 2, 7}) {
      EXPECT_TRUE(merge(ahead, true) == want) << "ahead " << ahead;
      EXPECT_TRUE(merge(ahead, true, &random) == want) << "ahead " << ahead << ", in small steps";
      for (std::size_t passed : {1, 3})
        EXPECT_TRUE(merge_later(ahead, passed, random) == want)
            << "ahead " << ahead << ", merged " << passed << " rounds later";
    }
    std::uint64_t const before = store.total_statistics().read_bytes;
    std::uint64_t const all = store.allocated_bytes();
    EXPECT_TRUE(merge(1, false) == want);
    EXPECT_EQ(store.total_statistics().read_bytes - before, all);  // each block once
    EXPECT_EQ(store.allocated_bytes(), 0U);
  }
};

records random_records(std::uint64_t seed, std::size_t count, std::string const& start,
                       std::size_t most) {
  std::mt19937_64 random(seed);
  records all(count);
  for (auto& r : all) {
    r = start + std::string(random() % (most + 1), '\0');
    for (std::size_t i = start.size(); i < r.size(); ++i) r[i] = "abc\0"[random() % 4];
  }
  return all;
}

TEST(merge_feed, merges_runs_whose_triggers_are_all_alike) {
  for (std::size_t disks : {1, 3}) {
    merging<start_order> m({}, disks);
    for (std::uint64_t r = 0; r < 9; ++r)
      m.add_run(random_records(r, 300, std::string(100, 'p'), 30), 1024);
    m.expect_merges();
  }
}

TEST(merge_feed, merges_runs_with_very_many_equal_records) {
  merging<start_order> m({3});
  for (std::uint64_t r = 0; r < 6; ++r) {
    auto in = records(200, "abc");
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] += std::to_string(r * 1000 + i) + std::string(i % 50, '.');
    in.push_back("b");
    m.add_run(in, 512);
  }
  m.expect_merges();
}

TEST(merge_feed, merges_runs_of_very_different_lengths) {
  merging<start_order> m({});
  std::size_t const counts[] = {1, 2000, 3, 50, 1, 900};
  for (std::uint64_t r = 0; r < 6; ++r) m.add_run(random_records(r, counts[r], "", 60), 512);
  m.expect_merges();
}

TEST(merge_feed, merges_runs_whose_triggers_predict_wrongly) {
  merging<end_order> m({}, 3);
  for (std::uint64_t r = 0; r < 7; ++r) m.add_run(random_records(r, 200, "", 90), 512);
  m.expect_merges();
}

TEST(merge_feed, gives_all_items_in_no_order_whatever_was_predicted) {
  merging<end_order> m({}, 3);
  for (std::uint64_t r = 0; r < 7; ++r) m.add_run(random_records(r, 200, "", 90), 512);
  std::size_t items = 0;
  {
    block::buffer_pool pool(m.memory, 4096, m.runs.size() + 4);
    merge_feed feed(m.family, m.store.threads(), std::span(m.runs), m.store, pool, 2, {});
    for (auto round = feed.next_unordered_round(); round.items() > 0;
         round = feed.next_unordered_round()) {
      items += round.items();
      feed.consume(round);
    }
  }
  EXPECT_EQ(items, m.want.size());
}

TEST(merge_feed, merges_long_records_among_short_ones) {
  merging<start_order> m({});
  for (std::uint64_t r = 0; r < 5; ++r) {
    auto in = random_records(r, 300, "", 20);
    for (std::size_t i = 0; i < in.size(); i += 17)
      in[i] += std::string(900, static_cast<char>('a' + i % 7));
    m.add_run(in, 1024);
  }
  m.expect_merges();
}

TEST(merge_feed, gives_everything_back_when_dropped_or_when_a_read_fails) {
  merging<start_order> m({});
  for (std::uint64_t r = 0; r < 5; ++r)
    m.add_run(random_records(r, 300, std::string(40, 'p'), 20), 512);
  std::size_t const ahead = 3;
  block::buffer_pool pool(m.memory, 512, m.runs.size() + 2 * ahead);
  std::uint64_t const reads = m.store.total_statistics().read_count;
  {
    merge_feed<record_items<start_order>> feed(m.family, m.store.threads(), m.runs, m.store, pool,
                                               ahead, {.keep_blocks = true});
    auto const round = feed.next_round();
    EXPECT_GT(round.items(), 0U);
  }
  EXPECT_EQ(pool.free_count(), pool.count());
  EXPECT_LE(m.store.total_statistics().read_count - reads, pool.count());
  m.plan->script(io::fault_point::read, m.plan->calls(io::fault_point::read) + 20,
                 io::fault::fail(EIO));
  {
    merge_feed<record_items<start_order>> feed(m.family, m.store.threads(), m.runs, m.store, pool,
                                               ahead, {.keep_blocks = true});
    EXPECT_THROW(for (auto round = feed.next_round(); round.items() > 0; round = feed.next_round())
                     feed.consume(round),
                 io_error);
  }
  EXPECT_EQ(pool.free_count(), pool.count());
}

TEST(merge_feed, merges_nothing) {
  merging<start_order> m({});
  EXPECT_TRUE(m.merge(1, false).empty());
}

/// Runs of encoded numbers on a disk in memory.
struct encoded_numbers : testing::Test {
  using numbers = typed_items<std::uint64_t, std::less<>>;
  static constexpr run_form form{.block_bytes = 1024, .held_bytes = 1536};

  numbers family{{}};
  storage store{{.disks = {disk_options(
                     "memory", [](io::request_queue&) { return io::make_memory_file("memory"); })},
                 .memory_bytes = 4_MiB,
                 .threads = 2}};
  grant memory = store.memory().take(4_MiB, "test");
  std::vector<run<numbers>> runs;
  std::vector<std::uint64_t> want;
  std::mt19937_64 random{11};

  void add_run(std::size_t count, std::uint64_t most) {
    std::vector<std::uint64_t> in(count);
    for (auto& x : in) x = random() % most;
    std::ranges::sort(in);
    block::buffer_pool pool(memory, 1024, 4);
    run_writer<numbers> writer(family, store, store.threads(), memory, pool, equal_items::kept,
                               form);
    writer.write(std::as_bytes(std::span(in)));
    runs.push_back(writer.finish());
    want.insert(want.end(), in.begin(), in.end());
  }

  std::vector<std::uint64_t> merge(bool keep_blocks) {
    std::size_t const ahead = 3;
    block::buffer_pool pool(memory, form.held_bytes, runs.size() + 2 * ahead);
    merge_feed<numbers> feed(family, store.threads(), runs, store, pool, ahead,
                             {.keep_blocks = keep_blocks});
    std::vector<std::uint64_t> out;
    for (auto round = feed.next_round(); round.items() > 0; round = feed.next_round()) {
      auto emit = [&](std::uint64_t key) { out.push_back(key); };
      for (auto const& part : round.cut(2)) merge_keys(family, part, emit);
      feed.consume(round);
    }
    return out;
  }
};

TEST_F(encoded_numbers, are_decoded_before_they_are_merged) {
  for (std::uint64_t most : {std::uint64_t{1}, std::uint64_t{1000}, ~std::uint64_t{0}})
    for (std::size_t count : {1, 100, 3000}) add_run(count, most);
  std::ranges::sort(want);
  EXPECT_EQ(merge(true), want);
  EXPECT_EQ(merge(false), want);
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

TEST_F(encoded_numbers, that_cannot_be_decoded_are_a_corrupt_block) {
  for (int r = 0; r < 3; ++r) add_run(3000, ~std::uint64_t{0});
  auto const id = runs[1].entries()[2].id;
  std::vector<std::byte> const nothing(id.length_bytes, std::byte{0xFF});
  store.write(id, nothing)->wait();
  try {
    merge(true);
    ADD_FAILURE() << "a block of nothing was decoded";
  } catch (corrupt_block const& e) {
    EXPECT_NE(std::string(e.what()).find("memory"), std::string::npos) << e.what();
  }
}

TEST(encoded_records, that_cannot_be_decoded_are_a_corrupt_block) {
  using lines = record_items<start_order>;
  start_order const order{100};
  lines const family(order, 0);
  storage store({.disks = {disk_options(
                     "memory", [](io::request_queue&) { return io::make_memory_file("memory"); })},
                 .memory_bytes = 1_MiB,
                 .threads = 2,
                 .checksums = block_checksums::none});
  grant memory = store.memory().take(1_MiB, "test");
  std::vector<std::byte> place(64_KiB);
  packed_block block(place);
  std::vector<std::string> texts;
  for (int i = 0; i < 1000; ++i) texts.push_back("a line, number " + std::to_string(1000 + i));
  for (auto const& text : texts) ASSERT_TRUE(block.append(text));
  for (byte_coding const coding : {byte_coding::prefixes, byte_coding::lz4}) {
    std::vector<run<lines>> runs;
    {
      block::buffer_pool pool(memory, 4096, 4);
      run_form const form{.block_bytes = 4096, .held_bytes = 4096, .coding = coding};
      run_writer<lines> writer(family, store, store.threads(), memory, pool, equal_items::kept,
                               form);
      merge_feed<lines> feed(family, store.threads(),
                             {lines::view::of_packed(order, place, block.items())}, 100);
      for (auto round = feed.next_round(); round.items() > 0; round = feed.next_round()) {
        writer.write(round, 100);
        feed.consume(round);
      }
      runs.push_back(writer.finish());
    }
    EXPECT_LT(runs[0].disk_bytes(), runs[0].bytes() / 2);
    auto const count_items = [&] {
      block::buffer_pool pool(memory, 4096, runs.size() + 4);
      merge_feed<lines> feed(family, store.threads(), runs, store, pool, 2, {.keep_blocks = true});
      std::size_t items = 0;
      for (auto round = feed.next_round(); round.items() > 0; round = feed.next_round()) {
        items += round.items();
        feed.consume(round);
      }
      return items;
    };
    EXPECT_EQ(count_items(), 1000U);
    auto const id = runs[0].entries()[2].id;
    store.write(id, std::vector<std::byte>(id.length_bytes, std::byte{0xFF}))->wait();
    try {
      count_items();
      ADD_FAILURE() << "a block of nothing was decoded";
    } catch (corrupt_block const& e) {
      EXPECT_NE(std::string(e.what()).find("it makes no sense"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace outsize::detail
