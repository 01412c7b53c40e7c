// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/detail/aligned_memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace outsize::detail {
namespace {

template <typename T>
bool is_at_multiple_of(aligned_memory<T> const& memory, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(memory.get()) % bytes == 0;
}

TEST(aligned_memory, begins_where_it_is_asked_to) {
  for (std::size_t alignment = 1; alignment <= 65'536; alignment *= 2) {
    for (std::size_t const items : {1, 7, 512, 4096}) {
      auto const bytes = allocate_aligned<std::byte>(items, alignment);
      EXPECT_TRUE(is_at_multiple_of(bytes, alignment));
      std::fill_n(bytes.get(), items, std::byte{0xa5});
      auto const numbers = allocate_aligned<std::uint64_t>(items, alignment);
      EXPECT_TRUE(is_at_multiple_of(numbers, std::max(alignment, alignof(std::uint64_t))));
      std::fill_n(numbers.get(), items, items);
      EXPECT_TRUE(std::all_of(numbers.get(), numbers.get() + items,
                              [&](std::uint64_t number) { return number == items; }));
    }
  }
}

}  // namespace
}  // namespace outsize::detail
