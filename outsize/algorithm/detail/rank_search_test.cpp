// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Every rank is found in few passes, with room for hardly any item and for all, in sequences of
// every order.

#include <outsize/algorithm/detail/rank_search.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <outsize/algorithm/item_order.hpp>

namespace outsize::detail {
namespace {

struct found {
  std::uint64_t value;
  int passes;
};

template <typename T, typename Less>
found search(std::vector<T> const& all, std::uint64_t rank, std::size_t room_items, Less less) {
  auto const family = family_of<T, Less>::make(less);
  using ranks = rank_search<std::remove_const_t<decltype(family)>>;
  std::vector<typename ranks::entry> room(room_items);
  ranks searching(family, room, rank);
  for (int passes = 1;; ++passes) {
    searching.begin_pass();
    for (auto const& item : all) searching.add(item);
    EXPECT_EQ(searching.seen(), all.size());
    if (auto const item = searching.end_pass())
      return {std::bit_cast<std::uint64_t>(*item), passes};
    if (passes == 100) ADD_FAILURE() << "rank " << rank;
    if (passes == 100) return {};
  }
}

std::vector<std::uint64_t> sequence_of(std::string const& kind, std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<std::uint64_t> all(count);
  for (auto& x : all) x = kind == "few" ? random() % 3 : kind == "equal" ? 7 : random();
  if (kind == "sorted") std::ranges::sort(all);
  if (kind == "reversed") std::ranges::sort(all, std::greater<>());
  return all;
}

TEST(rank_search, finds_every_rank_of_every_sequence) {
  for (std::string const kind : {"random", "sorted", "reversed", "few", "equal"})
    for (std::size_t const count : {1, 2, 63, 64, 65, 1000, 20'000}) {
      auto const all = sequence_of(kind, count);
      auto sorted = all;
      std::ranges::sort(sorted);
      for (std::size_t const room : {64, 65, 1024})
        for (std::size_t const rank : {std::size_t{0}, count / 3, count / 2, count - 1}) {
          auto const [value, passes] = search(all, rank, room, std::less<>());
          EXPECT_EQ(value, sorted[rank])
              << kind << ", rank " << rank << " of " << count << ", room for " << room;
          if (count < room / 2 * 2) {
            EXPECT_EQ(passes, 1);
          }
        }
    }
}

TEST(rank_search, needs_two_passes_for_as_many_items_as_it_says) {
  constexpr std::size_t room = 4096;  // 4096^1.5 / 6 = 43690
  for (std::string const kind : {"random", "sorted", "reversed", "few", "equal"}) {
    auto const all = sequence_of(kind, 43'000);
    for (std::size_t rank = 0; rank < all.size(); rank += 4'300)
      EXPECT_EQ(search(all, rank, room, std::less<>()).passes, 2) << kind << ", rank " << rank;
  }
}

TEST(rank_search, knows_descending_and_signed_and_floating_orders) {
  std::mt19937_64 random(2);
  std::vector<std::int64_t> signs(5000);
  std::vector<double> floats(5000);
  for (auto& x : signs) x = static_cast<std::int64_t>(random());
  for (auto& x : floats) x = static_cast<double>(static_cast<std::int64_t>(random()));
  auto const sign = search(signs, 17, 100, std::greater<>()).value;
  auto const floating = search(floats, 17, 100, std::less<>()).value;
  std::ranges::sort(signs, std::greater<>());
  std::ranges::sort(floats);
  EXPECT_EQ(std::bit_cast<std::int64_t>(sign), signs[17]);
  EXPECT_EQ(std::bit_cast<double>(floating), floats[17]);
}

}  // namespace
}  // namespace outsize::detail
