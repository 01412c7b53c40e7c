// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// The benchmark of independent sets with STXXL 1.4.1, as a peer.
//
//   stxxl_independent_set pipelined|stl BYTES MEMORY_BYTES DIRECTORY
//
// pipelined is Listings 7 and 8 of the paper of 2008, stl Listings 6 and 8. Both leave loops out,
// visit each vertex, one without edges too, and keep events and members as numbers of 4 bytes.
// Runs are formed with all the memory. While they are merged, the merger has a quarter of it, and
// the queue of events the rest, half of that for its pools. stl keeps its edges in a vector with a
// cache of 32 blocks, filled by the buffered writer, STXXL's fastest way, and rid of repeats by
// std::unique, as in the listing. Blocks have 2 MiB, the default, where there are 512 MiB of
// memory, and are shorter with less. OMP_NUM_THREADS threads sort a run. The disk is opened for
// direct I/O through the kernel's asynchronous interface, STXXL's best.
//
// Prints one JSON object on the last line of stdout.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <stxxl/bits/config.h>
#include <stxxl/mng>
#include <stxxl/priority_queue>
#include <stxxl/sort>
#include <stxxl/stats>
#include <stxxl/stream>
#include <stxxl/vector>

#include "../programs/independent_set_workload.hpp"

namespace {

using independent_set::edge;
using independent_set::random_graph;
using independent_set::vertex;

struct edge_less {
  bool operator()(edge const& a, edge const& b) const { return a < b; }
  edge min_value() const { return {0, 0}; }
  edge max_value() const { return {~0ULL, ~0ULL}; }
};

struct vertex_greater {
  bool operator()(vertex a, vertex b) const { return a > b; }
  vertex min_value() const { return std::numeric_limits<vertex>::max(); }
};

/// The edges as a stream, without loops.
class edge_stream {
 public:
  using value_type = edge;

  explicit edge_stream(random_graph const& graph) : next_(graph), left_(graph.edge_count + 1) {
    ++*this;
  }
  edge const& operator*() const { return current_; }
  edge const* operator->() const { return &current_; }
  edge_stream& operator++() {
    do {
      if (--left_ > 0) current_ = next_();
    } while (left_ > 0 && current_.is_loop());
    return *this;
  }
  bool empty() const { return left_ == 0; }

 private:
  independent_set::edge_generator next_;
  std::uint64_t left_;
  edge current_ = {0, 0};
};

/// What is known at the end of a phase.
struct moment {
  std::string ended;
  std::chrono::steady_clock::time_point time = std::chrono::steady_clock::now();
  std::clock_t processors = std::clock();
};

/// One run. `memory_bytes` is a constant of types.
template <std::uint64_t memory_bytes>
class trial {
  static constexpr unsigned block_bytes = memory_bytes < 128 << 20   ? 64 << 10
                                          : memory_bytes < 512 << 20 ? 512 << 10
                                                                     : 2 << 20;
  static constexpr std::uint64_t merger_bytes = memory_bytes / 4;
  static constexpr std::uint64_t queue_bytes = (memory_bytes - merger_bytes) / 2;
  static constexpr unsigned most_events_in_1024 = 1 << 18;

  using edge_vector = typename stxxl::VECTOR_GENERATOR<edge, 4, 8, block_bytes>::result;
  using vertex_vector = typename stxxl::VECTOR_GENERATOR<vertex, 1, 2, block_bytes>::result;
  using event_queue = typename stxxl::PRIORITY_QUEUE_GENERATOR<vertex, vertex_greater, queue_bytes,
                                                               most_events_in_1024>::result;
  using event_block = typename event_queue::block_type;

 public:
  explicit trial(random_graph const& graph) : graph_(graph) {}

  void pipelined() {
    using creator = stxxl::stream::runs_creator<edge_stream, edge_less, block_bytes>;
    using merger = stxxl::stream::runs_merger<typename creator::sorted_runs_type, edge_less>;
    edge_stream random(graph_);
    typename creator::sorted_runs_type runs;
    {
      creator sorted(random, edge_less(), memory_bytes);
      runs = sorted.result();
    }
    phase_ended("filling and sorting");
    merger merged(runs, edge_less(), merger_bytes);
    stxxl::stream::unique<merger> different(merged);
    find_set(different);
  }

  void stl() {
    edge_vector edges;
    {
      typename edge_vector::bufwriter_type out(edges);
      for (edge_stream random(graph_); !random.empty(); ++random) out << *random;
      out.finish();
    }
    phase_ended("filling");
    stxxl::sort(edges.begin(), edges.end(), edge_less(),
                memory_bytes - 32 * std::uint64_t{block_bytes});
    phase_ended("sorting");
    edges.resize(
        static_cast<std::uint64_t>(std::unique(edges.begin(), edges.end()) - edges.begin()));
    edges.flush();
    phase_ended("removing repeats");
    auto in = stxxl::stream::streamify(edges.begin(), edges.end());
    find_set(in);
  }

  void report() {
    independent_set::set_check found(graph_);
    for (typename vertex_vector::bufreader_type in(members_); !in.empty(); ++in) found.add(*in);
    bool const good = found.is_greedy();
    std::string phases;
    for (std::size_t i = 1; i < moments_.size(); ++i)
      phases += (i == 1 ? "\"" : ", \"") + moments_[i].ended +
                "\": " + std::to_string(seconds(moments_[i - 1], moments_[i]));
    auto const& first = moments_.front();
    auto const& last = moments_.back();
    std::printf(
        "\n{\"version\": \"%s\", \"seconds\": %f, \"phase_seconds\": {%s}, \"cpu_seconds\": %f, "
        "\"io_wait_seconds\": %f, \"read_bytes\": %lld, \"written_bytes\": %lld, \"members\": "
        "%llu, \"verified\": %s}\n",
        STXXL_VERSION_STRING " " STXXL_VERSION_PHASE, seconds(first, last), phases.c_str(),
        static_cast<double>(last.processors - first.processors) / CLOCKS_PER_SEC,
        moved_.get_io_wait_time(), static_cast<long long>(moved_.get_read_volume()),
        static_cast<long long>(moved_.get_written_volume()),
        static_cast<unsigned long long>(found.count()), good ? "true" : "false");
  }

 private:
  /// Listing 8, with a visit of each vertex.
  template <typename Edges>
  void find_set(Edges& edges) {
    constexpr std::uint64_t pool_blocks = queue_bytes / 2 / event_block::raw_size;
    stxxl::read_write_pool<event_block> pool(pool_blocks, pool_blocks);
    event_queue told(pool);
    typename vertex_vector::bufwriter_type out(members_);
    for (std::uint64_t v = 0; v < graph_.vertex_count(); ++v) {
      bool is_member = true;
      for (; !told.empty() && told.top() == v; told.pop()) is_member = false;
      if (is_member) out << static_cast<vertex>(v);
      for (; !edges.empty() && (*edges).source == v; ++edges)
        if (is_member) told.push(static_cast<vertex>((*edges).target));
    }
    out.finish();
    members_.flush();
    phase_ended("independent set");
    moved_ = stxxl::stats_data(*stxxl::stats::get_instance()) - before_;
  }
  void phase_ended(std::string name) { moments_.push_back({std::move(name)}); }
  static double seconds(moment const& a, moment const& b) {
    return std::chrono::duration<double>(b.time - a.time).count();
  }

  random_graph graph_;
  vertex_vector members_;
  stxxl::stats_data before_{*stxxl::stats::get_instance()}, moved_;
  std::vector<moment> moments_{{}};
};

template <std::uint64_t memory_bytes>
void run(std::string const& way, random_graph const& graph) {
  trial<memory_bytes> one(graph);
  if (way == "stl")
    one.stl();
  else
    one.pipelined();
  one.report();
}

void run(std::string const& way, random_graph const& graph, std::uint64_t memory_bytes) {
  if (memory_bytes >= 1024 << 20) return run<1024 << 20>(way, graph);
  if (memory_bytes >= 512 << 20) return run<512 << 20>(way, graph);
  if (memory_bytes >= 256 << 20) return run<256 << 20>(way, graph);
  return memory_bytes >= 128 << 20 ? run<128 << 20>(way, graph) : run<64 << 20>(way, graph);
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
    run(argv[1], {std::strtoull(argv[2], nullptr, 10) / sizeof(edge)},
        std::strtoull(argv[3], nullptr, 10));
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "stxxl_independent_set: %s\n", failure.what());
    return 2;
  }
}
