// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The benchmarks of containers: what is timed is said by bench/README.md.
//
//   containers vector-fill|vector-scan|stack|queue|deque BYTES MEMORY_BYTES THREADS DIRECTORY
//
// Prints one JSON object. Items are the first numbers of a sequence that is cheap to compute, so
// that what was stored can be verified: outside the timed part.

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include <outsize/container/deque.hpp>
#include <outsize/container/queue.hpp>
#include <outsize/container/stack.hpp>
#include <outsize/container/vector.hpp>

namespace {

using namespace outsize;

/// Item i of what is stored.
constexpr std::uint64_t item(std::uint64_t i) { return i * 0x9E3779B97F4A7C15U; }

/// The sum of the first `count` items.
constexpr std::uint64_t sum_of(std::uint64_t count) {
  std::uint64_t const half = count % 2 == 0 ? count / 2 * (count - 1) : (count - 1) / 2 * count;
  return half * 0x9E3779B97F4A7C15U;
}

struct job {
  std::uint64_t bytes;
  storage store;
  vector_options pages;
};

/// What was timed, and whether what came of it is right.
struct outcome {
  double seconds;
  io::statistics_snapshot moved;
  bool verified;
};

template <typename Work>
std::pair<double, io::statistics_snapshot> timed(storage& store, Work const& work) {
  auto const before = store.total_statistics();
  auto const begin = std::chrono::steady_clock::now();
  work();
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
  return {took.count(), store.total_statistics() - before};
}

void fill(vector<std::uint64_t>& v) {
  std::uint64_t i = 0;
  for (auto& x : v) x = item(i++);
  v.flush();
}

outcome vector_fill(job& work) {
  vector<std::uint64_t> v(work.store, work.pages);
  v.resize(work.bytes / sizeof(std::uint64_t));
  auto const [seconds, moved] = timed(work.store, [&] { fill(v); });
  std::uint64_t i = 0;
  bool good = true;
  for (auto const x : std::as_const(v)) good &= x == item(i++);
  return {seconds, moved, good && i == v.size()};
}

outcome vector_scan(job& work) {
  vector<std::uint64_t> v(work.store, work.pages);
  v.resize(work.bytes / sizeof(std::uint64_t));
  fill(v);
  std::uint64_t sum = 0;
  auto const [seconds, moved] = timed(work.store, [&] {
    for (auto const x : std::as_const(v)) sum += x;
  });
  return {seconds, moved, sum == sum_of(v.size())};
}

/// All pushed, then all popped: `last_first` says in which order they come.
template <typename Container>
outcome push_and_pop(job& work, bool last_first, auto const& push, auto const& next,
                     auto const& pop) {
  Container all(work.store, work.pages);
  std::uint64_t const count = work.bytes / sizeof(std::uint32_t);
  bool good = true;
  auto const [seconds, moved] = timed(work.store, [&] {
    for (std::uint64_t i = 0; i < count; ++i) push(all, static_cast<std::uint32_t>(item(i)));
    for (std::uint64_t i = 0; i < count; ++i) {
      good &= next(all) == static_cast<std::uint32_t>(item(last_first ? count - 1 - i : i));
      pop(all);
    }
  });
  return {seconds, moved, good && all.empty()};
}

outcome stack_of_numbers(job& work) {
  using numbers = stack<std::uint32_t>;
  return push_and_pop<numbers>(
      work, true, [](numbers& s, std::uint32_t x) { s.push(x); },
      [](numbers& s) { return s.top(); }, [](numbers& s) { s.pop(); });
}

outcome queue_of_numbers(job& work) {
  using numbers = queue<std::uint32_t>;
  return push_and_pop<numbers>(
      work, false, [](numbers& q, std::uint32_t x) { q.push(x); },
      [](numbers& q) { return q.front(); }, [](numbers& q) { q.pop(); });
}

/// Pushed at the front, popped at the back.
outcome deque_of_numbers(job& work) {
  using numbers = deque<std::uint32_t>;
  return push_and_pop<numbers>(
      work, false, [](numbers& d, std::uint32_t x) { d.push_front(x); },
      [](numbers& d) { return d.back(); }, [](numbers& d) { d.pop_back(); });
}

int run(int argc, char** argv) {
  std::map<std::string, std::function<outcome(job&)>> const all = {{"vector-fill", vector_fill},
                                                                   {"vector-scan", vector_scan},
                                                                   {"stack", stack_of_numbers},
                                                                   {"queue", queue_of_numbers},
                                                                   {"deque", deque_of_numbers}};
  if (argc != 6 || !all.contains(argv[1]))
    throw std::invalid_argument("usage: containers NAME BYTES MEMORY_BYTES THREADS DIRECTORY");
  job work{std::strtoull(argv[2], nullptr, 10),
           storage({.disks = {disk_options(argv[5])},
                    .memory = std::strtoull(argv[3], nullptr, 10),
                    .threads = std::strtoull(argv[4], nullptr, 10)}),
           {}};
  auto const found = all.at(argv[1])(work);
  fmt::print(
      "{{\"seconds\": {}, \"io_wait_seconds\": {}, \"read_bytes\": {}, \"written_bytes\": {}, "
      "\"verified\": {}}}\n",
      found.seconds, static_cast<double>(found.moved.wait_ns) * 1e-9, found.moved.read_bytes,
      found.moved.write_bytes, found.verified);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (std::exception const& e) {
    fmt::print(stderr, "containers: {}\n", e.what());
    return 2;
  }
}
