// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The benchmarks of priority queues; bench/README.md says which part is timed.
//
//   priority_queues NAME BYTES MEMORY_BYTES THREADS DIRECTORY
//   NAME: pq-random, pq-ascending, pq-descending, pq-monotone, pq-intermixed; pq-random-bulk,
//         pq-random-bulk-sorter (by our sorter); pq-rbulk-rewrite, pq-rbulk-rewrite-single
//
// Prints one JSON object.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <outsize/algorithm/sorter.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/bulk_priority_queue.hpp>
#include <outsize/container/priority_queue.hpp>

#include "queue_workload.hpp"

namespace {

using queues::number;

/// The sorter as a queue that is filled before it is emptied.
class sorted_queue {
 public:
  explicit sorted_queue(outsize::storage& store) : items_(store) {}
  void push(number x) { items_.push(x); }
  number top() {
    if (!sorted_) {
      items_.sort();
      sorted_ = true;
    }
    return *items_;
  }
  void pop() { ++items_; }
  std::uint64_t size() { return items_.empty() ? 0 : 1; }

 private:
  outsize::sorter<number> items_;
  bool sorted_ = false;
};

using options = outsize::priority_queue_options;
using single_queue = outsize::priority_queue<number, std::greater<>>;
using bulk_queue = outsize::bulk_priority_queue<number, std::greater<>>;

/// Calls body(thread, number of threads) on all of them.
template <typename Body>
void on_threads(std::size_t threads, Body const& body) {
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < threads; ++t) others.emplace_back([&, t] { body(t); });
  body(0);
  for (auto& t : others) t.join();
}

/// Items at random, pushed by all threads in bulks, and popped in bulks.
queues::outcome random_bulk(bulk_queue& q, number count, std::size_t threads) {
  constexpr number pushed_at_once = number{1} << 24, popped_at_once = number{1} << 20;
  std::vector<queues::random_numbers> random;
  for (std::size_t t = 0; t < threads; ++t) random.emplace_back(t << 40);
  std::vector<queues::item_sum> in(threads);
  queues::outcome found;
  queues::stopwatch const filling;
  for (number done = 0; done < count; done += pushed_at_once) {
    number const some = std::min(pushed_at_once, count - done);
    auto bulk = q.push_bulk(some);
    on_threads(threads, [&](std::size_t t) {
      auto to = bulk.writer_of_thread();
      queues::random_numbers next = random[t];
      queues::item_sum sum;
      for (number i = some * t / threads; i < some * (t + 1) / threads; ++i) {
        number const x = next();
        sum.add(x);
        to.push(x);
      }
      in[t].add(sum);
      random[t] = next;
    });
    bulk.end();
  }
  found.fill = filling.time();
  queues::stopwatch const emptying;
  std::vector<number> some;
  queues::item_sum all, out;
  number last = 0;
  bool in_order = true;
  while (q.bulk_pop(some, popped_at_once) > 0)
    for (number const x : some) {
      in_order &= last <= x;
      last = x;
      out.add(x);
    }
  found.rest = emptying.time();
  for (auto const& sum : in) all.add(sum);
  found.verified = in_order && all == out;
  return found;
}

/// `count` ascending items; then as many are popped in bulks of up to 640 000, and pushed again
/// behind all others. The second part is that. Bulks paper, section 4 (asc-rbulk-rewrite).
template <typename Queue, typename Rewrite>
queues::outcome rewrite(Queue& q, number count, number most, Rewrite const& one) {
  queues::outcome found;
  queues::stopwatch const filling;
  for (number i = 0; i < count; ++i) q.push(i);
  found.fill = filling.time();
  queues::random_numbers random;
  bool good = true;
  queues::stopwatch const rewriting;
  for (number done = 0; done < count;) {
    number const some = std::min(count - done, random() % (most + 1));
    good &= one(done, some);
    done += some;
  }
  found.rest = rewriting.time();
  found.verified = good && q.size() == count && q.top() == count;
  return found;
}
constexpr number most_rewritten = 640'000;

queues::outcome rewrite_bulks(bulk_queue& q, number count) {
  std::vector<number> work;
  return rewrite(q, count, most_rewritten, [&](number done, number some) {
    q.bulk_pop(work, some);
    bool good = work.size() == some;
    for (number i = 0; i < work.size(); ++i) good &= work[i] == done + i;
    auto bulk = q.push_bulk(some);
    auto to = bulk.writer_of_thread();
    for (number const x : work) to.push(x + count);
    bulk.end();
    return good;
  });
}
queues::outcome rewrite_single(single_queue& q, number count) {
  std::vector<number> work;
  return rewrite(q, count, most_rewritten, [&](number done, number some) {
    work.clear();
    for (; work.size() < some; q.pop()) work.push_back(q.top());
    bool good = true;
    for (number i = 0; i < work.size(); ++i) good &= work[i] == done + i;
    for (number const x : work) q.push(x + count);
    return good;
  });
}

int run(int argc, char** argv) {
  if (argc != 6)
    throw std::invalid_argument("usage: priority_queues NAME BYTES MEMORY_BYTES THREADS DIRECTORY");
  std::string const name = argv[1];
  number const count = std::stoull(argv[2]) / sizeof(number);
  std::uint64_t const memory = std::stoull(argv[3]);
  std::size_t const threads = std::stoull(argv[4]);
  outsize::storage store(
      {.disks = {outsize::disk_options(argv[5])}, .memory_bytes = memory, .threads = threads});
  options const own{.memory_bytes = memory - memory / 16};
  auto const before = store.total_statistics();
  queues::outcome found;
  outsize::priority_queue_report report;
  if (name == "pq-random-bulk-sorter") {
    sorted_queue q(store);
    found = queues::run("pq-random", q, count);
  } else if (name == "pq-random-bulk" || name == "pq-rbulk-rewrite") {
    bulk_queue q(store, {}, own);
    found = name == "pq-random-bulk" ? random_bulk(q, count, threads) : rewrite_bulks(q, count);
    report = q.report();
  } else {
    single_queue q(store, {}, own);
    found =
        name == "pq-rbulk-rewrite-single" ? rewrite_single(q, count) : queues::run(name, q, count);
    report = q.report();
  }
  auto const took = found.measured(name);
  auto const moved = store.total_statistics() - before;
  fmt::print(
      "{{\"seconds\": {}, \"fill_seconds\": {}, \"rest_seconds\": {}, \"cpu_seconds\": {}, "
      "\"io_wait_seconds\": {}, \"read_bytes\": {}, \"written_bytes\": {}, \"array_merges\": {}, "
      "\"verified\": {}}}\n",
      took.seconds, found.fill.seconds, found.rest.seconds, took.cpu_seconds,
      static_cast<double>(moved.wait_ns) * 1e-9, moved.read_bytes, moved.write_bytes,
      report.array_merges, found.verified);
  return found.verified ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (std::exception const& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
