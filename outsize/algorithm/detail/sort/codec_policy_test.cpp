// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/detail/sort/codec_policy.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <outsize/algorithm/detail/sort/family/record_items.hpp>
#include <outsize/algorithm/detail/sort/family/typed_items.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/kernel/byte_order.hpp>

namespace outsize::detail {
namespace {

constexpr std::size_t block_bytes = 16_KiB;
constexpr std::size_t first_bytes = 1000;
constexpr byte_order order{};

/// Forms for runs on a disk that nobody has measured.
struct policy_of_a_sort : testing::Test {
  storage store{{.disks = {disk_options(
                     "memory", [](io::request_queue&) { return io::make_memory_file("memory"); })},
                 .memory_bytes = 1_MiB,
                 .threads = 2}};
  grant memory = store.memory().take(1_MiB, "test");
  block::buffer_pool pool{memory, block_bytes, 4};

  template <typename Family>
  run_form form(Family const& family, typename Family::view const& sorted, run_codec codec) {
    codec_policy<Family> policy(family, store, codec);
    run_form const f = policy.form_for(sorted, pool, block_bytes, first_bytes);
    EXPECT_EQ(f.first_bytes, first_bytes);
    EXPECT_EQ(pool.free_count(), pool.count());
    if (f.is_encoded()) {
      EXPECT_EQ(f.held_bytes, policy.held_bytes(block_bytes));
    }
    return f;
  }

  run_form form_of_records(std::vector<std::string> const& records, run_codec codec) {
    std::vector<std::byte> place(256_KiB);
    packed_block block(place);
    for (auto const& r : records) EXPECT_TRUE(block.append(r));
    using family = record_items<byte_order>;
    return form(family(order, 0), family::view::of_packed(order, place, records.size()), codec);
  }
};

TEST_F(policy_of_a_sort, encodes_integer_keys_that_become_shorter) {
  using numbers = typed_items<std::uint64_t, std::less<>>;
  std::vector<std::uint64_t> dense(10'000), wide(10'000);
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i < dense.size(); ++i) dense[i] = i;
  for (auto& x : wide) x = random();
  std::ranges::sort(wide);
  numbers const family({});
  EXPECT_TRUE(form(family, numbers::view(dense), run_codec::automatic).is_encoded());
  EXPECT_FALSE(form(family, numbers::view(dense), run_codec::none).is_encoded());
  std::vector<std::uint64_t> const few(wide.begin(), wide.begin() + 3);
  EXPECT_FALSE(form(family, numbers::view(few), run_codec::automatic).is_encoded());
  EXPECT_TRUE(form(family, numbers::view(few), run_codec::always).is_encoded());
  EXPECT_GT(codec_policy<numbers>(family, store, run_codec::always).held_bytes(1024), 1024U);
  EXPECT_EQ(codec_policy<numbers>(family, store, run_codec::none).held_bytes(1024), 1024U);
}

TEST_F(policy_of_a_sort, leaves_out_prefixes_where_that_is_shortest) {
  std::mt19937_64 random(2);
  std::vector<std::string> records(2000);
  for (auto& r : records) {
    r = "https://example.org/";
    for (int i = 0; i < 6; ++i) r += static_cast<char>(random());
  }
  std::ranges::sort(records);
  auto const f = form_of_records(records, run_codec::automatic);
  EXPECT_TRUE(f.is_encoded());
  EXPECT_EQ(f.coding, byte_coding::prefixes);
  EXPECT_FALSE(form_of_records(records, run_codec::none).is_encoded());
}

TEST_F(policy_of_a_sort, takes_lz4_where_items_repeat_what_is_not_in_front) {
  std::mt19937_64 random(3);
  std::vector<std::string> records(2000);
  for (auto& r : records) {
    for (int i = 0; i < 6; ++i) r += static_cast<char>(random());
    r += std::string(60, 'x');
  }
  std::ranges::sort(records);
  for (auto const codec : {run_codec::automatic, run_codec::always}) {
    auto const f = form_of_records(records, codec);
    EXPECT_TRUE(f.is_encoded());
    EXPECT_EQ(f.coding, byte_coding::lz4);
  }
}

TEST_F(policy_of_a_sort, leaves_what_would_not_become_shorter) {
  std::mt19937_64 random(4);
  std::vector<std::string> records(1000);
  for (auto& r : records)
    for (int i = 0; i < 60; ++i) r += static_cast<char>(random());
  std::ranges::sort(records);
  EXPECT_FALSE(form_of_records(records, run_codec::automatic).is_encoded());
  EXPECT_TRUE(form_of_records(records, run_codec::always).is_encoded());
}

TEST_F(policy_of_a_sort, encodes_items_of_any_other_type_as_bytes) {
  auto const last_digits = [](std::uint64_t a, std::uint64_t b) { return a % 1000 < b % 1000; };
  using numbers = typed_items<std::uint64_t, decltype(last_digits)>;
  std::vector<std::uint64_t> same(10'000, 5);
  EXPECT_TRUE(form(numbers(last_digits), numbers::view(same), run_codec::automatic).is_encoded());
}

}  // namespace
}  // namespace outsize::detail
