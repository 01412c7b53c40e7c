// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The output stays behind the runs it is merged from if a merge by hand says so.

#include <outsize/algorithm/detail/sort/run_order.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <outsize/algorithm/detail/sort/family/typed_items.hpp>
#include <outsize/algorithm/detail/sort/in_place_run.hpp>
#include <outsize/base/units.hpp>
#include <outsize/testing/effort.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::detail {
namespace {

using numbers = typed_items<std::uint64_t, std::less<>>;
constexpr std::size_t block_items = 512;

class runs_in_a_room : public testing::Test {
 protected:
  void SetUp() override {
    room_.emplace(store_, room_layout{32_KiB, 512_KiB, 1_MiB}, folder_.path("out"));
  }

  /// Writes sorted items, beginning at a share of the way through the room of their own.
  void add_run(std::vector<std::uint64_t> items) {
    // Numbers travel as they are, so they need not be encoded; memory is of whole pages.
    buffer const place = memory_.allocate(round_up(items.size() * 8, page_bytes()));
    std::span const copy(reinterpret_cast<std::uint64_t*>(place.data()), items.size());
    std::ranges::copy(items, copy.begin());
    in_place_run<numbers> writer(family_, memory_, {store_, &*room_, items.size()});
    writer.write(std::as_bytes(copy), block_items, block_items);
    runs_.push_back(writer.finish());
    all_.push_back(std::move(items));
  }

  /// Whether each block has been read before the output reaches it, if the merge reads a block when
  /// its first item is the next.
  bool stays_behind_by_hand(std::uint64_t kept_bytes) const {
    struct item {
      std::uint64_t key;
      std::size_t run, place;
      auto operator<=>(item const&) const = default;
    };
    std::vector<item> merged;
    for (std::size_t r = 0; r < all_.size(); ++r)
      for (std::size_t i = 0; i < all_[r].size(); ++i) merged.push_back({all_[r][i], r, i});
    std::ranges::sort(merged);
    for (std::size_t rank = 0; rank < merged.size(); ++rank) {
      auto const& m = merged[rank];
      if (m.place % block_items != 0) continue;
      auto const id = runs_[m.run].entries()[m.place / block_items].id;
      if (room_->holds(id) && id.offset_bytes < kept_bytes + rank * 8) return false;
    }
    return true;
  }

  bool stays_behind(std::uint64_t kept_bytes = 0) const {
    return output_stays_behind(family_, std::span<run<numbers> const>(runs_), kept_bytes, *room_);
  }

  scratch::directory folder_;
  storage store_{{.disks = {folder_.path()}, .memory_bytes = 4_MiB, .threads = 1}};
  grant memory_ = store_.memory().take(4_MiB, "test");
  numbers family_{{}};
  std::optional<output_room> room_;
  std::vector<run<numbers>> runs_;
  std::vector<std::vector<std::uint64_t>> all_;
};

std::vector<std::uint64_t> ascending(std::uint64_t first, std::uint64_t step, std::size_t count) {
  std::vector<std::uint64_t> items(count);
  for (auto& item : items) item = std::exchange(first, first + step);
  return items;
}

TEST_F(runs_in_a_room, that_are_spread_alike_are_out_of_the_way) {
  for (std::uint64_t r = 0; r < 8; ++r) add_run(ascending(r, 8, 16 * block_items));
  for (auto const& r : runs_)
    for (auto const& e : r.entries()) EXPECT_TRUE(room_->holds(e.id));
  EXPECT_TRUE(stays_behind());
  EXPECT_TRUE(stays_behind_by_hand(0));
  EXPECT_FALSE(stays_behind(1_MiB));  // as if so much came from memory first
}

TEST_F(runs_in_a_room, that_come_one_after_the_other_are_in_the_way) {
  for (std::uint64_t r = 8; r-- > 0;) add_run(ascending(r << 32, 1, 16 * block_items));
  EXPECT_FALSE(stays_behind());
  EXPECT_FALSE(stays_behind_by_hand(0));
}

TEST_F(runs_in_a_room, are_needed_in_the_order_of_their_triggers) {
  add_run(ascending(1000, 1, 3 * block_items));
  add_run(ascending(0, 1, 3 * block_items));
  auto const order = blocks_in_order(family_, std::span<run<numbers> const>(runs_));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (auto const& b : order) pairs.emplace_back(b.run, b.block);
  EXPECT_EQ(pairs, (decltype(pairs){{1, 0}, {1, 1}, {0, 0}, {1, 2}, {0, 1}, {0, 2}}));
}

TEST_F(runs_in_a_room, are_judged_as_a_merge_by_hand_does) {
  auto const rounds = 20 + scratch::operations(40);
  std::size_t behind = 0, in_the_way = 0;
  for (std::size_t seed = 0; seed < rounds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    runs_.clear();
    all_.clear();
    room_.reset();
    std::uint64_t const lead = 4096 * (1 + random() % 24);
    room_.emplace(store_, room_layout{lead, 512_KiB, 1_MiB}, folder_.path("out"));
    // Keys of some bits, and runs whose distributions drift apart more or less.
    std::uint64_t const range = std::uint64_t{1} << (4 + random() % 40), drift = seed % 4;
    for (std::uint64_t r = 0; r < 8; ++r) {
      std::vector<std::uint64_t> items(8 * block_items + random() % 4096);
      for (auto& item : items) item = random() % range + drift * r * range / 64;
      std::ranges::sort(items);
      add_run(std::move(items));
    }
    bool const by_hand = stays_behind_by_hand(0);
    if (stays_behind()) {
      EXPECT_TRUE(by_hand);
      ++behind;
    }
    if (!by_hand) ++in_the_way;
  }
  EXPECT_GT(behind, 0U);
  EXPECT_GT(in_the_way, 0U);
}

}  // namespace
}  // namespace outsize::detail
