// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// posix_spawn of /proc/self/exe, with the signals that ask for an end passed on to the child.
#include <tools/outsize/child_command.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace outsize::tool {
namespace {

// What a signal handler may touch.
volatile std::sig_atomic_t caught_signal = 0;
volatile std::sig_atomic_t child_process = 0;

extern "C" void forward_signal(int number) {
  caught_signal = number;
  if (child_process > 0) ::kill(static_cast<pid_t>(child_process), number);
}

pid_t spawn(std::vector<std::string> const& arguments) {
  std::vector<std::string> words{"outsize"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  int const error = ::posix_spawn(&child, "/proc/self/exe", &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw std::system_error(error, std::generic_category(), "cannot start a process");
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

child_commands::child_commands() {
  caught_signal = 0;
  struct sigaction action {};
  action.sa_handler = forward_signal;
  sigemptyset(&action.sa_mask);
  // What is ignored stays so here, as it does in the child, which would end by a signal that is
  // caught here.
  for (std::size_t i = 0; i < ending_signals.size(); ++i) {
    ::sigaction(ending_signals[i], nullptr, &previous_[i]);
    if (!is_ignored(ending_signals[i])) ::sigaction(ending_signals[i], &action, nullptr);
  }
}

child_commands::~child_commands() {
  for (std::size_t i = 0; i < ending_signals.size(); ++i)
    ::sigaction(ending_signals[i], &previous_[i], nullptr);
}

void child_commands::check() const {
  if (caught_signal != 0) throw interrupted(caught_signal);
}

int child_commands::run(std::vector<std::string> const& arguments) {
  check();
  pid_t const child = spawn(arguments);
  child_process = static_cast<std::sig_atomic_t>(child);
  // A signal that came before the handler knew the child has not been passed on.
  if (caught_signal != 0) ::kill(child, caught_signal);
  int const code = wait_for(child);
  child_process = 0;
  check();
  return code;
}

}  // namespace outsize::tool
