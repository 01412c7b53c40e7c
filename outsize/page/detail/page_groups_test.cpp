// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Groups are dealt with in order, and as many of those to come have been asked for before as there
// is room for.

#include <outsize/page/detail/page_groups.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace outsize::detail {
namespace {

/// What is called for operations that need these pages: "+2" asks for page 2, "+2-4" for pages 2 to
/// 4 by one request, as is done with three or more; "2:7-9" deals with operations 7 and 8, which
/// need page 2.
std::string calls(std::string const& pages, page_row::ahead most) {
  std::string made;
  for_each_page_group(
      pages.size(), most,
      [&](std::size_t first) {
        std::size_t const end =
            std::min(pages.find_first_not_of(pages[first], first), pages.size());
        return page_group{static_cast<std::uint64_t>(pages[first] - '0'), end};
      },
      [&](std::span<std::uint64_t const> listed, page_row::ahead room) -> std::size_t {
        std::size_t count = 1;
        while (count < listed.size() && listed[count] == listed[0] + count) ++count;
        bool const is_run = count > 2;
        if ((is_run ? room.runs : room.pages) == 0) return 0;
        made += " +" + std::to_string(listed[0]);
        if (is_run) made += "-" + std::to_string(listed[0] + count - 1);
        return is_run ? count : 1;
      },
      [&](std::size_t first, page_group const& group) {
        made += " " + std::to_string(group.page) + ":" + std::to_string(first) + "-" +
                std::to_string(group.end);
      });
  return made;
}

TEST(page_groups, are_asked_for_ahead_of_their_use) {
  EXPECT_EQ(calls("1122257", {.pages = 2}), " +1 +2 1:0-2 +5 2:2-5 +7 5:5-6 7:6-7");
  EXPECT_EQ(calls("1122257", {.pages = 9}), " +1 +2 +5 +7 1:0-2 2:2-5 5:5-6 7:6-7");
}

TEST(page_groups, are_asked_for_one_by_one_where_there_is_no_room) {
  EXPECT_EQ(calls("1127", {.pages = 1}), " +1 1:0-2 +2 2:2-3 +7 7:3-4");
  EXPECT_EQ(calls("1127", {.pages = 0}), calls("1127", {.pages = 1}));
}

TEST(page_groups, are_read_together) {
  EXPECT_EQ(calls("1233789", {.runs = 2, .pages = 1}),
            " +1-3 +7-9 1:0-1 2:1-2 3:2-4 7:4-5 8:5-6 9:6-7");
  EXPECT_EQ(calls("1233789", {.runs = 1, .pages = 1}),
            " +1-3 1:0-1 2:1-2 3:2-4 +7-9 7:4-5 8:5-6 9:6-7");
  EXPECT_EQ(calls("123367", {.runs = 1, .pages = 1}), " +1-3 +6 1:0-1 2:1-2 3:2-4 6:4-5 +7 7:5-6");
}

TEST(page_groups, are_none_of_nothing) { EXPECT_EQ(calls("", {.pages = 3}), ""); }

TEST(page_groups, are_all_dealt_with_and_never_are_more_on_their_way) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    page_row::ahead const most{random() % 4 + 1, random() % 10 + 1};
    std::vector<std::uint64_t> pages(random() % 20'000);
    for (auto& page : pages) page = random() % 30'000;
    std::ranges::sort(pages);
    std::vector<std::size_t> asked_of_run;  // of each group asked for, how many its request was of
    std::size_t dealt = 0, next = 0;
    for_each_page_group(
        pages.size(), most,
        [&](std::size_t first) {
          auto const end = std::ranges::upper_bound(pages, pages[first]) - pages.begin();
          return page_group{pages[first], static_cast<std::size_t>(end)};
        },
        [&](std::span<std::uint64_t const> listed, page_row::ahead room) -> std::size_t {
          EXPECT_LE(room.runs, most.runs);
          EXPECT_LE(room.pages, most.pages);
          std::size_t const some = std::min<std::size_t>(listed[0] % 7 + 1, listed.size());
          if ((some > 1 ? room.runs : room.pages) == 0) return 0;
          asked_of_run.insert(asked_of_run.end(), some, some);
          return some;
        },
        [&](std::size_t first, page_group const& group) {
          ASSERT_LT(dealt, asked_of_run.size()) << "it was asked for";
          EXPECT_EQ(first, next);
          EXPECT_EQ(pages[first], group.page);
          next = group.end;
          ++dealt;
        });
    EXPECT_EQ(next, pages.size());
    EXPECT_EQ(dealt, asked_of_run.size());
  }
}

}  // namespace
}  // namespace outsize::detail
