// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// The benchmarks of priority queues with the queue of STXXL 1.4.1, as a peer.
//
//   stxxl_priority_queue NAME BYTES MEMORY_BYTES DIRECTORY ITEM_BYTES BULK_ITEMS
//
// The queue has half of the memory, its pools for reading and writing a quarter each, as in the
// measurements of the paper of 2015. Its merges use OMP_NUM_THREADS threads; compiled with
// STXXL_PARALLEL_PQ_MULTIWAY_MERGE_INTERNAL, …_EXTERNAL and …_DELETE_BUFFER as 0 it is the
// sequential queue. Its memory and the most items are constants of a type, so there are memories of
// 64 MiB to 1 GiB, powers of two. The disk is opened for direct I/O through the kernel's
// asynchronous interface, STXXL's best.
//
// Prints one JSON object on the last line of stdout.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <ostream>
#include <string>
#include <vector>

#include <stxxl/bits/config.h>
#include <stxxl/mng>
#include <stxxl/priority_queue>
#include <stxxl/stats>

#include "../programs/queue_workload.hpp"

namespace queues {

/// For the messages that STXXL could print.
inline std::ostream& operator<<(std::ostream& out, item24 const& item) { return out << item.key; }

}  // namespace queues

namespace {

using queues::item24;
using queues::number;

template <typename Item>
struct greater {
  bool operator()(Item const& a, Item const& b) const {
    return queues::key_of(a) > queues::key_of(b);
  }
  Item min_value() const { return queues::item_of<Item>(~number{0}); }
};

template <typename Item, std::uint64_t memory_bytes>
queues::outcome run(queues::job const& work) {
  using queue = typename stxxl::PRIORITY_QUEUE_GENERATOR<Item, greater<Item>, memory_bytes / 2,
                                                         (1U << 20)>::result;
  using block = typename queue::block_type;
  constexpr std::uint64_t pool_blocks = memory_bytes / 4 / block::raw_size;
  stxxl::read_write_pool<block> pool(pool_blocks, pool_blocks);
  queue q(pool);
  return queues::run(work, q);
}

template <typename Item>
queues::outcome run(queues::job const& work, std::uint64_t memory_bytes) {
  if (memory_bytes >= 1024U << 20) return run<Item, 1024U << 20>(work);
  if (memory_bytes >= 512U << 20) return run<Item, 512U << 20>(work);
  if (memory_bytes >= 256U << 20) return run<Item, 256U << 20>(work);
  return memory_bytes >= 128U << 20 ? run<Item, 128U << 20>(work) : run<Item, 64U << 20>(work);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  stxxl::disk_config where(std::string(argv[4]) + "/stxxl.disk", 0, "linuxaio");
  where.autogrow = true;
  where.unlink_on_open = true;
  where.direct = stxxl::disk_config::DIRECT_ON;
  stxxl::config::get_instance()->add_disk(where);
  stxxl::block_manager::get_instance();
  std::uint64_t const memory_bytes = std::strtoull(argv[3], nullptr, 10);
  std::uint64_t const item_bytes = std::strtoull(argv[5], nullptr, 10);
  if (item_bytes != sizeof(number) && item_bytes != sizeof(item24)) return 2;
  auto const now = [] { return stxxl::stats_data(*stxxl::stats::get_instance()); };
  std::vector<stxxl::stats_data> statistics{now()};  // before, and after each phase
  queues::job const work{argv[1], std::strtoull(argv[2], nullptr, 10) / item_bytes,
                         std::strtoull(argv[6], nullptr, 10), [&] { statistics.push_back(now()); }};
  try {
    auto const found = item_bytes == sizeof(number) ? run<number>(work, memory_bytes)
                                                    : run<item24>(work, memory_bytes);
    auto const took = found.measured(work);
    stxxl::stats_data const moved = statistics.at(2) - statistics.at(work.begins_full() ? 1 : 0);
    std::printf(
        "\n{\"version\": \"%s\", \"seconds\": %f, \"phase_seconds\": {\"filling\": %f, \"%s\": "
        "%f}, \"cpu_seconds\": %f, \"io_wait_seconds\": %f, \"read_bytes\": %lld, "
        "\"written_bytes\": %lld, \"verified\": %s}\n",
        STXXL_VERSION_STRING " " STXXL_VERSION_PHASE, took.seconds, found.fill.seconds,
        found.rest_name.c_str(), found.rest.seconds, took.cpu_seconds, moved.get_io_wait_time(),
        static_cast<long long>(moved.get_read_volume()),
        static_cast<long long>(moved.get_written_volume()), found.verified ? "true" : "false");
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "stxxl_priority_queue: %s\n", failure.what());
    return 2;
  }
}
