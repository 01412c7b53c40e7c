// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/kernel/detail/typed_view.hpp>

#include <gtest/gtest.h>

#include <array>
#include <concepts>
#include <vector>

namespace outsize::detail {
namespace {

struct large {
  std::array<std::uint64_t, 3> words;
};

static_assert(std::same_as<typed_view<std::uint64_t>::key_type, std::uint64_t>);
static_assert(std::same_as<typed_view<large>::key_type, large const*>);

TEST(typed_view, shows_small_items_by_value_and_large_ones_where_they_lie) {
  std::vector<std::uint64_t> const small{3, 5, 8};
  typed_view<std::uint64_t> const values{std::span(small)};
  EXPECT_EQ(values.size(), 3U);
  EXPECT_EQ(values.key(1), 5U);
  EXPECT_EQ(values.bytes(1, 3), 16U);

  std::vector<large> const items{{{1, 2, 3}}, {{4, 5, 6}}};
  typed_view<large> const places{std::span(items)};
  EXPECT_EQ(places.key(1), items.data() + 1);
  EXPECT_EQ(places.items(1, 2).data(), items.data() + 1);
}

TEST(typed_view, copies_some_of_its_items) {
  std::vector<std::uint64_t> const items{3, 5, 8};
  typed_view<std::uint64_t> const view{std::span(items)};
  std::array<std::uint64_t, 2> copies{};
  auto* const to = reinterpret_cast<std::byte*>(copies.data());
  EXPECT_EQ(view.copy_items(1, 3, to), to + sizeof(copies));
  EXPECT_EQ(copies[0], 5U);
  EXPECT_EQ(copies[1], 8U);
}

}  // namespace
}  // namespace outsize::detail
