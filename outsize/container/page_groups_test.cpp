// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Groups are dealt with in order, and those of the window have been asked for before.

#include <outsize/container/page_groups.hpp>

#include <gtest/gtest.h>

#include <string>

namespace outsize::detail {
namespace {

/// What is called for operations that need these pages: "+2" asks for page 2, "2:7-9" deals with
/// operations 7 and 8, which need it.
std::string calls(std::string const& pages, std::size_t window) {
  std::string made;
  for_each_page_group(
      pages.size(), window,
      [&](std::size_t first) {
        std::size_t const end =
            std::min(pages.find_first_not_of(pages[first], first), pages.size());
        made += std::string(" +") + pages[first];
        return page_group{static_cast<std::uint64_t>(pages[first] - '0'), end};
      },
      [&](std::size_t first, page_group const& group) {
        made += " " + std::to_string(group.page) + ":" + std::to_string(first) + "-" +
                std::to_string(group.end);
      });
  return made;
}

TEST(page_groups, are_asked_for_ahead_of_their_use) {
  EXPECT_EQ(calls("1122257", 2), " +1 +2 1:0-2 +5 2:2-5 +7 5:5-6 7:6-7");
  EXPECT_EQ(calls("1122257", 9), " +1 +2 +5 +7 1:0-2 2:2-5 5:5-6 7:6-7");
}

TEST(page_groups, are_asked_for_one_by_one_where_there_is_no_room) {
  EXPECT_EQ(calls("1127", 1), " +1 1:0-2 +2 2:2-3 +7 7:3-4");
  EXPECT_EQ(calls("1127", 0), calls("1127", 1));
}

TEST(page_groups, are_none_of_nothing) { EXPECT_EQ(calls("", 3), ""); }

}  // namespace
}  // namespace outsize::detail
