// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/detail/run_pictures.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include <outsize/base/units.hpp>
#include <outsize/pipeline/detail/chart_axes.hpp>

namespace outsize::bsp::detail {

namespace {

using pipeline::detail::add_axis_text;
using pipeline::detail::add_times;

constexpr double left = 70, right = 900, width = right - left;
constexpr std::size_t most_rows = 64, most_bars = 40, most_columns = 120;
constexpr std::size_t most_cells = 16 * 1024;  // of the timeline

struct colour {
  std::string_view name, value;
};
constexpr colour computing{"computing", "var(--busy)"}, moving{"moving", "var(--written)"},
    waiting{"waiting", "var(--line)"};
constexpr colour contexts_out{"contexts out", "var(--written)"},
    contexts_in{"contexts in", "var(--read)"}, messages{"messages", "var(--busy)"},
    formula{"formula", "var(--text)"};

/// An element <svg> with room for text above and below.
std::string framed(std::string const& content, double height) {
  return fmt::format("<svg viewBox=\"0 -18 {} {:.0f}\" width=\"{}\" role=\"img\">\n", right,
                     height + 38, right) +
         content + "</svg>\n";
}

/// The names of colours, above the picture from the right.
void add_legend(std::string& out, std::span<colour const> all) {
  double x = right;
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    fmt::format_to(std::back_inserter(out),
                   "<text class=\"axis\" x=\"{}\" y=\"-5\" text-anchor=\"end\">"
                   "<tspan style=\"fill:{}\">■</tspan> {}</text>\n",
                   x, one->value, one->name);
    x -= 100;
  }
}

/// Rectangles of one colour: a path.
class rectangles {
 public:
  void add(double x, double y, double w, double h) {
    fmt::format_to(std::back_inserter(path_), "M{:.1f} {:.1f}h{:.1f}v{:.1f}h{:.1f}z", x, y, w, h,
                   -w);
  }
  void add_to(std::string& out, std::string_view fill, double opacity = 1) const {
    if (path_.empty()) return;
    fmt::format_to(std::back_inserter(out),
                   "<path d=\"{}\" style=\"fill:{};fill-opacity:{:.2f}\"/>\n", path_, fill,
                   opacity);
  }

 private:
  std::string path_;
};

double seconds_of(run_history const& all) { return static_cast<double>(all.elapsed_ns) * 1e-9; }

/// The place of a moment.
double place_of(run_history const& all, std::int64_t ns) {
  double const end = static_cast<double>(std::max<std::int64_t>(all.elapsed_ns, 1));
  return left + width * std::clamp(static_cast<double>(ns) / end, 0.0, 1.0);
}

// ---- timeline ----

constexpr std::size_t shades = 4;
using shaded = std::array<rectangles, shades>;

/// 0: next to nothing; shades: all the time.
std::size_t shade_of(double share) {
  if (share < 0.02) return 0;
  return std::min<std::size_t>(static_cast<std::size_t>(std::ceil(share * shades)), shades);
}

/// Rows and bins of a timeline as they are drawn: groups of those that were measured.
class timeline_grid {
 public:
  explicit timeline_grid(run_history const& all)
      : all_(all),
        of_(all.timeline),
        rows_in_one_(std::max<std::size_t>(div_up<std::size_t>(of_.rows, most_rows), 1)),
        rows_(div_up<std::size_t>(of_.rows, rows_in_one_)),
        bins_in_one_(std::max<std::size_t>(div_up(of_.bins() * rows_, most_cells), 1)),
        bins_(div_up(of_.bins(), bins_in_one_)),
        height_(rows_ <= 16   ? 18
                : rows_ <= 32 ? 12
                              : 8) {}

  double height() const { return static_cast<double>(rows_) * height_; }

  void add_to(std::string& out) const {
    rectangles lives;
    shaded computes, moves;
    for (std::size_t row = 0; row < rows_; ++row) {
      lives.add(left, y_of(row), place_of(all_, end_of(row)) - left, height_ - 1);
      add_row(row, of_.computing_ns, computes);
      add_row(row, of_.moving_ns, moves);
    }
    lives.add_to(out, waiting.value);
    add_shades(out, computes, computing);
    add_shades(out, moves, moving);
    std::size_t const step = std::max<std::size_t>(div_up<std::size_t>(rows_, 20), 1);
    for (std::size_t row = 0; row < rows_; row += step) {
      add_axis_text(out, left - 6, y_of(row) + height_ - 2, "end", ranks_text(row));
    }
  }

 private:
  double y_of(std::size_t row) const { return static_cast<double>(row) * height_; }
  std::int64_t bin_ns() const { return of_.bin_ns * static_cast<std::int64_t>(bins_in_one_); }
  std::size_t ranks_in_row() const { return rows_in_one_ * of_.ranks_per_row; }
  std::size_t first_rank(std::size_t row) const { return row * ranks_in_row(); }
  std::size_t end_rank(std::size_t row) const {
    return std::min(first_rank(row + 1), all_.end_ns.size());
  }
  std::string ranks_text(std::size_t row) const {
    return ranks_in_row() == 1 ? fmt::format("{}", row)
                               : fmt::format("{} to {}", first_rank(row), end_rank(row) - 1);
  }
  std::int64_t end_of(std::size_t row) const {
    auto const begin = all_.end_ns.begin();
    return *std::max_element(begin + static_cast<std::ptrdiff_t>(first_rank(row)),
                             begin + static_cast<std::ptrdiff_t>(end_rank(row)));
  }

  /// The share of the time of a row's ranks in a bin.
  double share_of(std::vector<float> const& times, std::size_t row, std::size_t bin) const {
    double sum = 0;
    std::size_t const last_row = std::min<std::size_t>((row + 1) * rows_in_one_, of_.rows);
    std::size_t const last_bin = std::min((bin + 1) * bins_in_one_, of_.bins());
    for (std::size_t r = row * rows_in_one_; r < last_row; ++r) {
      for (std::size_t b = bin * bins_in_one_; b < last_bin; ++b) {
        sum += static_cast<double>(times[r * of_.bins() + b]);
      }
    }
    std::int64_t const begin = static_cast<std::int64_t>(bin) * bin_ns();
    std::int64_t const length = std::min(bin_ns(), all_.elapsed_ns - begin);  // of the last: less
    auto const ranks = static_cast<double>(end_rank(row) - first_rank(row));
    return sum / (ranks * static_cast<double>(std::max<std::int64_t>(length, 1)));
  }

  void add_row(std::size_t row, std::vector<float> const& times, shaded& to) const {
    auto const place = [&](std::size_t bin) {
      return place_of(all_, static_cast<std::int64_t>(bin) * bin_ns());
    };
    std::size_t begin = 0, shade = 0;
    for (std::size_t bin = 0; bin <= bins_; ++bin) {
      std::size_t const next = bin == bins_ ? 0 : shade_of(share_of(times, row, bin));
      if (next == shade) continue;
      if (shade != 0) {
        to[shade - 1].add(place(begin), y_of(row), place(bin) - place(begin), height_ - 1);
      }
      begin = bin;
      shade = next;
    }
  }

  static void add_shades(std::string& out, shaded const& all, colour const& of) {
    for (std::size_t shade = 0; shade < shades; ++shade) {
      all[shade].add_to(out, of.value, 1 - 0.2 * static_cast<double>(shades - 1 - shade));
    }
  }

  run_history const& all_;
  run_timeline const& of_;
  std::size_t const rows_in_one_, rows_, bins_in_one_, bins_;
  double const height_;
};

}  // namespace

std::vector<superstep_group> superstep_groups(run_history const& all, std::size_t most) {
  std::size_t const entries = std::max<std::size_t>(div_up(all.spans.size(), most), 1);
  std::vector<superstep_group> groups;
  for (std::size_t first = 0; first < all.spans.size(); first += entries) {
    std::size_t const end = std::min(first + entries, all.spans.size());
    superstep_group group{.first = first * all.merged,
                          .last = std::min(end * all.merged, all.supersteps) - 1,
                          .span = all.spans[first]};
    for (std::size_t entry = first; entry < end; ++entry) {
      group.span.end_ns = std::max(group.span.end_ns, all.spans[entry].end_ns);
      group.sum += all.of_entry(entry);
    }
    groups.push_back(group);
  }
  return groups;
}

std::string timeline_picture(run_history const& all) {
  timeline_grid const grid(all);
  std::string out;
  add_legend(out, std::array{computing, moving, waiting});
  grid.add_to(out);
  add_times(out, left, right, grid.height() + 14, seconds_of(all));
  return framed(out, grid.height());
}

std::string superstep_picture(run_history const& all) {
  std::vector<superstep_group> const groups = superstep_groups(all, most_bars);
  double const height = groups.size() <= 20 ? 13 : 10;
  std::string out;
  rectangles bars;
  std::size_t const step = groups.size() <= 20 ? 1 : 2;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    superstep_group const& group = groups[i];
    double const y = static_cast<double>(i) * height;
    double const x = place_of(all, group.span.begin_ns);
    bars.add(x, y, std::max(place_of(all, group.span.end_ns) - x, 1.0), height - 2);
    if (i % step == 0) {
      add_axis_text(out, left - 6, y + height - 1, "end",
                    group.first == group.last ? fmt::format("{}", group.first)
                                              : fmt::format("{} to {}", group.first, group.last));
    }
  }
  bars.add_to(out, computing.value);
  double const bottom = static_cast<double>(groups.size()) * height;
  add_times(out, left, right, bottom + 14, seconds_of(all));
  return framed(out, bottom);
}

std::string byte_picture(run_history const& all) {
  constexpr double height = 140;
  std::vector<superstep_group> const groups = superstep_groups(all, most_columns);
  std::uint64_t most = 1;
  for (superstep_group const& group : groups) {
    most = std::max({most, group.sum.moved_bytes(), group.sum.formula_bytes()});
  }
  auto const tall = [&](std::uint64_t bytes) {
    return height * static_cast<double>(bytes) / static_cast<double>(most);
  };
  std::string out;
  add_legend(out, std::array{contexts_out, contexts_in, messages, formula});
  add_axis_text(out, left - 6, 9, "end", format_bytes(most));
  add_axis_text(out, left - 6, height, "end", "0");
  rectangles written, read, stored, lines;
  double const step = width / static_cast<double>(std::max<std::size_t>(groups.size(), 1));
  double const wide = std::min(step * 0.8, 40.0);
  std::size_t const labelled = std::max<std::size_t>(div_up<std::size_t>(groups.size(), 16), 1);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    superstep_counts const& sum = groups[i].sum;
    double const x = left + step * static_cast<double>(i) + (step - wide) / 2;
    double y = height;
    auto const add = [&](rectangles& to, std::uint64_t bytes) {
      if (bytes == 0) return;
      y -= tall(bytes);
      to.add(x, y, wide, tall(bytes));
    };
    add(written, sum.written_bytes);
    add(read, sum.read_bytes);
    add(stored, sum.stored_written_bytes + sum.stored_read_bytes);
    if (sum.formula_bytes() != 0) lines.add(x - 1, height - tall(sum.formula_bytes()), wide + 2, 1);
    if (i % labelled == 0) {
      add_axis_text(out, x + wide / 2, height + 14, "middle", fmt::format("{}", groups[i].first));
    }
  }
  written.add_to(out, contexts_out.value);
  read.add_to(out, contexts_in.value);
  stored.add_to(out, messages.value);
  lines.add_to(out, formula.value);
  return framed(out, height);
}

}  // namespace outsize::bsp::detail
