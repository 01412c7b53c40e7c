// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// The promises of one fuzz target, for its seeds, some thousand inputs made from them, and every
// beginning of a seed. OUTSIZE_TEST_SEED repeats a run.

#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <random>
#include <string>

#include "fuzz_target.hpp"
#include "mutation.hpp"

namespace outsize::fuzz {
namespace {

/// What is broken for this input; empty if nothing is.
std::string broken_by(std::string const& input) {
  try {
    check(input);
  } catch (std::exception const& e) {
    return e.what();
  }
  return {};
}

TEST(promises, hold_for_the_seeds_and_their_beginnings) {
  for (std::string const& seed : seeds())
    for (std::size_t size = 0; size <= seed.size(); size += 1 + seed.size() / 64)
      ASSERT_EQ(broken_by(seed.substr(0, size)), "")
          << testing::PrintToString(seed.substr(0, size));
  for (std::string const& seed : seeds())
    ASSERT_EQ(broken_by(seed), "") << testing::PrintToString(seed);
}

TEST(promises, hold_for_mutated_seeds) {
  char const* const given = std::getenv("OUTSIZE_TEST_SEED");
  std::uint64_t const seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE(testing::Message() << "OUTSIZE_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  auto const from = seeds();
  for (std::size_t i = 0; i < mutation_count(); ++i) {
    auto const input = mutated(from, random);
    ASSERT_EQ(broken_by(input), "") << testing::PrintToString(input);
  }
}

}  // namespace
}  // namespace outsize::fuzz
