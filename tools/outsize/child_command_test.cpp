// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The child is this test program itself, asked to run one of the disabled tests below.
#include <tools/outsize/child_command.hpp>

#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tools/outsize/interruption.hpp>

namespace outsize::tool {
namespace {

std::vector<std::string> run_only(std::string const& name) {
  return {"--gtest_also_run_disabled_tests", "--gtest_filter=child_command." + name};
}

TEST(child_command, DISABLED_fails) { FAIL(); }

TEST(child_command, DISABLED_dies) { ::raise(SIGKILL); }

TEST(child_command, DISABLED_interrupts_its_parent) {
  ::kill(::getppid(), SIGTERM);
  for (;;) ::pause();
}

TEST(child_command, returns_the_exit_code) {
  EXPECT_EQ(child_commands().run({"--gtest_list_tests"}), 0);
  EXPECT_EQ(child_commands().run(run_only("DISABLED_fails")), 1);
}

TEST(child_command, returns_the_signal_that_ended_it) {
  EXPECT_EQ(child_commands().run(run_only("DISABLED_dies")), 128 + SIGKILL);
}

TEST(child_command, passes_a_signal_on_and_says_so) {
  try {
    child_commands().run(run_only("DISABLED_interrupts_its_parent"));
    FAIL() << "not interrupted";
  } catch (interrupted const& signal) {
    EXPECT_EQ(signal.exit_code(), 128 + SIGTERM);
  }
}

TEST(child_command, is_not_begun_once_a_signal_has_come) {
  child_commands commands;
  EXPECT_EQ(commands.run({"--gtest_list_tests"}), 0);
  commands.check();
  ::raise(SIGTERM);  // between two
  EXPECT_THROW(commands.check(), interrupted);
  EXPECT_THROW(commands.run({"--gtest_list_tests"}), interrupted);
}

TEST(child_command, leaves_signals_ignored_that_were) {
  auto const before = std::signal(SIGHUP, SIG_IGN);
  {
    child_commands commands;
    ::raise(SIGHUP);
    EXPECT_NO_THROW(commands.check());
    EXPECT_TRUE(is_ignored(SIGHUP));
    EXPECT_FALSE(is_ignored(SIGTERM));
  }
  EXPECT_TRUE(is_ignored(SIGHUP));
  std::signal(SIGHUP, before);
}

}  // namespace
}  // namespace outsize::tool
