// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/closed_memory.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>

namespace outsize::detail {
namespace {

class closed_memory_death_test : public testing::Test {
 protected:
  alignas(8) std::array<std::byte, 64> memory_{};

  /// Reads it, whether anybody uses it or not.
  std::byte at(std::size_t i) const {
    std::byte volatile const* const bytes = memory_.data();
    return bytes[i];
  }

  void TearDown() override { open_memory(memory_); }
};

TEST_F(closed_memory_death_test, is_not_to_be_read) {
  close_memory(std::span(memory_).subspan(8, 16));
  EXPECT_EQ(at(7), std::byte{0});
  EXPECT_EQ(at(24), std::byte{0});
  if (!notices_closed_memory()) GTEST_SKIP() << "noticed under AddressSanitizer only";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(static_cast<void>(at(8)), "use-after-poison");
  EXPECT_DEATH(static_cast<void>(at(23)), "use-after-poison");
}

TEST_F(closed_memory_death_test, can_be_opened_in_parts) {
  close_memory(memory_);
  open_memory(std::span(memory_).first(32));
  EXPECT_EQ(at(0), std::byte{0});
  EXPECT_EQ(at(31), std::byte{0});
  if (!notices_closed_memory()) GTEST_SKIP() << "noticed under AddressSanitizer only";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(static_cast<void>(at(32)), "use-after-poison");
}

TEST_F(closed_memory_death_test, of_no_bytes_is_nothing) {
  close_memory({});
  open_memory({});
}

}  // namespace
}  // namespace outsize::detail
