// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Items, links and info have places of their own whatever the length, and all of it comes back
// from disk.

#include <outsize/block/typed_block.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/block_list.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>

namespace outsize::block {
namespace {

struct odd {
  std::array<char, 5> letters;
};
struct wide_info {
  double weight;
  std::uint32_t used;
};
struct byte_info {
  std::uint8_t used;
};

/// Fills every part of a block of each length and finds all of it unchanged: no two overlap.
template <typename Block>
void expect_parts_disjoint() {
  using item = typename Block::item;
  for (std::size_t length = Block::block_bytes_for(0); length < 400; ++length) {
    alignas(64) std::array<std::byte, 512> memory{};
    Block const block(std::span<std::byte>(memory).first(length));
    ASSERT_EQ(block.size(), Block::items_in(length)) << length;
    ASSERT_LE(Block::block_bytes_for(block.size()), length);
    ASSERT_GT(Block::block_bytes_for(block.size() + 1), length);
    std::ranges::fill(std::as_writable_bytes(block.items()), std::byte{1});
    std::ranges::fill(std::as_writable_bytes(block.links()), std::byte{2});
    std::ranges::fill(std::as_writable_bytes(std::span(&block.info(), 1)), std::byte{3});
    std::size_t counts[4] = {};
    for (std::byte b : memory) ++counts[std::to_integer<std::size_t>(b)];
    EXPECT_EQ(counts[1], block.size() * sizeof(item));
    EXPECT_EQ(counts[2], block.links().size() * sizeof(block_id));
    EXPECT_EQ(counts[3], sizeof(block.info()));
    for (std::size_t i = length; i < memory.size(); ++i) EXPECT_EQ(memory[i], std::byte{0});
  }
}

TEST(typed_block, gives_every_part_a_place_of_its_own_at_any_length) {
  expect_parts_disjoint<typed_block<odd, wide_info, 2>>();
  expect_parts_disjoint<typed_block<odd, byte_info, 1>>();
  expect_parts_disjoint<typed_block<double, byte_info, 3>>();
  expect_parts_disjoint<typed_block<char, wide_info, 1>>();
}

TEST(typed_block, is_all_items_if_it_has_neither_links_nor_info) {
  EXPECT_EQ(typed_block<double>::items_in(4096), 512U);
  EXPECT_EQ(typed_block<odd>::items_in(14), 2U);
  EXPECT_EQ(typed_block<odd>::block_bytes_for(3), 15U);
  EXPECT_EQ(typed_block<double>::items_in(0), 0U);
  EXPECT_EQ((typed_block<double, wide_info, 1>::items_in(31)), 0U);  // not even the rest fits
  EXPECT_EQ((typed_block<double, wide_info, 1>::items_in(32)), 0U);
  EXPECT_EQ((typed_block<double, wide_info, 1>::items_in(40)), 1U);
}

TEST(typed_block, is_a_range_of_its_items) {
  alignas(8) std::array<std::byte, 80> memory{};
  typed_block<std::uint64_t> const block(memory);
  std::iota(block.begin(), block.end(), 5U);
  EXPECT_EQ(block.size(), 10U);
  EXPECT_EQ(block[9], 14U);
  typed_block<std::uint64_t const> const same(memory);
  EXPECT_EQ(std::accumulate(same.begin(), same.end(), std::uint64_t{0}), 95U);
  static_assert(std::is_same_v<decltype(same[0]), std::uint64_t const&>);
}

TEST(typed_block, links_to_nowhere_in_memory_that_is_zero) {
  alignas(8) std::array<std::byte, 80> memory{};
  typed_block<char, no_info, 2> const block(memory);
  EXPECT_FALSE(block.links()[0]);
  EXPECT_FALSE(block.links()[1]);
  block.links()[1] = {.offset_bytes = 0, .disk = 0, .length_bytes = 80};
  EXPECT_TRUE(block.links()[1]);
}

// A list of lists: long blocks of items are linked, and short blocks hold the links to them.
TEST(typed_block, of_several_lengths_live_in_one_storage) {
  using leaf = typed_block<std::uint32_t, byte_info, 1>;
  using node = typed_block<block_id>;
  using io::make_memory_file;
  storage store({.disks = {disk_options("a", [](auto&) { return make_memory_file("a"); }),
                           disk_options("b", [](auto&) { return make_memory_file("b"); })},
                 .memory_bytes = 1_MiB,
                 .threads = 1});
  grant memory = store.memory().take(64_KiB, "test");
  block_list leaves(store, memory);
  block_list nodes(store, memory);
  buffer const place = memory.allocate(4096);
  std::size_t const lengths[] = {1024, 64, 4096, 256, 128};

  block_id first_leaf;
  for (std::size_t length : lengths) {
    leaf const block(place.bytes().first(length));
    std::iota(block.begin(), block.end(), static_cast<std::uint32_t>(length));
    block.info().used = static_cast<std::uint8_t>(block.size());
    block.links()[0] = std::exchange(first_leaf, leaves.append(length));
    store.write(first_leaf, block.bytes())->wait();
  }
  node const root(place.bytes().first(node::block_bytes_for(leaves.size())));
  ASSERT_EQ(root.size(), leaves.size());
  std::copy(leaves.begin(), leaves.end(), root.begin());
  store.write(nodes.append(root.bytes().size()), root.bytes())->wait();

  std::vector<block_id> from_root(leaves.size());
  store.read(nodes[0], root.bytes())->wait();
  std::copy(root.begin(), root.end(), from_root.begin());
  block_id next = first_leaf;
  for (std::size_t i = std::size(lengths); i-- > 0;) {
    EXPECT_EQ(next, from_root[i]);
    EXPECT_EQ(next.length_bytes, lengths[i]);
    leaf const block(place.bytes().first(next.length_bytes));
    store.read(next, block.bytes())->wait();
    EXPECT_EQ(block[block.size() - 1], lengths[i] + block.size() - 1);
    EXPECT_EQ(block.info().used, static_cast<std::uint8_t>(block.size()));
    next = block.links()[0];
  }
  EXPECT_FALSE(next);
}

}  // namespace
}  // namespace outsize::block
