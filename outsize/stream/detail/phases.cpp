// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/stream/detail/phases.hpp>

#include <algorithm>
#include <numeric>

#include <outsize/base/error.hpp>

namespace outsize::stream::detail {
namespace {

/// All vertices in the direction of the edges; where several could be next, the first. @throws
/// plan_error.
std::vector<std::size_t> in_order(std::size_t vertices, std::vector<graph_edge> const& edges) {
  std::vector<std::size_t> missing(vertices), order;
  for (graph_edge const& e : edges) ++missing[e.to];
  std::vector<bool> done(vertices);
  while (order.size() < vertices) {
    std::size_t v = 0;
    while (v < vertices && (done[v] || missing[v] > 0)) ++v;
    if (v == vertices) throw plan_error("the graph has a cycle");
    done[v] = true;
    order.push_back(v);
    for (graph_edge const& e : edges)
      if (e.from == v) --missing[e.to];
  }
  return order;
}

class division {
 public:
  division(std::size_t segments, std::vector<graph_edge> const& edges)
      : edges_(edges),
        in_(segments),
        out_(segments),
        level_(segments),
        order_(in_order(segments, edges)) {
    for (std::size_t e = 0; e < edges.size(); ++e) {
      out_[edges[e].from].push_back(e);
      in_[edges[e].to].push_back(e);
    }
  }

  graph_parts run() {
    find_levels();
    for (auto s = order_.rbegin(); s != order_.rend(); ++s) raise(*s);
    graph_parts parts;
    for (std::size_t e = 0; e < edges_.size(); ++e)
      if (!edges_[e].is_cut && level_[edges_[e].from] != level_[edges_[e].to])
        parts.stores.push_back(e);
    parts.components = find_components();
    return parts;
  }

 private:
  void find_levels() {
    for (std::size_t s : order_)
      for (std::size_t e : in_[s])
        level_[s] = std::max(level_[s], level_[edges_[e].from] + (edges_[e].is_cut ? 1 : 0));
  }

  /// The last level that a segment can be on, without those in `with` it.
  std::size_t last_level(std::size_t s, std::vector<std::size_t> const& with = {}) const {
    std::size_t last = SIZE_MAX;
    for (std::size_t e : out_[s]) {
      if (std::find(with.begin(), with.end(), edges_[e].to) != with.end()) continue;
      last = std::min(last, level_[edges_[e].to] - (edges_[e].is_cut ? 1 : 0));
    }
    return last;
  }

  std::uint64_t uncut_bytes(std::vector<std::size_t> const& edges) const {
    std::uint64_t sum = 0;
    for (std::size_t e : edges)
      if (!edges_[e].is_cut) sum += edges_[e].bytes;
    return sum;
  }

  /// Moves a segment to the level of those that read from it, if all that channels lead to it from
  /// can move, too. Else a store is needed on the way: before it, if fewer bytes go there.
  void raise(std::size_t s) {
    std::size_t const last = last_level(s);
    if (last == SIZE_MAX || last <= level_[s]) return;
    std::vector<std::size_t> all{s};
    bool all_can = true;
    for (std::size_t i = 0; i < all.size() && all_can; ++i) {
      for (std::size_t e : in_[all[i]])
        if (!edges_[e].is_cut && std::find(all.begin(), all.end(), edges_[e].from) == all.end())
          all.push_back(edges_[e].from);
      all_can = last_level(all[i], all) >= last;
    }
    if (all_can) {
      for (std::size_t one : all) level_[one] = std::max(level_[one], last);
    } else if (uncut_bytes(in_[s]) < uncut_bytes(out_[s])) {
      level_[s] = last;
    }
  }

  std::vector<component> find_components() const {
    std::vector<std::size_t> root(in_.size());
    std::iota(root.begin(), root.end(), std::size_t{0});
    auto const find = [&](std::size_t s) {
      while (root[s] != s) s = root[s];
      return s;
    };
    for (graph_edge const& e : edges_)
      if (!e.is_cut && level_[e.from] == level_[e.to]) {
        std::size_t const a = find(e.from), b = find(e.to);
        root[std::max(a, b)] = std::min(a, b);
      }
    std::vector<component> found;
    std::vector<std::size_t> index(in_.size(), SIZE_MAX);
    for (std::size_t s : order_) {
      std::size_t& i = index[find(s)];
      if (i == SIZE_MAX) {
        i = found.size();
        found.push_back({.segments = {}, .level = level_[s]});
      }
      found[i].segments.push_back(s);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](component const& a, component const& b) { return a.level < b.level; });
    return found;
  }

  std::vector<graph_edge> const& edges_;
  std::vector<std::vector<std::size_t>> in_, out_;  // edges
  std::vector<std::size_t> level_;
  std::vector<std::size_t> order_;
};

/// Replaces vertices by the segments that they stand for, in the direction of the items.
void expand(component& c, std::vector<std::size_t> const& vertex,
            std::vector<graph_edge> const& edges) {
  std::vector<std::size_t> all;
  for (std::size_t s = 0; s < vertex.size(); ++s)
    if (std::find(c.segments.begin(), c.segments.end(), vertex[s]) != c.segments.end())
      all.push_back(s);
  std::vector<graph_edge> inside;
  auto const place = [&](std::size_t s) {
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), s) - all.begin());
  };
  for (graph_edge e : edges) {
    e.from = place(e.from);
    e.to = place(e.to);
    if (e.from < all.size() && e.to < all.size()) inside.push_back(e);
  }
  c.segments.clear();
  for (std::size_t s : in_order(all.size(), inside)) c.segments.push_back(all[s]);
}

}  // namespace

graph_parts divide_graph(std::size_t segments, std::vector<graph_edge> const& edges) {
  // Segments that must run at the same time are one vertex, named by the first of them.
  std::vector<std::size_t> vertex(segments);
  std::iota(vertex.begin(), vertex.end(), std::size_t{0});
  for (bool changed = true; changed;) {
    changed = false;
    for (graph_edge const& e : edges) {
      if (e.is_cut || e.can_be_store || vertex[e.from] == vertex[e.to]) continue;
      vertex[e.from] = vertex[e.to] = std::min(vertex[e.from], vertex[e.to]);
      changed = true;
    }
  }
  std::vector<graph_edge> between;
  std::vector<std::size_t> number;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    if (vertex[edges[e].from] == vertex[edges[e].to]) continue;
    between.push_back(edges[e]);
    between.back().from = vertex[edges[e].from];
    between.back().to = vertex[edges[e].to];
    number.push_back(e);
  }
  graph_parts parts = division(segments, between).run();
  for (std::size_t& e : parts.stores) e = number[e];
  std::erase_if(parts.components,
                [&](component const& c) { return vertex[c.segments[0]] != c.segments[0]; });
  for (component& c : parts.components) expand(c, vertex, edges);
  return parts;
}

}  // namespace outsize::stream::detail
