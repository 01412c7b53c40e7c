// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/process_mark.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>

#include <outsize/base/error.hpp>
#include <outsize/testing/forked.hpp>

namespace outsize::detail {
namespace {

TEST(process_mark, is_of_the_process_that_made_it) {
  process_mark const here, same = here;
  EXPECT_TRUE(here.is_current());
  EXPECT_TRUE(scratch::holds_after_fork([&] {
    process_mark const made_there;
    return !here.is_current() && !same.is_current() && made_there.is_current();
  }));
  EXPECT_TRUE(here.is_current());
}

TEST(process_mark, refuses_use_elsewhere_by_an_error_that_names_what_and_why) {
  process_mark const here;
  EXPECT_NO_THROW(here.check("storage"));
  EXPECT_TRUE(scratch::holds_after_fork([&] {
    try {
      here.check("storage");
    } catch (io_error const& e) {
      return e.code().value() == EOWNERDEAD &&
             e.what() == std::string(
                             "storage: cannot use: it was made by another process "
                             "(before a fork)");
    }
    return false;
  }));
}

struct counted {
  explicit counted(int& n) : count(n) {}
  ~counted() { ++count; }
  counted(counted const&) = delete;
  counted& operator=(counted const&) = delete;
  int& count;
};

TEST(process_ptr, deletes_in_the_process_that_made_the_object) {
  int ends = 0;
  process_ptr<counted> one = std::make_unique<counted>(ends),
                       other = std::make_unique<counted>(ends);
  EXPECT_TRUE(scratch::holds_after_fork([&] {
    one.reset();
    other = std::make_unique<counted>(ends);  // of that process
    other.reset();
    return ends == 1;
  }));
  one.reset();
  EXPECT_EQ(ends, 1);
}

}  // namespace
}  // namespace outsize::detail
