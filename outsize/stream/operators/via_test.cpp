// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Nodes of the user are constructed when a phase begins, and read as streams are.
#include <outsize/stream/operators/via.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/io/memory_file.hpp>
#include <outsize/stream/graph.hpp>
#include <outsize/stream/operators/any_flow.hpp>
#include <outsize/stream/operators/filter.hpp>
#include <outsize/stream/operators/sorting_nodes.hpp>
#include <outsize/stream/operators/take.hpp>
#include <outsize/stream/operators/transform_items.hpp>
#include <outsize/stream/operators/zip.hpp>
#include <outsize/stream/sinks.hpp>
#include <outsize/stream/sources.hpp>

namespace outsize::stream {
namespace {

using words = std::vector<std::uint64_t>;

struct nodes : testing::Test {
  storage store{{.disks = {disk_options("memory",
                                        [](io::request_queue&) -> io::file_ptr {
                                          return io::make_memory_file("memory", 64_MiB);
                                        })},
                 .memory_bytes = 4_MiB,
                 .threads = 2}};

  static words some(std::size_t count) {
    std::mt19937_64 random(count);
    words all(count);
    for (auto& one : all) one = random() % 10;
    return all;
  }
  static std::vector<std::string> some_strings(std::size_t count) {
    std::vector<std::string> all;
    for (auto x : some(count)) all.push_back(std::string(3 * x, 'a') + std::to_string(x));
    return all;
  }
  /// The items of a flow, which are the same by push and by pull.
  template <typename T, typename Make>
  std::vector<T> items_of(Make make) {
    auto const copy = [](auto const& item) { return T(item); };
    std::vector<T> pushed, pulled;
    run(store, make() | transform(copy) | into(std::back_inserter(pushed)));
    run(store, zip(make(), counter(std::uint64_t{0}, UINT64_MAX)) |
                   transform([](auto const& item, std::uint64_t) { return T(item); }) |
                   into(std::back_inserter(pulled)));
    EXPECT_EQ(pushed, pulled);
    return pushed;
  }
};

constexpr std::array<std::size_t, 6> sizes{0, 1, 2, 7, 1000, 70'000};

/// As such nodes are written for STXXL: it refers to the stream before it, and is not movable.
template <typename In>
class every_nth {
 public:
  using value_type = typename In::value_type;

  every_nth(In& in, std::size_t n) : in_(in), n_(n) {}
  every_nth(every_nth const&) = delete;

  bool empty() const { return in_.empty(); }
  decltype(auto) operator*() const { return *in_; }
  every_nth& operator++() {
    for (std::size_t i = 0; i < n_ && !in_.empty(); ++i) ++in_;
    return *this;
  }

 private:
  In& in_;
  std::size_t n_;
};

/// Reads its input to the end in its constructor, and yields it backwards, in batches.
template <typename In>
class backwards {
 public:
  explicit backwards(In& in) {
    for (; !in.empty(); ++in) all_.insert(all_.begin(), *in);
    rest_ = all_;
  }
  backwards(backwards const&) = delete;

  bool empty() const { return rest_.empty(); }
  std::uint64_t operator*() const { return rest_.front(); }
  backwards& operator++() { return skip(1), *this; }
  std::span<std::uint64_t const> pull() const { return rest_; }
  void skip(std::size_t count) { rest_ = rest_.subspan(count); }

 private:
  words all_;
  std::span<std::uint64_t const> rest_;
};

template <typename A, typename B, typename Less>
class two_way_merger {
 public:
  two_way_merger(A& a, B& b, Less less) : a_(a), b_(b), less_(less) {}

  bool empty() { return a_.empty() && b_.empty(); }
  std::uint64_t operator*() { return is_first() ? *a_ : *b_; }
  two_way_merger& operator++() {
    if (is_first())
      ++a_;
    else
      ++b_;
    return *this;
  }

 private:
  bool is_first() { return b_.empty() || (!a_.empty() && !less_(*b_, *a_)); }

  A& a_;
  B& b_;
  Less less_;
};

TEST_F(nodes, stand_behind_a_flow) {
  for (auto n : sizes)
    for (std::size_t k : {1U, 2U, 30U}) {
      words const in = some(n);
      words expected;
      for (std::size_t i = 0; i < n; i += k) expected.push_back(in[i] + 1);
      auto const next = [](std::uint64_t x) { return x + 1; };
      auto const by_template = [&] { return from(in) | transform(next) | via<every_nth>(k); };
      EXPECT_EQ(items_of<std::uint64_t>(by_template), expected);
      auto const by_function = [&] {
        return from(in) | transform(next) | via([k](auto& all) { return every_nth(all, k); });
      };
      EXPECT_EQ(items_of<std::uint64_t>(by_function), expected);
    }
}

TEST_F(nodes, follow_one_another) {
  words const in = some(1000);
  words expected;
  for (std::size_t i = 0; i < in.size(); i += 6) expected.insert(expected.begin(), in[i]);
  auto const made = [&] {
    return from(in) | via<every_nth>(std::size_t{2}) | via<every_nth>(3) | via<backwards>();
  };
  EXPECT_EQ(items_of<std::uint64_t>(made), expected);
  expected.resize(10);
  EXPECT_EQ(items_of<std::uint64_t>([&] { return made() | take(10); }), expected);
  expected.resize(5);
  EXPECT_EQ(items_of<std::uint64_t>([&] { return made() | via<every_nth>(1) | take(5); }),
            expected);
}

TEST_F(nodes, read_several_flows) {
  words a = some(3000), b = some(2000), expected;
  std::ranges::sort(a);
  std::ranges::sort(b);
  std::ranges::merge(a, b, std::back_inserter(expected));
  auto const by_template = [&] { return make<two_way_merger>(from(a), from(b), std::less<>()); };
  EXPECT_EQ(items_of<std::uint64_t>(by_template), expected);
  auto const by_function = [&] {
    return make([](auto& x, auto& y) { return two_way_merger(x, y, std::less<>()); }, from(a),
                from(b));
  };
  EXPECT_EQ(items_of<std::uint64_t>(by_function), expected);
  auto const one = [&] { return make<every_nth>(from(a), std::size_t{1}); };
  EXPECT_EQ(items_of<std::uint64_t>(one), a);
}

TEST_F(nodes, read_ports_of_a_graph) {
  words const in = some(50'000);
  words out, expected = in;
  graph g(store);
  auto [a, b] = g.fork<2>(from(in));
  g.add(make<two_way_merger>(a | sort(), b | sort(), std::less<>()) | via<every_nth>(2) |
        into(std::back_inserter(out)));
  g.run();
  std::ranges::sort(expected);
  EXPECT_EQ(out, expected);
}

TEST_F(nodes, take_byte_strings_and_references) {
  auto const in = some_strings(100);
  std::size_t bytes = 0;
  auto const counted = [](auto& all, std::size_t& sum) {
    for (; !all.empty(); ++all) sum += (*all).size();
    return every_nth(all, 1);
  };
  run(store, from(in) | via([&](auto& all) { return counted(all, bytes); }) | discard());
  std::size_t expected = 0;
  for (auto const& s : in) expected += s.size();
  EXPECT_EQ(bytes, expected);
  EXPECT_EQ(items_of<std::string>(
                [&] { return any_flow<std::string_view>(from(in)) | via<every_nth>(1); }),
            in);
}

/// Notes where and when it lived.
template <typename In>
class recorded {
 public:
  recorded(In& in, std::vector<std::string>& log) : in_(in), log_(log), thread_(current()) {
    log_.push_back("constructed");
  }
  recorded(recorded const&) = delete;
  ~recorded() { log_.push_back(thread_ == current() ? "destroyed" : "destroyed elsewhere"); }

  bool empty() {
    if (thread_ != current()) log_.push_back("read elsewhere");
    return in_.empty();
  }
  decltype(auto) operator*() { return *in_; }
  recorded& operator++() {
    ++in_;
    return *this;
  }

 private:
  static std::thread::id current() { return std::this_thread::get_id(); }

  In& in_;
  std::vector<std::string>& log_;
  std::thread::id thread_;
};

TEST_F(nodes, live_while_their_phase_runs) {
  std::vector<std::string> log;
  words const in = some(1000);
  auto flow = from(in) | sort() | via<recorded>(std::ref(log)) | via<every_nth>(1);
  auto closed = std::move(flow) | count();
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(run(store, std::move(closed)), in.size());
  EXPECT_EQ(log, (std::vector<std::string>{"constructed", "destroyed"}));
}

TEST_F(nodes, let_errors_of_constructors_through) {
  words const in = some(1000);
  auto const fails = [](auto& all) {
    if (!all.empty()) throw std::runtime_error("not empty");
    return every_nth(all, 1);
  };
  EXPECT_THROW(run(store, from(in) | via(fails) | discard()), flow_error);
  EXPECT_EQ(run(store, from(words()) | via(fails) | count()), 0U);
}

}  // namespace
}  // namespace outsize::stream
