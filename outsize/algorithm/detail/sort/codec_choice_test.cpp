// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Encoding pays where the disk is what a sort waits for.

#include <outsize/algorithm/detail/sort/codec_choice.hpp>

#include <gtest/gtest.h>

namespace outsize::detail {
namespace {

constexpr double ns = 1e-9;

TEST(encoding, is_tried_before_anything_is_measured) {
  EXPECT_GT(encoding_gain({.encoded_share = 0.7}), 0);
  EXPECT_GT(encoding_gain({.encoded_share = 0.7, .sort_seconds = 100 * ns}), 0);
}

TEST(encoding, does_not_pay_where_it_saves_little) {
  EXPECT_LE(encoding_gain({.encoded_share = 0.95}), 0);
  EXPECT_LE(encoding_gain({.encoded_share = 1.01, .disk_seconds = 1}), 0);
}

TEST(encoding, pays_on_a_slow_disk) {
  codec_prospect const slow{.encoded_share = 0.7,
                            .disk_seconds = 10 * ns,
                            .sort_seconds = 2 * ns,
                            .encoding_seconds = 0.2 * ns,
                            .decoding_seconds = 0.2 * ns,
                            .threads = 2};
  EXPECT_GT(encoding_gain(slow), 0);
}

TEST(encoding, does_not_pay_where_the_processors_are_busy_all_the_time) {
  codec_prospect fast{.encoded_share = 0.7,
                      .disk_seconds = 0.1 * ns,
                      .sort_seconds = 2 * ns,
                      .encoding_seconds = 0.2 * ns,
                      .decoding_seconds = 0.2 * ns,
                      .threads = 2};
  EXPECT_LE(encoding_gain(fast), 0);
  fast.threads = 32;  // more of them, and the disk is what takes longer
  EXPECT_GT(encoding_gain(fast), 0);
}

TEST(encoding, pays_less_where_most_of_what_would_be_encoded_is_repetitions) {
  codec_prospect prospect{.encoded_share = 0.5,
                          .disk_seconds = 1 * ns,
                          .sort_seconds = 0.5 * ns,
                          .encoding_seconds = 0.2 * ns,
                          .decoding_seconds = 0.2 * ns,
                          .threads = 2};
  double const whole = encoding_gain(prospect);
  EXPECT_GT(whole, 0);
  prospect.plain_share = 0.1;
  EXPECT_GT(encoding_gain(prospect), 0);
  EXPECT_LT(encoding_gain(prospect), whole / 5);
}

TEST(encoding, does_not_pay_where_it_takes_longer_than_moving_the_bytes) {
  codec_prospect const costly{.encoded_share = 0.5,
                              .disk_seconds = 1 * ns,
                              .sort_seconds = 0.5 * ns,
                              .encoding_seconds = 10 * ns,
                              .decoding_seconds = 10 * ns,
                              .threads = 2};
  EXPECT_LE(encoding_gain(costly), 0);
}

}  // namespace
}  // namespace outsize::detail
