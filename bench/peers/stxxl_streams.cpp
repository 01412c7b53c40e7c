// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0

// The benchmarks of flows with the stream layer of STXXL 1.4.1, as a peer.
//
//   stxxl_streams random-graph BYTES MEMORY_BYTES DIRECTORY
//   stxxl_streams diamond BYTES MEMORY_BYTES DIRECTORY INPUT OUTPUT
//
// random-graph is Listing 7 of the paper of 2008, with a stream of edges that leaves loops out. Its
// sorter has all the memory. diamond is Figure 6 of the paper of 2009 without nodes of other
// threads, which 1.4.1 does not have: a loop pushes the pairs into two creators of runs, each side
// is merged and sorted anew by itself, then both are merged side by side. Two sorting nodes at once
// have half of the memory each. Blocks have 2 MiB, the default, where there are 512 MiB of memory,
// and are shorter with less, so that one pass merges all runs. OMP_NUM_THREADS threads sort a run.
// The disk and the files are opened for direct I/O through the kernel's asynchronous interface,
// STXXL's best.
//
// Prints one JSON object on the last line of stdout. bench.py checks the output of diamond.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <memory>
#include <string>

#include <stxxl/bits/config.h>
#include <stxxl/io>
#include <stxxl/mng>
#include <stxxl/stats>
#include <stxxl/stream>
#include <stxxl/vector>

#include "../programs/flow_items.hpp"

namespace {

using flows::checksum;
using flows::edge;
using flows::pair;
using flows::two_pairs;

struct job {
  std::uint64_t bytes;
  std::uint64_t memory_bytes;
  std::string input, output;
};

struct outcome {
  double seconds;
  double cpu_seconds;
  stxxl::stats_data moved;
  bool verified;
};

template <typename Work>
outcome timed(Work const& work) {
  stxxl::stats_data const before(*stxxl::stats::get_instance());
  std::clock_t const cpu_before = std::clock();
  auto const begin = std::chrono::steady_clock::now();
  work();
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
  double const cpu_took = static_cast<double>(std::clock() - cpu_before);
  return {took.count(), cpu_took / CLOCKS_PER_SEC,
          stxxl::stats_data(*stxxl::stats::get_instance()) - before, false};
}

// random-graph

struct edge_less {
  bool operator()(edge const& a, edge const& b) const { return a < b; }
  edge min_value() const { return {0, 0}; }
  edge max_value() const { return {~0ULL, ~0ULL}; }
};

/// Lines 2 to 18 of the listing.
class edge_stream {
 public:
  using value_type = edge;

  explicit edge_stream(flows::random_edges const& edges) : edges_(edges) { find(); }
  edge const& operator*() const { return current_; }
  edge const* operator->() const { return &current_; }
  edge_stream& operator++() {
    ++next_;
    find();
    return *this;
  }
  bool empty() const { return next_ == edges_.count(); }

 private:
  void find() {
    for (; next_ != edges_.count(); ++next_)
      if (!(current_ = edges_(next_)).is_loop()) return;
  }

  flows::random_edges edges_;
  std::uint64_t next_ = 0;
  edge current_ = {0, 0};
};

template <unsigned block_bytes>
outcome random_graph(job const& work) {
  using vector = typename stxxl::VECTOR_GENERATOR<edge, 1, 2, block_bytes>::result;
  using sorted = stxxl::stream::sort<edge_stream, edge_less, block_bytes>;
  flows::random_edges const edges(work.bytes / sizeof(edge));
  vector graph;
  outcome found = timed([&] {
    edge_stream random(edges);
    sorted by_ends(random, edge_less(), work.memory_bytes);
    stxxl::stream::unique<sorted> different(by_ends);
    graph.resize(edges.count());
    auto const end = stxxl::stream::materialize(different, graph.begin());
    graph.resize(static_cast<std::uint64_t>(end - graph.begin()));
    graph.flush();
  });
  checksum sum;
  edge last = {0, 0};
  found.verified = true;
  for (typename vector::bufreader_type in(graph); !in.empty(); ++in) {
    found.verified &= last < *in && !in->is_loop();
    last = *in;
    sum.add(last.source, last.target);
  }
  found.verified &= sum == edges.left();
  return found;
}

// diamond

template <std::uint64_t pair::*key, bool falling>
struct pair_less {
  bool operator()(pair const& a, pair const& b) const {
    return falling ? a.*key > b.*key : a.*key < b.*key;
  }
  pair min_value() const { return end(falling); }
  pair max_value() const { return end(!falling); }

 private:
  static pair end(bool greatest) {
    pair p = {0, 0};
    if (greatest) p.*key = ~0ULL;
    return p;
  }
};

template <typename Less, unsigned block_bytes>
using creator = stxxl::stream::runs_creator<stxxl::stream::use_push<pair>, Less, block_bytes>;
template <typename Less, unsigned block_bytes>
using runs = typename creator<Less, block_bytes>::sorted_runs_type;
template <typename Less, unsigned block_bytes>
using merger = stxxl::stream::runs_merger<runs<Less, block_bytes>, Less>;

/// The second phase of one side: merged by the first order, sorted by the second.
template <typename Second, unsigned block_bytes, typename First>
runs<Second, block_bytes> sorted_again(runs<First, block_bytes>& by_first,
                                       std::uint64_t memory_bytes, checksum& between) {
  merger<First, block_bytes> in(by_first, First(), memory_bytes / 2);
  creator<Second, block_bytes> out(Second(), memory_bytes / 2);
  for (; !in.empty(); ++in) {
    between.add(in->first, in->second);
    out.push(*in);
  }
  return out.result();
}

/// Pairs of the pairs of two streams.
template <typename Left, typename Right>
class side_by_side {
 public:
  using value_type = two_pairs;

  side_by_side(Left& left, Right& right, checksum& of_left, checksum& of_right)
      : left_(left), right_(right), of_left_(of_left), of_right_(of_right) {
    look();
  }
  two_pairs const& operator*() const { return current_; }
  side_by_side& operator++() {
    ++left_;
    ++right_;
    look();
    return *this;
  }
  bool empty() const { return left_.empty() || right_.empty(); }

 private:
  void look() {
    if (empty()) return;
    current_ = {*left_, *right_};
    of_left_.add(current_.left.first, current_.left.second);
    of_right_.add(current_.right.first, current_.right.second);
  }

  Left& left_;
  Right& right_;
  checksum& of_left_;
  checksum& of_right_;
  two_pairs current_;
};

stxxl::file* open_file(std::string const& path, int mode) {
  return new stxxl::linuxaio_file(path, mode | stxxl::file::REQUIRE_DIRECT);
}

template <unsigned block_bytes>
outcome diamond(job const& work) {
  using up_first = pair_less<&pair::second, false>;
  using down_first = pair_less<&pair::second, true>;
  using up_second = pair_less<&pair::first, false>;
  using down_second = pair_less<&pair::first, true>;
  using input = stxxl::vector<pair, 1, stxxl::lru_pager<2>, block_bytes>;
  using output = stxxl::vector<two_pairs, 1, stxxl::lru_pager<2>, block_bytes>;

  checksum of_input, up_between, down_between, of_left, of_right;
  outcome found = timed([&] {
    runs<up_first, block_bytes> ups;
    runs<down_first, block_bytes> downs;
    {
      std::unique_ptr<stxxl::file> const file(open_file(work.input, stxxl::file::RDONLY));
      input const pairs(file.get());
      creator<up_first, block_bytes> up(up_first(), work.memory_bytes / 2);
      creator<down_first, block_bytes> down(down_first(), work.memory_bytes / 2);
      for (auto in = stxxl::stream::streamify(pairs.begin(), pairs.end()); !in.empty(); ++in) {
        of_input.add(in->first, in->second);
        up.push(*in);
        down.push(*in);
      }
      ups = up.result();
      downs = down.result();
    }
    auto up = sorted_again<up_second, block_bytes, up_first>(ups, work.memory_bytes, up_between);
    ups = nullptr;
    auto down =
        sorted_again<down_second, block_bytes, down_first>(downs, work.memory_bytes, down_between);
    downs = nullptr;
    merger<up_second, block_bytes> left(up, up_second(), work.memory_bytes / 2);
    merger<down_second, block_bytes> right(down, down_second(), work.memory_bytes / 2);
    side_by_side<decltype(left), decltype(right)> both(left, right, of_left, of_right);
    std::unique_ptr<stxxl::file> const file(
        open_file(work.output, stxxl::file::RDWR | stxxl::file::CREAT | stxxl::file::TRUNC));
    output pairs(file.get(), work.bytes / sizeof(pair));
    stxxl::stream::materialize(both, pairs.begin());
  });
  found.verified = of_input.count == work.bytes / sizeof(pair) && up_between == of_input &&
                   down_between == of_input && of_left == of_input && of_right == of_input;
  return found;
}

template <unsigned block_bytes>
outcome run(std::string const& name, job const& work) {
  return name == "diamond" ? diamond<block_bytes>(work) : random_graph<block_bytes>(work);
}

outcome run(std::string const& name, job const& work) {
  if (work.memory_bytes < 128 << 20) return run<64 << 10>(name, work);
  return work.memory_bytes < 512 << 20 ? run<512 << 10>(name, work) : run<2 << 20>(name, work);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  stxxl::disk_config where(std::string(argv[4]) + "/stxxl.disk", 0, "linuxaio");
  where.autogrow = true;
  where.unlink_on_open = true;
  where.direct = stxxl::disk_config::DIRECT_ON;
  stxxl::config::get_instance()->add_disk(where);
  stxxl::block_manager::get_instance();

  job const work{std::strtoull(argv[2], nullptr, 10), std::strtoull(argv[3], nullptr, 10),
                 argc > 5 ? argv[5] : "", argc > 6 ? argv[6] : ""};
  try {
    outcome const found = run(argv[1], work);
    std::printf(
        "\n{\"version\": \"%s\", \"seconds\": %f, \"cpu_seconds\": %f, \"io_wait_seconds\": %f, "
        "\"read_bytes\": %lld, \"written_bytes\": %lld, \"verified\": %s}\n",
        STXXL_VERSION_STRING " " STXXL_VERSION_PHASE, found.seconds, found.cpu_seconds,
        found.moved.get_io_wait_time(), static_cast<long long>(found.moved.get_read_volume()),
        static_cast<long long>(found.moved.get_written_volume()),
        found.verified ? "true" : "false");
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "stxxl_streams: %s\n", failure.what());
    return 2;
  }
}
