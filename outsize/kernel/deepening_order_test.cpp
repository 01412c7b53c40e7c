// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// What counts as a deepening order; byte_order_test, record_format_test and line_order_test say of
// each of them that it keeps what it promises, index_sort_test what it is good for.

#include <outsize/kernel/deepening_order.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <outsize/kernel/byte_order.hpp>

namespace outsize {
namespace {

/// By one word, whatever the rest is.
struct word_order {
  std::uint64_t prefix(std::string_view record) const noexcept { return record.size(); }
  int compare(std::string_view a, std::string_view b) const noexcept {
    return int{a.size() > b.size()} - int{a.size() < b.size()};
  }
  bool equal_keys(std::string_view a, std::string_view b) const noexcept {
    return a.size() == b.size();
  }
};

static_assert(deepening_order<byte_order>);
static_assert(!deepening_order<word_order>, "a word decides it");

TEST(key_depth, is_less_if_less_is_alike) {
  key_depth const nothing, some{.bytes = 9}, all{.key = 1};
  EXPECT_LT(nothing, some);
  EXPECT_LT(some, all);
  EXPECT_EQ(std::min({all, some, key_depth{.key = 1, .bytes = 2}}), some);
}

}  // namespace
}  // namespace outsize
