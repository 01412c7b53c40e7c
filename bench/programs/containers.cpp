// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The benchmarks of containers: what is timed is said by bench/README.md.
//
//   containers vector-fill|vector-scan|vector-both-ways|vector-random|
//              stack|stack-32|queue|queue-32|deque|deque-32
//              BYTES MEMORY_BYTES THREADS DIRECTORY
//
// Prints one JSON object. Items are the first numbers of a sequence that is cheap to compute, so
// that what was stored can be verified: outside the timed part.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/container/deque.hpp>
#include <outsize/container/queue.hpp>
#include <outsize/container/stack.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/container/vector_readers.hpp>
#include <outsize/io/disk_file.hpp>

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
  page_options pages;
  std::string directory;
};

/// What was timed, and whether what came of it is right.
struct outcome {
  double seconds;
  io::statistics_snapshot moved;
  bool verified;
  double work_seconds = 0;  // what the disk alone needs for it, where this was measured
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

/// Forward and backward: what the readers need for it is the floor of the iterators.
outcome vector_both_ways(job& work) {
  vector<std::uint64_t> v(work.store, work.pages);
  v.resize(work.bytes / sizeof(std::uint64_t));
  fill(v);
  auto const& fixed = v;
  std::uint64_t sum = 0;
  auto const [by_readers, moved_by_readers] = timed(work.store, [&] {
    for (vector_reader in(fixed); !in.empty(); ++in) sum += *in;
    for (vector_reverse_reader in(fixed); !in.empty(); ++in) sum += *in;
  });
  auto const [seconds, moved] = timed(work.store, [&] {
    for (auto const x : fixed) sum += x;
    for (auto at = fixed.rbegin(); at != fixed.rend(); ++at) sum += *at;
  });
  return {seconds, moved, sum == 4 * sum_of(v.size()), by_readers};
}

/// What is read by a benchmark of random accesses: batches of indices, and of each the pages that
/// they are in, in random order too.
struct accesses {
  static constexpr std::size_t page_bytes = 4_KiB;
  static constexpr std::size_t depth = 128;

  std::vector<std::vector<std::uint64_t>> indices;
  std::vector<std::uint64_t> pages;

  /// A million, or as many as a hundredth of the items, in ten batches.
  accesses(std::uint64_t items, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    indices.assign(10,
                   std::vector<std::uint64_t>(std::min<std::uint64_t>(items, 100'000'000) / 1000));
    for (auto& batch : indices) {
      for (auto& index : batch) index = random() % items;
      std::vector<std::uint64_t> touched;
      for (auto const index : batch) touched.push_back(index * sizeof(index) / page_bytes);
      std::ranges::sort(touched);
      touched.erase(std::ranges::unique(touched).begin(), touched.end());
      std::ranges::shuffle(touched, random);
      pages.insert(pages.end(), touched.begin(), touched.end());
    }
  }
};

/// The seconds in which the disk reads these pages of a file of items, as many under way as it has
/// for vectors; less than nothing if they are not what they should be.
double seconds_of_reads(storage& store, io::file& file, std::span<std::uint64_t const> pages) {
  auto memory = store.memory().take(accesses::depth * accesses::page_bytes, "random reads");
  auto const room = memory.allocate(accesses::depth * accesses::page_bytes);
  std::vector<io::request_ptr> under_way(accesses::depth);
  bool good = true;
  auto const [seconds, moved] = timed(store, [&] {
    for (std::size_t i = 0; i < pages.size() + accesses::depth; ++i) {
      auto& request = under_way[i % accesses::depth];
      auto const into =
          room.bytes().subspan(i % accesses::depth * accesses::page_bytes, accesses::page_bytes);
      if (request) {
        request->wait();
        auto const page = pages[i - accesses::depth];
        good &= *reinterpret_cast<std::uint64_t const*>(into.data()) ==
                item(page * (accesses::page_bytes / sizeof(std::uint64_t)));
        request = nullptr;
      }
      if (i < pages.size()) request = file.read(pages[i] * accesses::page_bytes, into);
    }
  });
  return good ? seconds : -1;
}

/// In a file, so that the same pages can be read without a vector.
outcome vector_random(job& work) {
  std::string const path = work.directory + "/items";
  std::uint64_t const count = work.bytes / sizeof(std::uint64_t);
  {
    auto v = vector<std::uint64_t>::create_plain(path, work.store, work.pages);
    v.resize(count);
    fill(v);
    v.close();
  }
  accesses const random(count, 1), others(count, 2);  // that no cache below has seen
  auto const file = io::open_file(path, work.store.file_queue());
  double const alone = seconds_of_reads(work.store, *file, others.pages);
  work.pages.page_bytes = accesses::page_bytes;
  work.pages.cache_pages = work.store.memory().total_bytes() / 10 / accesses::page_bytes;
  work.pages.batch_pages = accesses::depth;
  auto const v =
      vector<std::uint64_t>::open_plain(path, work.store, io::access::read_only, work.pages);
  std::filesystem::remove(path);
  std::vector<std::vector<std::uint64_t>> found = random.indices;
  auto const [seconds, moved] = timed(work.store, [&] {
    for (std::size_t i = 0; i < found.size(); ++i) v.read_many(random.indices[i], found[i]);
  });
  bool good = alone >= 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    for (std::size_t j = 0; j < found[i].size(); ++j)
      good &= found[i][j] == item(random.indices[i][j]);
  auto const pages = moved.read_bytes / accesses::page_bytes;
  good &= pages <= random.pages.size();  // some are in memory from the batch before
  return {seconds, moved, good,
          alone * static_cast<double>(pages) / static_cast<double>(others.pages.size())};
}

/// Item i of a container of items of another type.
template <typename T>
constexpr T item_as(std::uint64_t i) {
  if constexpr (std::integral<T>)
    return static_cast<T>(item(i));
  else
    return {item(i), i, item(i) + 1, i + 1};
}
using number = std::uint32_t;
using thirty_two_bytes = std::array<std::uint64_t, 4>;

/// All pushed, then all popped: `last_first` says in which order they come.
template <typename Container>
outcome push_and_pop(job& work, bool last_first, auto const& push, auto const& next,
                     auto const& pop) {
  using value = typename Container::value_type;
  Container all(work.store, work.pages);
  std::uint64_t const count = work.bytes / sizeof(value);
  bool good = true;
  auto const [seconds, moved] = timed(work.store, [&] {
    for (std::uint64_t i = 0; i < count; ++i) push(all, item_as<value>(i));
    for (std::uint64_t i = 0; i < count; ++i) {
      good &= next(all) == item_as<value>(last_first ? count - 1 - i : i);
      pop(all);
    }
  });
  return {seconds, moved, good && all.empty()};
}

template <typename T>
outcome stack_of(job& work) {
  return push_and_pop<stack<T>>(
      work, true, [](stack<T>& s, T const& x) { s.push(x); },
      [](stack<T>& s) -> T const& { return s.top(); }, [](stack<T>& s) { s.pop(); });
}

template <typename T>
outcome queue_of(job& work) {
  return push_and_pop<queue<T>>(
      work, false, [](queue<T>& q, T const& x) { q.push(x); },
      [](queue<T>& q) -> T const& { return q.front(); }, [](queue<T>& q) { q.pop(); });
}

/// Pushed at the front, popped at the back.
template <typename T>
outcome deque_of(job& work) {
  return push_and_pop<deque<T>>(
      work, false, [](deque<T>& d, T const& x) { d.push_front(x); },
      [](deque<T>& d) -> T const& { return d.back(); }, [](deque<T>& d) { d.pop_back(); });
}

int run(int argc, char** argv) {
  std::map<std::string, std::function<outcome(job&)>> const all = {
      {"vector-fill", vector_fill},     {"vector-scan", vector_scan},
      {"vector-random", vector_random}, {"vector-both-ways", vector_both_ways},
      {"stack", stack_of<number>},      {"stack-32", stack_of<thirty_two_bytes>},
      {"queue", queue_of<number>},      {"queue-32", queue_of<thirty_two_bytes>},
      {"deque", deque_of<number>},      {"deque-32", deque_of<thirty_two_bytes>}};
  if (argc != 6 || !all.contains(argv[1]))
    throw std::invalid_argument("usage: containers NAME BYTES MEMORY_BYTES THREADS DIRECTORY");
  job work{std::strtoull(argv[2], nullptr, 10),
           storage({.disks = {disk_options(argv[5])},
                    .memory_bytes = std::strtoull(argv[3], nullptr, 10),
                    .threads = std::strtoull(argv[4], nullptr, 10)}),
           {},
           argv[5]};
  work.pages.page_bytes = std::min<std::uint64_t>(work.store.memory().total_bytes() / 64, 2_MiB);
  auto const found = all.at(argv[1])(work);
  fmt::print(
      "{{\"seconds\": {}, \"io_wait_seconds\": {}, \"read_bytes\": {}, \"written_bytes\": {}, "
      "\"verified\": {}, \"work_seconds\": {}}}\n",
      found.seconds, static_cast<double>(found.moved.wait_ns) * 1e-9, found.moved.read_bytes,
      found.moved.write_bytes, found.verified, found.work_seconds);
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
