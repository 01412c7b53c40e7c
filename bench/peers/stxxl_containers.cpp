// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// The benchmarks of containers with STXXL 1.4.1, as a peer.
//
//   stxxl_containers vector-fill|vector-scan BYTES DIRECTORY
//
// A vector has eight pages of four blocks of 2 MiB, its default. It is filled through its buffered
// writer and read through its buffered reader, which overlap I/O; its iterators do not. The disk is
// opened for direct I/O through the kernel's asynchronous interface, STXXL's best.
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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  std::string const name = argv[1];
  std::uint64_t const bytes = std::strtoull(argv[2], nullptr, 10);
  std::string const disk = std::string(argv[3]) + "/stxxl.disk";
  stxxl::disk_config where(disk, 0, "linuxaio");
  where.autogrow = true;
  where.unlink_on_open = true;
  where.direct = stxxl::disk_config::DIRECT_ON;
  stxxl::config::get_instance()->add_disk(where);

  vector v(bytes / sizeof(std::uint64_t));
  if (name == "vector-scan") fill(v);
  stxxl::stats_data const before(*stxxl::stats::get_instance());
  auto const begin = std::chrono::steady_clock::now();
  std::uint64_t sum = 0;
  if (name == "vector-fill") {
    fill(v);
  } else {
    for (vector::bufreader_type in(v); !in.empty(); ++in) sum += *in;
  }
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
  stxxl::stats_data const moved = stxxl::stats_data(*stxxl::stats::get_instance()) - before;

  std::uint64_t expected = 0;
  for (std::uint64_t i = 0; i < v.size(); ++i) expected += item(i);
  if (name == "vector-fill")
    for (vector::bufreader_type in(v); !in.empty(); ++in) sum += *in;
  std::printf(
      "\n{\"version\": \"%s\", \"seconds\": %f, \"io_wait_seconds\": %f, \"read_bytes\": %lld, "
      "\"written_bytes\": %lld, \"verified\": %s}\n",
      STXXL_VERSION_STRING " " STXXL_VERSION_PHASE, took.count(), moved.get_io_wait_time(),
      static_cast<long long>(moved.get_read_volume()),
      static_cast<long long>(moved.get_written_volume()), sum == expected ? "true" : "false");
}
