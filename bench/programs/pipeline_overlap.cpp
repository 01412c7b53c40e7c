// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The benchmark pipeline-overlap: read a buffer, work on it, write it, with and without overlap.
//
//   pipeline_overlap calibrate IN OUT THREADS    how much work takes as long as the I/O alone
//   pipeline_overlap work IN OUT THREADS ROUNDS        how long the work alone takes
//   pipeline_overlap ours IN OUT THREADS ROUNDS        a network of three stages
//   pipeline_overlap sequential IN OUT THREADS ROUNDS  one buffer, one step after another
//   pipeline_overlap verify IN OUT THREADS ROUNDS      whether OUT is what the work makes of IN
//
// Each prints one JSON object. The work is `rounds` steps of a linear congruence on every word.

#include <sys/resource.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <span>
#include <string>
#include <string_view>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/pipeline/file_stages.hpp>
#include <outsize/pipeline/network.hpp>

namespace {

using namespace outsize;

constexpr std::size_t buffer_bytes = pipeline::most_request_bytes;
constexpr std::size_t buffer_count = 16;
constexpr std::size_t depth = 4;  // requests in each direction

double since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// All rounds of a word while it is in a register: work for a processor, not for its memory.
void work(std::span<std::uint64_t> words, unsigned rounds) {
  constexpr std::size_t at_once = 16;
  auto const step = [](std::uint64_t w) { return w * 0x9E3779B97F4A7C15U + 0x2545F4914F6CDD1DU; };
  std::size_t const whole = words.size() / at_once * at_once;
  for (std::size_t at = 0; at < whole; at += at_once) {
    std::array<std::uint64_t, at_once> w;
    std::copy_n(&words[at], at_once, w.begin());
    for (unsigned r = 0; r < rounds; ++r)
      for (auto& each : w) each = step(each);
    std::ranges::copy(w, &words[at]);
  }
  for (auto& w : words.subspan(whole))
    for (unsigned r = 0; r < rounds; ++r) w = step(w);
}

struct job {
  job(char** argv)  // NOLINT(*-pointer-arithmetic)
      : in_path(argv[2]),
        out_path(argv[3]),
        store({.threads = std::strtoull(argv[4], nullptr, 10)}),
        in(io::open_file(in_path, store.file_queue())),
        length(in->size_bytes()) {}

  std::unique_ptr<io::file> make_output() {
    auto out = io::open_file(out_path, store.file_queue(),
                             {.mode = io::access::read_write, .create = true, .truncate = true});
    out->allocate(0, length);
    return out;
  }

  std::string in_path, out_path;
  storage store;
  std::unique_ptr<io::file> in;
  std::uint64_t length;
};

/// Returns the seconds it took. No rounds: the I/O alone.
double run_network(job& j, unsigned rounds) {
  auto const out = j.make_output();
  auto const begin = std::chrono::steady_clock::now();
  pipeline::network n(j.store.memory(),
                      {.name = "overlap", .threads = j.store.threads().threads()});
  auto const read = n.buffers({.buffer_bytes = buffer_bytes, .count = buffer_count}) |
                    pipeline::read_from(*j.in, {0, j.length}, {.depth = depth});
  auto const worked = rounds == 0 ? read : read | pipeline::stage("work", [rounds](auto& b) {
                                             work(b.template as<std::uint64_t>(), rounds);
                                           });
  worked | pipeline::write_to(*out, 0, {.depth = depth});
  n.run();
  if (std::getenv("OUTSIZE_BENCH_EXPLAIN") != nullptr) fmt::print(stderr, "{}", n.explain());
  return since(begin);
}

double run_sequentially(job& j, unsigned rounds) {
  auto const out = j.make_output();
  grant memory = j.store.memory().take(buffer_bytes, "sequential");
  buffer const b = memory.allocate(buffer_bytes);
  auto const begin = std::chrono::steady_clock::now();
  for (std::uint64_t at = 0; at < j.length; at += buffer_bytes) {
    auto const part = b.bytes().first(std::min<std::uint64_t>(buffer_bytes, j.length - at));
    j.in->read(at, part)->wait();
    work({reinterpret_cast<std::uint64_t*>(part.data()), part.size() / 8}, rounds);
    out->write(at, part)->wait();
  }
  return since(begin);
}

/// The seconds that so many rounds of work take on as many bytes as there are, without any I/O.
double work_seconds(job& j, unsigned rounds) {
  // More bytes than a cache holds: what comes from a disk is in none, either.
  constexpr std::size_t sample_bytes = 128_MiB;
  grant memory = j.store.memory().take(sample_bytes, "calibration");
  buffer const b = memory.allocate(sample_bytes);
  std::span const words(reinterpret_cast<std::uint64_t*>(b.data()), sample_bytes / 8);
  auto const seconds_of = [&](unsigned count) {
    auto const begin = std::chrono::steady_clock::now();
    for (std::size_t at = 0; at < words.size(); at += buffer_bytes / 8)
      work(words.subspan(at, buffer_bytes / 8), count);
    return since(begin) * static_cast<double>(j.length) / sample_bytes;
  };
  seconds_of(1);  // touches the memory
  std::array<double, 5> samples{};
  for (double& s : samples) s = seconds_of(rounds);
  std::ranges::nth_element(samples, samples.begin() + 2);
  return samples[2];
}

/// Rounds whose work on all buffers takes as long as their I/O alone.
unsigned calibrate(job& j) {
  std::array<double, 3> io_seconds{};
  for (double& s : io_seconds) s = run_network(j, 0);
  std::ranges::nth_element(io_seconds, io_seconds.begin() + 1);
  constexpr unsigned sample = 20;
  double const round_seconds = work_seconds(j, sample) / sample;
  return std::max(1U, static_cast<unsigned>(io_seconds[1] / round_seconds));
}

bool verify(job& j, unsigned rounds) {
  auto const out = io::open_file(j.out_path, j.store.file_queue());
  if (out->size_bytes() != j.length) return false;
  grant memory = j.store.memory().take(2 * buffer_bytes, "verification");
  buffer const a = memory.allocate(buffer_bytes), b = memory.allocate(buffer_bytes);
  for (std::uint64_t at = 0; at < j.length; at += buffer_bytes) {
    std::size_t const size = std::min<std::uint64_t>(buffer_bytes, j.length - at);
    j.in->read(at, a.bytes().first(size))->wait();
    out->read(at, b.bytes().first(size))->wait();
    work({reinterpret_cast<std::uint64_t*>(a.data()), size / 8}, rounds);
    if (!std::equal(a.data(), a.data() + size, b.data())) return false;
  }
  return true;
}

int run(std::string_view mode, int argc, char** argv) {
  job j(argv);
  if (mode == "calibrate") {
    fmt::print("{{\"rounds\": {}}}\n", calibrate(j));
    return 0;
  }
  unsigned const rounds = argc > 5 ? static_cast<unsigned>(std::strtoul(argv[5], nullptr, 10)) : 0;
  if (mode == "work") {
    fmt::print("{{\"work_seconds\": {}}}\n", work_seconds(j, rounds));
    return 0;
  }
  if (mode == "verify") {
    bool const good = verify(j, rounds);
    fmt::print("{{\"verified\": {}}}\n", good);
    return good ? 0 : 1;
  }
  double const seconds = mode == "ours" ? run_network(j, rounds) : run_sequentially(j, rounds);
  fmt::print(
      "{{\"seconds\": {}, \"read_bytes\": {}, \"written_bytes\": {}, \"queue_depth\": {}, "
      "\"networks\": [{{\"read_request_bytes\": {}, \"write_request_bytes\": {}}}]}}\n",
      seconds, j.length, j.length, 2 * depth, buffer_bytes, buffer_bytes);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc >= 5) return run(argv[1], argc, argv);
    fmt::print(stderr, "usage: pipeline_overlap MODE IN OUT THREADS [ROUNDS]\n");
  } catch (std::exception const& e) {
    fmt::print(stderr, "pipeline_overlap: {}\n", e.what());
  }
  return 2;
}
