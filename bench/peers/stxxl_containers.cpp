// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// The benchmarks of containers with STXXL 1.4.1, as a peer.
//
//   stxxl_containers vector-fill|vector-scan|stack|queue BYTES DIRECTORY
//
// A stack is of the kind that grows and then shrinks, with pools of 16 blocks of 2 MiB to write and
// 16 to prefetch; a queue has as many. A vector has eight pages of four blocks of 2 MiB, its
// default. It is filled through its buffered writer and read through its buffered reader, which
// overlap I/O; its iterators do not. The disk is opened for direct I/O through the kernel's
// asynchronous interface, STXXL's best.
//
// Prints one JSON object on the last line of stdout.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <stxxl/bits/config.h>
#include <stxxl/io>
#include <stxxl/mng>
#include <stxxl/queue>
#include <stxxl/stack>
#include <stxxl/stats>
#include <stxxl/vector>

namespace {

using vector = stxxl::VECTOR_GENERATOR<std::uint64_t, 4, 8, 2 * 1024 * 1024>::result;

std::uint64_t item(std::uint64_t i) { return i * 0x9E3779B97F4A7C15U; }

void fill(vector& v) {
  vector::bufwriter_type out(v.begin());
  for (std::uint64_t i = 0; i < v.size(); ++i) out << item(i);
  out.finish();
}

struct outcome {
  double seconds;
  stxxl::stats_data moved;
  bool verified;
};

template <typename Work>
outcome timed(Work const& work) {
  stxxl::stats_data const before(*stxxl::stats::get_instance());
  auto const begin = std::chrono::steady_clock::now();
  work();
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
  return {took.count(), stxxl::stats_data(*stxxl::stats::get_instance()) - before, true};
}

outcome run_vector(std::uint64_t bytes, bool scan) {
  vector v(bytes / sizeof(std::uint64_t));
  if (scan) fill(v);
  std::uint64_t sum = 0, expected = 0;
  auto const read = [&] {
    for (vector::bufreader_type in(v); !in.empty(); ++in) sum += *in;
  };
  outcome found = scan ? timed(read) : timed([&] { fill(v); });
  if (!scan) read();
  for (std::uint64_t i = 0; i < v.size(); ++i) expected += item(i);
  found.verified = sum == expected;
  return found;
}

outcome run_stack(std::uint64_t bytes) {
  using numbers = stxxl::STACK_GENERATOR<std::uint32_t, stxxl::external, stxxl::grow_shrink2, 1,
                                         2 * 1024 * 1024>::result;
  stxxl::read_write_pool<numbers::block_type> pools(16, 16);
  numbers s(pools);
  s.set_prefetch_aggr(16);
  std::uint64_t const count = bytes / sizeof(std::uint32_t);
  bool good = true;
  outcome found = timed([&] {
    for (std::uint64_t i = 0; i < count; ++i) s.push(static_cast<std::uint32_t>(item(i)));
    for (std::uint64_t i = count; i-- > 0; s.pop())
      good &= s.top() == static_cast<std::uint32_t>(item(i));
  });
  found.verified = good && s.empty();
  return found;
}

outcome run_queue(std::uint64_t bytes) {
  stxxl::queue<std::uint32_t, 2 * 1024 * 1024> q(16, 16, 16);
  std::uint64_t const count = bytes / sizeof(std::uint32_t);
  bool good = true;
  outcome found = timed([&] {
    for (std::uint64_t i = 0; i < count; ++i) q.push(static_cast<std::uint32_t>(item(i)));
    for (std::uint64_t i = 0; i < count; ++i, q.pop())
      good &= q.front() == static_cast<std::uint32_t>(item(i));
  });
  found.verified = good && q.empty();
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  std::string const name = argv[1];
  std::uint64_t const bytes = std::strtoull(argv[2], nullptr, 10);
  stxxl::disk_config where(std::string(argv[3]) + "/stxxl.disk", 0, "linuxaio");
  where.autogrow = true;
  where.unlink_on_open = true;
  where.direct = stxxl::disk_config::DIRECT_ON;
  stxxl::config::get_instance()->add_disk(where);

  outcome const found = name == "stack"   ? run_stack(bytes)
                        : name == "queue" ? run_queue(bytes)
                                          : run_vector(bytes, name == "vector-scan");
  std::printf(
      "\n{\"version\": \"%s\", \"seconds\": %f, \"io_wait_seconds\": %f, \"read_bytes\": %lld, "
      "\"written_bytes\": %lld, \"verified\": %s}\n",
      STXXL_VERSION_STRING " " STXXL_VERSION_PHASE, found.seconds, found.moved.get_io_wait_time(),
      static_cast<long long>(found.moved.get_read_volume()),
      static_cast<long long>(found.moved.get_written_volume()), found.verified ? "true" : "false");
}
