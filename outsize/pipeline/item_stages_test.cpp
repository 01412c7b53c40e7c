// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Ready stages sort, permute, pack and unpack the items of buffers.

#include <outsize/pipeline/item_stages.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <outsize/base/piece_reader.hpp>
#include <outsize/base/units.hpp>

namespace outsize::pipeline {
namespace {

TEST(item_stages, sort_and_permute_each_buffer_on_its_own) {
  memory_budget memory(1_MiB);
  std::mt19937 random(5);
  std::vector<std::uint32_t> seen;
  network n(memory);
  n.buffers({.buffer_bytes = 4096, .rounds = 9}) |
      stage("fill",
            [&](pooled_buffer& b) {
              b.resize_to<std::uint32_t>(300);
              for (auto& v : b.as<std::uint32_t>()) v = static_cast<std::uint32_t>(random() % 1000);
            }) |
      sort_items<std::uint32_t>() |
      permute_items<std::uint32_t>([](std::size_t i, std::size_t count) { return count - 1 - i; }) |
      on_items<std::uint32_t>("check", [&](std::span<std::uint32_t> items) {
        EXPECT_EQ(items.size(), 300U);
        EXPECT_TRUE(std::is_sorted(items.rbegin(), items.rend()));
        seen.insert(seen.end(), items.begin(), items.end());
      });
  n.run();
  EXPECT_EQ(seen.size(), 2700U);
}

TEST(item_stages, pack_and_unpack_any_number_of_items) {
  constexpr std::size_t in_a_buffer = 4096 / 8;
  for (std::size_t count : {std::size_t{0}, std::size_t{1}, in_a_buffer - 1, in_a_buffer,
                            in_a_buffer + 1, 5 * in_a_buffer + 7}) {
    for (std::size_t buffers : {1U, 3U}) {
      memory_budget memory(1_MiB);
      std::vector<std::uint64_t> in(count), out;
      std::iota(in.begin(), in.end(), 0);
      network n(memory, {.threads = 1});
      auto const packed = n.node(
          "pack", {.pools = {n.pool({.buffer_bytes = 4096, .count = buffers})}}, [&](ports& p) {
            packer<std::uint64_t> to(p);
            for (auto const v : in) EXPECT_TRUE(to.push(v));
            to.finish();
          });
      n.node("unpack", {.inputs = packed.outputs, .outputs = 0}, [&](ports& p) {
        for (unpacker<std::uint64_t> from(p); !from.empty(); ++from) out.push_back(*from);
      });
      n.run();
      EXPECT_EQ(out, in);
    }
  }
}

static_assert(piece_reader<unpacker<std::uint64_t>>);

TEST(item_stages, pack_and_unpack_many_items_at_a_time) {
  std::uint64_t const seed = 11;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (std::size_t count : {0U, 1U, 511U, 512U, 513U, 5000U}) {
    memory_budget memory(1_MiB);
    std::vector<std::uint64_t> in(count), out;
    std::iota(in.begin(), in.end(), 0);
    network n(memory, {.threads = 1});
    auto const packed =
        n.node("pack", {.pools = {n.pool({.buffer_bytes = 4096, .count = 2})}}, [&](ports& p) {
          packer<std::uint64_t> to(p);
          for (std::span<std::uint64_t const> rest(in); !rest.empty();) {
            auto const room = to.room();
            auto const some = rest.first(std::min<std::size_t>(
                {rest.size(), room.size(), static_cast<std::size_t>(random() % 100)}));
            std::ranges::copy(some, room.begin());
            EXPECT_TRUE(to.used(some.size()));
            rest = rest.subspan(some.size());
          }
          to.finish();
        });
    n.node("unpack", {.inputs = packed.outputs, .outputs = 0}, [&](ports& p) {
      for (unpacker<std::uint64_t> from(p); !from.empty();) {
        auto const some = from.pull().first(std::min<std::size_t>(from.pull().size(), 77));
        out.insert(out.end(), some.begin(), some.end());
        from.skip(some.size());
      }
    });
    n.run();
    EXPECT_EQ(out, in);
  }
}

/// Whether a stage that works on items of 24 bytes fails because of a buffer that holds 100.
bool refuses_a_part(stage s) {
  memory_budget memory(1_MiB);
  network n(memory);
  n.buffers({.buffer_bytes = 4096, .rounds = 1}) |
      stage("fill", [](pooled_buffer& b) { b.resize(100); }) | std::move(s);
  try {
    n.run();
  } catch (stage_error const& e) {
    EXPECT_THROW(e.rethrow_nested(), format_error);
    return e.stage_name() == "items";
  }
  return false;
}

TEST(item_stages, refuse_a_part_of_an_item) {
  using item = std::array<char, 24>;
  EXPECT_TRUE(refuses_a_part(sort_items<item>({}, "items")));
  EXPECT_TRUE(refuses_a_part(on_items<item>("items", [](std::span<item>) {})));
  EXPECT_TRUE(
      refuses_a_part(permute_items<item>([](std::size_t i, std::size_t) { return i; }, "items")));
  EXPECT_FALSE(refuses_a_part(sort_items<std::uint32_t>({}, "items")));
}

}  // namespace
}  // namespace outsize::pipeline
