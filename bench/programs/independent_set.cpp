// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The benchmark of independent sets: a random graph is made, sorted and rid of repeated edges, and
// the set is found by time-forward processing.
//
//   independent_set pipelined|plain|stl BYTES MEMORY_BYTES THREADS DIRECTORY
//   independent_set pipelined|plain|stl BYTES MEMORY_BYTES THREADS DIRECTORY DISKS
//
// pipelined pushes the edges into a sorter and pulls them out of it, as Listings 7 and 8 of STXXL
// 2008; plain does so without codes for runs; stl puts them into a vector, as Listings 6 and 8. The
// members go into a vector of numbers of 4 bytes. With DISKS there are so many simulated disks in
// place of the folder (Table VII); their bytes are in memory. BYTES are those of the edges, 16 for
// each. Prints one JSON object.

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/sorter.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/container/vector_readers.hpp>
#include <outsize/scan/remove.hpp>
#include <outsize/scan/sort_containers.hpp>
#include <outsize/stream/time_forward.hpp>

#include "independent_set_workload.hpp"
#include "simulated_disks.hpp"

namespace {

using independent_set::edge;
using independent_set::random_graph;
using independent_set::vertex;

/// The edges of a sorted stream without those that repeat the one before.
template <typename Edges>
class different_edges {
 public:
  using value_type = edge;

  explicit different_edges(Edges& from) : from_(from) {}
  bool empty() { return from_.empty(); }
  edge const& operator*() { return *from_; }
  different_edges& operator++() {
    edge const last = *from_;
    do ++from_;
    while (!from_.empty() && *from_ == last);
    return *this;
  }

 private:
  Edges& from_;
};

struct moment {
  std::string ended = {};  // the phase
  std::chrono::steady_clock::time_point time = std::chrono::steady_clock::now();
  std::clock_t processors = std::clock();
};

/// One run: its graph, its disks, and when each phase ended.
class trial {
 public:
  trial(random_graph const& graph, simulation::disks& disks, outsize::storage& store)
      : graph_(graph), disks_(disks), store_(store), members_(store) {}

  void pipelined(outsize::run_codec codec) {
    auto const by_source = outsize::by(&edge::source);
    outsize::sorter<edge, std::remove_const_t<decltype(by_source)>> edges(
        store_, by_source, {.input_bytes = graph_.edge_count * sizeof(edge), .codec = codec});
    generate([&](edge const& e) { edges.push(e); });
    edges.sort();
    phase_ended("filling and sorting");
    different_edges different(edges);
    find_set(different);
  }

  void stl() {
    outsize::vector<edge> edges(store_);
    {
      outsize::vector_writer<edge> out(edges);
      generate([&](edge const& e) { out.push(e); });
      out.finish();
    }
    phase_ended("filling");
    outsize::sort(edges, outsize::by(&edge::source));
    phase_ended("sorting");
    edges.erase(outsize::unique(edges), edges.end());
    phase_ended("removing repeats");
    outsize::vector_reader in(std::as_const(edges));
    find_set(in);
  }

  /// Prints what was measured. Returns whether the set is right.
  bool report();

 private:
  template <typename Use>
  void generate(Use const& use) {
    independent_set::edge_generator next(graph_);
    for (std::uint64_t i = 0; i < graph_.edge_count; ++i)
      if (edge const e = next(); !e.is_loop()) use(e);
  }
  template <typename Edges>
  void find_set(Edges& edges) {
    outsize::vector_writer<vertex> out(members_);
    outsize::stream::time_forward<void>(store_, static_cast<vertex>(graph_.vertex_count()), edges,
                                        &edge::source, &edge::target,
                                        [&](vertex v, std::uint64_t told, auto& neighbours) {
                                          if (told > 0) return;
                                          out.push(v);
                                          neighbours.send_all();
                                        });
    out.finish();
    members_.flush();
    phase_ended("independent set");
    moved_ = store_.total_statistics();
    simulated_ = std::chrono::duration<double>(disks_.elapsed()).count();
  }
  void phase_ended(std::string name) { moments_.push_back({std::move(name)}); }

  random_graph graph_;
  simulation::disks& disks_;
  outsize::storage& store_;
  outsize::vector<vertex> members_;
  std::vector<moment> moments_{{}};
  outsize::io::statistics_snapshot moved_;
  double simulated_ = 0;
};

bool trial::report() {
  independent_set::set_check found(graph_);
  for (outsize::vector_reader in(std::as_const(members_)); !in.empty(); ++in) found.add(*in);
  members_.clear();
  bool const good = found.is_greedy();

  auto const seconds = [](moment const& a, moment const& b) {
    return std::chrono::duration<double>(b.time - a.time).count();
  };
  std::string phases;
  for (std::size_t i = 1; i < moments_.size(); ++i)
    phases += fmt::format("{}\"{}\": {}", i == 1 ? "" : ", ", moments_[i].ended,
                          seconds(moments_[i - 1], moments_[i]));
  fmt::print(
      "{{\"seconds\": {}, \"phase_seconds\": {{{}}}, \"simulated_seconds\": {}, "
      "\"cpu_seconds\": {}, \"io_wait_seconds\": {}, \"read_bytes\": {}, \"written_bytes\": {}, "
      "\"members\": {}, \"verified\": {}}}\n",
      seconds(moments_.front(), moments_.back()), phases, simulated_,
      static_cast<double>(moments_.back().processors - moments_.front().processors) /
          CLOCKS_PER_SEC,
      static_cast<double>(moved_.wait_ns) * 1e-9, moved_.read_bytes, moved_.write_bytes,
      found.count(), good);
  return good;
}

int run(std::vector<std::string> const& words) {
  if (words.size() != 5 && words.size() != 6)
    throw std::invalid_argument(
        "usage: independent_set WAY BYTES MEMORY_BYTES THREADS DIRECTORY [DISKS]");
  random_graph const graph{std::stoull(words[1]) / sizeof(edge)};
  simulation::disks disks(words.size() == 6 ? std::stoull(words[5]) : 0);
  outsize::storage store({.disks = disks.or_folder(words[4]),
                          .memory_bytes = std::stoull(words[2]),
                          .threads = std::stoull(words[3])});
  trial one(graph, disks, store);
  if (words[0] == "pipelined") {
    one.pipelined(outsize::run_codec::automatic);
  } else if (words[0] == "plain") {
    one.pipelined(outsize::run_codec::none);
  } else if (words[0] == "stl") {
    one.stl();
  } else {
    throw std::invalid_argument(words[0] + ": not pipelined, plain or stl");
  }
  return one.report() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (std::exception const& e) {
    fmt::print(stderr, "independent_set: {}\n", e.what());
    return 2;
  }
}
