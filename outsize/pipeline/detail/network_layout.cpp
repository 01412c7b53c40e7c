// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/pipeline/detail/network_layout.hpp>

#include <algorithm>
#include <cstdint>
#include <map>

#include <outsize/base/units.hpp>

namespace outsize::pipeline::detail {
namespace {

constexpr std::size_t sweeps = 6;
constexpr double passing_height = 12;  // of an edge that passes a column
constexpr double lane_distance = 9;
constexpr double first_lane = 18;  // below a band
constexpr double outline_padding = 10;
constexpr double outline_title = 12;  // more above the boxes

using edge_list = std::vector<std::pair<std::size_t, std::size_t>>;

/// A box (these come first), or the place where a long edge passes a column.
struct vertex {
  double height = 0;
  std::size_t column = 0;  // counted over all bands
  double y = 0;            // of its middle; in its band until bands are placed
  std::vector<std::size_t> before = {};
  std::vector<std::size_t> after = {};
};

/// An edge as the vertices that it goes through.
using way = std::vector<std::size_t>;

class arrangement {
 public:
  arrangement(std::vector<layout_box> const& boxes, edge_list const& edges,
              layout_sizes const& sizes)
      : boxes_(boxes), edges_(edges), sizes_(sizes), leads_back_(edges.size(), false) {
    for (layout_box const& b : boxes) vertices_.push_back({.height = b.height});
  }

  layout run() {
    find_cycles();
    choose_columns();
    lay_ways();
    order_columns();
    place_rows();
    place_bands();
    layout result;
    for (std::size_t i = 0; i < boxes_.size(); ++i) result.boxes.push_back(area_of(i));
    for (std::size_t e = 0; e < ways_.size(); ++e) result.routes.push_back(route(e));
    place_outlines(result);
    result.width = left_of(band_columns_ - 1) + sizes_.box_width + sizes_.margin;
    result.height = bottom_ + sizes_.margin;
    return result;
  }

 private:
  // A depth-first search, from sources before other boxes: an edge into a box that is on the way
  // closes a cycle, and the reverse of the order in which boxes are left follows all other edges.
  void find_cycles() {
    std::vector<std::vector<std::size_t>> leaving(boxes_.size());
    for (std::size_t e = 0; e < edges_.size(); ++e) leaving[edges_[e].first].push_back(e);
    std::vector<std::size_t> starts;
    for (std::size_t i = 0; i < boxes_.size(); ++i) starts.push_back(i);
    std::stable_partition(starts.begin(), starts.end(),
                          [&](std::size_t i) { return boxes_[i].is_source; });
    enum class state : std::uint8_t { unseen, on_way, left };
    std::vector<state> states(boxes_.size(), state::unseen);
    std::vector<std::pair<std::size_t, std::size_t>> stack;  // box, how many edges were followed
    auto const enter = [&](std::size_t box) {
      states[box] = state::on_way;
      stack.emplace_back(box, 0);
    };
    for (std::size_t start : starts) {
      if (states[start] == state::unseen) enter(start);
      while (!stack.empty()) {
        auto& [box, followed] = stack.back();
        if (followed == leaving[box].size()) {
          states[box] = state::left;
          order_.push_back(box);
          stack.pop_back();
          continue;
        }
        std::size_t const e = leaving[box][followed++];
        std::size_t const to = edges_[e].second;
        if (states[to] == state::on_way) leads_back_[e] = true;
        if (states[to] == state::unseen) enter(to);
      }
    }
    std::reverse(order_.begin(), order_.end());
  }

  void choose_columns() {
    std::vector<std::vector<std::size_t>> leaving(boxes_.size());
    for (std::size_t e = 0; e < edges_.size(); ++e)
      if (!leads_back_[e]) leaving[edges_[e].first].push_back(edges_[e].second);
    for (std::size_t box : order_)
      for (std::size_t to : leaving[box])
        vertices_[to].column = std::max(vertices_[to].column, vertices_[box].column + 1);
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      if (!boxes_[i].is_source || leaving[i].empty()) continue;
      std::size_t nearest = SIZE_MAX;
      for (std::size_t to : leaving[i]) nearest = std::min(nearest, vertices_[to].column);
      vertices_[i].column = nearest - 1;
    }
    std::size_t count = 1;
    for (vertex const& v : vertices_) count = std::max(count, v.column + 1);
    columns_.resize(count);
    band_columns_ = div_up(count, div_up(count, sizes_.most_columns));
    bands_.resize(div_up(count, band_columns_));
  }

  /// Gives long edges a vertex in each column between their ends, and fills the columns.
  void lay_ways() {
    std::vector<std::vector<std::size_t>> passing(boxes_.size());
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      auto const [from, to] = edges_[e];
      way& w = ways_.emplace_back(way{from});
      for (std::size_t c = vertices_[from].column + 1; !leads_back_[e] && c < vertices_[to].column;
           ++c) {
        passing[from].push_back(vertices_.size());
        w.push_back(vertices_.size());
        vertices_.push_back({.height = passing_height, .column = c});
      }
      w.push_back(to);
      for (std::size_t i = 0; !leads_back_[e] && i + 1 < w.size(); ++i) {
        vertices_[w[i]].after.push_back(w[i + 1]);
        vertices_[w[i + 1]].before.push_back(w[i]);
      }
    }
    for (std::size_t box = 0; box < boxes_.size(); ++box) {
      columns_[vertices_[box].column].push_back(box);
      for (std::size_t v : passing[box]) columns_[vertices_[v].column].push_back(v);
    }
  }

  /// Fewer crossings: everything at the barycentre of its neighbours, from both sides in turn.
  void order_columns() {
    std::vector<double> place(vertices_.size());
    auto const number = [&](std::vector<std::size_t> const& column) {
      for (std::size_t i = 0; i < column.size(); ++i) place[column[i]] = static_cast<double>(i);
    };
    for (auto const& column : columns_) number(column);
    for_each_sweep([&](std::vector<std::size_t>& column, auto neighbours) {
      std::map<std::size_t, double> wanted;
      for (std::size_t v : column) wanted[v] = mean(vertices_[v].*neighbours, place, place[v]);
      std::stable_sort(column.begin(), column.end(),
                       [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
      number(column);
    });
  }

  /// Everything as near as possible to the middle of its neighbours, in that order.
  void place_rows() {
    for (auto const& column : columns_) {
      double y = 0;
      for (std::size_t v : column) {
        vertices_[v].y = y + vertices_[v].height / 2;
        y += vertices_[v].height + sizes_.row_gap;
      }
    }
    for_each_sweep([&](std::vector<std::size_t>& column, auto neighbours) {
      std::vector<double> wanted;
      for (std::size_t v : column) {
        std::vector<double> there;
        for (std::size_t n : vertices_[v].*neighbours)
          if (band_of(n) == band_of(v)) there.push_back(vertices_[n].y);
        double sum = 0;
        for (double y : there) sum += y;
        wanted.push_back(there.empty() ? vertices_[v].y : sum / static_cast<double>(there.size()));
      }
      settle(column, wanted);
    });
  }

  /// Least squares: what would overlap forms a group, which lies at the mean of its wishes.
  void settle(std::vector<std::size_t> const& column, std::vector<double> const& wanted) {
    struct group {
      double sum;
      std::size_t count;
      double mean() const { return sum / static_cast<double>(count); }
    };
    std::vector<double> offsets;
    std::vector<group> groups;
    for (std::size_t i = 0; i < column.size(); ++i) {
      offsets.push_back(
          i == 0 ? 0
                 : offsets.back() + sizes_.row_gap +
                       (vertices_[column[i - 1]].height + vertices_[column[i]].height) / 2);
      groups.push_back({wanted[i] - offsets[i], 1});
      while (groups.size() > 1 && groups[groups.size() - 2].mean() > groups.back().mean()) {
        group const last = groups.back();
        groups.pop_back();
        groups.back().sum += last.sum;
        groups.back().count += last.count;
      }
    }
    std::size_t i = 0;
    for (group const& g : groups)
      for (std::size_t n = 0; n < g.count; ++n, ++i) vertices_[column[i]].y = g.mean() + offsets[i];
  }

  void place_bands() {
    std::vector<std::size_t> lanes(bands_.size(), 0);
    for (std::size_t e = 0; e < ways_.size(); ++e)
      for (std::size_t i = 0; i + 1 < ways_[e].size(); ++i)
        if (goes_around(e, i)) lane_[{e, i}] = lanes[band_of(ways_[e][i])]++;
    std::size_t most = 0;
    for (auto const& column : columns_) most = std::max(most, column.size());
    column_gap_ = sizes_.column_gap + 5 * static_cast<double>(std::min<std::size_t>(most, 10) - 1);

    double top = sizes_.margin;
    for (std::size_t b = 0; b < bands_.size(); ++b) {
      double least = 0, greatest = 0;
      bool any = false;
      for (vertex const& v : vertices_) {
        if (v.column / band_columns_ != b) continue;
        least = any ? std::min(least, v.y - v.height / 2) : v.y - v.height / 2;
        greatest = any ? std::max(greatest, v.y + v.height / 2) : v.y + v.height / 2;
        any = true;
      }
      for (vertex& v : vertices_)
        if (v.column / band_columns_ == b) v.y += top - least;
      bands_[b] = top + greatest - least;
      bottom_ = bands_[b];
      if (lanes[b] > 0) bottom_ += first_lane + lane_distance * static_cast<double>(lanes[b] - 1);
      top = bottom_ + sizes_.row_gap;
    }
  }

  std::vector<point> route(std::size_t e) const {
    way const& w = ways_[e];
    std::vector<point> corners;
    for (std::size_t i = 0; i < w.size(); ++i) {
      if (i > 0) {
        if (goes_around(e, i - 1)) go_around(corners, e, i);
        corners.push_back({left_of(vertices_[w[i]].column), entry(e, i)});
      }
      if (i + 1 < w.size())
        corners.push_back({left_of(vertices_[w[i]].column) + sizes_.box_width, exit(e, i)});
    }
    return corners;
  }

  void go_around(std::vector<point>& corners, std::size_t e, std::size_t i) const {
    std::size_t const lane = lane_.at({e, i - 1});
    double const aside = 5 * static_cast<double>(lane % 4);
    double const down = corners.back().x + 26 + aside;
    double const up = left_of(vertices_[ways_[e][i]].column) - 16 - aside;
    double const y =
        bands_[band_of(ways_[e][i - 1])] + first_lane + lane_distance * static_cast<double>(lane);
    corners.insert(corners.end(),
                   {{down, corners.back().y}, {down, y}, {up, y}, {up, entry(e, i)}});
  }

  double exit(std::size_t e, std::size_t i) const {
    return port(
        ways_[e][i], e, [&](way const& w) { return w.front() == ways_[e][i]; },
        [&](std::size_t other) {
          return goes_around(other, 0) ? 1e9 : vertices_[ways_[other][1]].y;
        });
  }

  double entry(std::size_t e, std::size_t i) const {
    return port(
        ways_[e][i], e, [&](way const& w) { return w.back() == ways_[e][i]; },
        [&](std::size_t other) {
          way const& w = ways_[other];
          return goes_around(other, w.size() - 2) ? 1e9 : vertices_[w[w.size() - 2]].y;
        });
  }

  /// Where edge `e` meets a side of a vertex: the edges there (`meets`) in the order of their far
  /// ends, around the middle.
  template <typename Meets, typename FarEnd>
  double port(std::size_t v, std::size_t e, Meets meets, FarEnd far_end) const {
    if (v >= boxes_.size()) return vertices_[v].y;
    std::size_t count = 0, rank = 0;
    for (std::size_t other = 0; other < ways_.size(); ++other) {
      if (!meets(ways_[other])) continue;
      ++count;
      if (std::pair(far_end(other), other) < std::pair(far_end(e), e)) ++rank;
    }
    double const step = std::min(14.0, (vertices_[v].height - 16) / static_cast<double>(count));
    return vertices_[v].y + step * (static_cast<double>(rank) - static_cast<double>(count - 1) / 2);
  }

  /// One outline for as many boxes of a cluster as no stranger lies between.
  void place_outlines(layout& result) const {
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      if (boxes_[i].cluster.empty()) continue;
      layout::outline joined{boxes_[i].cluster, padded(area_of(i))};
      for (std::size_t o = 0; o < result.outlines.size();) {
        auto const both = hull(joined.area, result.outlines[o].area);
        if (result.outlines[o].cluster != joined.cluster || holds_strangers(both, joined.cluster)) {
          ++o;
          continue;
        }
        joined.area = both;
        result.outlines.erase(result.outlines.begin() + static_cast<std::ptrdiff_t>(o));
        o = 0;  // the larger one may now join what it could not
      }
      result.outlines.push_back(joined);
    }
  }

  bool holds_strangers(rectangle const& area, std::string const& cluster) const {
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      rectangle const b = area_of(i);
      if (boxes_[i].cluster != cluster && b.left < area.right() && area.left < b.right() &&
          b.top < area.bottom() && area.top < b.bottom())
        return true;
    }
    return false;
  }

  static rectangle padded(rectangle const& r) {
    return {r.left - outline_padding, r.top - outline_padding - outline_title,
            r.width + 2 * outline_padding, r.height + 2 * outline_padding + outline_title};
  }

  static rectangle hull(rectangle const& a, rectangle const& b) {
    double const left = std::min(a.left, b.left), top = std::min(a.top, b.top);
    return {left, top, std::max(a.right(), b.right()) - left,
            std::max(a.bottom(), b.bottom()) - top};
  }

  /// `visit(column, neighbours)` from the first column to the last with the neighbours before, and
  /// back with those after, again and again.
  template <typename Visit>
  void for_each_sweep(Visit visit) {
    for (std::size_t s = 0; s < sweeps; ++s)
      for (std::size_t c = 0; c < columns_.size(); ++c)
        if (s % 2 == 0) {
          visit(columns_[c], &vertex::before);
        } else {
          visit(columns_[columns_.size() - 1 - c], &vertex::after);
        }
  }

  static double mean(std::vector<std::size_t> const& of, std::vector<double> const& values,
                     double otherwise) {
    double sum = 0;
    for (std::size_t i : of) sum += values[i];
    return of.empty() ? otherwise : sum / static_cast<double>(of.size());
  }

  std::size_t band_of(std::size_t v) const { return vertices_[v].column / band_columns_; }
  double left_of(std::size_t column) const {
    return sizes_.margin +
           static_cast<double>(column % band_columns_) * (sizes_.box_width + column_gap_);
  }
  rectangle area_of(std::size_t v) const {
    return {left_of(vertices_[v].column), vertices_[v].y - vertices_[v].height / 2,
            sizes_.box_width, vertices_[v].height};
  }
  /// Whether an edge cannot go straight to the next vertex of its way.
  bool goes_around(std::size_t e, std::size_t i) const {
    way const& w = ways_[e];
    return leads_back_[e] || band_of(w[i]) != band_of(w[i + 1]);
  }

  std::vector<layout_box> const& boxes_;
  edge_list const& edges_;
  layout_sizes const& sizes_;
  std::vector<vertex> vertices_;
  std::vector<bool> leads_back_;    // by edge
  std::vector<std::size_t> order_;  // of boxes
  std::vector<way> ways_;           // by edge
  std::vector<std::vector<std::size_t>> columns_;
  std::size_t band_columns_ = 1;
  std::vector<double> bands_;                                        // where they end
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> lane_;  // by edge and piece
  double column_gap_ = 0;
  double bottom_ = 0;
};

}  // namespace

layout arrange(std::vector<layout_box> const& boxes, edge_list const& edges,
               layout_sizes const& sizes) {
  return arrangement(boxes, edges, sizes).run();
}

}  // namespace outsize::pipeline::detail
