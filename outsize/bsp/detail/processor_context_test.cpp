// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/detail/processor_context.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/bsp/linux/local_arena.hpp>
#include <outsize/testing/counted_storage.hpp>

namespace outsize::bsp::detail {
namespace {

using namespace literals;

TEST(arena_shape, has_pieces_of_a_64th_of_the_context) {
  EXPECT_EQ(shape_of(1_MiB).piece_bytes, 64_KiB);
  EXPECT_EQ(shape_of(16_MiB).piece_bytes, 256_KiB);
  EXPECT_EQ(shape_of(110_MiB).piece_bytes, 2_MiB);
  EXPECT_EQ(shape_of(4_GiB).piece_bytes, 2_MiB);
  EXPECT_EQ(shape_of(std::uint64_t{64} << 30).piece_bytes, 4_MiB);
  EXPECT_EQ(shape_of(1).context_bytes, 64_KiB);
  for (std::uint64_t bytes : {1_MiB + 5, 100_MiB, 3_GiB}) {
    arena_shape const shape = shape_of(bytes);
    EXPECT_LE(shape.context_bytes, bytes);
    EXPECT_EQ(shape.context_bytes % shape.piece_bytes, 0U);
    EXPECT_EQ(shape_of(shape.context_bytes).piece_bytes, shape.piece_bytes);
    EXPECT_GE(shape.arena_bytes, shape.context_bytes);
  }
}

/// A context whose pages are there as soon as they are entered.
struct lone_context {
  scratch::counted_storage disks;
  arena_shape shape;
  context* all = nullptr;
  local_arena* arena;
  context owned;

  explicit lone_context(std::uint64_t bytes)
      : shape(shape_of(bytes)), owned(disks.store, shape, make()) {
    all = &owned;
  }

  std::unique_ptr<arena_memory> make() {
    auto made = std::make_unique<local_arena>(
        shape, arena_owner{.context = this,
                           .enter =
                               [](void* to, std::uint64_t first, std::uint64_t pages) noexcept {
                                 auto& of = *static_cast<lone_context*>(to);
                                 of.all->want(first, pages);
                                 of.arena->populate(0, of.all->piece_count());
                                 of.all->want_nothing();
                                 return true;
                               },
                           .leave = [](void*, std::uint64_t, std::uint64_t) noexcept {},
                           .fail = [](void*, char const*) noexcept {}});
    arena = made.get();
    return made;
  }

  std::byte* allocate(std::size_t bytes) {
    return static_cast<std::byte*>(arena->heap().allocate(bytes));
  }
};

TEST(context, finds_the_grains_that_have_changed) {
  lone_context c(16_MiB);  // pieces of 256 KiB, 4 grains
  std::byte* const memory = c.allocate(512_KiB);
  ASSERT_EQ(memory, c.arena->bytes_of(0).data());
  EXPECT_EQ(c.all->used_pieces(), 2U);
  std::memset(memory, 0, 512_KiB);
  EXPECT_TRUE(c.all->changes(0).empty());  // zeros need no place
  EXPECT_TRUE(c.all->stored(0).empty());
  memory[0] = std::byte{1};
  memory[3 * 64_KiB + 5] = std::byte{2};
  EXPECT_EQ(c.all->changes(0), (std::vector<grain_run>{{0, 1}, {3, 1}}));
  EXPECT_TRUE(c.all->changes(1).empty());
  EXPECT_TRUE(c.all->changes(0).empty());  // as on disk now
  EXPECT_EQ(c.all->stored(0), (std::vector<grain_run>{{0, 1}, {3, 1}}));
  memory[64_KiB] = std::byte{3};
  memory[0] = std::byte{0};
  EXPECT_EQ(c.all->changes(0), (std::vector<grain_run>{{1, 1}}));
  EXPECT_EQ(c.all->stored(0), (std::vector<grain_run>{{1, 1}, {3, 1}}));
  memory[2 * 64_KiB] = std::byte{4};
  EXPECT_EQ(c.all->changes(0), (std::vector<grain_run>{{2, 1}}));
  EXPECT_EQ(c.all->stored(0), (std::vector<grain_run>{{1, 3}}));
}

TEST(context, leaves_alone_what_is_not_in_use) {
  lone_context c(16_MiB);
  std::byte* const first = c.allocate(64_KiB);
  std::byte* const second = c.allocate(64_KiB);
  std::memset(first, 1, 64_KiB);
  std::memset(second, 2, 64_KiB);
  EXPECT_EQ(c.all->changes(0), (std::vector<grain_run>{{0, 2}}));
  c.arena->heap().free(second);
  EXPECT_EQ(c.all->stored(0), (std::vector<grain_run>{{0, 1}}));
  std::memset(second, 3, 64_KiB);
  EXPECT_TRUE(c.all->changes(0).empty());
  c.arena->heap().free(first);
  EXPECT_FALSE(c.all->is_used(0));
  EXPECT_EQ(c.all->used_pieces(), 0U);
}

TEST(context, has_a_block_for_each_piece_written_until_it_is_forgotten) {
  lone_context c(16_MiB);
  c.allocate(1_MiB);
  block::block_id const all = c.all->place_of(1, {0, 4});
  block::block_id const part = c.all->place_of(1, {2, 1});
  EXPECT_EQ(all.length_bytes, 256_KiB);
  EXPECT_EQ(part.length_bytes, 64_KiB);
  EXPECT_EQ(part.offset_bytes, all.offset_bytes + 128_KiB);
  EXPECT_EQ(c.disks.store.allocated_bytes(), 256_KiB);
  c.all->forget(1);
  EXPECT_EQ(c.disks.store.allocated_bytes(), 0U);
  c.all->place_of(0, {0, 1});
}

TEST(context, leaves_alone_a_block_that_others_read) {
  lone_context c(16_MiB);
  std::byte* const memory = c.allocate(256_KiB);
  std::memset(memory, 1, 256_KiB);
  EXPECT_EQ(c.all->changes(0), (std::vector<grain_run>{{0, 4}}));
  block::block_id const before = c.all->place_of(0, {0, 4});
  {
    std::shared_ptr<shared_block const> const reader = c.all->block_of(0);
    EXPECT_TRUE(c.all->changes(0).empty());
    memory[64_KiB] = std::byte{2};
    EXPECT_EQ(c.all->changes(0), (std::vector<grain_run>{{0, 4}}));  // all of it, elsewhere
    EXPECT_NE(c.all->place_of(0, {0, 4}), before);
    EXPECT_EQ(reader->place(), before);
    EXPECT_EQ(c.disks.store.allocated_bytes(), 512_KiB);
  }
  EXPECT_EQ(c.disks.store.allocated_bytes(), 256_KiB);
  memory[64_KiB] = std::byte{3};
  EXPECT_EQ(c.all->changes(0), (std::vector<grain_run>{{1, 1}}));  // nobody reads it
}

TEST(context, tells_which_grains_of_a_range_are_to_be_saved) {
  lone_context c(16_MiB);
  std::byte* const memory = c.allocate(256_KiB);
  std::memset(memory, 1, 128_KiB);
  std::memset(memory + 128_KiB, 0, 128_KiB);
  EXPECT_FALSE(c.all->is_saved(0, {1, 1}));
  EXPECT_EQ(c.all->unsaved(0, {1, 2}), (std::vector<grain_run>{{1, 2}}));  // zeros too
  EXPECT_TRUE(c.all->is_saved(0, {1, 1}));
  EXPECT_FALSE(c.all->is_saved(0, {0, 2}));
  EXPECT_EQ(c.all->unsaved(0, {0, 2}), (std::vector<grain_run>{{0, 1}}));
  c.all->place_of(0, {0, 4});
  std::shared_ptr<shared_block const> const reader = c.all->block_of(0);
  EXPECT_TRUE(c.all->unsaved(0, {0, 2}).empty());
  EXPECT_EQ(c.all->block_of(0), reader);
  memory[5] = std::byte{7};
  memory[3 * 64_KiB] = std::byte{7};
  EXPECT_EQ(c.all->unsaved(0, {0, 1}), (std::vector<grain_run>{{0, 2}, {3, 1}}));
  EXPECT_EQ(c.all->block_of(0), nullptr);
  c.all->lose(0, {0, 1});
  EXPECT_FALSE(c.all->is_saved(0, {0, 1}));
  EXPECT_EQ(c.all->changes(0), (std::vector<grain_run>{{0, 1}}));
}

TEST(context, clears_all_but_some_grains) {
  lone_context c(16_MiB);
  std::byte* const memory = c.allocate(256_KiB);
  std::memset(memory, 1, 256_KiB);
  c.all->clear_but(0, std::vector<grain_run>{{1, 2}});
  EXPECT_EQ(memory[64_KiB - 1], std::byte{0});
  EXPECT_EQ(memory[64_KiB], std::byte{1});
  EXPECT_EQ(memory[3 * 64_KiB - 1], std::byte{1});
  EXPECT_EQ(memory[3 * 64_KiB], std::byte{0});
}

TEST(context, counts_pages_that_are_about_to_be_used) {
  lone_context c(16_MiB);
  c.all->want(64, 64);
  EXPECT_FALSE(c.all->is_used(0));
  EXPECT_TRUE(c.all->is_used(1));
  c.all->want_nothing();
  EXPECT_FALSE(c.all->is_used(1));
}

}  // namespace
}  // namespace outsize::bsp::detail
