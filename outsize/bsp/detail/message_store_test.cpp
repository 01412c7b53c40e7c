// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/detail/message_store.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/counted_storage.hpp>
#include <outsize/testing/faulty_storage.hpp>

namespace outsize::bsp::detail {
namespace {

using namespace literals;
using ticket = message_store::ticket;

std::vector<std::byte> random_bytes(std::mt19937_64& random, std::size_t count) {
  std::vector<std::byte> bytes(count);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random()); });
  return bytes;
}

/// Mostly short, at times longer than several blocks.
std::size_t random_length(std::mt19937_64& random) {
  switch (random() % 4) {
    case 0:
      return random() % 10;
    case 1:
      return random() % 2'000;
    case 2:
      return random() % 30'000;
    default:
      return random() % 100'000;
  }
}

struct sent_message {
  ticket where;
  std::vector<std::byte> bytes;
  int readers;
};

TEST(message_store, gives_back_all_that_it_took) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    scratch::counted_storage disks(1_MiB);
    {
      message_store store(disks.store, 5, 1, 256_KiB);
      std::vector<sent_message> sent;
      for (int step = 0; step < 400; ++step) {
        if (random() % 5 < 3 || sent.empty()) {
          int const readers = random() % 4 == 0 ? 3 : 1;
          std::vector<std::byte> bytes = random_bytes(random, random_length(random));
          ticket const where = store.put(static_cast<std::uint32_t>(random() % 5), bytes,
                                         static_cast<std::uint32_t>(readers));
          sent.push_back({where, std::move(bytes), readers});
        } else {
          sent_message& one = sent[random() % sent.size()];
          if (random() % 8 == 0) {
            store.drop(one.where);
          } else {
            std::vector<std::byte> got(one.bytes.size());
            store.get(one.where, got);
            ASSERT_EQ(got, one.bytes);
          }
          if (--one.readers == 0) {
            std::swap(one, sent.back());
            sent.pop_back();
          }
        }
      }
      EXPECT_GT(store.written_bytes(), 0U);
      EXPECT_GT(store.read_bytes(), 0U);
    }
    EXPECT_EQ(disks.store.allocated_bytes(), 0U);
    EXPECT_EQ(disks.store.memory().free_bytes(), disks.store.memory().total_bytes());
  }
}

/// The same bytes as spans of random lengths.
template <typename Byte>
std::vector<std::span<Byte>> cut(std::span<Byte> all, std::mt19937_64& random) {
  std::vector<std::span<Byte>> pieces;
  while (!all.empty()) {
    std::size_t const length = std::min<std::size_t>(all.size(), random() % 20'000);
    pieces.push_back(all.first(length));
    all = all.subspan(length);
  }
  return pieces;
}

TEST(message_store, takes_and_gives_bytes_in_pieces) {
  std::mt19937_64 random(7);
  scratch::counted_storage disks(1_MiB);
  {
    message_store store(disks.store, 2, 1, 256_KiB);
    std::vector<sent_message> sent;
    for (int i = 0; i < 60; ++i) {
      std::vector<std::byte> bytes = random_bytes(random, random_length(random));
      auto const pieces = cut(std::span<std::byte const>(bytes), random);
      ticket const where = store.put(static_cast<std::uint32_t>(i % 2), pieces, 2);
      sent.push_back({where, std::move(bytes), 2});
    }
    for (int reader = 0; reader < 2; ++reader) {
      for (sent_message const& one : sent) {
        std::vector<std::byte> got(one.bytes.size());
        store.get(one.where, cut(std::span<std::byte>(got), random));
        ASSERT_EQ(got, one.bytes);
      }
    }
  }
  EXPECT_EQ(disks.store.allocated_bytes(), 0U);
}

TEST(message_store, writes_nothing_while_there_is_room) {
  scratch::counted_storage disks(1_MiB);
  message_store store(disks.store, 4, 1, 512_KiB);
  std::mt19937_64 random(1);
  std::vector<std::byte> const bytes = random_bytes(random, 300_KiB);
  std::vector<std::byte> got(bytes.size());
  for (std::uint32_t round = 0; round < 10; ++round) {
    store.get(store.put(round % 4, bytes), got);
    EXPECT_EQ(got, bytes);
  }
  EXPECT_EQ(disks.writes(), 0U);
}

TEST(message_store, writes_and_reads_each_block_once) {
  scratch::counted_storage disks(1_MiB);
  message_store store(disks.store, 2, 1, 256_KiB);
  std::mt19937_64 random(2);
  std::vector<std::byte> const bytes = random_bytes(random, 4_MiB);
  ticket const where = store.put(1, bytes);
  std::vector<std::byte> got(bytes.size());
  store.get(where, got);
  EXPECT_EQ(got, bytes);
  std::uint64_t const blocks = bytes.size() / store.buffer_bytes();
  EXPECT_LE(disks.writes(), blocks);
  EXPECT_GE(disks.writes(), blocks - 256_KiB / store.buffer_bytes());
  EXPECT_EQ(disks.reads(), disks.writes());
}

TEST(message_store, has_open_blocks_for_more_destinations_than_buffers) {
  scratch::counted_storage disks(1_MiB);
  message_store store(disks.store, 500, 1, 256_KiB);
  std::mt19937_64 random(3);
  std::vector<sent_message> sent;
  for (std::uint32_t i = 0; i < 2'000; ++i) {
    std::vector<std::byte> bytes = random_bytes(random, random() % 200);
    ticket const where = store.put(i % 500, bytes);
    sent.push_back({where, std::move(bytes), 1});
  }
  for (sent_message const& one : sent) {
    std::vector<std::byte> got(one.bytes.size());
    store.get(one.where, got);
    ASSERT_EQ(got, one.bytes);
  }
}

TEST(message_store, serves_several_threads) {
  scratch::counted_storage disks(2_MiB);
  message_store store(disks.store, 3, 4, 512_KiB);
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&store, seed] {
      std::mt19937_64 random(seed);
      std::vector<sent_message> sent;
      for (int step = 0; step < 100; ++step) {
        std::vector<std::byte> bytes = random_bytes(random, random_length(random));
        ticket const where = store.put(static_cast<std::uint32_t>(random() % 3), bytes);
        sent.push_back({where, std::move(bytes), 1});
        if (random() % 3 != 0) continue;
        sent_message& one = sent[random() % sent.size()];
        std::vector<std::byte> got(one.bytes.size());
        store.get(one.where, got);
        EXPECT_EQ(got, one.bytes);
        std::swap(one, sent.back());
        sent.pop_back();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// A block with random bytes on disk.
std::shared_ptr<shared_block const> written_block(storage& store,
                                                  std::span<std::byte const> bytes) {
  std::unique_ptr<block::placement> const where = store.new_placement();
  block::block_id const place = store.allocate(bytes.size(), *where);
  store.write(place, bytes)->wait();
  return std::make_shared<shared_block>(store, place);
}

TEST(message_store, reads_what_is_lent_where_it_lies) {
  std::mt19937_64 random(1);
  scratch::counted_storage disks(1_MiB);
  {
    message_store store(disks.store, 4, 1, 256_KiB);
    std::vector<std::byte> const first = random_bytes(random, 192_KiB);
    std::vector<std::byte> const second = random_bytes(random, 64_KiB);
    auto one = written_block(disks.store, first);
    auto two = written_block(disks.store, second);
    std::uint64_t const writes = disks.writes();
    std::vector<lent_stretch> stretches{{std::move(one), 70'001, 192_KiB - 70'001},
                                        {std::move(two), 0, 50'003}};
    ticket const where = store.lend(2, stretches, 3);
    ticket const short_one = store.lend(2, std::span(stretches).first(1));
    stretches.clear();
    std::vector<std::byte> expected(first.begin() + 70'001, first.end());
    ASSERT_EQ(short_one.length_bytes, expected.size());
    expected.insert(expected.end(), second.begin(), second.begin() + 50'003);
    ASSERT_EQ(where.length_bytes, expected.size());
    for (int reader = 0; reader < 2; ++reader) {
      store.prefetch(where);
      std::vector<std::byte> got(expected.size());
      std::span<std::byte> const pieces[] = {std::span(got).first(7'777),
                                             std::span(got).subspan(7'777)};
      store.get(where, pieces);
      EXPECT_EQ(got, expected);
    }
    EXPECT_EQ(disks.writes(), writes);
    store.drop(short_one);
    EXPECT_GT(disks.store.allocated_bytes(), 0U);
    store.drop(where);  // the last reader
    EXPECT_EQ(disks.store.allocated_bytes(), 0U);
    store.lend(2, std::array{lent_stretch{written_block(disks.store, second), 1, 10'000}});
  }
  EXPECT_EQ(disks.store.allocated_bytes(), 0U);  // though it was not taken
}

TEST(message_store, tells_of_faults_and_leaves_nothing) {
  int failed = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    scratch::faulty_storage disks(seed % 2 == 0 ? scratch::failing_or_late(seed)
                                                : scratch::late(seed));
    try {
      message_store store(disks.store, 3, 1, 256_KiB);
      for (int step = 0; step < 10; ++step) {
        std::vector<std::byte> const first = random_bytes(random, 200'000);
        std::vector<std::byte> const second = random_bytes(random, 100'000);
        ticket const where = store.put(0, first);
        ticket const other = store.put(1, second);
        std::vector<std::byte> got(first.size());
        store.get(where, got);
        ASSERT_EQ(got, first);
        got.resize(second.size());
        store.get(other, got);
        ASSERT_EQ(got, second);
      }
    } catch (io_error const&) {
      ++failed;
    }
    EXPECT_EQ(disks.store.allocated_bytes(), 0U);
  }
  EXPECT_GT(failed, 10);
  EXPECT_LE(failed, 15);
}

TEST(message_store, tells_of_a_full_disk) {
  scratch::faulty_storage disks({}, 512_KiB);
  message_store store(disks.store, 1, 1, 256_KiB);
  std::vector<std::byte> const bytes(2_MiB, std::byte{1});
  EXPECT_THROW(store.put(0, bytes), io_error);
  EXPECT_THROW(store.put(0, bytes), io_error);
}

}  // namespace
}  // namespace outsize::bsp::detail
