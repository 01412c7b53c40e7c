// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/codec/detail/record_place.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace outsize::detail {
namespace {

TEST(record_place, tells_where_a_record_lies_and_how_long_it_is) {
  for (std::size_t const length :
       {std::size_t{0}, std::size_t{1}, std::size_t{record_place::long_record} - 1,
        std::size_t{record_place::long_record}, std::size_t{record_place::long_record} + 5}) {
    constexpr std::size_t offset = 12'345;
    bool const is_long = record_place::is_long(length);
    EXPECT_EQ(is_long, length >= (1U << record_place::length_bits) - 1);
    std::vector<std::byte> chunk(offset + sizeof(length_type) + length, std::byte{'x'});
    auto const stored = static_cast<length_type>(length);
    if (is_long) std::memcpy(chunk.data() + offset, &stored, sizeof stored);
    std::uint64_t const place = record_place::encode(offset, length);
    EXPECT_EQ(record_place::offset(place), offset);
    EXPECT_EQ(record_place::length(chunk.data(), place), length);
    EXPECT_TRUE(record_place::record(chunk.data(), place) == std::string(length, 'x'));
  }
}

TEST(record_place, grows_with_the_offset) {
  EXPECT_LT(record_place::encode(7, 1'000'000), record_place::encode(8, 0));
  EXPECT_LT(record_place::encode(7, 1 << 30), record_place::encode(8, 0));
}

}  // namespace
}  // namespace outsize::detail
