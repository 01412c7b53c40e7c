// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/interruption.hpp>

#include <pthread.h>
#include <unistd.h>

#include <fmt/format.h>
#include <cstdio>
#include <cstring>
#include <utility>

#include <outsize/io/output_stream.hpp>

namespace outsize::tool {
namespace {

constexpr int wake_signal = SIGUSR1;

constexpr std::array other_ends{SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2,   SIGVTALRM, SIGPROF,
                                SIGPOLL, SIGPWR,  SIGABRT, SIGSTKFLT, SIGSEGV,   SIGBUS,
                                SIGFPE,  SIGILL,  SIGSYS,  SIGTRAP};

/// Has been set to come once: the next one ends the process.
extern "C" void clean_up_and_end(int signal) {
  io::remove_hidden_outputs();
  ::raise(signal);
}

void clean_up_on(int signal) {
  struct sigaction action {};
  if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) return;
  action.sa_handler = clean_up_and_end;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void clean_up_on_signals() {
  for (int const signal : ending_signals) clean_up_on(signal);
  for (int const signal : other_ends) clean_up_on(signal);
}

interruption::interruption(std::string command) : command_(std::move(command)) {
  ::sigemptyset(&caught_);
  for (int signal : ending_signals)
    if (!is_ignored(signal)) ::sigaddset(&caught_, signal);
  ::sigaddset(&caught_, wake_signal);
  ::pthread_sigmask(SIG_BLOCK, &caught_, &before_);
  waiter_ = std::thread([this] { wait_for_signal(); });
}

interruption::~interruption() {
  over_ = true;
  ::pthread_kill(waiter_.native_handle(), wake_signal);
  waiter_.join();
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void interruption::wait_for_signal() {
  int signal = 0;
  do {
    if (::sigwait(&caught_, &signal) != 0) continue;
    if (over_) return;
  } while (signal == 0 || signal == wake_signal);
  bool const is_done = io::end_publishing();
  io::remove_hidden_outputs();
  auto const message = fmt::format(
      "outsize {}: interrupted by SIG{}: {}, temporary files are gone\n", command_,
      ::sigabbrev_np(signal), is_done ? "the output is complete" : "inputs are untouched");
  [[maybe_unused]] auto const written = ::write(STDERR_FILENO, message.data(), message.size());
  ::_exit(128 + signal);
}

}  // namespace outsize::tool
