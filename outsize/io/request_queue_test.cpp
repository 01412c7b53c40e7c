// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/request_queue.hpp>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <stdexcept>
#include <thread>

#include <outsize/base/config.hpp>
#include <outsize/base/error.hpp>

namespace outsize::io {
namespace {

TEST(request_queue, automatic_always_finds_a_back_end) {
  auto const queue = make_request_queue();
  EXPECT_TRUE(queue->name() == "io_uring" || queue->name() == "threads");
  EXPECT_EQ(queue->depth(), 16U);
}

TEST(request_queue, says_what_it_is_and_whether_it_goes_past_the_page_cache) {
  EXPECT_EQ(make_request_queue(backend::threads)->name(), "threads");
  EXPECT_TRUE(make_request_queue(backend::threads)->moves_directly());
  EXPECT_TRUE(make_request_queue(backend::automatic)->moves_directly());
  try {
    auto const mapping = make_request_queue(backend::mmap, 2);
    EXPECT_EQ(mapping->name(), "mmap");
    EXPECT_EQ(mapping->depth(), 2U);
    EXPECT_FALSE(mapping->moves_directly());
  } catch (io_error const& error) {
    EXPECT_EQ(error.code().value(), ENOSYS) << "an old kernel";
  }
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

/// Has the kernel refuse io_uring to this thread for the rest of its life, as containers do.
/// Returns whether it could be done.
bool refuse_io_uring_to_this_thread() {
  std::array<sock_filter, 4> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  sock_fprog const filter{program.size(), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(request_queue, falls_back_to_threads_where_the_kernel_refuses_a_ring) {
  std::thread([] {
    if (!refuse_io_uring_to_this_thread()) GTEST_SKIP() << "no system call filters here";
    EXPECT_EQ(make_request_queue(backend::automatic, 2)->name(), "threads");
    if (has_uring) {
      EXPECT_THROW(make_request_queue(backend::uring, 2), io_error);
    }
  }).join();
}

TEST(request_queue, refuses_io_uring_where_it_is_not_built_in) {
  if (has_uring) GTEST_SKIP() << "it is built in";
  EXPECT_THROW(make_request_queue(backend::uring), std::invalid_argument);
}

}  // namespace
}  // namespace outsize::io
