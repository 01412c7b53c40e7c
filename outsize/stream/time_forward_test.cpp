// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// Graphs evaluated in time-forward order against the same in memory, and edges that are wrong.

#include <outsize/stream/time_forward.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include <outsize/base/units.hpp>
#include <outsize/testing/counted_storage.hpp>

namespace user_code {
namespace {

using namespace outsize;
using namespace outsize::stream;

struct arc {
  std::uint32_t from, to;
  auto operator<=>(arc const&) const = default;
};

/// A vector as a stream.
class arcs {
 public:
  explicit arcs(std::vector<arc> all) : all_(std::move(all)) {}
  bool empty() const { return next_ == all_.size(); }
  arc const& operator*() const { return all_[next_]; }
  arcs& operator++() {
    ++next_;
    return *this;
  }

 private:
  std::vector<arc> all_;
  std::size_t next_ = 0;
};

constexpr priority_queue_options tiny{.memory_bytes = 256_KiB, .block_bytes = 4096};

struct time_forward_processing : testing::Test, scratch::counted_storage {
  std::uint64_t seed = std::random_device{}();

  std::vector<arc> some_arcs(std::uint32_t vertices, std::size_t count) {
    std::mt19937_64 random(seed);
    std::vector<arc> all;
    for (std::size_t i = 0; i < count; ++i) {
      auto const a = static_cast<std::uint32_t>(random() % vertices);
      auto const b = static_cast<std::uint32_t>(random() % vertices);
      if (a != b) all.push_back({std::min(a, b), std::max(a, b)});
    }
    std::ranges::sort(all);
    return all;
  }
};

TEST_F(time_forward_processing, finds_the_longest_paths) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  constexpr std::uint32_t vertices = 20'000;
  auto const all = some_arcs(vertices, 100'000);
  std::vector<std::uint32_t> expected(vertices, 0), found;
  for (arc const& a : all) expected[a.to] = std::max(expected[a.to], expected[a.from] + 1);
  arcs edges(all);
  time_forward<std::uint32_t>(
      store, vertices, edges, &arc::from, &arc::to,
      [&](std::uint32_t v, std::span<std::uint32_t const> lengths, auto& out) {
        ASSERT_EQ(v, found.size());
        found.push_back(lengths.empty() ? 0 : std::ranges::max(lengths));
        out.send_all(found.back() + 1);
      },
      tiny);
  EXPECT_EQ(found, expected);
  EXPECT_GT(writes(), 0U);
}

TEST_F(time_forward_processing, counts_messages_that_say_nothing) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  constexpr std::uint32_t vertices = 5000;
  auto const all = some_arcs(vertices, 40'000);
  std::vector<std::uint64_t> expected(vertices, 0), found;
  for (arc const& a : all)
    if (a.from % 3 == 0) ++expected[a.to];
  arcs edges(all);
  time_forward<void>(store, vertices, edges, &arc::from, &arc::to,
                     [&](std::uint32_t v, std::uint64_t messages, auto& out) {
                       found.push_back(messages);
                       if (v % 3 == 0) out.send_all();
                     });
  EXPECT_EQ(found, expected);
}

TEST_F(time_forward_processing, delivers_in_the_order_of_senders) {
  std::vector<arc> all;
  for (std::uint32_t v = 0; v < 3000; ++v) all.push_back({v, 5000});
  arcs edges(all);
  std::vector<std::uint32_t> senders;
  time_forward<std::uint32_t>(
      store, std::uint32_t{5001}, edges, &arc::from, &arc::to,
      [&](std::uint32_t v, std::span<std::uint32_t const> messages, auto& out) {
        if (v == 5000) senders.assign(messages.begin(), messages.end());
        for (; !out.empty(); ++out) {
          EXPECT_EQ((*out).from, v);
          out.send(v);
        }
      });
  ASSERT_EQ(senders.size(), 3000U);
  for (std::uint32_t v = 0; v < 3000; ++v) ASSERT_EQ(senders[v], v);
}

TEST_F(time_forward_processing, says_which_edge_is_wrong) {
  auto const message_of = [&](std::vector<arc> all) -> std::string {
    arcs edges(std::move(all));
    try {
      time_forward<void>(store, std::uint32_t{10}, edges, &arc::from, &arc::to,
                         [](std::uint32_t, std::uint64_t, auto& out) { out.send_all(); });
      return "";
    } catch (std::invalid_argument const& e) {
      return e.what();
    }
  };
  EXPECT_EQ(message_of({{1, 2}, {3, 9}}), "");
  EXPECT_NE(message_of({{3, 2}}).find("from 3 to 2"), std::string::npos);
  EXPECT_NE(message_of({{3, 3}}).find("from 3 to 3"), std::string::npos);
  EXPECT_NE(message_of({{3, 10}}).find("from 3 to 10"), std::string::npos);
  EXPECT_NE(message_of({{5, 6}, {4, 6}}).find("of vertex 4"), std::string::npos);
  EXPECT_NE(message_of({{10, 11}}).find("vertex 10"), std::string::npos);
}

}  // namespace
}  // namespace user_code
