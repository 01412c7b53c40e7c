// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/linux/fiber.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <outsize/base/units.hpp>

namespace outsize::bsp::detail {
namespace {

using namespace literals;

TEST(fiber, goes_on_where_it_suspended) {
  std::vector<int> seen;
  std::unique_ptr<fiber> one;
  one = std::make_unique<fiber>(64_KiB, [&] {
    for (int i = 0; i < 3; ++i) {
      seen.push_back(i);
      one->suspend();
    }
  });
  for (int i = 0; i < 3; ++i) {
    one->resume();
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(i) + 1);
    EXPECT_FALSE(one->has_ended());
  }
  one->resume();
  EXPECT_TRUE(one->has_ended());
  EXPECT_EQ(seen, (std::vector{0, 1, 2}));
}

/// Suspends while it handles an exception, as the others do.
void handle_in_turns(fiber& self, std::string const& name, std::vector<std::string>& seen) {
  try {
    throw std::runtime_error(name);
  } catch (std::exception const& outer) {
    self.suspend();
    try {
      throw std::logic_error(name + " within");
    } catch (std::exception const& inner) {
      self.suspend();
      seen.push_back(inner.what());
      EXPECT_EQ(std::uncaught_exceptions(), 0);
    }
    try {
      throw;
    } catch (std::exception const& same) {
      seen.push_back(same.what());
    }
    seen.push_back(outer.what());
  }
}

TEST(fiber, keeps_handled_exceptions_apart) {
  std::vector<std::string> seen;
  std::vector<std::unique_ptr<fiber>> fibers(3);
  for (std::size_t i = 0; i < fibers.size(); ++i) {
    fibers[i] = std::make_unique<fiber>(
        64_KiB, [&, i] { handle_in_turns(*fibers[i], std::to_string(i), seen); });
  }
  try {
    throw std::runtime_error("outside");
  } catch (std::exception const&) {
    for (int turn = 0; turn < 3; ++turn) {
      for (auto& each : fibers) each->resume();
    }
    try {
      throw;
    } catch (std::exception const& e) {
      EXPECT_STREQ(e.what(), "outside");
    }
  }
  std::vector<std::string> expected;
  for (char const* const name : {"0", "1", "2"}) {
    expected.push_back(std::string(name) + " within");
    expected.push_back(name);
    expected.push_back(name);
  }
  EXPECT_EQ(seen, expected);
}

/// Suspends in the destructor of an object that an exception destroys.
struct suspends_late {
  fiber& self;
  int& uncaught;
  ~suspends_late() {
    self.suspend();
    uncaught = std::uncaught_exceptions();
  }
};

TEST(fiber, may_suspend_while_it_unwinds) {
  int uncaught = 0;
  std::unique_ptr<fiber> one;
  one = std::make_unique<fiber>(64_KiB, [&] {
    try {
      suspends_late const late{*one, uncaught};
      throw std::runtime_error("thrown");
    } catch (std::exception const& e) {
      EXPECT_STREQ(e.what(), "thrown");
    }
  });
  one->resume();
  EXPECT_EQ(std::uncaught_exceptions(), 0);  // here
  one->resume();
  EXPECT_TRUE(one->has_ended());
  EXPECT_EQ(uncaught, 1);
}

TEST(fiber, gives_back_the_stack_that_it_does_not_use) {
  std::unique_ptr<fiber> one;
  std::size_t used = 0;
  one = std::make_unique<fiber>(256_KiB, [&] {
    {
      std::byte volatile deep[100'000];
      for (std::size_t i = 0; i < sizeof deep; i += 1000) deep[i] = std::byte{1};
      std::byte const kept = deep[5000];
      one->suspend();
      EXPECT_TRUE(kept == deep[5000]);
    }
    one->suspend();
  });
  EXPECT_EQ(one->trim_stack(), 0U);
  one->resume();
  used = one->trim_stack();
  EXPECT_GE(used, 100'000U);
  one->resume();
  EXPECT_LE(one->trim_stack(), 256_KiB);
  one->resume();
  EXPECT_TRUE(one->has_ended());
}

TEST(fiber, may_be_given_up) {
  auto one = std::make_unique<fiber*>();
  fiber given_up(64_KiB, [&] { (*one)->suspend(); });
  *one = &given_up;
  given_up.resume();
  fiber const never_begun(64_KiB, [] {});
  EXPECT_FALSE(given_up.has_ended());
}

TEST(fiber, stops_where_its_stack_ends) {
  EXPECT_DEATH(
      {
        fiber one(16_KiB, [] {
          std::byte volatile large[64'000];
          for (std::size_t i = sizeof large; i-- != 0;) large[i] = std::byte{1};
        });
        one.resume();
      },
      "");
}

}  // namespace
}  // namespace outsize::bsp::detail
