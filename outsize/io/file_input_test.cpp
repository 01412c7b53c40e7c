// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/file_input.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/decorators/counting_file.hpp>
#include <outsize/io/decorators/faulty_file.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::io {
namespace {

using bytes = std::vector<std::byte>;

std::size_t const block = page_bytes();

bytes random_bytes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  bytes made(count);
  for (auto& one : made) one = static_cast<std::byte>(random());
  return made;
}

file_ptr file_of(bytes const& content, std::size_t alignment_bytes, bool own_thread = false) {
  auto made = make_memory_file("made", std::numeric_limits<std::uint64_t>::max(),
                               {.alignment_bytes = alignment_bytes, .own_thread = own_thread});
  auto const padded_bytes = round_up(content.size(), alignment_bytes);
  memory_budget budget(1_GiB);
  auto memory = budget.take(round_up(padded_bytes, page_bytes()) + page_bytes(), "test");
  auto buffer = memory.allocate(padded_bytes + 1);
  std::copy(content.begin(), content.end(), buffer.data());
  made->write(0, buffer.bytes().first(padded_bytes))->wait();
  made->resize(content.size());
  return made;
}

struct opened {
  opened(file_ptr source, std::size_t depth, std::uint64_t begin_bytes = 0,
         growth_listener on_growth = {})
      : stream(std::move(source), memory,
               {.block_bytes = block, .depth = depth, .on_growth = std::move(on_growth)},
               begin_bytes) {}
  memory_budget budget{1_GiB};
  grant memory = budget.take(64 * block, "test");
  file_input stream;
};

bytes all_of(input_stream& stream) {
  bytes found;
  for (auto view = stream.next(); !view.empty(); view = stream.next()) {
    found.insert(found.end(), view.begin(), view.end());
  }
  return found;
}

// Calls next() and read() as chance has it, into memory that is aligned half of the time.
bytes all_by_chance(input_stream& stream, std::mt19937_64& random) {
  memory_budget budget(1_GiB);
  auto memory = budget.take(32 * block, "test");
  auto buffer = memory.allocate(16 * block);
  bytes found;
  for (;;) {
    if (random() % 4 == 0) {
      auto const view = stream.next();
      if (view.empty()) return found;
      found.insert(found.end(), view.begin(), view.end());
      continue;
    }
    std::size_t const skip = random() % 2 ? 0 : random() % 64;
    std::size_t const wish = random() % 2 ? random() % (12 * block) : block * (random() % 12);
    auto const into = buffer.bytes().subspan(skip, wish);
    auto const count = stream.read(into);
    found.insert(found.end(), into.begin(), into.begin() + static_cast<std::ptrdiff_t>(count));
    if (count < wish) return found;
  }
}

TEST(file_input, gives_every_byte_for_sizes_around_the_blocks) {
  for (std::size_t alignment : {1UL, 512UL}) {
    for (std::size_t depth : {0UL, 1UL, 4UL}) {
      for (std::size_t size :
           {std::size_t{0}, std::size_t{1}, std::size_t{511}, std::size_t{512}, std::size_t{513},
            block - 1, block, block + 1, 4 * block, 5 * block, 17 * block + 100}) {
        auto const content = random_bytes(size, size);
        opened input(file_of(content, alignment), depth);
        EXPECT_EQ(input.stream.remaining_bytes(), size);
        EXPECT_EQ(all_of(input.stream), content) << size << " bytes, depth " << depth;
        EXPECT_EQ(input.stream.remaining_bytes(), 0U);
        EXPECT_TRUE(input.stream.next().empty());
      }
    }
  }
}

TEST(file_input, agrees_with_the_file_however_it_is_asked) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 60; ++round) {
    auto const content = random_bytes(random() % (40 * block), random());
    auto plan =
        std::make_shared<fault_plan>(fault_odds{.seed = random(),
                                                .interrupt = 0.1,
                                                .shorten = 0.2,
                                                .hold = 0.2,
                                                .max_delay = std::chrono::microseconds(50)});
    auto source = file_of(content, round % 2 ? 512 : 1, round % 3 == 0);
    auto const begin = content.empty() ? 0 : random() % content.size() * (random() % 2);
    opened input(std::make_unique<faulty_file>(std::move(source), plan), random() % 6, begin);
    bytes const expected(content.begin() + static_cast<std::ptrdiff_t>(begin), content.end());
    ASSERT_EQ(all_by_chance(input.stream, random), expected);
  }
}

TEST(file_input, reads_aligned_blocks_once_and_straight_to_their_place) {
  auto const content = random_bytes(10 * block + 700, 1);
  auto tally = std::make_shared<io_tally>();
  opened input(std::make_unique<counting_file>(file_of(content, 512), tally), 4);
  auto buffer = input.memory.allocate(20 * block);

  ASSERT_EQ(input.stream.read(buffer.bytes()), content.size());
  // The last request is for whole units.
  EXPECT_EQ(tally->reads(), (io_count{.requests = 11, .bytes = 10 * block + 1024, .attempts = 11}));
  EXPECT_TRUE(std::equal(content.begin(), content.end(), buffer.data()));
  EXPECT_TRUE(input.stream.next().empty());
}

TEST(file_input, goes_on_reading_between_two_large_reads) {
  auto const content = random_bytes(64 * block, 7);
  auto tally = std::make_shared<io_tally>();
  opened input(std::make_unique<counting_file>(file_of(content, 512), tally), 4);
  auto buffer = input.memory.allocate(16 * block);
  for (std::size_t done = 0; done < content.size(); done += 16 * block) {
    ASSERT_EQ(input.stream.read(buffer.bytes()), 16 * block);
    ASSERT_TRUE(std::equal(buffer.data(), buffer.data() + 16 * block,
                           content.begin() + static_cast<std::ptrdiff_t>(done)));
    auto const blocks = done / block + 16;
    EXPECT_EQ(tally->reads().requests, std::min<std::uint64_t>(blocks + 4, 64));
  }
  EXPECT_EQ(tally->reads().bytes, content.size());
}

TEST(file_input, uses_what_was_read_ahead_before_it_reads_past_it) {
  auto const content = random_bytes(32 * block, 2);
  auto tally = std::make_shared<io_tally>();
  opened input(std::make_unique<counting_file>(file_of(content, 512), tally), 2);
  ASSERT_EQ(input.stream.next().size(), block);
  auto buffer = input.memory.allocate(31 * block);
  ASSERT_EQ(input.stream.read(buffer.bytes()), 31 * block);
  EXPECT_EQ(tally->reads().bytes, content.size());
  EXPECT_TRUE(std::equal(content.begin() + static_cast<std::ptrdiff_t>(block), content.end(),
                         buffer.data()));
}

TEST(file_input, keeps_reading_ahead_under_small_reads) {
  auto const content = random_bytes(32 * block, 3);
  auto tally = std::make_shared<io_tally>();
  opened input(std::make_unique<counting_file>(file_of(content, 1), tally), 3);
  bytes few(block / 2 + 1);
  for (std::size_t taken = few.size(); taken < 20 * block; taken += few.size()) {
    ASSERT_EQ(input.stream.read(few), few.size());
    EXPECT_GE(tally->reads().requests, taken / block + 3);
  }
}

TEST(file_input, reports_a_file_that_was_cut_meanwhile_where_it_ends) {
  auto const content = random_bytes(12 * block, 4);
  for (bool direct : {false, true}) {
    auto source = file_of(content, 512);
    auto& same = *source;
    opened input(std::move(source), 1);
    ASSERT_EQ(input.stream.next().size(), block);
    same.resize(5 * block + 33);
    auto buffer = input.memory.allocate(12 * block);
    auto const wish = direct ? buffer.bytes() : buffer.bytes().subspan(1);
    EXPECT_THROW(input.stream.read(wish), changed_file);
    EXPECT_THROW(input.stream.read(wish), changed_file);  // not taken for the end
    EXPECT_THROW(input.stream.next(), changed_file);
  }
}

TEST(file_input, leaves_out_and_tells_of_what_is_appended_meanwhile) {
  auto const content = random_bytes(2 * block + 5, 5);
  for (bool direct : {false, true}) {
    for (bool listens : {false, true}) {
      auto source = file_of(content, 512);
      auto& same = *source;
      int told = 0;
      growth_listener listener;
      if (listens) listener = [&told](auto const&) { ++told; };
      opened input(std::move(source), 0, 0, listener);
      same.resize(9 * block);
      auto buffer = input.memory.allocate(12 * block);
      auto const wish = direct ? buffer.bytes() : buffer.bytes().subspan(1);
      if (!listens) {
        EXPECT_THROW(input.stream.read(wish), changed_file);
        continue;
      }
      EXPECT_EQ(input.stream.read(wish), content.size());
      EXPECT_TRUE(input.stream.next().empty());
      EXPECT_EQ(told, 1);
    }
  }
}

TEST(file_input, reports_a_failed_read_where_it_is_reached) {
  for (bool direct : {false, true}) {
    auto plan = std::make_shared<fault_plan>();
    plan->script(fault_point::read, 2, fault::fail(EIO));
    auto source = file_of(random_bytes(8 * block, 6), 512, true);
    opened input(std::make_unique<faulty_file>(std::move(source), plan), 3);
    auto buffer = input.memory.allocate(8 * block);
    try {
      if (direct) input.stream.read(buffer.bytes());
      all_of(input.stream);
      FAIL() << "no error";
    } catch (io_error const& error) {
      EXPECT_EQ(error.code().value(), EIO);
      EXPECT_EQ(error.path(), "made");
      EXPECT_EQ(error.offset_bytes(), 2 * block);
    }
    EXPECT_THROW(input.stream.next(), io_error);  // not skipped
    EXPECT_THROW(input.stream.read(buffer.bytes()), io_error);
  }
}

TEST(file_input, refuses_a_grant_that_is_too_small) {
  memory_budget budget(1_GiB);
  auto memory = budget.take(4 * block, "test");
  input_stream_options const options{.block_bytes = block, .depth = 4};
  EXPECT_EQ(input_stream_memory_bytes(options), 5 * block);
  EXPECT_THROW(file_input(file_of({}, 1), memory, options), budget_error);
}

}  // namespace
}  // namespace outsize::io
