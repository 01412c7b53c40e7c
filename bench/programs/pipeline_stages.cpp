// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The benchmark pipeline-stages: a pipeline of 16 stages in the shape of a Fourier transform, on a
// network and on processes with pipes between them; peers/tbb_stages.cpp has it on oneTBB.
//
//   pipeline_stages ours|pipes IN OUT THREADS   the same stages, two ways
//   pipeline_stages verify IN OUT THREADS       whether OUT is what the stages make of IN
//
// Buffers of 2^13 complex doubles are read, put into bit-reversed order, taken through 13 levels of
// butterflies and written. All call the same functions, also for reading and writing, which go
// through the page cache as a pipe must: the ways differ, the work does not. Each prints one JSON
// object. Source: Cormen, Davidson: FG, 2004, Table 2.

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <bench/programs/stages.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/pipeline/network.hpp>

namespace {

using namespace stages;

void run_network(std::string const& in_path, std::string const& out_path, std::size_t threads) {
  using namespace outsize;
  descriptor const in(open_input(in_path)), out(open_output(out_path));
  memory_budget memory(2 * buffers * buffer_bytes);
  pipeline::network n(memory, {.name = "stages", .threads = threads});
  auto line = n.buffers({.buffer_bytes = buffer_bytes, .count = buffers}) |
              pipeline::stage("read", [&](pipeline::pooled_buffer& b) {
                b.resize(buffer_bytes);
                return read_all(in.number, b.bytes()) == buffer_bytes;
              });
  for (unsigned s = 0; s < inner_stages; ++s)
    line = line | pipeline::stage(fmt::format("level {}", s), [s](pipeline::pooled_buffer& b) {
             apply_stage(s, b.as<number>());
           });
  line | pipeline::stage("write",
                         [&](pipeline::pooled_buffer& b) { write_all(out.number, b.bytes()); });
  n.run();
}

/// One process of the chain: what it reads, it works on and writes.
void filter(int from, int to, unsigned stage) {
  std::vector<number> x(length);
  std::span<std::byte> const bytes = std::as_writable_bytes(std::span(x));
  while (read_all(from, bytes) == buffer_bytes) {
    if (stage > 0 && stage <= inner_stages) apply_stage(stage - 1, x);
    write_all(to, bytes);
  }
}

/// 16 processes; the first one reads the file, the last one writes the other.
void run_pipes(std::string const& in_path, std::string const& out_path) {
  roots();  // shared by all
  int from = open_input(in_path);
  std::vector<pid_t> children;
  for (unsigned s = 0; s < inner_stages + 2; ++s) {
    std::array<int, 2> ends{-1, -1};
    bool const last = s == inner_stages + 1;
    if (last) {
      ends[1] = open_output(out_path);
    } else if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw std::runtime_error("no pipe");
    } else {
      ::fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);  // the most that anybody may ask for
    }
    pid_t const child = ::fork();
    if (child < 0) throw std::runtime_error("no process");
    if (child == 0) {
      int status = 0;
      try {
        filter(from, ends[1], s);
      } catch (...) {
        status = 1;
      }
      ::_exit(status);
    }
    children.push_back(child);
    ::close(from);
    ::close(ends[1]);
    from = ends[0];
  }
  bool good = true;
  for (pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    good &= status == 0;
  }
  if (!good) throw std::runtime_error("a process of the chain failed");
}

bool verify(std::string const& in_path, std::string const& out_path) {
  descriptor const in(open_input(in_path)), out(open_input(out_path));
  std::vector<number> x(length), got(length);
  auto const expected = std::as_writable_bytes(std::span(x));
  auto const found = std::as_writable_bytes(std::span(got));
  while (read_all(in.number, expected) == buffer_bytes) {
    for (unsigned s = 0; s < inner_stages; ++s) apply_stage(s, x);
    if (read_all(out.number, found) != buffer_bytes ||
        std::memcmp(expected.data(), found.data(), buffer_bytes) != 0)
      return false;
  }
  return read_all(out.number, found) == 0;
}

int run(std::string_view mode, std::string const& in, std::string const& out, std::size_t threads) {
  if (mode == "verify") {
    bool const good = verify(in, out);
    fmt::print("{{\"verified\": {}}}\n", good);
    return good ? 0 : 1;
  }
  auto const begin = std::chrono::steady_clock::now();
  if (mode == "ours") {
    run_network(in, out, threads);
  } else if (mode == "pipes") {
    run_pipes(in, out);
  } else {
    throw std::invalid_argument(fmt::format("'{}' is no mode", mode));
  }
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
  fmt::print("{{\"seconds\": {}}}\n", took.count());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> const words(argv + 1, argv + argc);
  try {
    if (words.size() == 4)
      return run(words[0], words[1], words[2], std::strtoull(words[3].c_str(), nullptr, 10));
    fmt::print(stderr, "usage: pipeline_stages ours|pipes|verify IN OUT THREADS\n");
  } catch (std::exception const& e) {
    fmt::print(stderr, "pipeline_stages: {}\n", e.what());
  }
  return 2;
}
