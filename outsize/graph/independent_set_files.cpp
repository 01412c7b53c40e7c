// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/graph/independent_set_files.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/input_options.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/user_files.hpp>
#include <outsize/container/sequence.hpp>
#include <outsize/graph/detail/edge_file.hpp>
#include <outsize/graph/detail/text_pieces.hpp>
#include <outsize/graph/independent_set.hpp>
#include <outsize/text/detail/line_files.hpp>

namespace outsize::graphs {
namespace {

void require_second_reading(edge_source const& edges) {
  std::error_code failure;
  for (auto const& path : edges.paths)
    if (path == "-" || (!std::filesystem::is_regular_file(path, failure) &&
                        std::filesystem::exists(path, failure)))
      throw std::invalid_argument(
          fmt::format("{}: cannot be read twice, which the proof of a set needs", path));
}

template <typename Use>
void for_all_edges(edge_reader& reader, Use const& use) {
  for (auto edges = reader.next(); !edges.empty(); edges = reader.next()) use(edges);
}

/// Members as lines, by one write for each batch.
class member_lines {
 public:
  member_lines(outsize::detail::line_output& out, std::uint64_t first_vertex)
      : out_(out), first_vertex_(first_vertex) {}

  void put(std::span<std::uint64_t const> members) {
    text_.clear();
    for (std::uint64_t const v : members) {
      fmt::format_int const digits(v + first_vertex_);
      text_.append(digits.data(), digits.data() + digits.size());
      text_.push_back('\n');
    }
    out_.put({text_.data(), text_.size()});
  }

 private:
  outsize::detail::line_output& out_;
  std::uint64_t first_vertex_;
  fmt::memory_buffer text_;
};

/// Few pages, named, so that they are taken before the sort takes the rest.
page_options pages_of_members(std::uint64_t memory_bytes) {
  std::uint64_t const page = std::clamp<std::uint64_t>(memory_bytes / 256, page_bytes(), 1_MiB);
  return {.page_bytes = round_down<std::size_t>(page, page_bytes()),
          .cache_pages = 4,
          .spare_pages = 2};
}

/// Members of a file, some at a time.
class member_reader {
 public:
  member_reader(storage& store, std::string const& path, io::input_decoding decoding,
                detail::vertex_range range)
      : reading_(
            outsize::detail::input_options(store, outsize::detail::memory_of(store, {}), decoding)),
        memory_(store.memory().take(io::input_stream_memory_bytes(reading_), "members")),
        in_(block::open_input(store, path, memory_, reading_)),
        pieces_(*in_, detail::text_pieces::ends::lines),
        range_(range) {}

  /// Returns the next members, numbered from 0; none at the end.
  std::span<std::uint64_t const> next() {
    members_.clear();
    while (members_.empty()) {
      auto const piece = pieces_.next(line_);
      if (piece.empty()) break;
      for (auto rest = piece; !rest.empty(); ++line_) {
        auto const line = rest.substr(0, rest.find('\n') + 1);
        take(line);
        rest.remove_prefix(line.size());
      }
    }
    return members_;
  }

 private:
  void take(std::string_view line) {
    char const* at = line.data();
    while (detail::is_blank(*at)) ++at;
    if (*at == '\n' || *at == '#' || *at == '%') return;
    detail::line_place const place{in_->name(), line_};
    if (!detail::is_digit(*at)) detail::refuse_text(place, "not a vertex", line);
    auto const number = detail::read_digits(at);
    if (!number.fits || (!detail::is_blank(*number.end) && *number.end != '\n'))
      detail::refuse_text(place, "not a vertex", line);
    if (!range_.has(number.value))
      detail::refuse_line(place, detail::reason_against(number.value, range_));
    members_.push_back(number.value - range_.first);
  }

  io::input_stream_options reading_;
  grant memory_;
  std::unique_ptr<io::input_stream> in_;
  detail::text_pieces pieces_;
  detail::vertex_range range_;
  std::uint64_t line_ = 1;
  std::vector<std::uint64_t> members_;
};

/// Proves the set that has just been found.
std::optional<independence_fault> fault_of(storage& store, edge_source edges,
                                           std::uint64_t vertices,
                                           sequence<std::uint64_t> const& members,
                                           sort_options const& options) {
  independent_set_check check(store, vertices, {.sorting = options});
  auto in = members.forward();
  while (!in.empty()) {
    auto const piece = in.pull();
    check.push_members(piece);
    in.skip(piece.size());
  }
  edges.vertices = vertices;
  edge_reader again(store, std::move(edges));
  for_all_edges(again, [&](auto some) { check.push_edges(some); });
  return check.fault();
}

/// Hands all edges to the finder, and notes the counts of the reader.
void read_edges(edge_reader& reader, independent_set_finder& finder,
                independent_set_outcome& into) {
  for_all_edges(reader, [&](auto edges) { finder.push(edges); });
  into.vertices = reader.vertices();
  into.edges = reader.edges();
  into.first_vertex = reader.first_vertex();
}

}  // namespace

independent_set_outcome write_independent_set(storage& store, independent_set_files const& files,
                                              sort_options const& options) {
  if (files.verify) require_second_reading(files.edges);
  auto const division =
      outsize::detail::divide_for_lines(store, {files.edges.paths, files.output}, options);
  grant windows = store.memory().take(2 * division.window_bytes, "independent set");
  outsize::detail::line_output out(store, windows, division, files.output);
  std::optional<sequence<std::uint64_t>> kept;
  if (files.verify) kept.emplace(store, pages_of_members(division.memory_bytes));

  independent_set_outcome outcome;
  {
    independent_set_finder finder(store, options);
    {
      edge_reader reader(store, files.edges);
      read_edges(reader, finder, outcome);
    }
    member_lines lines(out, outcome.first_vertex);
    auto const report = finder.find(outcome.vertices, [&](std::span<std::uint64_t const> members) {
      if (options.stop.stop_requested()) throw cancelled("independent set");
      lines.put(members);
      if (kept)
        for (std::uint64_t const v : members) kept->push_back(v);
    });
    outcome.members = report.members;
    outcome.sort = report.sort;
  }
  outcome.sort.items = outcome.edges;
  outcome.sort.output_items = outcome.members;
  outcome.sort.memory_bytes = division.memory_bytes;
  if (kept) outcome.fault = fault_of(store, files.edges, outcome.vertices, *kept, options);
  if (!outcome.fault) out.finish();
  return outcome;
}

independent_set_outcome check_independent_set(storage& store, edge_source const& edges,
                                              std::string const& members,
                                              sort_options const& options) {
  independent_set_outcome outcome;
  edge_source bounded = edges;
  if (!bounded.vertices) {
    require_second_reading(edges);
    edge_reader reader(store, edges);
    for_all_edges(reader, [](auto) {});
    bounded.vertices = reader.vertices();
  }
  outcome.vertices = *bounded.vertices;
  edge_reader reader(store, bounded);
  outcome.first_vertex = reader.first_vertex();
  independent_set_check check(store, outcome.vertices, {.sorting = options});
  {
    member_reader in(store, members, edges.decoding, {outcome.first_vertex, outcome.vertices});
    for (auto some = in.next(); !some.empty(); some = in.next()) {
      check.push_members(some);
      outcome.members += some.size();
    }
  }
  for_all_edges(reader, [&](auto some) { check.push_edges(some); });
  outcome.edges = reader.edges();
  outcome.fault = check.fault();
  outcome.sort.items = outcome.edges;
  outcome.sort.output_items = outcome.members;
  return outcome;
}

}  // namespace outsize::graphs
