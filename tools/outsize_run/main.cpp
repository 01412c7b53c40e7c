// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// outsize-run: runs an MPI program for more ranks, with more memory, than the machine has.
//
//   outsize-run ─┬─ rank 0 … rank v-1    processes of the program, which wait in their library
//                └─ engine               gives turns, moves memory, delivers messages
//
// It has no threads. It starts the ranks, then the engine, which makes the storage, and waits for
// all. If a rank or the engine fails, it ends the others and prints one message.

#include <fcntl.h>
#include <getopt.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <outsize/base/units.hpp>
#include <outsize/bsp/process/process_run.hpp>

namespace {

namespace bp = outsize::bsp::process;

constexpr char const* help = R"(usage: outsize-run [OPTION...] PROGRAM [ARGUMENT...]

Runs an MPI program, compiled by outsize-cc or outsize-c++, with the memory that --memory allows.
Ranks that wait are on disk.

  -v, --ranks=N          ranks (as many as processors)
  -k, --at-once=N        ranks that compute at the same time (as many as processors; all of them
                         with --swap=mmap)
  -m, --memory=SIZE      memory for ranks and messages; k, M, G, T: powers of 1024 (half of the
                         machine's)
      --context=SIZE     the most memory of one rank (what fits k + 2 times; as --memory with
                         --swap=mmap)
  -T, --temporary=DIR    directory on a disk to use; several: striped over all (the default disks)
      --swap=WAY         disk: outsize-run moves ranks that wait (the default); mmap: their memory
                         is files that the kernel pages as it likes. This way is slow, and is there
                         for comparisons: --memory limits messages alone
      --plan             print how memory is divided, and run nothing
      --help             print this text
)";

struct request {
  bp::process_options options;
  bool is_plan = false;
  std::vector<char*> command;  // ends with nullptr
};

[[noreturn]] void refuse(std::string const& message) {
  std::fputs(("outsize-run: " + message + "\n").c_str(), stderr);
  std::exit(2);
}

std::uint32_t number(char const* text, char const* option) {
  char* end = nullptr;
  errno = 0;
  unsigned long const value = std::strtoul(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || value == 0 || value > 1'000'000) {
    refuse(fmt::format("{}: '{}' is not a valid number", option, text));
  }
  return static_cast<std::uint32_t>(value);
}

std::uint64_t size(char const* text, char const* option) {
  try {
    return outsize::parse_bytes(text);
  } catch (std::exception const& e) {
    refuse(fmt::format("{}: {}", option, e.what()));
  }
}

bool maps_files(char const* way) {
  if (std::strcmp(way, "mmap") != 0 && std::strcmp(way, "disk") != 0) {
    refuse(fmt::format("--swap: '{}' is not a way to swap: disk, mmap", way));
  }
  return way[0] == 'm';
}

request parse(int argc, char** argv) {
  enum : int { context = 256, swap, plan, print_help };
  static option const known[] = {{"ranks", required_argument, nullptr, 'v'},
                                 {"at-once", required_argument, nullptr, 'k'},
                                 {"memory", required_argument, nullptr, 'm'},
                                 {"context", required_argument, nullptr, context},
                                 {"temporary", required_argument, nullptr, 'T'},
                                 {"swap", required_argument, nullptr, swap},
                                 {"plan", no_argument, nullptr, plan},
                                 {"help", no_argument, nullptr, print_help},
                                 {nullptr, 0, nullptr, 0}};
  request all;
  all.options.count = static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  for (int found; (found = ::getopt_long(argc, argv, "+v:k:m:T:", known, nullptr)) != -1;) {
    switch (found) {
      case 'v':
        all.options.count = number(optarg, "-v");
        break;
      case 'k':
        all.options.workers = number(optarg, "-k");
        break;
      case 'm':
        all.options.memory_bytes = size(optarg, "--memory");
        break;
      case context:
        all.options.context_bytes = size(optarg, "--context");
        break;
      case 'T':
        all.options.disks.emplace_back(std::string(optarg));
        break;
      case swap:
        all.options.maps_files = maps_files(optarg);
        break;
      case plan:
        all.is_plan = true;
        break;
      case print_help:
        std::fputs(help, stdout);
        std::exit(0);
      default:
        std::fputs("try outsize-run --help\n", stderr);
        std::exit(2);
    }
  }
  if (optind == argc && !all.is_plan) refuse("no program is named; try --help");
  all.command.assign(argv + optind, argv + argc);
  all.command.push_back(nullptr);
  return all;
}

// ---- processes ----

void wake(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr,
            nullptr, 0);
}

/// Becomes the program of a rank.
[[noreturn]] void become_rank(std::vector<char*> const& command, std::string environment,
                              std::uint32_t rank, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  ::putenv(environment.data());
  if (rank != 0) {  // standard input is rank 0's
    if (std::freopen("/dev/null", "r", stdin) == nullptr) ::_exit(127);
  }
  ::execvp(command[0], command.data());
  ::_exit(errno == ENOENT || errno == EACCES ? 127 : 126);
}

/// What outsize-run has been told of its processes.
class crew {
 public:
  explicit crew(bp::process_memory& memory) : memory_(memory) {}

  void start(request const& asked) {
    pid_t const self = ::getpid();
    name_ = asked.command[0];
    for (std::uint32_t rank = 0; rank < asked.options.count; ++rank) {
      pid_t const pid = ::fork();
      if (pid < 0) fail(fmt::format("cannot start rank {}: {}", rank, std::strerror(errno)));
      if (pid == 0) become_rank(asked.command, memory_.environment_of(rank), rank, self);
      ranks_.push_back(pid);
    }
  }

  void set_engine(pid_t pid) { engine_ = pid; }

  /// Waits for all. Returns the exit code.
  int wait() {
    int code = 0;
    std::size_t left = ranks_.size();
    while (left != 0 || engine_ != 0) {
      int status = 0;
      pid_t const pid = ::waitpid(-1, &status, 0);
      if (pid < 0) {
        if (errno == EINTR) continue;
        break;
      }
      if (pid == engine_) {
        engine_ = 0;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return report(status);
        continue;
      }
      for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        if (ranks_[rank] != pid) continue;
        ranks_[rank] = 0;
        --left;
        note_end(rank, status);
        if (WIFEXITED(status) && WEXITSTATUS(status) >= 126 && has_not_begun(rank)) {
          fail(fmt::format("cannot run '{}' as rank {}", name_, rank));
        }
        if (code == 0 && WIFEXITED(status)) code = WEXITSTATUS(status);
      }
    }
    return code;
  }

  [[noreturn]] void fail(std::string const& message) {
    std::fputs(("outsize-run: " + message + "\n").c_str(), stderr);
    kill_all();
    std::exit(1);
  }

 private:
  bool has_not_begun(std::uint32_t rank) {
    return bp::control_of(memory_.shared(), rank).arena_begin == 0;
  }

  void note_end(std::uint32_t rank, int status) {
    bp::rank_control& control = bp::control_of(memory_.shared(), rank);
    control.wait_status = status;
    control.is_dead.store(1);
    control.turn.store(bp::rank_control::nobodys_turn);  // whoever is about to wait for it does not
    wake(control.turn);
  }

  int report(int status) {
    bp::header& all = memory_.shared();
    if (all.has_failed.load() != 0) {
      kill_all();
      std::fputs(("outsize-run: " + std::string(all.text) + "\n").c_str(), stderr);
      return all.exit_code;
    }
    fail(WIFSIGNALED(status) ? fmt::format("the engine was ended by signal {}", WTERMSIG(status))
                             : std::string("the engine failed"));
  }

  void kill_all() {
    if (engine_ != 0) ::kill(engine_, SIGKILL);
    for (pid_t const rank : ranks_) {
      if (rank != 0) ::kill(rank, SIGKILL);
    }
    while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
  }

  bp::process_memory& memory_;
  std::string name_;
  std::vector<pid_t> ranks_;
  pid_t engine_ = 0;
};

/// Ends the engine if outsize-run is ended: the ranks end by themselves.
void end_with_parent(int /*signal*/) {
  static char const text[] = "outsize-run: was ended\n";
  if (::write(2, text, sizeof text - 1) < 0) ::_exit(1);
  ::_exit(1);
}

[[noreturn]] void become_engine(request const& asked, outsize::bsp::run_plan const& plan,
                                bp::process_memory& memory, pid_t parent) {
  struct sigaction ending = {};
  ending.sa_handler = end_with_parent;
  ::sigaction(SIGTERM, &ending, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);
  try {
    bp::serve_processes(asked.options, plan, memory);
    ::_exit(0);
  } catch (std::exception const& e) {
    bp::header& all = memory.shared();
    std::strncpy(all.text, e.what(), bp::most_text - 1);
    all.exit_code = 1;
    all.has_failed.store(1);
    ::_exit(1);
  }
}

int run(request const& asked) {
  outsize::bsp::run_plan const plan = bp::plan_processes(asked.options);
  if (asked.is_plan) {
    std::fputs(plan.explain().c_str(), stdout);
    return 0;
  }
  bp::process_memory memory(asked.options, plan);
  crew all(memory);
  all.start(asked);
  pid_t const self = ::getpid();
  pid_t const engine = ::fork();
  if (engine < 0) all.fail(fmt::format("cannot start the engine: {}", std::strerror(errno)));
  if (engine == 0) become_engine(asked, plan, memory, self);
  all.set_engine(engine);
  return all.wait();
}

}  // namespace

int main(int argc, char** argv) try {
  ::signal(SIGCHLD, SIG_DFL);        // ignored, ends of ranks would not be told
  while (::fcntl(2, F_GETFD) < 0) {  // descriptors of shared memory must not be those of streams
    if (::open("/dev/null", O_RDWR) < 0) return 1;
  }
  return run(parse(argc, argv));
} catch (std::exception const& e) {
  std::fprintf(stderr, "outsize-run: %s\n", e.what());
  return 1;
}
