// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Runs hold what was written, block by block, know their triggers, and free what they own.

#include <outsize/algorithm/detail/sort/run_writer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <outsize/algorithm/detail/sort/family/record_items.hpp>
#include <outsize/algorithm/detail/sort/family/typed_items.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/kernel/byte_order.hpp>

namespace outsize::detail {
namespace {

constexpr byte_order order{};
using lines = record_items<byte_order>;
using numbers = typed_items<std::uint64_t, std::less<>>;

struct run_on_disk : testing::Test {
  storage store{{.disks = {disk_options(
                     "memory", [](io::request_queue&) { return io::make_memory_file("memory"); })},
                 .memory_bytes = 4_MiB,
                 .threads = 3}};
  grant memory = store.memory().take(4_MiB, "test");

  /// Writes sorted items, all in one sequence, through a pool of `buffers` blocks.
  template <typename Family>
  run<Family> write(Family const& family, typename Family::view items, std::size_t largest,
                    std::size_t block_bytes, std::size_t buffers, grant& index) {
    block::buffer_pool pool(memory, block_bytes, buffers);
    run_writer<Family> writer(family, store, store.threads(), index, pool);
    write_rounds(family, items, largest, writer);
    return writer.finish();
  }

  /// Gives sorted items to `writer` in rounds of a merge of one sequence.
  template <typename Family>
  void write_rounds(Family const& family, typename Family::view items, std::size_t largest,
                    run_writer<Family>& writer) {
    std::vector<item_sequence<typename Family::view>> one(1);
    one[0].append(items);
    while (one[0].size() > 0) {
      merge_round<Family> round(family, store.threads(),
                                std::span<item_sequence<typename Family::view> const>(one));
      writer.write(round, largest);
      EXPECT_GT(round.items(), 0U);
      one[0].consume(round.limit(0));
    }
  }

  run<numbers> write_numbers(std::vector<std::uint64_t> const& items, std::size_t block_bytes,
                             std::size_t buffers) {
    return write(numbers({}), typed_view<std::uint64_t>(items), 8, block_bytes, buffers, memory);
  }

  /// `records` are sorted.
  run<lines> write_lines(std::vector<std::string> const& records, std::size_t block_bytes,
                         std::size_t buffers) {
    lines const family(order, 0);
    record_chunk<lines> chunk(memory, 1_MiB);
    for (auto const& r : records) EXPECT_TRUE(chunk.append(family, r));
    executor one_thread(1);
    return write(family, chunk.sort(family, one_thread, 1)[0], chunk.largest_item_bytes(),
                 block_bytes, buffers, memory);
  }

  std::vector<std::string> read_lines(run<lines> const& r) {
    lines const family(order, 0);
    std::vector<std::string> all;
    for (auto const& e : r.entries()) {
      buffer const place = memory.allocate(e.id.length_bytes);
      auto const bytes = place.bytes().first(e.id.length_bytes);
      store.read(e.id, bytes)->wait();
      auto const view = family.block_view(bytes, e.items);
      EXPECT_EQ(e.trigger.record(), view.key(0).record().substr(0, e.trigger.start.size()));
      for (std::size_t i = 0; i < view.size(); ++i) all.emplace_back(view.key(i).record());
    }
    return all;
  }
};

TEST_F(run_on_disk, has_full_blocks_of_items_of_one_size_but_for_the_last) {
  for (std::size_t count : {1, 63, 64, 65, 6400, 10'001})
    for (std::size_t buffers : {2, 5, 16}) {
      std::vector<std::uint64_t> items(count);
      for (std::size_t i = 0; i < count; ++i) items[i] = i * 3;
      auto const r = write_numbers(items, 512, buffers);
      EXPECT_EQ(r.items(), count);
      EXPECT_EQ(r.bytes(), count * 8);
      ASSERT_EQ(r.entries().size(), (count + 63) / 64);
      for (std::size_t b = 0; b < r.entries().size(); ++b) {
        auto const& e = r.entries()[b];
        EXPECT_EQ(e.items, std::min<std::size_t>(64, count - b * 64));
        EXPECT_EQ(e.trigger, items[b * 64]);
        std::vector<std::uint64_t> block(e.id.length_bytes / 8);
        store.read(e.id, std::as_writable_bytes(std::span(block)))->wait();
        EXPECT_TRUE(std::equal(block.begin(), block.begin() + e.items,
                               items.begin() + static_cast<std::ptrdiff_t>(b * 64)));
      }
    }
  EXPECT_EQ(store.allocated_bytes(), 0U);
  EXPECT_EQ(memory.free_bytes(), memory.total_bytes());
}

TEST_F(run_on_disk, holds_records_of_every_length) {
  std::mt19937_64 random(7);
  std::vector<std::string> records(3000);
  for (auto& r : records)
    r = std::string(random() % 20 == 0 ? random() % 900 : random() % 40,
                    static_cast<char>(random() % 256));
  std::ranges::sort(records);
  for (std::size_t buffers : {2, 3, 8, 40}) {
    auto const r = write_lines(records, 1024, buffers);
    EXPECT_EQ(read_lines(r), records);
    EXPECT_LE(r.buffer_bytes(), 1024U);
    EXPECT_EQ(r.items(), records.size());
  }
}

TEST_F(run_on_disk, fills_its_blocks_even_through_two_buffers) {
  std::vector<std::string> const records(1000, std::string(16, 'x'));
  auto const r = write_lines(records, 1024, 2);
  EXPECT_LE(r.entries().size(), 25U);  // of 50 records each, rather than of one
}

TEST_F(run_on_disk, fills_its_blocks_although_a_record_may_take_more_than_half_of_one) {
  std::vector<std::string> records(1000, std::string(16, 'x'));
  records.emplace_back(800, 'y');
  EXPECT_LE(write_lines(records, 1024, 4).entries().size(), 27U);
}

TEST_F(run_on_disk, has_buffers_enough_for_records_that_waste_half_of_each_block) {
  // Short and long records by turns: no two of them fit in a block, by the least that is possible.
  std::vector<std::string> records;
  for (int i = 10; i < 99; ++i) {
    records.push_back(std::to_string(i));
    records.push_back(std::to_string(i));
    records.back().resize(4096 - 11 - 2, 'x');
  }
  for (std::size_t buffers : {4, 16, 30, 64})
    EXPECT_EQ(read_lines(write_lines(records, 4096, buffers)), records);
}

TEST_F(run_on_disk, packs_encoded_items_into_full_blocks_as_they_come) {
  std::vector<std::uint64_t> items(20'000);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = i * i;
  run_form const form{.block_bytes = 512, .held_bytes = 4096, .first_bytes = 300};
  numbers const family({});
  std::uint64_t bytes_of_rounds = 0;
  for (std::size_t buffers : {2, 3, 8}) {
    block::buffer_pool pool(memory, 512, buffers);
    run_writer<numbers> writer(family, store, store.threads(), memory, pool, equal_items::kept,
                               form);
    if (buffers == 8) {
      writer.write(std::as_bytes(std::span(items)));  // from where they lie, and not in rounds
    } else {
      write_rounds(family, numbers::view(items), 8, writer);
    }
    auto const r = writer.finish();
    EXPECT_EQ(pool.free_count(), pool.count());
    EXPECT_EQ(r.items(), items.size());
    EXPECT_EQ(r.bytes(), items.size() * 8);
    EXPECT_LT(r.disk_bytes(), r.bytes() / 2);
    EXPECT_EQ(r.buffer_bytes(), 4096U);
    EXPECT_EQ(r.entries().front().id.length_bytes, 320U);
    std::vector<std::uint64_t> out;
    for (std::size_t b = 0; b < r.entries().size(); ++b) {
      auto const& e = r.entries()[b];
      EXPECT_EQ(e.trigger, items[out.size()]);
      bool const inner = b > 0 && b + 1 < r.entries().size();
      EXPECT_GE(e.id.length_bytes, inner ? 448U : 64U);
      std::vector<std::byte> block(e.id.length_bytes);
      store.read(e.id, block)->wait();
      std::vector<std::uint64_t> decoded(e.items);
      ASSERT_TRUE(decode_keys(std::span<std::byte const>(block), std::span(decoded)));
      out.insert(out.end(), decoded.begin(), decoded.end());
    }
    EXPECT_EQ(out, items);
    if (buffers == 2) bytes_of_rounds = r.disk_bytes();
    EXPECT_NEAR(static_cast<double>(r.disk_bytes()), static_cast<double>(bytes_of_rounds),
                0.2 * static_cast<double>(bytes_of_rounds));
  }
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

TEST_F(run_on_disk, encodes_records_of_one_length_whatever_the_number_of_buffers) {
  constexpr std::size_t record = 20;
  std::vector<std::string> records(5000);
  for (std::size_t i = 0; i < records.size(); ++i)
    records[i] = "same for all " + std::to_string(1'000'000 + i);  // seven digits
  std::string bytes;
  for (auto const& r : records) bytes += r;
  lines const family(order, record);
  auto const items = family.block_view(std::as_bytes(std::span(bytes)), records.size());
  run_form const form{
      .block_bytes = 1024, .held_bytes = 1024, .first_bytes = 300, .coding = byte_coding::prefixes};
  for (std::size_t buffers : {2, 3, 7, 8, 16, 40}) {
    SCOPED_TRACE(buffers);
    block::buffer_pool pool(memory, 1024, buffers);
    run_writer<lines> writer(family, store, store.threads(), memory, pool, equal_items::kept, form);
    write_rounds(family, items, record, writer);
    auto const r = writer.finish();
    EXPECT_EQ(pool.free_count(), pool.count());
    EXPECT_EQ(r.items(), records.size());
    EXPECT_EQ(r.bytes(), bytes.size());
    EXPECT_LT(r.disk_bytes(), r.bytes());
    EXPECT_LE(r.entries().front().items, 300 / record) << "the first block is another length";
    std::string out;
    for (std::size_t b = 0; b < r.entries().size(); ++b) {
      auto const& e = r.entries()[b];
      std::vector<std::byte> block(e.id.length_bytes), content(e.items * record);
      store.read(e.id, block)->wait();
      if (e.content_bytes == 0)
        std::copy_n(block.begin(), content.size(), content.begin());
      else
        ASSERT_TRUE(decode_block(block, content, {e.items, record}));
      out.append(reinterpret_cast<char const*>(content.data()), content.size());
    }
    EXPECT_TRUE(out == bytes);
  }
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

TEST_F(run_on_disk, may_have_a_first_block_of_another_length) {
  std::vector<std::uint64_t> items(1000);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = i;
  numbers const family({});
  block::buffer_pool pool(memory, 512, 4);
  run_writer<numbers> writer(family, store, store.threads(), memory, pool, equal_items::kept,
                             {.first_bytes = 160});
  write_rounds(family, numbers::view(items), 8, writer);
  auto const r = writer.finish();
  ASSERT_EQ(r.entries().size(), 1 + (1000 - 20 + 63) / 64);
  EXPECT_EQ(r.entries()[0].items, 20U);
  EXPECT_EQ(r.entries()[1].items, 64U);
  EXPECT_EQ(r.entries()[1].trigger, 20U);
}

TEST(first_blocks, have_lengths_that_are_spread_evenly) {
  for (std::size_t runs : {5, 50, 500}) {
    std::vector<std::size_t> lengths;
    for (std::size_t r = 0; r < runs; ++r) lengths.push_back(staggered_bytes(1_MiB, r));
    std::ranges::sort(lengths);
    EXPECT_GE(lengths.front(), 1U);
    EXPECT_LE(lengths.back(), 1_MiB);
    for (std::size_t r = 1; r < runs; ++r)
      EXPECT_LT(lengths[r] - lengths[r - 1], 3 * 1_MiB / runs) << runs;
  }
}

TEST_F(run_on_disk, frees_its_blocks_and_the_memory_of_its_index) {
  std::vector<std::uint64_t> const items(1000, 1);
  {
    auto r = write_numbers(items, 512, 4);
    EXPECT_GT(r.index_bytes(), 0U);
    EXPECT_EQ(memory.free_bytes() + r.index_bytes(), memory.total_bytes());
    std::uint64_t const all = store.allocated_bytes();
    r.free_block(0);
    EXPECT_EQ(store.allocated_bytes(), all - 512);
    run<numbers> const moved(std::move(r));
    EXPECT_EQ(store.allocated_bytes(), all - 512);
    run<numbers> assigned(store, memory);
    assigned = write_numbers(items, 512, 4);
    assigned = run<numbers>(store, memory);
    EXPECT_EQ(store.allocated_bytes(), all - 512);
  }
  EXPECT_EQ(store.allocated_bytes(), 0U);
  EXPECT_EQ(memory.free_bytes(), memory.total_bytes());
}

TEST_F(run_on_disk, keeps_checksums_unless_the_storage_is_asked_not_to) {
  auto const in_memory = [](block_checksums checksums) {
    return storage_options{
        .disks = {disk_options("memory",
                               [](io::request_queue&) { return io::make_memory_file("memory"); })},
        .memory_bytes = 1_MiB,
        .threads = 1,
        .checksums = checksums};
  };
  storage careless(in_memory(block_checksums::none)), careful(in_memory(block_checksums::of_runs));
  EXPECT_EQ(store.options().checksums, block_checksums::of_runs);
  using entry = run<numbers>::entry;
  EXPECT_EQ(run<numbers>::entry_bytes(careless), sizeof(entry));
  EXPECT_EQ(run<numbers>::entry_bytes(careful), sizeof(entry) + 8);
  std::vector<std::byte> content(64, std::byte{5});
  run<numbers> without(careless, memory);
  without.append(careless.allocate(64, *careless.new_placement()), 8, 0, 0, content);
  EXPECT_FALSE(without.keeps_checksums());
  EXPECT_EQ(without.index_bytes(), sizeof(entry));
  run<numbers> with(careful, memory);
  with.append(careful.allocate(64, *careful.new_placement()), 8, 0, 0, content);
  EXPECT_TRUE(with.keeps_checksums());
  EXPECT_EQ(with.index_bytes(), sizeof(entry) + 8);
  run<numbers> const moved(std::move(with));
  moved.check_block(0, content);
  content[0] = std::byte{4};
  EXPECT_THROW(moved.check_block(0, content), corrupt_block);
}

TEST_F(run_on_disk, is_given_up_when_the_index_does_not_fit_in_memory) {
  std::vector<std::uint64_t> const items(10'000, 1);
  grant index = std::move(memory);
  memory = grant();
  index = grant();
  memory = store.memory().take(64_KiB, "buffers");
  index = store.memory().take(1000, "index");
  EXPECT_THROW(write(numbers({}), typed_view<std::uint64_t>(items), 8, 512, 8, index),
               budget_error);
  EXPECT_EQ(store.allocated_bytes(), 0U);
  EXPECT_EQ(memory.free_bytes(), memory.total_bytes());
  EXPECT_EQ(index.free_bytes(), index.total_bytes());
}

}  // namespace
}  // namespace outsize::detail
