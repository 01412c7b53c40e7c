// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/detail/sort/coding_trial.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include <outsize/algorithm/detail/sort/family/record_items.hpp>
#include <outsize/algorithm/detail/sort/family/typed_items.hpp>
#include <outsize/kernel/byte_order.hpp>

namespace outsize::detail {
namespace {

using bytes = std::vector<std::byte>;
constexpr byte_order order{};
using lines = record_items<byte_order>;

/// Records in a packed block, sorted if they are given so.
lines::view view_of(bytes& place, std::vector<std::string> const& records) {
  place.resize(1 << 20);
  packed_block block(place);
  for (auto const& r : records) EXPECT_TRUE(block.append(r));
  return lines::view::of_packed(order, place, records.size());
}

TEST(coding_trial, samples_records_from_all_of_a_run) {
  std::vector<std::string> records;
  for (int i = 0; i < 4000; ++i) records.push_back("record " + std::to_string(10'000 + i));
  bytes all, place(4096);
  lines const family(order, 0);
  auto const sample = sample_items(family, view_of(all, records), place);
  EXPECT_EQ(sample.layout.item_bytes, 0U);
  EXPECT_GT(sample.content.size(), 3500U);
  auto const in_sample = lines::view::of_packed(order, sample.content, sample.layout.items);
  EXPECT_EQ(in_sample.key(0).record(), records[0]);
  bool from_the_end = false;
  for (std::size_t i = 1; i < in_sample.size(); ++i) {
    EXPECT_LT(in_sample.key(i - 1).record(), in_sample.key(i).record());
    from_the_end |= in_sample.key(i).record() == records[3000];
  }
  EXPECT_TRUE(from_the_end);
}

TEST(coding_trial, takes_all_of_a_short_run_and_nothing_of_one_too_long) {
  bytes all, place(256);
  lines const family(order, 0);
  auto const some = sample_items(family, view_of(all, {"a", "b", "c", "d"}), place);
  EXPECT_EQ(some.layout.items, 4U);
  EXPECT_EQ(some.content.size(), packed_bytes(4, 4));
  EXPECT_EQ(some.bytes_of_items, 4U);
  EXPECT_EQ(some.plain_share(), packed_bytes(4, 4) / 4.0);
  auto const none = sample_items(family, view_of(all, {std::string(1000, 'x')}), place);
  EXPECT_EQ(none.layout.items, 0U);
  EXPECT_TRUE(none.content.empty());
  EXPECT_EQ(none.plain_share(), 1);
  EXPECT_EQ(try_coding(byte_coding::lz4, none.content, none.layout, all).encoded_share, 1);
}

TEST(coding_trial, samples_items_of_one_type) {
  std::vector<std::uint64_t> items(5000);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = i;
  typed_items<std::uint64_t, std::greater<>> const family({});
  bytes place(800);
  auto const sample = sample_items(family, typed_view<std::uint64_t>(items), place);
  EXPECT_EQ(sample.layout.items, 100U);
  EXPECT_EQ(sample.content.size(), 800U);
  std::vector<std::uint64_t> taken(100);
  std::memcpy(taken.data(), sample.content.data(), 800);
  for (std::size_t i = 0; i < 25; ++i) {
    EXPECT_EQ(taken[i], i);
    EXPECT_EQ(taken[75 + i], 3750 + i);
  }
}

TEST(coding_trial, tells_what_integer_keys_come_to) {
  std::vector<std::uint64_t> items(100'000);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = 3 * i;
  bytes code(8192), place(8192);
  auto const trial = try_key_codec(std::span<std::uint64_t const>(items), code, place);
  EXPECT_LT(trial.encoded_share, 0.1);
  EXPECT_GT(trial.encoding_seconds, 0);
  EXPECT_GT(trial.decoding_seconds, 0);
  EXPECT_LT(trial.decoding_seconds, 1);
  items.clear();
  EXPECT_EQ(try_key_codec(std::span<std::uint64_t const>(items), code, place).encoded_share, 1);
}

TEST(coding_trial, tells_what_a_coding_leaves_and_takes) {
  bytes same(100'000, std::byte{'x'}), scratch(100'000), noise(100'000);
  std::mt19937_64 random(1);
  for (auto& b : noise) b = static_cast<std::byte>(random());
  for (byte_coding const coding : byte_codings) {
    auto const good = try_coding(coding, same, {1000, 100}, scratch);
    EXPECT_LT(good.encoded_share, 0.1);
    EXPECT_GT(good.encoding_seconds, 0);
    EXPECT_GT(good.decoding_seconds, 0);
    EXPECT_EQ(same, bytes(100'000, std::byte{'x'}));
    auto const bad = try_coding(coding, noise, {1000, 100}, scratch);
    EXPECT_EQ(bad.encoded_share, 1);
  }
}

}  // namespace
}  // namespace outsize::detail
