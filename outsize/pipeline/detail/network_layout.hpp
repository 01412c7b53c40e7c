// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Where the boxes and arrows of a network lie in a picture.
//
//   columns ─▶    source ── box ──┬── box ──┬── box ──┐    band 0
//                                 └── box ──┘         │
//   ┌──────────────────────────────────── lane ───────┘
//   └──────────── box ── box                               band 1
//
// A box lies in the column that the longest way to it from a source says; long networks are folded
// into bands, as lines of text are. All boxes have one width, so that columns line up over the
// bands and arrows that fold or lead backwards go around boxes: down between two columns, along a
// lane under the band, and up or down between two columns. Pure functions of plain values.
// Layer: pipeline, internal. Source: Sugiyama, Tagawa, Toda, 1981 (layers, barycentres).

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace outsize::pipeline::detail {

struct point {
  double x;
  double y;
};

struct rectangle {
  double left;
  double top;
  double width;
  double height;
  double right() const { return left + width; }
  double bottom() const { return top + height; }
  double middle() const { return top + height / 2; }
};

struct layout_box {
  double height;
  bool is_source = false;    ///< Lies just before the first box that it leads to.
  std::string cluster = {};  ///< Boxes of one cluster are outlined together; none if empty.
};

struct layout_sizes {
  double box_width = 184;
  double row_gap = 38;
  double column_gap = 52;  ///< At least.
  double margin = 44;      ///< On all sides of the boxes.
  std::size_t most_columns = 6;
};

struct layout {
  struct outline {
    std::string cluster;
    rectangle area;
  };

  double width = 0;
  double height = 0;
  std::vector<rectangle> boxes;
  /// One for each edge: corners from its first box to its second one. Pieces are horizontal,
  /// vertical, or lead to the right from one column to the next.
  std::vector<std::vector<point>> routes;
  /// A cluster has several where one would enclose strangers.
  std::vector<outline> outlines;
};

/// Places the boxes, and the edges between them (pairs of indices; cycles are allowed).
layout arrange(std::vector<layout_box> const& boxes,
               std::vector<std::pair<std::size_t, std::size_t>> const& edges,
               layout_sizes const& sizes = {});

}  // namespace outsize::pipeline::detail
