// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Letters, and which of them go together.
#include <outsize/text/ordering.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace outsize::text {
namespace {

ordering of(std::string_view letters) {
  ordering order;
  for (char const letter : letters) EXPECT_TRUE(set_option(order, letter)) << letter;
  return order;
}

std::string refusal(std::string_view letters) {
  try {
    require_compatible(of(letters));
  } catch (std::invalid_argument const& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ordering, knows_its_letters) {
  EXPECT_EQ(of("nr"), (ordering{.numeric = true, .reverse = true}));
  EXPECT_EQ(of("V"), (ordering{.version = true}));
  ordering order;
  for (char const letter : std::string_view("zxk, B")) EXPECT_FALSE(set_option(order, letter));
  EXPECT_EQ(order, ordering{});
}

TEST(ordering, is_default_whatever_its_direction) {
  EXPECT_TRUE(of("").is_default());
  EXPECT_TRUE(of("r").is_default());
  EXPECT_FALSE(of("b").is_default());
  EXPECT_FALSE(of("fr").is_default());
}

TEST(ordering, accepts_letters_that_go_together) {
  for (auto const* letters :
       {"", "bfr", "bfn", "hf", "gr", "Mf", "dfi", "Vdfi", "Vf", "Rbr", "RdfV"}) {
    EXPECT_EQ(refusal(letters), "accepted") << letters;
  }
}

TEST(ordering, names_letters_that_exclude_each_other) {
  EXPECT_EQ(refusal("nM"), "options '-Mn' are incompatible");
  EXPECT_EQ(refusal("nbrg"), "options '-gn' are incompatible");
  EXPECT_EQ(refusal("hid"), "options '-dh' are incompatible");
  EXPECT_EQ(refusal("ni"), "options '-in' are incompatible");
  EXPECT_EQ(refusal("nR"), "options '-nR' are incompatible");
  EXPECT_EQ(refusal("Vfg"), "options '-fgV' are incompatible");
}

}  // namespace
}  // namespace outsize::text
