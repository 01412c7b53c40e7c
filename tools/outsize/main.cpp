// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The command line tool: finds the command, and is the one place where exceptions end. Layer:
// tools. Exit codes: 0 done or yes, 1 the answer is no, 2 any error, with the cause on stderr in
// one line.
#include <tools/outsize/command.hpp>
#include <tools/outsize/interruption.hpp>
#include <tools/outsize/options.hpp>

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iterator>
#include <new>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <outsize/base/config.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/machine.hpp>
#include <outsize/base/printable_text.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/input_form.hpp>

namespace outsize::tool {
namespace {

struct command {
  std::string_view name;
  std::string_view help;
  int (*run)(int argc, char** argv);
};

constexpr std::array commands{
    command{"sort", "sort lines or binary records, however many", cmd_sort},
    command{"uniq", "drop, count or set apart equal neighbouring lines", cmd_uniq},
    command{"count", "count equal lines or keys, in any order", cmd_count},
    command{"top", "the first lines of an order, without a whole sort", cmd_top},
    command{"shuffle", "lines in random order, which a seed repeats", cmd_shuffle},
    command{"join", "pairs of lines of two files with a common field", cmd_join},
    command{"mis", "a maximal independent set of a graph in files of edges", cmd_mis},
    command{"columnsort", "sort u64 with I/O that does not depend on them", cmd_columnsort},
    command{"permute", "permute records by a matrix over GF(2)", cmd_permute},
    command{"fft", "Fourier transform of a file of complex numbers", cmd_fft},
    command{"check", "check order, count and contents of a file", cmd_check},
    command{"gen", "generate test data, the same on every machine", cmd_gen},
    command{"info", "show disks, back-end, memory, threads and bandwidth", cmd_info},
    command{"bench", "measure the disk or a sort", cmd_bench},
};

void print_help() {
  fmt::print("usage: outsize COMMAND [OPTIONS] [OPERANDS]\n\nFor data larger than memory.\n\n");
  for (auto const& row : commands) fmt::print("  {:<12}{}\n", row.name, row.help);
  fmt::print(
      "\n'outsize COMMAND --help' explains a command; 'outsize --version' prints the version.\n"
      "Exit status: 0 done or yes, 1 the answer is no, 2 error.\n");
}

/// What is printed counts only if it arrived, which some file systems tell when it is closed.
void close_stdout() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && ::close(STDOUT_FILENO) == 0) return;
  throw std::system_error(errno, std::generic_category(), "cannot write standard output");
}

/// Has the numbers 0 to 2 in use, so that no file gets one that is closed, and is taken for
/// standard input or output. What stands in refuses the transfer, as nothing at all would.
void occupy_standard_descriptors() {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
    if (::fcntl(number, F_GETFD) != -1 || errno != EBADF) continue;
    ::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // the lowest number
  }
}

/// Where memory is scarce, has what was freed go back to the system rather than stay with a heap
/// for each thread, and threads reserve less of an address space that is limited.
void save_memory() {
  constexpr std::uint64_t plenty = 1_GiB;
  constexpr int least_own_mapping = 128 * 1024;  // what it is at first, but it would grow
  constexpr std::size_t stack_bytes = 1_MiB;
  if (available_memory_bytes() >= plenty) return;
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_MMAP_THRESHOLD, least_own_mapping);
  ::mallopt(M_TRIM_THRESHOLD, least_own_mapping);
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return;
  if (::pthread_attr_setstacksize(&attributes, stack_bytes) == 0)
    ::pthread_setattr_default_np(&attributes);
  ::pthread_attr_destroy(&attributes);
}

command const* find_command(std::string_view name) {
  auto const* row = std::ranges::find(commands, name, &command::name);
  return row == commands.end() ? nullptr : row;
}

void complain(int argc, char** argv, std::string_view cause) {
  bool const is_in_command = argc > 1 && find_command(argv[1]) != nullptr;
  fmt::memory_buffer line;  // most causes fit without memory, which may be what is lacking
  fmt::format_to(std::back_inserter(line), "outsize{}{}: ", is_in_command ? " " : "",
                 is_in_command ? argv[1] : "");
  append_printable(line, cause);  // names may hold anything, ends of lines too
  line.push_back('\n');
  put_error({line.data(), line.size()});
}

int dispatch(int argc, char** argv) {
  if (argc < 2) throw usage_error("no command given; see outsize --help");
  std::string_view const name = argv[1];
  if (auto const* command = find_command(name)) return command->run(argc - 1, argv + 1);
  if (name == "--help" || name == "-h" || name == "help") {
    print_help();
  } else if (name == "--version") {
    fmt::print("outsize {}\n", version);
  } else {
    throw usage_error(fmt::format("unknown command '{}'; see outsize --help", name));
  }
  return exit_done;
}

int run(int argc, char** argv) {
  try {
    int const code = dispatch(argc, argv);
    close_stdout();
    return code;
  } catch (std::bad_alloc const&) {
    complain(argc, argv, "no memory is left, of the system or below a limit of the process");
  } catch (io_error const& error) {
    complain(argc, argv, error.what());
  } catch (io::foreign_input const& error) {
    bool const is_encoding = error.what_it_is() == io::foreign_input::aspect::encoding;
    complain(argc, argv,
             fmt::format("{}; {} takes its bytes as they are", error.what(),
                         is_encoding ? "--encoding=bytes" : "--no-decompress"));
  } catch (std::system_error const& error) {
    bool const is_thread = error.code() == std::errc::resource_unavailable_try_again;
    complain(argc, argv,
             fmt::format("{}{}", is_thread ? "cannot start a thread: " : "", error.what()));
  } catch (std::exception const& error) {
    complain(argc, argv, error.what());
  }
  return exit_error;
}

}  // namespace
}  // namespace outsize::tool

int main(int argc, char** argv) {
  outsize::tool::occupy_standard_descriptors();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error like others
  outsize::tool::clean_up_on_signals();
  outsize::tool::save_memory();
  return outsize::tool::run(argc, argv);
}
