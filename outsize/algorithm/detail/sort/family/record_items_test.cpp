// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Byte strings in chunks, packed blocks and triggers.

#include <outsize/algorithm/detail/sort/family/record_items.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/kernel/byte_order.hpp>

namespace outsize::detail {
namespace {

using family_type = record_items<byte_order>;
constexpr byte_order order{};

struct record_items_in_memory : testing::Test {
  memory_budget budget{8_MiB};
  grant memory = budget.take(8_MiB, "test");
  executor threads{3};
};

std::vector<std::string> records_of(record_view<byte_order> const& v) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < v.size(); ++i) {
    EXPECT_EQ(v.key(i).prefix, order.prefix(v.key(i).record()));
    all.emplace_back(v.key(i).record());
  }
  return all;
}

TEST_F(record_items_in_memory, sort_a_chunk_in_parts) {
  for (std::size_t item_bytes : {std::size_t{0}, std::size_t{5}}) {
    family_type const family(order, item_bytes);
    record_chunk<family_type> chunk(memory, 1_MiB);
    std::mt19937_64 random(3);
    std::vector<std::string> in(3000);
    std::uint64_t bytes = 0;
    for (auto& r : in) {
      r = std::string(item_bytes != 0 ? item_bytes : random() % 30, 'a');
      for (char& c : r) c = "a\0\xff"[random() % 3];
      bytes += r.size();
      ASSERT_TRUE(chunk.append(family, r));
    }
    EXPECT_EQ(chunk.count(), in.size());
    EXPECT_EQ(chunk.bytes(), bytes);
    auto const views = chunk.sort(family, threads, 3);
    ASSERT_EQ(views.size(), 3U);
    std::vector<std::string> all;
    for (std::size_t p = 0; p < 3; ++p) {
      auto want = records_of(views[p]);
      all.insert(all.end(), want.begin(), want.end());
      if (item_bytes != 0)  // others come with their repetitions, wherever these were
        want.assign(in.begin() + static_cast<std::ptrdiff_t>(p * 1000),
                    in.begin() + static_cast<std::ptrdiff_t>(p * 1000 + 1000));
      ASSERT_GT(want.size(), 900U);
      std::ranges::sort(want);
      EXPECT_EQ(records_of(views[p]), want);
      std::uint64_t sum = 0;
      for (std::size_t i = 100; i < 900; ++i) sum += want[i].size();
      EXPECT_EQ(views[p].bytes(100, 900), sum);
    }
    std::ranges::sort(in);
    std::ranges::sort(all);
    EXPECT_EQ(all, in);
  }
}

TEST_F(record_items_in_memory, of_one_length_are_sorted_where_they_were_read_to) {
  std::mt19937_64 random(4);
  for (std::size_t const item_bytes : {1, 5, 64, 100, 4096, 100'000})
    for (std::size_t const parts : {1, 3}) {
      SCOPED_TRACE(item_bytes);
      family_type const family(order, item_bytes);
      ASSERT_TRUE(record_chunk<family_type>::may_be_filled(family.item_bytes()));
      record_chunk<family_type> read(memory, 1_MiB), appended(memory, 1_MiB);
      for (int round = 0; round < 2; ++round) {  // a chunk is used again
        read.clear();
        appended.clear();
        auto room = read.room(family.item_bytes());
        ASSERT_EQ(room.size() % item_bytes, 0U);
        if (item_bytes == 64) {
          EXPECT_EQ(room.size() % page_bytes(), 0U);
        }
        std::size_t const records = std::min<std::size_t>(room.size() / item_bytes, 3000);
        for (std::size_t const some : {records / 2, records - records / 2}) {
          room = read.room(family.item_bytes());
          ASSERT_GE(room.size(), some * item_bytes);
          for (auto& b : room.first(some * item_bytes)) b = static_cast<std::byte>(random());
          auto const* const bytes = reinterpret_cast<char const*>(room.data());
          for (std::size_t i = 0; i < some; ++i)
            ASSERT_TRUE(appended.append(family, {bytes + i * item_bytes, item_bytes}));
          read.grow(family.item_bytes(), some);
        }
        EXPECT_EQ(read.count(), appended.count());
        EXPECT_EQ(read.bytes(), appended.bytes());
        EXPECT_EQ(read.largest_item_bytes(), item_bytes);
        auto const views = read.sort(family, threads, parts);
        auto const same = appended.sort(family, threads, parts);
        ASSERT_EQ(views.size(), same.size());
        for (std::size_t p = 0; p < views.size(); ++p)
          EXPECT_TRUE(records_of(views[p]) == records_of(same[p]));
      }
    }
  record_chunk<family_type> full(memory, 4096);
  EXPECT_EQ(full.room(84).size(), 40 * 84U) << "40 records, and as many entries";
  EXPECT_TRUE(full.room(5000).empty());
  EXPECT_FALSE(record_chunk<family_type>::may_be_filled(2_MiB));
  EXPECT_FALSE(record_chunk<family_type>::may_be_filled(0));
}

TEST_F(record_items_in_memory, are_kept_once_if_they_cannot_be_told_apart) {
  family_type const family(order, 0);
  record_chunk<family_type> chunk(memory, 2_MiB);
  std::mt19937_64 random(5);
  for (std::size_t const parts : {1, 3})
    for (equal_items const equals : {equal_items::kept, equal_items::made_one}) {
      chunk.clear();  // a chunk is used again
      std::vector<std::string> want;
      for (int i = 0; i < 50'000; ++i) {
        auto const kind = random() % 100;
        want.push_back(kind < 30   ? std::string()
                       : kind < 90 ? std::string(1 + random() % 60, 'b')
                                   : "number " + std::to_string(random() % 20'000));
        ASSERT_TRUE(chunk.append(family, want.back())) << "so many fit only if most are not kept";
      }
      ASSERT_TRUE(chunk.append(family, std::string(record_place::long_record, 'l')));
      want.emplace_back(record_place::long_record, 'l');
      EXPECT_EQ(chunk.count(), want.size());
      std::uint64_t bytes = 0;
      for (auto const& r : want) bytes += r.size();
      EXPECT_EQ(chunk.bytes(), bytes);
      std::vector<std::string> all;
      for (auto const& view : chunk.sort(family, threads, parts, equals)) {
        auto const part = records_of(view);
        EXPECT_TRUE(std::ranges::is_sorted(part));
        all.insert(all.end(), part.begin(), part.end());
      }
      std::ranges::sort(want);
      std::ranges::sort(all);
      if (equals == equal_items::made_one) {
        if (parts == 1) {
          EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
        }
        all.erase(std::ranges::unique(all).begin(), all.end());
        want.erase(std::ranges::unique(want).begin(), want.end());
      }
      EXPECT_TRUE(all == want);
    }
}

TEST_F(record_items_in_memory, are_the_same_whether_they_come_one_by_one_or_many_at_once) {
  family_type const family(order, 0);
  std::mt19937_64 random(6);
  std::vector<std::string> texts(200'000);
  for (auto& text : texts) text = std::string(random() % 8, 'a') + std::to_string(random() % 5000);
  std::vector<std::string_view> const in(texts.begin(), texts.end());
  record_chunk<family_type> one_by_one(memory, 1_MiB), many(memory, 1_MiB);
  std::size_t fitting = 0;
  while (fitting < in.size() && one_by_one.append(family, in[fitting])) ++fitting;
  ASSERT_LT(fitting, in.size());
  for (std::size_t done = 0; done < fitting;) {
    std::size_t const count = std::min<std::size_t>(1 + random() % 100, in.size() - done);
    std::size_t const taken = many.append(family, std::span(in).subspan(done, count));
    EXPECT_EQ(taken, std::min(count, fitting - done));
    done += taken;
  }
  EXPECT_EQ(many.count(), one_by_one.count());
  EXPECT_EQ(many.used_bytes(), one_by_one.used_bytes());
  EXPECT_EQ(records_of(many.sort(family, threads, 1)[0]),
            records_of(one_by_one.sort(family, threads, 1)[0]));
}

TEST_F(record_items_in_memory, that_come_again_late_are_found_by_the_sort) {
  constexpr std::size_t different = 10'000, often = 1000;  // more than are remembered, or counted
  family_type const family(order, 0);
  std::vector<std::string> want;
  for (int copy = 0; copy < 4; ++copy)
    for (std::size_t i = 0; i < different; ++i)
      want.push_back((i % 2 == 0 ? "even " : "an odd number, ") + std::to_string(i));
  want.insert(want.end(), often, "even 0");
  std::mt19937_64 random(8);
  std::ranges::shuffle(want, random);
  record_chunk<family_type> chunk(memory, 4_MiB);
  for (auto const& r : want) ASSERT_TRUE(chunk.append(family, r));
  auto const view = chunk.sort_whole(family);
  std::ranges::sort(want);
  EXPECT_TRUE(records_of(view) == want);
  std::set<char const*> places;
  for (std::size_t i = 0; i < view.size(); ++i) places.insert(view.key(i).data);
  EXPECT_GE(places.size(), different + often / 256);
  EXPECT_LE(places.size(), different + often / 256 + 2);
}

TEST_F(record_items_in_memory, come_again_and_again) {
  family_type const family(order, 0);
  record_chunk<family_type> chunk(memory, 256_KiB);
  std::size_t count = 0;
  while (chunk.append(family, "a line that is longer than its entry of the index")) ++count;
  EXPECT_GT(count, 256_KiB / 20) << "the index is what fills the chunk";
  auto const view = chunk.sort_whole(family);
  ASSERT_EQ(view.size(), count);
  EXPECT_EQ(view.key(0).data, view.key(100).data);
}

TEST_F(record_items_in_memory, fill_a_chunk_to_the_last_byte_and_no_further) {
  family_type const family(order, 0);
  record_chunk<family_type> chunk(memory, 4096);
  std::size_t const most = 4096 - sizeof(prefix_entry) - sizeof(length_type);
  EXPECT_FALSE(chunk.append(family, std::string(4096, 'x')));
  EXPECT_EQ(chunk.count(), 0U);
  EXPECT_TRUE(chunk.append(family, std::string(most, 'x')));
  EXPECT_FALSE(chunk.append(family, "yyyyy"));
  EXPECT_EQ(chunk.largest_item_bytes(), most);
  chunk.clear();
  EXPECT_EQ(chunk.largest_item_bytes(), 0U);
  std::size_t count = 0;
  while (chunk.append(family, "")) ++count;
  EXPECT_GE(count, 4096 / (sizeof(prefix_entry) + sizeof(length_type)));
  EXPECT_EQ(chunk.sort(family, threads, 3)[0].size(), count);
}

TEST_F(record_items_in_memory, may_be_longer_than_any_number_kept_beside_them) {
  family_type const family(order, 0);
  record_chunk<family_type> chunk(memory, 6_MiB);
  std::vector<std::string> want;
  for (std::size_t length :
       {1_MiB - 2, 1_MiB - 1, 1_MiB, 1_MiB + 1, std::size_t{0}, std::size_t{3}}) {
    want.emplace_back(length, static_cast<char>('z' - want.size()));
    ASSERT_TRUE(chunk.append(family, want.back()));
  }
  std::ranges::sort(want);
  EXPECT_TRUE(records_of(chunk.sort(family, threads, 3)[0]) == want);
}

TEST_F(record_items_in_memory, are_refused_if_their_length_takes_more_than_32_bits) {
  // Pages that nobody touches.
  memory_budget large_budget{10_GiB};
  grant large = large_budget.take(10_GiB, "test");
  buffer const zeros = large.allocate(4_GiB + 4096);
  family_type const family(order, 0);
  record_chunk<family_type> chunk(large, 5_GiB);
  for (std::uint64_t const length : {2_GiB + 1, 4_GiB, 4_GiB + 5})
    EXPECT_FALSE(chunk.append(family, {reinterpret_cast<char const*>(zeros.data()), length}));
  EXPECT_EQ(chunk.count(), 0U);
}

TEST_F(record_items_in_memory, have_triggers_that_are_exact_if_they_are_short) {
  family_type const family(order, 0);
  for (std::size_t length : {0, 1, 8, 29, 30, 31, 100}) {
    std::string const record(length, 'r');
    auto const trigger = family.make_trigger({order.prefix(record), record.data(), record.size()});
    EXPECT_EQ(family_type::trigger_is_exact(trigger), length <= trigger.start.size());
    auto const key = family.trigger_key(trigger);
    EXPECT_EQ(key.record(), record.substr(0, trigger.start.size()));
    EXPECT_EQ(key.prefix, order.prefix(record));
  }
}

TEST_F(record_items_in_memory, of_one_length_have_triggers_that_predict_by_their_prefix) {
  for (std::size_t const length : {30, 31, 1000}) {
    family_type const family(order, length);
    auto const trigger_of = [&](char first) {
      std::string const record = first + std::string(length - 1, 'r');
      return family.make_trigger({order.prefix(record), record.data(), record.size()});
    };
    EXPECT_EQ(family_type::trigger_is_exact(trigger_of('a')), length == 30);
    EXPECT_TRUE(family.trigger_before(trigger_of('a'), trigger_of('b')));
    EXPECT_FALSE(family.trigger_before(trigger_of('b'), trigger_of('a')));
    EXPECT_FALSE(family.trigger_before(trigger_of('a'), trigger_of('a')));
  }
}

TEST_F(record_items_in_memory, compare_by_prefix_and_then_by_all_bytes) {
  family_type const family(order, 0);
  auto const key = [](std::string_view r) {
    return record_key_ref{order.prefix(r), r.data(), r.size()};
  };
  EXPECT_TRUE(family.less()(key("abcdefgh"), key("abcdefghi")));
  EXPECT_TRUE(family.less()(key("abcdefghi"), key("abcdefghj")));
  EXPECT_FALSE(family.less()(key("b"), key("abcdefghj")));
  EXPECT_TRUE(family.equal(key("abcdefghi"), key("abcdefghi")));
  EXPECT_FALSE(family.equal(key("a"), key(std::string_view("a\0", 2))));
}

}  // namespace
}  // namespace outsize::detail
