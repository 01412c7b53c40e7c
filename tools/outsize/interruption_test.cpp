// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/interruption.hpp>

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include <outsize/io/posix/unpublished_file.hpp>
#include <outsize/testing/scratch_directory.hpp>

namespace outsize::tool {
namespace {

TEST(interruption_death_test, no_signal_leaves_a_hidden_output) {
  scratch::directory directory;
  for (int const signal : {SIGPIPE, SIGALRM, SIGUSR2, SIGPROF, SIGPWR, SIGABRT, SIGTERM, SIGHUP}) {
    auto const hide_and_end = [&] {
      ::signal(signal, SIG_DFL);
      clean_up_on_signals();
      io::detail::unpublished_file const hidden({directory.path("out"), {}}, "out",
                                                io::detail::naming::hidden);
      ::raise(signal);
    };
    EXPECT_EXIT(hide_and_end(), testing::KilledBySignal(signal), "");
    EXPECT_EQ(directory.names(), std::vector<std::string>{}) << signal;
  }
}

TEST(interruption_death_test, signals_that_were_ignored_stay_so) {
  auto const ignore_and_go_on = [] {
    ::signal(SIGPIPE, SIG_IGN);
    clean_up_on_signals();
    ::raise(SIGPIPE);
    ::_exit(3);
  };
  EXPECT_EXIT(ignore_and_go_on(), testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace outsize::tool
