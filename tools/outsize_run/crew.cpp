// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize_run/crew.hpp>

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include <outsize/base/printable_text.hpp>

namespace outsize::launcher {

namespace {

namespace bp = bsp::process;

constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

bool is_ignored(int signal) {
  struct sigaction action = {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void wake(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr,
            nullptr, 0);
}

/// The children of this process; none where the system does not tell.
std::vector<pid_t> children() {
  std::ifstream list(fmt::format("/proc/self/task/{}/children", ::getpid()));
  return {std::istream_iterator<pid_t>(list), {}};
}

void wait_for(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// ---- in the engine ----

pid_t launcher = 0;

[[noreturn]] void tell_of_killed_launcher() {
  static char const text[] = "outsize-run: was killed: the run has ended\n";
  if (::write(2, text, sizeof text - 1) < 0) ::_exit(1);
  ::_exit(1);
}

/// SIGTERM comes if outsize-run was killed. From elsewhere, it is meant for the run.
void end_with_launcher(int /*signal*/) {
  if (::getppid() != launcher) tell_of_killed_launcher();
  ::kill(launcher, SIGTERM);
}

// ---- in a rank ----

/// Becomes the program of a rank.
[[noreturn]] void become(std::vector<char*> const& command, std::string environment,
                         bp::rank_control& control, bool reads_input) {
  ::putenv(environment.data());
  if (reads_input || std::freopen("/dev/null", "r", stdin) != nullptr) {
    ::execvp(command[0], command.data());
  }
  int const code = errno == ENOENT ? 127 : 126;  // as shells say it
  std::strncpy(control.text, std::strerror(errno), bp::most_text - 1);
  control.now.store(bp::life::failed);
  ::_exit(code);
}

std::string text_of_signal(int signal) {
  return fmt::format("ended by signal {} ({}){}", signal, ::strsignal(signal),
                     signal == SIGKILL ? ": by the system, if memory has run out" : "");
}

}  // namespace

void complain(std::string const& message) {
  std::string const line = "outsize-run: " + printable(message) + "\n";
  if (::write(2, line.data(), line.size()) < 0) return;  // there is nowhere else to tell it
}

crew::crew(bp::process_memory& memory) : memory_(memory), strangers_(children()) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // programs that ranks have started come here
  ::sigemptyset(&awaited_);
  ::sigaddset(&awaited_, SIGCHLD);
  for (int const signal : ending_signals) {
    if (!is_ignored(signal)) ::sigaddset(&awaited_, signal);
  }
  ::sigprocmask(SIG_BLOCK, &awaited_, &before_);
}

/// The process has its signals blocked. `run` does not return.
pid_t crew::start(char const* name, std::function<void()> const& run) {
  pid_t const pid = ::fork();
  if (pid < 0) end(1, fmt::format("cannot start {}: {}", name, std::strerror(errno)));
  if (pid == 0) run();
  ++left_;
  return pid;
}

void crew::start_engine(std::function<void()> const& serve) {
  launcher = ::getpid();
  engine_ = start("the engine", [&] {
    struct sigaction ending = {};
    ending.sa_handler = end_with_launcher;
    ::sigaction(SIGTERM, &ending, nullptr);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != launcher) tell_of_killed_launcher();
    sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, SIGTERM);
    ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
    serve();
    ::_exit(0);
  });
}

void crew::start_ranks(std::vector<char*> const& command) {
  program_ = command[0];
  pid_t const self = ::getpid();
  for (std::uint32_t rank = 0; rank < memory_.shared().count; ++rank) {
    ranks_.push_back(start("a rank", [&] {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != self) ::_exit(1);
      ::sigprocmask(SIG_SETMASK, &before_, nullptr);
      become(command, memory_.environment_of(rank), bp::control_of(memory_.shared(), rank),
             rank == 0);
    }));
  }
}

int crew::wait() {
  while (left_ != 0) {
    int status = 0;
    while (pid_t const pid = ::waitpid(-1, &status, WNOHANG)) {
      if (pid < 0) break;
      note_end(pid, status);
    }
    if (left_ == 0) break;
    int const signal = ::sigwaitinfo(&awaited_, nullptr);
    if (signal > 0 && signal != SIGCHLD) {
      end(128 + signal, fmt::format("interrupted by SIG{}", ::sigabbrev_np(signal)));
    }
  }
  return code_;
}

void crew::note_end(pid_t pid, int status) {
  if (pid == engine_) return engine_ended(status);
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank] == pid) return rank_ended(rank, status);
  }
}

void crew::engine_ended(int status) {
  engine_ = 0;
  --left_;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  bp::header& all = memory_.shared();
  if (all.has_failed.load() != 0) end(1, all.text);
  check_signals();
  end(1, "the engine " + (WIFSIGNALED(status)
                              ? text_of_signal(WTERMSIG(status))
                              : fmt::format("exited with code {}", WEXITSTATUS(status))));
}

/// A rank has ended in order if it has called MPI_Finalize, or never MPI_Init, and exited. Only
/// then the engine is told, which lets the others go on.
void crew::rank_ended(std::uint32_t rank, int status) {
  ranks_[rank] = 0;
  --left_;
  bp::rank_control& control = bp::control_of(memory_.shared(), rank);
  bp::life const life = control.now.load();
  if (WIFSIGNALED(status)) {
    check_signals();
    end(1, fmt::format("rank {}: {}", rank, text_of_signal(WTERMSIG(status))));
  }
  int const code = WEXITSTATUS(status);
  if (life == bp::life::failed) {
    bool const has_run = control.arena_begin != 0;
    end(code != 0 ? code : 1,
        has_run ? fmt::format("rank {}: {}", rank, control.text)
                : fmt::format("cannot run '{}' as rank {}: {}", program_, rank, control.text));
  }
  if (life == bp::life::started) {
    end(code != 0 ? code : 1,
        fmt::format("rank {}: exited with code {} before MPI_Finalize", rank, code));
  }
  control.is_dead.store(1);
  control.turn.store(bp::rank_control::nobodys_turn);  // whoever is about to wait for it does not
  wake(control.turn);
  if (code_ == 0) code_ = code;
}

/// A process that a signal ended may have got it as outsize-run did, as with Ctrl-C.
void crew::check_signals() {
  sigset_t asked = awaited_;
  ::sigdelset(&asked, SIGCHLD);
  timespec const at_once = {};
  int const signal = ::sigtimedwait(&asked, nullptr, &at_once);
  if (signal > 0) end(128 + signal, fmt::format("interrupted by SIG{}", ::sigabbrev_np(signal)));
}

/// Waits until the engine has told of the run, not for long. Nothing goes on meanwhile.
void crew::await_engine(std::string const& message) {
  for (pid_t const pid : ranks_) {
    if (pid != 0) ::kill(pid, SIGKILL);
  }
  bp::header& all = memory_.shared();
  message.copy(all.ending_text, bp::most_text - 1);
  all.is_ending.store(1);
  constexpr timespec pause{.tv_sec = 0, .tv_nsec = 10'000'000};
  for (int times = 0; times < 1'000 && engine_ != 0; ++times) {
    if (::waitpid(engine_, nullptr, WNOHANG) != 0) {
      engine_ = 0;
    } else {
      ::nanosleep(&pause, nullptr);
    }
  }
}

void crew::end(int code, std::string const& message) {
  if (engine_ != 0 && lets_engine_tell_) await_engine(message);
  kill_processes();
  while (kill_orphans()) {
  }
  complain(message);
  std::exit(code);
}

void crew::kill_processes() {
  std::vector<pid_t> all = ranks_;
  all.push_back(engine_);
  std::erase(all, 0);
  for (pid_t const pid : all) ::kill(pid, SIGKILL);
  for (pid_t const pid : all) wait_for(pid);
}

/// Kills programs that ranks had started. They may leave others: returns true if there were some.
bool crew::kill_orphans() {
  std::vector<pid_t> left = children();
  std::erase_if(left, [this](pid_t pid) {
    return std::find(strangers_.begin(), strangers_.end(), pid) != strangers_.end();
  });
  for (pid_t const pid : left) ::kill(pid, SIGKILL);
  for (pid_t const pid : left) wait_for(pid);
  return !left.empty();
}

}  // namespace outsize::launcher
