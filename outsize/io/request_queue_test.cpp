// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/request_queue.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

#include <outsize/base/config.hpp>

namespace outsize::io {
namespace {

TEST(request_queue, automatic_always_finds_a_back_end) {
  auto const queue = make_request_queue();
  EXPECT_TRUE(queue->name() == "io_uring" || queue->name() == "threads");
  EXPECT_EQ(queue->depth(), 16U);
}

TEST(request_queue, takes_the_depth_it_is_given) {
  for (std::size_t depth : {1U, 3U, 64U}) {
    EXPECT_EQ(make_request_queue(backend::threads, depth)->depth(), depth);
    EXPECT_EQ(make_request_queue(backend::automatic, depth)->depth(), depth);
  }
}

TEST(request_queue, refuses_impossible_depths) {
  EXPECT_THROW(make_request_queue(backend::threads, 0), std::invalid_argument);
  EXPECT_THROW(make_request_queue(backend::automatic, 5000), std::invalid_argument);
}

TEST(request_queue, refuses_io_uring_where_it_is_not_built_in) {
  if (has_uring) GTEST_SKIP() << "it is built in";
  EXPECT_THROW(make_request_queue(backend::uring), std::invalid_argument);
}

}  // namespace
}  // namespace outsize::io
