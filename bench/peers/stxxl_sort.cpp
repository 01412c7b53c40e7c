// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// Sorts a file of u64, 100-byte records, pairs or triples in place with STXXL 1.4.1, as a peer of
// the benchmarks.
//
//   stxxl_sort u64|records|pair|lambda FILE SCRATCH_DIRECTORY MEMORY_BYTES
//
// FILE is a copy of the input which bench.py makes before: stxxl::sort on a vector that is bound to
// a file merges back into that file, so input and output are files, and the four moves of every
// byte are those of any external sort. Timed is what ours is timed for: from opening the file to
// the complete output, without process start. FILE and the scratch disk are opened for direct I/O
// through the kernel's asynchronous interface, STXXL's best. Threads come from OMP_NUM_THREADS;
// runs are formed by the parallel mergesort that STXXL asks for. (Balanced quicksort took the same
// CPU time and 1.5 times the memory asked for; STXXL halves the length of runs to make room for
// mergesort's copy.)
//
// Prints one JSON object on the last line of stdout.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include <omp.h>

#include <stxxl/bits/config.h>
#include <stxxl/io>
#include <stxxl/mng>
#include <stxxl/sort>
#include <stxxl/stats>
#include <stxxl/vector>

#include "../programs/typed_items.hpp"

namespace {

constexpr auto least = std::numeric_limits<std::uint64_t>::min();
constexpr auto most = std::numeric_limits<std::uint64_t>::max();

struct record {
  unsigned char bytes[100];
};

struct u64_less {
  bool operator()(std::uint64_t a, std::uint64_t b) const { return a < b; }
  std::uint64_t min_value() const { return least; }
  std::uint64_t max_value() const { return most; }
};

/// By the first ten bytes. STXXL wants sentinels, which printable keys leave room for.
struct record_less {
  bool operator()(record const& a, record const& b) const { return std::memcmp(&a, &b, 10) < 0; }
  record min_value() const { return filled(0x00); }
  record max_value() const { return filled(0xff); }

 private:
  static record filled(int byte) {
    record r;
    std::memset(&r, byte, sizeof r);
    return r;
  }
};

struct pair_less {
  bool operator()(typed::pair const& a, typed::pair const& b) const { return a.key < b.key; }
  typed::pair min_value() const { return {least, 0}; }
  typed::pair max_value() const { return {most, 0}; }
};

/// The lambda of the benchmark, with sentinels, which a lambda cannot have.
struct triple_less {
  decltype(typed::by_group(true)) less = typed::by_group(true);
  bool operator()(typed::triple const& a, typed::triple const& b) const { return less(a, b); }
  typed::triple min_value() const { return {least, 0, ~0U}; }
  typed::triple max_value() const { return {most, ~0U, 0}; }
};

// STXXL's default of 2 MiB, and what comes closest to it for items of 100 bytes: items of a bound
// file must not straddle blocks, blocks must be multiples of 4096 bytes.
template <typename Item>
constexpr unsigned block_bytes = 2u << 20;
template <>
constexpr unsigned block_bytes<record> = 20 * 102400u;

struct job {
  std::string path;
  std::string scratch_directory;
  std::uint64_t memory_bytes;
};

double now_seconds() {
  using clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

template <typename Item, typename Less>
int sort_file(job const& work) {
  // One page of two blocks: the sort reads and writes blocks itself and needs no cache of the
  // vector's.
  using vector = stxxl::vector<Item, 1, stxxl::lru_pager<2>, block_bytes<Item>>;

  stxxl::disk_config scratch(work.scratch_directory + "/stxxl.scratch", 0, "linuxaio");
  scratch.autogrow = true;
  scratch.unlink_on_open = true;
  scratch.direct = stxxl::disk_config::DIRECT_ON;
  stxxl::config::get_instance()->add_disk(scratch);
  stxxl::block_manager::get_instance();

  double const begin = now_seconds();
  int const mode = stxxl::file::RDWR | stxxl::file::REQUIRE_DIRECT;
  auto* const file = new stxxl::linuxaio_file(work.path, mode);
  std::uint64_t items = 0;
  {
    vector data(file);
    items = data.size();
    stxxl::sort(data.begin(), data.end(), Less(), work.memory_bytes);
    data.flush();
  }
  delete file;
  double const seconds = now_seconds() - begin;

  stxxl::stats const& io = *stxxl::stats::get_instance();
  std::printf(
      "\n{\"items\": %llu, \"seconds\": %.6f, \"io_wait_seconds\": %.6f, \"read_bytes\": %lld, "
      "\"written_bytes\": %lld, \"threads\": %d, \"version\": \"%s\"}\n",
      static_cast<unsigned long long>(items), seconds, io.get_io_wait_time(),
      static_cast<long long>(io.get_read_volume()), static_cast<long long>(io.get_written_volume()),
      omp_get_max_threads(), STXXL_VERSION_STRING " " STXXL_VERSION_PHASE);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr,
                 "usage: stxxl_sort u64|records|pair|lambda FILE SCRATCH_DIRECTORY MEMORY_BYTES\n");
    return 2;
  }
  try {
    job const work{argv[2], argv[3], std::strtoull(argv[4], nullptr, 10)};
    if (std::strcmp(argv[1], "records") == 0) return sort_file<record, record_less>(work);
    if (std::strcmp(argv[1], "pair") == 0) return sort_file<typed::pair, pair_less>(work);
    if (std::strcmp(argv[1], "lambda") == 0) return sort_file<typed::triple, triple_less>(work);
    return sort_file<std::uint64_t, u64_less>(work);
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "stxxl_sort: %s\n", failure.what());
    return 2;
  }
}
