// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/page/detail/kept_blocks.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::detail {
namespace {

struct kept_block_rows : testing::Test {
  static constexpr std::size_t block_bytes = 1024;

  storage store{{.disks = {disk_options("none",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("none");
                                        })},
                 .memory_bytes = 1_MiB,
                 .threads = 1}};
  kept_kind const kind{.container = "test", .item_bytes = {8, 0}};
  std::shared_ptr<kept_file> file =
      kept_file::create(store, io::make_memory_file("file"), kind, {block_bytes});
  kept_blocks blocks{file, 0};

  void write(block::block_id id, std::byte value) {
    std::vector const content(id.length_bytes, value);
    blocks.write(id, content)->wait();
  }
  std::byte read(block::block_id id) {
    std::vector<std::byte> content(id.length_bytes);
    blocks.wait_for_block(id, *blocks.read(id, content));
    EXPECT_EQ(std::ranges::count(content, content[0]), id.length_bytes);
    return content[0];
  }
};

TEST_F(kept_block_rows, use_the_first_free_page) {
  std::vector<block::block_id> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(blocks.allocate(block_bytes));
  EXPECT_EQ(blocks.pages(), 5U);
  blocks.free(ids[3]);
  blocks.free(ids[1]);
  EXPECT_EQ(blocks.allocate(64).disk, 1U);
  EXPECT_EQ(blocks.allocate(64).disk, 3U);
  EXPECT_EQ(blocks.allocate(64).disk, 5U);
  EXPECT_EQ(blocks.alignment_bytes(), 1024U);
  EXPECT_EQ(blocks.disk_name(3), "file");
}

TEST_F(kept_block_rows, give_up_free_pages_at_the_end) {
  std::vector<block::block_id> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(blocks.allocate(block_bytes));
  blocks.free(ids[4]);
  blocks.free(ids[3]);
  blocks.free(ids[0]);
  blocks.trim();
  EXPECT_EQ(blocks.pages(), 3U);
  EXPECT_EQ(blocks.allocate(64).disk, 0U);
  EXPECT_EQ(blocks.allocate(64).disk, 3U);
}

TEST_F(kept_block_rows, leave_what_was_committed_where_it_is) {
  std::mt19937_64 random(1);
  std::map<std::uint64_t, std::pair<block::block_id, std::byte>> now, committed;
  for (int round = 0; round < 40; ++round) {
    for (int step = 0; step < 20; ++step) {
      if (random() % 2 == 0 || now.empty()) {
        auto const id = blocks.allocate(64 * (1 + random() % (block_bytes / 64)));
        auto const value = static_cast<std::byte>(random());
        ASSERT_TRUE(now.emplace(id.disk, std::pair(id, value)).second);
        write(id, value);
      } else {
        auto const some =
            std::next(now.begin(), static_cast<std::ptrdiff_t>(random() % now.size()));
        blocks.free(some->second.first);
        now.erase(some);
      }
      for (auto const& [page, block] : committed) ASSERT_EQ(read(block.first), block.second);
      for (auto const& [page, block] : now) ASSERT_EQ(read(block.first), block.second);
    }
    blocks.trim();
    file->commit({});
    committed = now;
  }
}

}  // namespace
}  // namespace outsize::detail
