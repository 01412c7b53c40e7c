// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// The benchmarks of containers with STXXL 1.4.1, as a peer.
//
//   stxxl_containers vector-fill|vector-scan|vector-both-ways BYTES DIRECTORY
//   stxxl_containers stack|stack-32|queue|queue-32|deque|deque-32 BYTES DIRECTORY
//   stxxl_containers stack|stack-32 BYTES DIRECTORY normal|grow-shrink
//
// A stack is of the kind with pools (grow_shrink2), of 16 blocks of 2 MiB to write and 16 to
// prefetch, or one of the others, with two pages of 16 blocks; a queue has as many. A vector has
// eight pages of four blocks of 2 MiB, its default, and so has a deque, which is a vector that is
// doubled when it is full. A vector is filled through its buffered writer and read through its
// buffered readers, which overlap I/O; its iterators, and deques, do not. The disk is opened for
// direct I/O through the kernel's asynchronous interface, STXXL's best.
//
// Prints one JSON object on the last line of stdout.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <string>
#include <type_traits>

#include <stxxl/bits/config.h>
#include <stxxl/deque>
#include <stxxl/io>
#include <stxxl/mng>
#include <stxxl/queue>
#include <stxxl/stack>
#include <stxxl/stats>
#include <stxxl/vector>

namespace {

constexpr unsigned block_bytes = 2 * 1024 * 1024;
constexpr unsigned blocks_each_way = 16;

using vector = stxxl::VECTOR_GENERATOR<std::uint64_t, 4, 8, block_bytes>::result;

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

outcome run_both_ways(std::uint64_t bytes) {
  vector v(bytes / sizeof(std::uint64_t));
  fill(v);
  std::uint64_t sum = 0, expected = 0;
  outcome found = timed([&] {
    for (vector::bufreader_type in(v); !in.empty(); ++in) sum += *in;
    for (vector::bufreader_reverse_type in(v); !in.empty(); ++in) sum += *in;
  });
  for (std::uint64_t i = 0; i < v.size(); ++i) expected += 2 * item(i);
  found.verified = sum == expected;
  return found;
}

/// Item i of a container of items of another type.
template <typename T>
T item_as(std::uint64_t i) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(item(i));
  else
    return {{item(i), i, item(i) + 1, i + 1}};
}
struct thirty_two_bytes {
  std::array<std::uint64_t, 4> words;
  bool operator==(thirty_two_bytes const& other) const { return words == other.words; }
  /// For messages of STXXL's stack.
  friend std::ostream& operator<<(std::ostream& out, thirty_two_bytes const& x) {
    return out << x.words[0];
  }
};

template <typename T, stxxl::stack_behaviour behaviour, unsigned blocks_per_page>
using stack_kind = typename stxxl::STACK_GENERATOR<T, stxxl::external, behaviour, blocks_per_page,
                                                   block_bytes>::result;

template <typename T, typename Stack>
outcome push_and_pop(Stack& s, std::uint64_t bytes) {
  std::uint64_t const count = bytes / sizeof(T);
  bool good = true;
  outcome found = timed([&] {
    for (std::uint64_t i = 0; i < count; ++i) s.push(item_as<T>(i));
    for (std::uint64_t i = count; i-- > 0; s.pop()) good &= s.top() == item_as<T>(i);
  });
  found.verified = good && s.empty();
  return found;
}

template <typename T>
outcome run_stack(std::uint64_t bytes, std::string const& behaviour) {
  if (behaviour == "normal") {
    stack_kind<T, stxxl::normal, blocks_each_way> s;
    return push_and_pop<T>(s, bytes);
  }
  if (behaviour == "grow-shrink") {
    stack_kind<T, stxxl::grow_shrink, blocks_each_way> s;
    return push_and_pop<T>(s, bytes);
  }
  using stack = stack_kind<T, stxxl::grow_shrink2, 1>;
  stxxl::read_write_pool<typename stack::block_type> pools(blocks_each_way, blocks_each_way);
  stack s(pools);
  s.set_prefetch_aggr(blocks_each_way);
  return push_and_pop<T>(s, bytes);
}

template <typename T>
outcome run_queue(std::uint64_t bytes) {
  stxxl::queue<T, block_bytes> q(blocks_each_way, blocks_each_way, blocks_each_way);
  std::uint64_t const count = bytes / sizeof(T);
  bool good = true;
  outcome found = timed([&] {
    for (std::uint64_t i = 0; i < count; ++i) q.push(item_as<T>(i));
    for (std::uint64_t i = 0; i < count; ++i, q.pop()) good &= q.front() == item_as<T>(i);
  });
  found.verified = good && q.empty();
  return found;
}

/// Pushed at the front, popped at the back.
template <typename T>
outcome run_deque(std::uint64_t bytes) {
  stxxl::deque<T, typename stxxl::VECTOR_GENERATOR<T, 4, 8, block_bytes>::result> d;
  std::uint64_t const count = bytes / sizeof(T);
  bool good = true;
  outcome found = timed([&] {
    for (std::uint64_t i = 0; i < count; ++i) d.push_front(item_as<T>(i));
    for (std::uint64_t i = 0; i < count; ++i, d.pop_back()) good &= d.back() == item_as<T>(i);
  });
  found.verified = good && d.empty();
  return found;
}

template <typename T>
outcome run_ends(std::string const& name, std::uint64_t bytes, std::string const& behaviour) {
  if (name == "stack") return run_stack<T>(bytes, behaviour);
  if (name == "queue") return run_queue<T>(bytes);
  return run_deque<T>(bytes);
}

outcome run(std::string const& name, std::uint64_t bytes, std::string const& behaviour) {
  if (name == "vector-both-ways") return run_both_ways(bytes);
  if (name == "vector-fill" || name == "vector-scan")
    return run_vector(bytes, name == "vector-scan");
  if (std::size_t const end = name.find("-32"); end != name.npos)
    return run_ends<thirty_two_bytes>(name.substr(0, end), bytes, behaviour);
  return run_ends<std::uint32_t>(name, bytes, behaviour);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) return 2;
  std::string const name = argv[1];
  std::uint64_t const bytes = std::strtoull(argv[2], nullptr, 10);
  stxxl::disk_config where(std::string(argv[3]) + "/stxxl.disk", 0, "linuxaio");
  where.autogrow = true;
  where.unlink_on_open = true;
  where.direct = stxxl::disk_config::DIRECT_ON;
  stxxl::config::get_instance()->add_disk(where);

  outcome const found = run(name, bytes, argc > 4 ? argv[4] : "");
  std::printf(
      "\n{\"version\": \"%s\", \"seconds\": %f, \"io_wait_seconds\": %f, \"read_bytes\": %lld, "
      "\"written_bytes\": %lld, \"verified\": %s}\n",
      STXXL_VERSION_STRING " " STXXL_VERSION_PHASE, found.seconds, found.moved.get_io_wait_time(),
      static_cast<long long>(found.moved.get_read_volume()),
      static_cast<long long>(found.moved.get_written_volume()), found.verified ? "true" : "false");
}
