// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/base/units.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace outsize {
namespace {

static_assert(3_KiB == 3072 && 1_GiB == 1024_MiB);
static_assert(div_up(7, 3) == 3 && div_up(6, 3) == 2 && div_up(0, 3) == 0);
static_assert(div_up(SIZE_MAX, std::size_t{2}) == SIZE_MAX / 2 + 1, "does not overflow");
static_assert(round_up(13, 4) == 16 && round_up(16, 4) == 16 && round_down(15, 4) == 12);

TEST(units, formats_three_significant_digits) {
  EXPECT_EQ(format_bytes(0), "0 bytes");
  EXPECT_EQ(format_bytes(1023), "1023 bytes");
  EXPECT_EQ(format_bytes(1024), "1 KiB");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(10 * 1024 + 512), "10.5 KiB");
  EXPECT_EQ(format_bytes((16 << 20) + 1), "16.0 MiB");
  EXPECT_EQ(format_enough_bytes((16 << 20) + 1), "16.1 MiB");
  EXPECT_EQ(format_enough_bytes(16 << 20), "16 MiB");
  EXPECT_EQ(format_enough_bytes(1023), "1023 bytes");
  EXPECT_EQ(format_bytes(1_MiB - 1), "1.00 MiB");
  EXPECT_EQ(format_bytes(777_MiB + 700_KiB), "778 MiB");
  EXPECT_EQ(format_bytes(std::numeric_limits<std::uint64_t>::max()), "16 EiB");
}

TEST(units, reads_sizes_as_sort_writes_them) {
  EXPECT_EQ(parse_bytes("17"), 17U);
  EXPECT_EQ(parse_bytes("17", 1024), 17408U);
  EXPECT_EQ(parse_bytes("17b", 1024), 17U);
  EXPECT_EQ(parse_bytes("2k"), 2048U);
  EXPECT_EQ(parse_bytes("2K"), 2048U);
  EXPECT_EQ(parse_bytes("2m"), 2_MiB);
  EXPECT_EQ(parse_bytes("2g"), 2_GiB);
  EXPECT_EQ(parse_bytes("2t"), 2048_GiB);
  EXPECT_EQ(parse_bytes("3MiB"), 3_MiB);
  EXPECT_EQ(parse_bytes("4GB"), 4_GiB);
  EXPECT_EQ(parse_bytes("0E"), 0U);
  EXPECT_EQ(parse_bytes("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
}

TEST(units, refuses_what_is_no_size_and_names_it) {
  for (std::string const text : {"", "K", "-1", "+1", " 1", "1 ", "1X", "1Ki", "1KiBB", "0x10",
                                 "1.5G", "16E", "18446744073709551616", "18446744073709551615K"}) {
    try {
      parse_bytes(text);
      ADD_FAILURE() << "accepted '" << text << "'";
    } catch (std::invalid_argument const& error) {
      EXPECT_NE(std::string(error.what()).find("'" + text + "'"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace outsize
