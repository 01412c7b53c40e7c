// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// outsize-run: runs an MPI program for more ranks, with more memory, than the machine has.
//
//   outsize-run ─┬─ rank 0 … rank v-1    processes of the program, which wait in their library
//                └─ engine               gives turns, moves memory, delivers messages
//
// It has no threads. It starts the engine, which makes the storage, then the ranks, and waits for
// all. If a rank or the engine fails, it ends the others and prints one message.

#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <outsize/base/units.hpp>
#include <outsize/bsp/process/process_run.hpp>
#include <tools/outsize_run/crew.hpp>
#include <tools/outsize_run/run_watch.hpp>

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
      --report=FILE      show the run on a page of HTML, also if it fails; "-": standard output
      --json=FILE        the plan, sums and peak memory of the run, for programs
      --progress         show how far it has come (default on a terminal)
      --no-progress      do not
      --plan             print how memory is divided, and run nothing
      --help             print this text
)";

struct request {
  bp::process_options options;
  outsize::launcher::watch_options watch;
  bool is_plan = false;
  std::vector<char*> command;  // ends with nullptr
};

[[noreturn]] void refuse(std::string const& message) {
  outsize::launcher::complain(message);
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

void refuse_one_file(outsize::launcher::watch_options const& watch) {
  if (!watch.report || !watch.json) return;
  std::error_code ignored;
  auto const place = [&](std::string const& path) {
    return std::filesystem::weakly_canonical(path, ignored);
  };
  if (place(*watch.report) != place(*watch.json)) return;
  refuse(fmt::format("'{}' is both --report and --json", *watch.json));
}

std::string title_of(std::vector<char*> const& command) {
  std::string title = "outsize-run";
  for (char const* const word : command) title += std::string(" ") + word;
  return title;
}

request parse(int argc, char** argv) {
  enum : int { context = 256, swap, report, json, progress, no_progress, plan, print_help };
  static option const known[] = {{"ranks", required_argument, nullptr, 'v'},
                                 {"at-once", required_argument, nullptr, 'k'},
                                 {"memory", required_argument, nullptr, 'm'},
                                 {"context", required_argument, nullptr, context},
                                 {"temporary", required_argument, nullptr, 'T'},
                                 {"swap", required_argument, nullptr, swap},
                                 {"report", required_argument, nullptr, report},
                                 {"json", required_argument, nullptr, json},
                                 {"progress", no_argument, nullptr, progress},
                                 {"no-progress", no_argument, nullptr, no_progress},
                                 {"plan", no_argument, nullptr, plan},
                                 {"help", no_argument, nullptr, print_help},
                                 {nullptr, 0, nullptr, 0}};
  request all;
  all.watch.shows_progress = ::isatty(STDERR_FILENO) != 0;
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
      case report:
        all.watch.report = optarg;
        break;
      case json:
        all.watch.json = optarg;
        break;
      case progress:
        all.watch.shows_progress = true;
        break;
      case no_progress:
        all.watch.shows_progress = false;
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
  refuse_one_file(all.watch);
  all.command.assign(argv + optind, argv + argc);
  all.watch.title = title_of(all.command);
  all.command.push_back(nullptr);
  return all;
}

/// The engine, in its process.
void serve(request const& asked, outsize::bsp::run_plan const& plan, bp::process_memory& memory) {
  static bp::header* all = nullptr;
  all = &memory.shared();
  std::set_terminate([] {
    bp::note_failure(*all, std::current_exception());
    ::_exit(1);
  });
  try {
    std::optional<outsize::launcher::run_watch> watch;
    if (asked.watch.has_wishes()) watch.emplace(asked.watch, plan, memory);
    bp::serve_processes(asked.options, plan, memory, watch ? &*watch : nullptr);
  } catch (...) {
    std::terminate();
  }
}

int run(request const& asked) {
  outsize::bsp::run_plan const plan = bp::plan_processes(asked.options);
  if (asked.is_plan) {
    std::fputs(plan.explain().c_str(), stdout);
    return 0;
  }
  bp::process_memory memory(asked.options, plan);
  outsize::launcher::crew all(memory);
  if (asked.watch.has_wishes()) all.let_engine_tell();
  all.start_engine([&] { serve(asked, plan, memory); });
  all.start_ranks(asked.command);
  return all.wait();
}

}  // namespace

int main(int argc, char** argv) try {
  ::signal(SIGCHLD, SIG_DFL);        // ignored, ends of ranks would not be told
  ::signal(SIGXFSZ, SIG_IGN);        // a file that may not grow is an error like others
  while (::fcntl(2, F_GETFD) < 0) {  // descriptors of shared memory must not be those of streams
    if (::open("/dev/null", O_RDWR) < 0) return 1;
  }
  return run(parse(argc, argv));
} catch (std::bad_alloc const&) {
  outsize::launcher::complain("no memory is left, of the system or below a limit of the process");
  return 1;
} catch (std::exception const& e) {
  outsize::launcher::complain(e.what());
  return 1;
}
