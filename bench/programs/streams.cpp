// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The benchmarks of flows and graphs; bench/README.md says which part is timed.
//
//   streams stream-scan|stream-scan-by-hand|random-graph|distribute|distribute-one-thread|
//           random-input|random-input-one-thread
//           BYTES MEMORY_BYTES THREADS DIRECTORY
//   streams diamond BYTES MEMORY_BYTES THREADS DIRECTORY INPUT OUTPUT
//   streams check INPUT OUTPUT            whether OUTPUT is that of the diamond; exit code 0 or 1
//
// Prints one JSON object. All results are verified after the timed part. Items that the programs
// make themselves are cheap to compute, so that the result is known.

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/algorithm/item_order.hpp>
#include <outsize/algorithm/item_sources.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/container/vector_readers.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/filter.hpp>
#include <outsize/stream/operators/parallel.hpp>
#include <outsize/stream/operators/sorting_nodes.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/operators/zip.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>

#include "flow_items.hpp"

namespace {

namespace os = outsize::stream;
using flows::checksum;
using flows::edge;
using flows::pair;
using flows::two_pairs;
using number = std::uint64_t;

struct job {
  number bytes;
  outsize::storage store;
  std::string input, output;
};

/// The timed part, and whether its result is right.
struct outcome {
  double seconds;
  double cpu_seconds;
  outsize::io::statistics_snapshot moved;
  bool verified = false;
};

template <typename Work>
outcome timed(outsize::storage& store, Work const& work) {
  auto const before = store.total_statistics();
  auto const cpu_before = std::clock();
  auto const begin = std::chrono::steady_clock::now();
  work();
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
  auto const cpu_took = static_cast<double>(std::clock() - cpu_before);
  return {took.count(), cpu_took / CLOCKS_PER_SEC, store.total_statistics() - before};
}

// stream-scan: transform, filter, sum.

constexpr auto folded = [](number x) { return x ^ x >> 29; };
constexpr auto is_wanted = [](number x) { return x % 3 != 0; };

/// Fills a vector with numbers, and returns the sum that a scan should find.
number fill(outsize::vector<number>& v, number count) {
  number sum = 0;
  outsize::vector_writer<number> out(v);
  for (number i = 0; i < count; ++i) {
    number const item = i * flows::odd;
    out.push(item);
    if (is_wanted(folded(item))) sum += folded(item);
  }
  out.finish();
  v.flush();
  return sum;
}

template <typename Scan>
outcome scan(job& work, Scan const& sum_of) {
  outsize::vector<number> v(work.store);
  number const expected = fill(v, work.bytes / sizeof(number));
  number sum = 0;
  auto found = timed(work.store, [&] { sum = sum_of(v); });
  found.verified = sum == expected;
  return found;
}

outcome stream_scan(job& work) {
  return scan(work, [&](auto const& v) {
    return os::run(work.store, os::from(v) | os::transform(folded) | os::filter(is_wanted) |
                                   os::reduce(number{0}));
  });
}

/// The same as a loop over the pages.
outcome stream_scan_by_hand(job& work) {
  return scan(work, [](auto const& v) {
    number sum = 0;
    outsize::vector_reader in(v);
    while (!in.empty()) {
      auto const page = in.pull();
      for (number const x : page)
        if (is_wanted(folded(x))) sum += folded(x);
      in.skip(page.size());
    }
    return sum;
  });
}

// random-graph: edges are made, sorted and written without loops and repeats. Two words by the
// first come in the order of both, so repeats are neighbours.

checksum of_graph(outsize::vector<edge> const& graph, bool& good) {
  checksum found;
  edge last{0, 0};  // a loop
  for (outsize::vector_reader in(graph); !in.empty(); ++in) {
    good &= last < *in && !in->is_loop();
    last = *in;
    found.add(last.source, last.target);
  }
  return found;
}

outcome random_graph(job& work) {
  flows::random_edges const edges(work.bytes / sizeof(edge));
  outsize::vector<edge> graph(work.store);
  auto found = timed(work.store, [&] {
    os::run(work.store, os::counter(number{0}, edges.count()) | os::transform(edges) |
                            os::filter([](edge const& e) { return !e.is_loop(); }) |
                            os::sort(outsize::by(&edge::source)) | os::unique() | os::into(graph));
    graph.flush();
  });
  found.verified = true;
  found.verified &= of_graph(graph, found.verified) == edges.left();
  return found;
}

// diamond: pairs go two ways of two sorts each, and come together again.

/// A checksum on its way through a graph, beside no other that another thread works on.
struct alignas(128) checksum_node : checksum {
  void operator()(pair const& p) { add(p.first, p.second); }
};
struct alignas(128) checksums_node {
  checksum left, right;

  void operator()(two_pairs const& p) {
    left.add(p.left.first, p.left.second);
    right.add(p.right.first, p.right.second);
  }
};

outcome diamond(job& work) {
  checksum_node of_input, up_between, down_between;
  checksums_node of_output;
  std::greater<> const falling;
  auto found = timed(work.store, [&] {
    os::graph g(work.store, "diamond");
    auto [a, b] =
        g.fork<2>(os::from(outsize::items<pair>(work.input)) | os::inspect(std::ref(of_input)));
    auto up = a | os::sort(outsize::by(&pair::second)) | os::inspect(std::ref(up_between)) |
              os::sort(outsize::by(&pair::first));
    auto down = b | os::sort(outsize::by(&pair::second, falling)) |
                os::inspect(std::ref(down_between)) | os::sort(outsize::by(&pair::first, falling));
    g.add(os::zip(up, down) | os::transform([](pair const& x, pair const& y) {
            return two_pairs{x, y};
          }) |
          os::inspect(std::ref(of_output)) | os::into(work.output));
    g.run();
  });
  found.verified = of_input.count == work.bytes / sizeof(pair) && up_between == of_input &&
                   down_between == of_input && of_output.left == of_input &&
                   of_output.right == of_input;
  return found;
}

template <typename T, typename Use>
void read_file(std::string const& path, Use const& use) {
  std::ifstream in(path, std::ios::binary);
  std::vector<T> some((1 << 20) / sizeof(T));
  while (in) {
    in.read(reinterpret_cast<char*>(some.data()),
            static_cast<std::streamsize>(some.size() * sizeof(T)));
    auto const count = static_cast<std::size_t>(in.gcount()) / sizeof(T);
    for (std::size_t i = 0; i < count; ++i) use(some[i]);
  }
}

/// Returns whether the output has the pairs of the input on the left, rising by their first word,
/// and on the right, falling.
bool is_diamond(std::string const& input, std::string const& output) {
  checksum_node of_input;
  checksums_node of_output;
  read_file<pair>(input, std::ref(of_input));
  two_pairs last{{0, 0}, {UINT64_MAX, 0}};
  bool good = true;
  read_file<two_pairs>(output, [&](two_pairs const& p) {
    good &= last.left.first <= p.left.first && p.right.first <= last.right.first;
    last = p;
    of_output(p);
  });
  return good && of_output.left == of_input && of_output.right == of_input;
}

// distribute: much work on each number, whose result is known without it.

/// x * factor + term: the work, and as one step the same as all of its rounds.
struct linear_step {
  number factor, term;
  constexpr number operator()(number x) const { return x * factor + term; }
};
constexpr linear_step one_round{0x5851F42D4C957F2DU, 0x14057B7EF767814FU};

template <unsigned rounds>
struct work_on {
  static constexpr linear_step at_once = [] {
    linear_step all{1, 0};
    for (unsigned i = 0; i < rounds; ++i)
      all = {all.factor * one_round.factor, one_round(all.term)};
    return all;
  }();
  constexpr number operator()(number x) const {
    for (unsigned i = 0; i < rounds; ++i) x = one_round(x);
    return x;
  }
};
using much_work = work_on<200>;
/// Depends on the order.
constexpr auto appended = [](number sum, number x) { return sum * 31 + x; };

template <typename Operator>
outcome distribute_to(job& work, Operator const& op) {
  number const count = work.bytes / sizeof(number);
  number result = 0, expected = 0;
  auto found = timed(work.store, [&] {
    result =
        os::run(work.store, os::counter(number{0}, count) | op | os::reduce(number{0}, appended));
  });
  for (number i = 0; i < count; ++i) expected = appended(expected, much_work::at_once(i));
  found.verified = result == expected;
  return found;
}
outcome distribute(job& work) {
  return distribute_to(work, os::parallel(os::transform(much_work())));
}
outcome distribute_one_thread(job& work) { return distribute_to(work, os::transform(much_work())); }

// random-input: numbers as costly as random ones, put into a vector.

using generator = work_on<16>;

template <typename Operator>
outcome generate_with(job& work, Operator const& op) {
  number const count = work.bytes / sizeof(number);
  outsize::vector<number> v(work.store);
  auto found = timed(work.store, [&] {
    os::run(work.store, os::counter(number{0}, count) | op | os::into(v));
    v.flush();
  });
  number i = 0;
  found.verified = v.size() == count;
  for (outsize::vector_reader in(v); !in.empty(); ++in, ++i)
    found.verified &= *in == generator::at_once(i);
  return found;
}
outcome random_input(job& work) {
  return generate_with(work, os::parallel(os::transform(generator())));
}
outcome random_input_one_thread(job& work) {
  return generate_with(work, os::transform(generator()));
}

int run(int argc, char** argv) {
  std::map<std::string, std::function<outcome(job&)>> const all = {
      {"stream-scan", stream_scan},   {"stream-scan-by-hand", stream_scan_by_hand},
      {"random-graph", random_graph}, {"diamond", diamond},
      {"distribute", distribute},     {"distribute-one-thread", distribute_one_thread},
      {"random-input", random_input}, {"random-input-one-thread", random_input_one_thread}};
  std::vector<std::string> const words(argv + 1, argv + argc);
  if (words.size() == 3 && words[0] == "check") return is_diamond(words[1], words[2]) ? 0 : 1;
  if (words.empty() || !all.contains(words[0]) || words.size() != (words[0] == "diamond" ? 7U : 5U))
    throw std::invalid_argument(
        "usage: streams NAME BYTES MEMORY_BYTES THREADS DIRECTORY [INPUT OUTPUT]");
  job work{std::stoull(words[1]),
           outsize::storage({.disks = {outsize::disk_options(words[4])},
                             .memory_bytes = std::stoull(words[2]),
                             .threads = std::stoull(words[3])}),
           words.size() > 5 ? words[5] : "", words.size() > 6 ? words[6] : ""};
  auto const found = all.at(words[0])(work);
  fmt::print(
      "{{\"seconds\": {}, \"cpu_seconds\": {}, \"io_wait_seconds\": {}, \"read_bytes\": {}, "
      "\"written_bytes\": {}, \"verified\": {}}}\n",
      found.seconds, found.cpu_seconds, static_cast<double>(found.moved.wait_ns) * 1e-9,
      found.moved.read_bytes, found.moved.write_bytes, found.verified);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (std::exception const& e) {
    fmt::print(stderr, "streams: {}\n", e.what());
    return 2;
  }
}
