// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/pipeline/detail/network_layout.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace outsize::pipeline::detail {
namespace {

using edge_list = std::vector<std::pair<std::size_t, std::size_t>>;

layout_box const source{50, true};
constexpr double slack = 1e-6;

std::vector<layout_box> with_source(std::size_t others) {
  std::vector<layout_box> boxes(others + 1, {80});
  boxes[0] = source;
  return boxes;
}

edge_list chain(std::size_t length) {
  edge_list edges;
  for (std::size_t i = 0; i < length; ++i) edges.emplace_back(i, i + 1);
  return edges;
}

bool overlap(rectangle const& a, rectangle const& b) {
  return a.left < b.right() && b.left < a.right() && a.top < b.bottom() && b.top < a.bottom();
}

/// What holds for every layout.
void check(layout const& l, edge_list const& edges) {
  for (std::size_t i = 0; i < l.boxes.size(); ++i) {
    rectangle const& b = l.boxes[i];
    EXPECT_TRUE(b.left >= 0 && b.top >= 0 && b.right() <= l.width && b.bottom() <= l.height);
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(overlap(b, l.boxes[j])) << i << ' ' << j;
  }
  ASSERT_EQ(l.routes.size(), edges.size());
  for (std::size_t e = 0; e < edges.size(); ++e) {
    auto const& r = l.routes[e];
    rectangle const& from = l.boxes[edges[e].first];
    rectangle const& to = l.boxes[edges[e].second];
    EXPECT_NEAR(r.front().x, from.right(), slack);
    EXPECT_NEAR(r.back().x, to.left, slack);
    EXPECT_TRUE(from.top < r.front().y && r.front().y < from.bottom());
    EXPECT_TRUE(to.top < r.back().y && r.back().y < to.bottom());
    for (point const& p : r)
      EXPECT_TRUE(p.x >= 0 && p.x <= l.width && p.y >= 0 && p.y <= l.height) << "edge " << e;
    for (std::size_t i = 1; i < r.size(); ++i)
      EXPECT_TRUE(std::abs(r[i].x - r[i - 1].x) < slack || std::abs(r[i].y - r[i - 1].y) < slack ||
                  r[i].x > r[i - 1].x)
          << "a slanted piece leads to the right";
  }
}

/// No corner of a route is inside of a box.
void check_that_routes_avoid_boxes(layout const& l) {
  for (auto const& r : l.routes)
    for (point const& p : r)
      for (rectangle const& b : l.boxes)
        EXPECT_FALSE(p.x > b.left + slack && p.x < b.right() - slack && p.y > b.top + slack &&
                     p.y < b.bottom() - slack);
}

TEST(network_layout, nothing_is_a_small_empty_picture) {
  auto const l = arrange({}, {});
  EXPECT_TRUE(l.boxes.empty() && l.routes.empty() && l.outlines.empty());
  EXPECT_GT(l.width, 0);
  EXPECT_GT(l.height, 0);
}

TEST(network_layout, a_short_line_is_straight) {
  auto const l = arrange(with_source(4), chain(4));
  check(l, chain(4));
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_NEAR(l.boxes[i].middle(), l.boxes[0].middle(), slack);
    EXPECT_GT(l.boxes[i].left, l.boxes[i - 1].right());
  }
}

TEST(network_layout, a_long_line_is_folded_into_bands_of_equal_length) {
  auto const l = arrange(with_source(17), chain(17), {.most_columns = 7});
  check(l, chain(17));
  check_that_routes_avoid_boxes(l);
  EXPECT_NEAR(l.boxes[6].left, l.boxes[0].left, slack);
  EXPECT_NEAR(l.boxes[12].left, l.boxes[0].left, slack);
  EXPECT_GT(l.boxes[6].top, l.boxes[5].bottom());
  EXPECT_NEAR(l.boxes[11].middle(), l.boxes[6].middle(), slack);
}

TEST(network_layout, a_diamond_is_symmetric) {
  edge_list const edges{{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}};
  auto const l = arrange(with_source(4), edges);
  check(l, edges);
  EXPECT_NEAR(l.boxes[2].left, l.boxes[3].left, slack);
  EXPECT_LT(l.boxes[2].bottom(), l.boxes[3].top);
  EXPECT_NEAR(l.boxes[2].middle() + l.boxes[3].middle(), 2 * l.boxes[1].middle(), slack);
  EXPECT_NEAR(l.boxes[4].middle(), l.boxes[1].middle(), slack);
}

TEST(network_layout, parallel_lines_stay_parallel_and_in_order) {
  std::size_t const k = 8;
  std::vector<layout_box> boxes(k, source);
  boxes.resize(2 * k + 1, {80});
  edge_list edges;
  for (std::size_t i = 0; i < k; ++i) {
    edges.emplace_back(i, k + i);
    edges.emplace_back(k + i, 2 * k);
  }
  auto const l = arrange(boxes, edges);
  check(l, edges);
  for (std::size_t i = 0; i < k; ++i) {
    EXPECT_NEAR(l.boxes[i].middle(), l.boxes[k + i].middle(), slack);
    if (i == 0) continue;
    EXPECT_LT(l.boxes[i - 1].bottom(), l.boxes[i].top);
    EXPECT_LT(l.routes[2 * i - 1].back().y, l.routes[2 * i + 1].back().y) << "no arrows cross";
  }
}

TEST(network_layout, a_source_lies_just_before_what_it_feeds) {
  auto boxes = with_source(4);
  boxes[1] = source;
  edge_list const edges{{0, 2}, {2, 3}, {3, 4}, {1, 4}};
  auto const l = arrange(boxes, edges);
  check(l, edges);
  EXPECT_NEAR(l.boxes[1].left, l.boxes[3].left, slack);
}

TEST(network_layout, a_long_edge_passes_between_boxes) {
  edge_list const edges{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {1, 4}};
  auto const l = arrange(with_source(4), edges);
  check(l, edges);
  check_that_routes_avoid_boxes(l);
  EXPECT_GT(l.routes[4].size(), 2u);
}

TEST(network_layout, cycles_lead_back_below) {
  edge_list const edges{{0, 1}, {1, 2}, {2, 3}, {3, 1}, {2, 2}};
  auto const l = arrange(with_source(3), edges);
  check(l, edges);
  check_that_routes_avoid_boxes(l);
  EXPECT_GT(l.boxes[3].left, l.boxes[2].right()) << "the edges before it set the columns";
  for (std::size_t e : {3, 4}) {
    double lowest = 0;
    for (point const& p : l.routes[e]) lowest = std::max(lowest, p.y);
    EXPECT_GT(lowest, l.boxes[1].bottom());
  }
}

TEST(network_layout, outlines_hold_their_cluster_and_no_strangers) {
  edge_list const edges{{0, 1}, {0, 2}, {0, 3}, {0, 4}};
  auto boxes = with_source(4);
  boxes[1].cluster = boxes[2].cluster = boxes[4].cluster = "a";
  boxes[3].cluster = "b";
  auto const l = arrange(boxes, edges);
  check(l, edges);
  std::size_t of_a = 0;
  for (auto const& o : l.outlines) {
    of_a += o.cluster == "a" ? 1 : 0;
    for (std::size_t i = 0; i < boxes.size(); ++i)
      EXPECT_TRUE(boxes[i].cluster == o.cluster || !overlap(o.area, l.boxes[i]));
  }
  EXPECT_EQ(of_a, 2u) << "one around two boxes, one around the third";
  EXPECT_EQ(l.outlines.size(), 3u);
}

TEST(network_layout, any_graph_has_one) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 100; ++round) {
    std::size_t const count = 1 + random() % 24;
    std::vector<layout_box> boxes(count, {60});
    for (auto& b : boxes) {
      b.is_source = random() % 5 == 0;
      if (random() % 3 == 0) b.cluster = random() % 2 == 0 ? "a" : "b";
    }
    edge_list edges;
    for (std::size_t e = random() % 40; e-- > 0;) {
      std::pair<std::size_t, std::size_t> const edge{random() % count, random() % count};
      if (!boxes[edge.second].is_source) edges.push_back(edge);
    }
    auto const l = arrange(boxes, edges);
    check(l, edges);
    check_that_routes_avoid_boxes(l);
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace outsize::pipeline::detail
