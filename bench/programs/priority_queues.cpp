// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The benchmarks of priority queues; bench/README.md says which part is timed.
//
//   priority_queues NAME WAY BYTES MEMORY_BYTES THREADS DIRECTORY ITEM_BYTES BULK_ITEMS
//   NAME: pq-random, pq-ascending, pq-descending, pq-monotone, pq-intermixed, pq-rbulk-rewrite,
//         pq-bulk-rewrite
//   WAY:  single, bulk (the first two and the last two), sorter (the first two; by our sorter)
//   ITEM_BYTES: 8 or 24; of BULK_ITEMS queue_workload.hpp says the use
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
#include <type_traits>
#include <vector>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/sorter.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/bulk_priority_queue.hpp>
#include <outsize/container/priority_queue.hpp>

#include "queue_workload.hpp"

namespace {

using queues::item24;
using queues::number;

/// By the key, `order` says which comes first.
template <typename Item, typename Order>
auto by_key(Order order) {
  if constexpr (std::is_same_v<Item, number>) {
    return order;
  } else {
    return outsize::by(&Item::key, order);
  }
}
template <typename Item, typename Order>
using key_order = decltype(by_key<Item>(Order()));

/// The sorter as a queue that is filled before it is emptied.
template <typename Item>
class sorted_queue {
 public:
  using value_type = Item;

  explicit sorted_queue(outsize::storage& store) : items_(store, by_key<Item>(std::less<>())) {}
  void push(Item const& x) { items_.push(x); }
  Item top() {
    if (!sorted_) {
      items_.sort();
      sorted_ = true;
    }
    return *items_;
  }
  void pop() { ++items_; }
  std::uint64_t size() { return items_.empty() ? 0 : 1; }

 private:
  outsize::sorter<Item, key_order<Item, std::less<>>> items_;
  bool sorted_ = false;
};

using options = outsize::priority_queue_options;
template <typename Item>
using single_queue = outsize::priority_queue<Item, key_order<Item, std::greater<>>>;
template <typename Item>
using bulk_queue = outsize::bulk_priority_queue<Item, key_order<Item, std::greater<>>>;

struct job : queues::job {
  outsize::storage& store;
  std::size_t threads;
  options own;
};

/// Calls body(thread) on all of them.
template <typename Body>
void on_threads(std::size_t threads, Body const& body) {
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < threads; ++t) others.emplace_back([&, t] { body(t); });
  body(0);
  for (auto& t : others) t.join();
}

/// Items, pushed by all threads in bulks, and popped in bulks.
template <typename Item>
queues::outcome push_pop_bulks(bulk_queue<Item>& q, job const& work) {
  work.require_bulks();
  constexpr number popped_at_once = number{1} << 20;
  bool const at_random = work.name == "pq-random";
  std::vector<queues::random_numbers> random;
  for (std::size_t t = 0; t < work.threads; ++t) random.emplace_back(t << 40);
  std::vector<queues::item_sum> in(work.threads);
  queues::outcome found;
  queues::stopwatch const filling;
  for (number done = 0; done < work.count; done += work.bulk) {
    number const some = std::min(work.bulk, work.count - done);
    auto bulk = q.push_bulk(some);
    on_threads(work.threads, [&](std::size_t t) {
      auto to = bulk.writer_of_thread();
      queues::random_numbers next = random[t];
      queues::item_sum sum;
      number const end = done + some * (t + 1) / work.threads;
      for (number i = done + some * t / work.threads; i < end; ++i) {
        number const x = at_random ? next() : i;
        sum.add(x);
        to.push(queues::item_of<Item>(x));
      }
      in[t].add(sum);
      random[t] = next;
    });
    bulk.end();
  }
  found.fill = filling.time();
  work.phase_ended();
  queues::stopwatch const emptying;
  std::vector<Item> some;
  queues::item_sum all, out;
  number last = 0;
  bool good = true;
  while (q.bulk_pop(some, popped_at_once) > 0)
    for (Item const& x : some) {
      number const key = queues::key_of(x);
      good &= last <= key && queues::is_whole(x);
      last = key;
      out.add(key);
    }
  found.rest = emptying.time();
  work.phase_ended();
  for (auto const& sum : in) all.add(sum);
  found.verified = good && all == out;
  return found;
}

template <typename Item>
queues::outcome rewrite_bulks(bulk_queue<Item>& q, job const& work) {
  std::vector<Item> some;
  return queues::rewrite(q, work, [&](number first, number items) {
    q.bulk_pop(some, items);
    bool const good =
        some.size() == items && queues::check_and_move_behind(some, first, work.count);
    auto bulk = q.push_bulk(items);
    auto to = bulk.writer_of_thread();
    for (Item const& x : some) to.push(x);
    bulk.end();
    return good;
  });
}

template <typename Item>
queues::outcome run(std::string const& way, job const& work,
                    outsize::priority_queue_report& report) {
  bool const rewrites = work.name.find("rewrite") != std::string::npos;
  bool const sorts = work.name == "pq-random" || work.name == "pq-ascending";
  queues::outcome found;
  if (way == "sorter" && sorts) {
    sorted_queue<Item> q(work.store);
    found = queues::run(work, q);
  } else if (way == "bulk" && (rewrites || sorts)) {
    bulk_queue<Item> q(work.store, by_key<Item>(std::greater<>()), work.own);
    found = rewrites ? rewrite_bulks<Item>(q, work) : push_pop_bulks<Item>(q, work);
    report = q.report();
  } else if (way == "single") {
    single_queue<Item> q(work.store, by_key<Item>(std::greater<>()), work.own);
    found = queues::run(work, q);
    report = q.report();
  } else {
    throw std::invalid_argument(fmt::format("{}: no such way of {}", way, work.name));
  }
  return found;
}

int run(int argc, char** argv) {
  if (argc != 9)
    throw std::invalid_argument(
        "usage: priority_queues NAME WAY BYTES MEMORY_BYTES THREADS DIRECTORY ITEM_BYTES "
        "BULK_ITEMS");
  std::uint64_t const memory = std::stoull(argv[4]);
  std::size_t const threads = std::stoull(argv[5]);
  std::size_t const item_bytes = std::stoull(argv[7]);
  if (item_bytes != sizeof(number) && item_bytes != sizeof(item24))
    throw std::invalid_argument(fmt::format("items of {} bytes: not 8 or 24", item_bytes));
  outsize::storage store(
      {.disks = {outsize::disk_options(argv[6])}, .memory_bytes = memory, .threads = threads});
  std::vector statistics{store.total_statistics()};  // before, and after each phase
  auto const count_io = [&] { statistics.push_back(store.total_statistics()); };
  job const work{{argv[1], std::stoull(argv[3]) / item_bytes, std::stoull(argv[8]), count_io},
                 store,
                 threads,
                 {.memory_bytes = memory - memory / 16}};
  outsize::priority_queue_report report;
  auto const found = item_bytes == sizeof(number) ? run<number>(argv[2], work, report)
                                                  : run<item24>(argv[2], work, report);
  auto const took = found.measured(work);
  auto const moved = statistics.at(2) - statistics.at(work.begins_full() ? 1 : 0);
  fmt::print(
      "{{\"seconds\": {}, \"phase_seconds\": {{\"filling\": {}, \"{}\": {}}}, "
      "\"cpu_seconds\": {}, \"io_wait_seconds\": {}, \"read_bytes\": {}, \"written_bytes\": {}, "
      "\"array_merges\": {}, \"verified\": {}}}\n",
      took.seconds, found.fill.seconds, found.rest_name, found.rest.seconds, took.cpu_seconds,
      static_cast<double>(moved.wait_ns) * 1e-9, moved.read_bytes, moved.write_bytes,
      report.array_merges, found.verified);
  return found.verified ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (std::exception const& e) {
    fmt::print(stderr, "priority_queues: {}\n", e.what());
    return 1;
  }
}
