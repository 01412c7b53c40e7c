// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/piece_reader.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <iterator>
#include <numeric>
#include <ranges>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>

namespace outsize {
namespace {

/// Numbers from 0 on in pieces of up to three; backward, if so, from the last one down.
template <bool is_backward>
class numbers : public piece_reader_interface<numbers<is_backward>, int, is_backward> {
 public:
  explicit numbers(int count) : items_(static_cast<std::size_t>(count)) {
    std::iota(items_.begin(), items_.end(), 0);
    rest_ = items_;
  }

  std::size_t fails_at = 0;  // so many items that have not been shown

 private:
  friend piece_reader_interface<numbers, int, is_backward>;

  void go_on() {
    if (rest_.empty()) return;
    if (rest_.size() == fails_at) throw io_error(EIO, "read", "numbers");
    std::size_t const piece = (rest_.size() - 1) % 3 + 1;
    this->show(is_backward ? rest_.last(piece) : rest_.first(piece));
    rest_ = is_backward ? rest_.first(rest_.size() - piece) : rest_.subspan(piece);
  }

  std::vector<int> items_;
  std::span<int const> rest_;
};

static_assert(std::ranges::input_range<numbers<false>>);
static_assert(!std::ranges::forward_range<numbers<false>>);

std::vector<int> first_numbers(int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(piece_readers, go_over_all_items_of_all_pieces) {
  for (int count = 0; count < 12; ++count) {
    std::vector<int> forward, backward;
    for (int const& item : numbers<false>(count)) forward.push_back(item);
    for (int const& item : numbers<true>(count)) backward.push_back(item);
    EXPECT_TRUE(std::ranges::equal(forward, std::views::iota(0, count)));
    EXPECT_TRUE(std::ranges::equal(backward, std::views::iota(0, count) | std::views::reverse));
  }
}

// Wherever the first loop ends, in a piece or at its edge, the second one sees what is left.
TEST(piece_readers, go_on_behind_the_item_that_a_loop_was_left_at) {
  for (int last = 0; last < 12; ++last) {
    numbers<false> in(12);
    std::vector<int> seen;
    for (int const& item : in) {
      seen.push_back(item);
      if (item == last) break;
    }
    EXPECT_EQ(in.empty(), last == 11);
    for (int const& item : in) seen.push_back(item);
    EXPECT_EQ(seen, first_numbers(12)) << last;

    numbers<true> back(12);
    for (int const& item : back)
      if (item == last) break;
    EXPECT_EQ(std::ranges::distance(back), last);
    EXPECT_TRUE(back.empty());
  }
}

TEST(piece_readers, lose_nothing_to_views_that_take_some) {
  for (int count = 0; count < 8; ++count) {
    numbers<false> in(12);
    std::vector<int> seen;
    for (int round = 0; round < 3; ++round)
      for (int const& item : in | std::views::take(count)) seen.push_back(item);
    for (int const& item : in) seen.push_back(item);
    EXPECT_EQ(seen, first_numbers(12)) << count;
  }
  numbers<false> in(12);
  for (int const& item : in | std::views::drop(4) | std::views::take(1)) EXPECT_EQ(item, 4);
  EXPECT_EQ(*std::ranges::find(in, 7), 7);  // which has been read
  EXPECT_EQ(*in.begin(), 8);
}

// Loops in loops, and uses of the reader in a loop.
TEST(piece_readers, have_one_place_for_all_who_read) {
  numbers<false> in(12);
  std::vector<int> seen;
  for (int const outer : in) {
    seen.push_back(outer);
    for (int const inner : in) {
      seen.push_back(inner);
      if (inner % 4 == 1) break;
    }
    if (in.empty()) continue;
    seen.push_back(*in);
    ++in;
  }
  EXPECT_EQ(seen, first_numbers(12));

  numbers<true> back(12);
  seen.clear();
  auto at = back.begin();
  ++at;  // one that nobody has looked at
  back.skip(2);
  EXPECT_EQ(*at, 8);
  EXPECT_EQ(*at, 8);
  EXPECT_EQ(*back, 7);
}

TEST(piece_readers, throw_again_until_the_piece_is_there) {
  numbers<true> in(12);
  in.fails_at = 6;
  std::vector<int> taken;
  auto const read_on = [&] {
    for (int const& item : in) taken.push_back(item);
  };
  EXPECT_THROW(read_on(), io_error);
  EXPECT_FALSE(in.empty());  // what cannot be read is not the end
  EXPECT_THROW(std::ignore = *in, io_error);
  EXPECT_THROW(++in, io_error);
  EXPECT_THROW(in.skip(1), io_error);
  EXPECT_THROW(in.pull(), io_error);
  in.fails_at = 0;
  read_on();
  EXPECT_TRUE(std::ranges::equal(taken, std::views::iota(0, 12) | std::views::reverse));
}

TEST(piece_readers, assert_that_there_is_an_item) {
  numbers<false> in(1);
  ++in;
  EXPECT_TRUE(in.empty());
  EXPECT_DEATH(std::ignore = *in, "behind the last one");
  EXPECT_DEATH(++in, "behind the last one");
  EXPECT_DEATH(in.skip(1), "count <= left");
}

}  // namespace
}  // namespace outsize
