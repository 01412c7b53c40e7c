// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Rooms have the length that is planned, places far enough behind, and leave nothing.

#include <outsize/algorithm/detail/sort/output_room.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::detail {
namespace {

sort_plan plan_of(std::uint64_t runs, std::uint64_t passes = 1) {
  sort_plan plan;
  plan.runs = runs;
  plan.passes = passes;
  plan.run_bytes = 1_MiB;
  plan.block_bytes = 16_KiB;
  plan.held_bytes = 24_KiB;
  return plan;
}

constexpr full_block without_gaps{1_KiB, 16, 16_KiB};  // 64 Ki items in a run

TEST(room_layout, has_a_block_of_each_run_in_front_and_one_behind) {
  auto const all = lay_out_room(plan_of(10), without_gaps, 10_MiB);
  EXPECT_EQ(all, (room_layout{320_KiB, 10_MiB, 10_MiB + 560_KiB, 16_KiB}));
  auto const some_kept = lay_out_room(plan_of(10), without_gaps, 12_MiB);
  EXPECT_EQ(some_kept, (room_layout{2_MiB + 336_KiB, 10_MiB, 12_MiB + 576_KiB, 16_KiB}));
  EXPECT_EQ(lay_out_room(plan_of(10), without_gaps, 9_MiB)->spread, 9_MiB);
}

TEST(room_layout, is_none_where_it_would_not_do_or_not_pay) {
  EXPECT_FALSE(lay_out_room(plan_of(0), without_gaps, 1_MiB));
  EXPECT_FALSE(lay_out_room(plan_of(10, 2), without_gaps, 10_MiB));
  auto of_long_blocks = plan_of(10);
  of_long_blocks.held_bytes = 200_KiB;
  EXPECT_FALSE(lay_out_room(of_long_blocks, without_gaps, 10_MiB));
  EXPECT_FALSE(lay_out_room(plan_of(10), {3, 4_KiB, 16_KiB}, 10_MiB));    // space not used
  EXPECT_FALSE(lay_out_room(plan_of(10), {4, 64_KiB, 256_KiB}, 10_MiB));  // 16 items in a run
}

class output_rooms : public testing::Test {
 protected:
  std::size_t entries() const {
    auto const all = std::filesystem::directory_iterator(folder_.path());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  scratch::directory folder_;
  storage store_{{.disks = {folder_.path()}, .memory_bytes = 1_MiB, .threads = 1}};
};

TEST_F(output_rooms, have_places_far_enough_behind) {
  constexpr room_layout layout{256_KiB, 2_MiB, 3_MiB};
  std::uint64_t const seed = 3;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  output_room room(store_, layout, folder_.path("out"));
  std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
  std::vector<block::block_id> blocks;
  for (int i = 0; i < 100; ++i) {
    double const share = std::uniform_real_distribution<double>(0, 1)(random);
    auto const id = room.allocate(1 + random() % 16_KiB, share);
    ASSERT_TRUE(id);
    EXPECT_TRUE(room.holds(*id));
    EXPECT_GE(id->offset_bytes, 256_KiB + static_cast<std::uint64_t>(share * 2_MiB));
    EXPECT_LE(id->offset_bytes + id->length_bytes, 3_MiB);
    taken.emplace_back(id->offset_bytes, id->offset_bytes + id->length_bytes);
    blocks.push_back(*id);
  }
  std::ranges::sort(taken);
  for (std::size_t i = 1; i < taken.size(); ++i) EXPECT_LE(taken[i - 1].second, taken[i].first);
  EXPECT_EQ(store_.allocated_bytes(), 0U);
  EXPECT_EQ(entries(), 0U);
  for (auto const id : blocks) room.space().free(id);
}

TEST_F(output_rooms, hold_as_much_as_their_output_without_gaps) {
  output_room room(store_, {64_KiB, 1_MiB, 64_KiB + 1_MiB, 16_KiB}, folder_.path("out"));
  std::vector<block::block_id> blocks;
  for (int run = 0; run < 16; ++run)
    for (int place = 0; place < 4; ++place) {
      auto const id = room.allocate(16_KiB, (place + run / 16.01) / 4);
      ASSERT_TRUE(id) << run << " " << place;
      blocks.push_back(*id);
    }
  EXPECT_FALSE(room.allocate(4096, 0));
  for (auto const id : blocks) room.space().free(id);
}

TEST_F(output_rooms, hold_blocks_with_space_that_is_not_used) {
  constexpr std::size_t record = 5600, of_block = 5, of_run = 1000, runs = 10;
  constexpr full_block full{of_block, record, 28_KiB};
  sort_plan plan = plan_of(runs);
  plan.run_bytes = of_run * record;
  plan.block_bytes = plan.held_bytes = 32_KiB;
  output_room room(store_, *lay_out_room(plan, full, runs * plan.run_bytes), folder_.path("out"));
  std::vector<block::block_id> blocks;
  for (std::size_t run = 0; run < runs; ++run) {
    std::size_t count = 1 + run % of_block;  // as first blocks are of unequal length
    for (std::size_t item = 0; item < of_run; item += std::exchange(count, of_block)) {
      std::size_t const bytes = std::min(count, of_run - item) * record;
      auto const id = room.allocate(round_up(bytes, 4_KiB), static_cast<double>(item) / of_run);
      ASSERT_TRUE(id) << run << " " << item;
      blocks.push_back(*id);
    }
  }
  for (auto const id : blocks) room.space().free(id);
}

TEST_F(output_rooms, that_are_full_leave_the_rest_to_the_disks) {
  output_room room(store_, {64_KiB, 64_KiB, 160_KiB}, folder_.path("out"));
  run_places places(store_, &room, 100);
  auto const last = places.allocate(60_KiB, 50);
  EXPECT_TRUE(room.holds(last));
  auto const other = places.allocate(60_KiB, 50);
  EXPECT_FALSE(room.holds(other));
  EXPECT_EQ(other.disk, 0U);
  auto const first = places.allocate(16_KiB, 0);
  EXPECT_TRUE(room.holds(first));
  EXPECT_EQ(first.offset_bytes, 64_KiB);
  run_places elsewhere(store_);
  auto const without = elsewhere.allocate(4_KiB, 0);
  EXPECT_FALSE(room.holds(without));
  for (auto const id : {last, other, first, without}) room.space().free(id);
}

TEST_F(output_rooms, become_the_output) {
  std::unique_ptr<io::output_stream> out;
  {
    output_room room(store_, {0, 64_KiB, 128_KiB}, folder_.path("out"));
    auto memory = store_.memory().take(64_KiB, "test");
    buffer const bytes = memory.allocate(64_KiB);
    std::ranges::fill(bytes.bytes(), std::byte{'r'});
    auto const id = *room.allocate(64_KiB, 0);
    room.space().write(id, bytes.bytes())->wait();
    out = room.output({});
    std::ranges::fill(bytes.bytes(), std::byte{'o'});
    out->write(bytes.bytes());
    out->wait(bytes.bytes());
    room.space().free(id);
    EXPECT_EQ(entries(), 0U);
  }
  out->commit();
  EXPECT_EQ(scratch::read_file(folder_.path("out")), std::string(64_KiB, 'o'));
  EXPECT_EQ(entries(), 1U);
}

TEST_F(output_rooms, that_do_not_become_it_leave_what_was_there) {
  scratch::write_file(folder_.path("out"), "before");
  { output_room const room(store_, {0, 64_KiB, 128_KiB}, folder_.path("out")); }
  EXPECT_EQ(scratch::read_file(folder_.path("out")), "before");
  EXPECT_EQ(entries(), 1U);
  EXPECT_THROW(output_room(store_, {0, 64_KiB, 128_KiB}, folder_.path("no/such/out")), io_error);
}

}  // namespace
}  // namespace outsize::detail
