// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/request_queue.hpp>

#include <sys/resource.h>

#include <gtest/gtest.h>

#include <stdexcept>

#include <outsize/base/config.hpp>
#include <outsize/base/error.hpp>

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

/// Leaves this process no file descriptors to open for as long as it lives.
class no_descriptors_left {
 public:
  no_descriptors_left() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit none = before_;
    none.rlim_cur = 0;
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  no_descriptors_left(no_descriptors_left const&) = delete;
  no_descriptors_left& operator=(no_descriptors_left const&) = delete;
  ~no_descriptors_left() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(request_queue, falls_back_to_threads_where_the_kernel_refuses_a_ring) {
  no_descriptors_left const limit;
  EXPECT_EQ(make_request_queue(backend::automatic, 2)->name(), "threads");
  if (has_uring) {
    EXPECT_THROW(make_request_queue(backend::uring, 2), io_error);
  }
}

TEST(request_queue, refuses_io_uring_where_it_is_not_built_in) {
  if (has_uring) GTEST_SKIP() << "it is built in";
  EXPECT_THROW(make_request_queue(backend::uring), std::invalid_argument);
}

}  // namespace
}  // namespace outsize::io
