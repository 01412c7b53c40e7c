// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/detail/codec_grant.hpp>

#include <gtest/gtest.h>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>

namespace outsize::io::detail {
namespace {

TEST(codec_grant, grows_with_what_is_needed) {
  memory_budget budget(10_MiB);
  {
    codec_grant one(&budget, "a", "xz");
    codec_grant other(&budget, "b", "zstd");
    one.cover(2_MiB);
    one.cover(1_MiB);
    other.cover(3_MiB);
    one.cover(5_MiB);
    EXPECT_EQ(budget.free_bytes(), 2_MiB);
    try {
      other.cover(6_MiB);
      ADD_FAILURE() << "there is too little";
    } catch (budget_error const& e) {
      EXPECT_EQ(e.have_bytes(), 5_MiB);
      EXPECT_EQ(e.need_bytes(), 6_MiB);
      EXPECT_STREQ(e.what(),
                   "b: zstd takes 6 MiB of memory, and 5 MiB are left beside the buffers; have "
                   "smaller ones, or allow more memory");
    }
    EXPECT_EQ(budget.free_bytes(), 2_MiB);
  }
  EXPECT_EQ(budget.free_bytes(), 10_MiB);
}

TEST(codec_grant, counts_nothing_without_a_budget) {
  codec_grant one(nullptr, "a", "xz");
  one.cover(1_GiB);
}

}  // namespace
}  // namespace outsize::io::detail
