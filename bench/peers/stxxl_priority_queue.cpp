// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// The benchmarks of priority queues with the queue of STXXL 1.4.1, as a peer.
//
//   stxxl_priority_queue NAME BYTES MEMORY_BYTES DIRECTORY
//
// The queue has half of the memory, its pools for reading and writing a quarter each, as in the
// measurements of the paper of 2015. Its merges use OMP_NUM_THREADS threads. Its memory and the
// most items are constants of a type, so there are memories of 64 MiB to 1 GiB, powers of two. The
// disk is opened for direct I/O through the kernel's asynchronous interface, STXXL's best.
//
// Prints one JSON object on the last line of stdout.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include <stxxl/bits/config.h>
#include <stxxl/mng>
#include <stxxl/priority_queue>
#include <stxxl/stats>

#include "../programs/queue_workload.hpp"

namespace {

using queues::number;

struct greater {
  bool operator()(number a, number b) const { return a > b; }
  number min_value() const { return ~number{0}; }
};

template <std::uint64_t memory_bytes>
queues::outcome run(std::string const& name, number count) {
  using queue = typename stxxl::PRIORITY_QUEUE_GENERATOR<number, greater, memory_bytes / 2,
                                                         (1U << 20)>::result;
  using block = typename queue::block_type;
  constexpr std::uint64_t pool_blocks = memory_bytes / 4 / block::raw_size;
  stxxl::read_write_pool<block> pool(pool_blocks, pool_blocks);
  queue q(pool);
  return queues::run(name, q, count);
}

queues::outcome run(std::string const& name, number count, std::uint64_t memory_bytes) {
  if (memory_bytes >= 1024U << 20) return run<1024U << 20>(name, count);
  if (memory_bytes >= 512U << 20) return run<512U << 20>(name, count);
  if (memory_bytes >= 256U << 20) return run<256U << 20>(name, count);
  return memory_bytes >= 128U << 20 ? run<128U << 20>(name, count) : run<64U << 20>(name, count);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  stxxl::disk_config where(std::string(argv[4]) + "/stxxl.disk", 0, "linuxaio");
  where.autogrow = true;
  where.unlink_on_open = true;
  where.direct = stxxl::disk_config::DIRECT_ON;
  stxxl::config::get_instance()->add_disk(where);
  stxxl::block_manager::get_instance();
  try {
    stxxl::stats_data const before(*stxxl::stats::get_instance());
    auto const found = run(argv[1], std::strtoull(argv[2], nullptr, 10) / sizeof(number),
                           std::strtoull(argv[3], nullptr, 10));
    auto const took = found.measured(argv[1]);
    stxxl::stats_data const moved = stxxl::stats_data(*stxxl::stats::get_instance()) - before;
    std::printf(
        "\n{\"version\": \"%s\", \"seconds\": %f, \"fill_seconds\": %f, \"rest_seconds\": %f, "
        "\"cpu_seconds\": %f, \"io_wait_seconds\": %f, \"read_bytes\": %lld, \"written_bytes\": "
        "%lld, \"verified\": %s}\n",
        STXXL_VERSION_STRING " " STXXL_VERSION_PHASE, took.seconds, found.fill.seconds,
        found.rest.seconds, took.cpu_seconds, moved.get_io_wait_time(),
        static_cast<long long>(moved.get_read_volume()),
        static_cast<long long>(moved.get_written_volume()), found.verified ? "true" : "false");
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "stxxl_priority_queue: %s\n", failure.what());
    return 2;
  }
}
