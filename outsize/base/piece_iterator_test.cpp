// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/piece_iterator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <numeric>
#include <ranges>
#include <span>
#include <vector>

#include <outsize/base/error.hpp>

namespace outsize {
namespace {

/// Numbers from 0 on in pieces of up to three; backward, if so, from the last one down.
template <bool is_backward>
class numbers {
 public:
  explicit numbers(int count) : items_(static_cast<std::size_t>(count)) {
    std::iota(items_.begin(), items_.end(), 0);
    rest_ = items_;
  }
  bool empty() const { return rest_.empty(); }
  std::span<int const> pull() {
    if (rest_.size() == fails_at) throw io_error(EIO, "read", "numbers");
    std::size_t const piece = (rest_.size() - 1) % 3 + 1;
    return is_backward ? rest_.last(piece) : rest_.first(piece);
  }
  void skip(std::size_t count) {
    rest_ = is_backward ? rest_.first(rest_.size() - count) : rest_.subspan(count);
  }
  auto begin() { return piece_iterator<numbers, int, is_backward>(*this); }
  static std::default_sentinel_t end() { return {}; }

  std::size_t fails_at = 0;  // so many items that are left

 private:
  std::vector<int> items_;
  std::span<int const> rest_;
};

TEST(piece_iterators, go_over_all_items_of_all_pieces) {
  for (int count = 0; count < 12; ++count) {
    std::vector<int> forward, backward;
    for (int const& item : numbers<false>(count)) forward.push_back(item);
    for (int const& item : numbers<true>(count)) backward.push_back(item);
    EXPECT_TRUE(std::ranges::equal(forward, std::views::iota(0, count)));
    EXPECT_TRUE(std::ranges::equal(backward, std::views::iota(0, count) | std::views::reverse));
  }
}

TEST(piece_iterators, leave_the_stream_at_the_piece_that_they_were_in) {
  numbers<false> in(12);
  for (int const item : in)
    if (item == 4) break;
  EXPECT_EQ(*in.begin(), 3);
  EXPECT_EQ(std::ranges::distance(in), 9);
  EXPECT_TRUE(in.empty());
}

TEST(piece_iterators, are_at_their_end_after_an_error_and_the_stream_goes_on) {
  numbers<true> in(12);
  in.fails_at = 6;
  std::vector<int> taken;
  auto at = in.begin();
  EXPECT_THROW(for (; at != in.end(); ++at) taken.push_back(*at), io_error);
  EXPECT_TRUE(at == in.end());
  in.fails_at = 0;
  for (int const item : in) taken.push_back(item);
  EXPECT_TRUE(std::ranges::equal(taken, std::views::iota(0, 12) | std::views::reverse));
}

}  // namespace
}  // namespace outsize
