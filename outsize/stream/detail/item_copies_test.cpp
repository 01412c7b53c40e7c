// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Copies stay as they are when the items that they were made of are gone.
#include <outsize/stream/detail/item_copies.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <deque>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <outsize/stream/operators/adjacent.hpp>
#include <outsize/stream/operators/enumerate.hpp>

namespace outsize::stream::detail {
namespace {

using view = std::string_view;

static_assert(std::is_same_v<kept_form_t<int>, int>);
static_assert(std::is_same_v<kept_form_t<view>, std::string>);
static_assert(std::is_same_v<kept_form_t<std::pair<view, int>>, std::pair<std::string, int>>);
static_assert(std::is_same_v<kept_form_t<std::tuple<int, std::tuple<view>>>,
                             std::tuple<int, std::tuple<std::string>>>);
static_assert(
    std::is_same_v<kept_form_t<neighbours<enumerated<view>>>, neighbours<enumerated<std::string>>>);

TEST(item_copies, own_the_bytes_of_one_item) {
  item_copy<view> one;
  EXPECT_FALSE(one);
  for (std::size_t bytes : {3U, 300U, 0U, 100U}) {
    std::string text(bytes, 'a');
    one.keep(view(text));
    text.assign(bytes, 'b');
    EXPECT_EQ(*one, std::string(bytes, 'a'));
  }
  one.forget();
  EXPECT_FALSE(one);
}

TEST(item_copies, own_the_bytes_in_tuples_of_references) {
  std::string text = "a text that is too long to lie in the object";
  view const shown = text;
  int const number = 5;
  item_copy<std::tuple<view, int>> one;
  one.keep(std::tuple<view const&, int const&>(shown, number));
  text.assign(text.size(), 'x');
  EXPECT_EQ(std::get<0>(*one), "a text that is too long to lie in the object");
  EXPECT_EQ(std::get<1>(*one), 5);
  item_copy<neighbours<enumerated<view>>> two;
  two.keep(neighbours<enumerated<view>>{{1, text}, {2, text}});
  text.clear();
  EXPECT_EQ((*two).first.item, std::string(44, 'x'));
  EXPECT_EQ((*two).second.index, 2U);
}

/// Adds, erases and clears at random.
template <typename T, typename Make>
void is_like_a_queue(Make make) {
  std::mt19937_64 random(7);
  item_copies<T> copies;
  std::deque<std::string> expected;
  for (int step = 0; step < 3000; ++step) {
    auto const choice = random() % 20;
    if (choice == 0) {
      std::size_t const count = random() % (expected.size() + 1);
      copies.erase_first(count);
      expected.erase(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(count));
    } else if (choice == 1 && random() % 5 == 0) {
      copies.clear();
      expected.clear();
    } else if (choice == 2) {
      copies.reserve(expected.size() + random() % 10);
    } else {
      std::string text(random() % 30, static_cast<char>('a' + random() % 20));
      copies.add(make(text));
      expected.push_back(text);
      text.assign(text.size(), '-');
    }
    ASSERT_EQ(copies.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(copies.items()[i], make(expected[i]));
  }
}

TEST(item_copies, are_contiguous_and_stay_right_as_they_grow) {
  is_like_a_queue<std::string>([](std::string const& s) { return s; });
  is_like_a_queue<view>([](std::string const& s) { return view(s); });
  is_like_a_queue<std::size_t>([](std::string const& s) { return s.size(); });
  is_like_a_queue<std::pair<int, view>>(
      [](std::string const& s) { return std::pair<int, view>(3, s); });
}

}  // namespace
}  // namespace outsize::stream::detail
