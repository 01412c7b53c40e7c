// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/decorators/file_decorator.hpp>

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include <outsize/io/memory_file.hpp>

namespace outsize::io {
namespace {

class plain_decorator final : public file_decorator {
 public:
  explicit plain_decorator(file_ptr inner_file) : file_decorator(std::move(inner_file)) {}
  ~plain_decorator() override { drain(); }
};

TEST(file_decorator, passes_everything_on) {
  plain_decorator target(make_memory_file("inner", 4096, {.alignment_bytes = 8}));
  statistics counter;
  target.count_into(&counter);
  EXPECT_EQ(target.name(), "inner");
  EXPECT_EQ(target.alignment_bytes(), 8U);
  target.allocate(0, 32);
  EXPECT_EQ(target.size_bytes(), 32U);
  target.resize(16);
  alignas(8) std::array<std::byte, 32> bytes{};
  EXPECT_EQ(target.read(0, bytes)->wait(), 16U);
  EXPECT_EQ(target.write(8, bytes)->wait(), 32U);
  EXPECT_EQ(target.size_bytes(), 40U);
  EXPECT_EQ(counter.snapshot().write_count, 1U) << "counted once, at the outermost file";
}

}  // namespace
}  // namespace outsize::io
