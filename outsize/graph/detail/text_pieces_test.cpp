// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Pieces of random text in views of random lengths: together they are the text, cut at ends alone.

#include <outsize/graph/detail/text_pieces.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

#include <outsize/base/error.hpp>
#include <outsize/testing/pieced_input.hpp>

namespace user_code {
namespace {

using namespace outsize;
using graphs::detail::text_pieces;

TEST(text_pieces, are_the_text_cut_at_ends_alone) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 200; ++trial) {
    std::string text;
    for (std::size_t i = random() % 300; i > 0; --i) text += "0123 \t\n"[random() % 7];
    bool const by_lines = trial % 2 == 0;
    pieced_input in(text, {.most_bytes = 1 + random() % 30, .seed = random()});
    text_pieces pieces(in, by_lines ? text_pieces::ends::lines : text_pieces::ends::words);
    std::string all;
    for (auto piece = pieces.next(1); !piece.empty(); piece = pieces.next(1)) {
      EXPECT_NE(std::string_view(by_lines ? "\n" : " \t\n").find(piece.back()), std::string::npos);
      all += piece;
    }
    if (!text.empty() && (by_lines ? text.back() != '\n' : text.back() >= '0')) text += '\n';
    EXPECT_EQ(all, text);
  }
}

TEST(text_pieces, are_short_and_begin_behind_a_byte_order_mark) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "12345 67\n";
  pieced_input in("\xEF\xBB\xBF" + text, {.piece_bytes = 1'000'000});
  text_pieces pieces(in, text_pieces::ends::lines);
  std::string all;
  for (auto piece = pieces.next(1); !piece.empty(); piece = pieces.next(1)) {
    EXPECT_LE(piece.size(), std::size_t{1} << 14);
    all += piece;
  }
  EXPECT_EQ(all, text);
}

TEST(text_pieces, refuse_a_line_without_end) {
  pieced_input in(std::string(3'000'000, '1'), {.piece_bytes = 100'000});
  text_pieces pieces(in, text_pieces::ends::lines);
  try {
    pieces.next(7);
    FAIL();
  } catch (format_error const& e) {
    EXPECT_STREQ(e.what(), "pieces:7: a line is longer than 1048576 bytes");
  }
}

}  // namespace
}  // namespace user_code
