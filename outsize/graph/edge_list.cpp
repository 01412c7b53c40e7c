// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/graph/edge_list.hpp>

#include <fmt/format.h>

#include <limits>
#include <string_view>
#include <utility>

#include <outsize/algorithm/detail/input_options.hpp>
#include <outsize/base/error.hpp>
#include <outsize/block/user_files.hpp>
#include <outsize/graph/detail/begun_input.hpp>
#include <outsize/graph/detail/edge_file.hpp>

namespace outsize::graphs {
namespace {

/// The format of a file whose name promises none.
edge_format format_of(detail::begun_input& in) {
  auto const beginning = in.look([](std::string_view bytes) {
    return bytes.find('\0') != std::string_view::npos || detail::first_data_line(bytes).has_value();
  });
  auto const format = edge_format_of_bytes(beginning);
  if (!format)
    throw format_error(
        fmt::format("{}: is no text; numbers in binary need a format, u32 or u64", in.name()));
  return *format;
}

std::unique_ptr<detail::edge_file> open_edges(std::unique_ptr<io::input_stream> in,
                                              edge_format format, edge_source const& source) {
  std::uint64_t const most = source.vertices.value_or(detail::vertex_range().count);
  switch (format) {
    case edge_format::csv:
      return detail::open_csv_edges(std::move(in), most, {source.csv, source.header});
    case edge_format::u32:
      return detail::open_binary_edges(std::move(in), most, sizeof(std::uint32_t));
    case edge_format::u64:
      return detail::open_binary_edges(std::move(in), most, sizeof(std::uint64_t));
    case edge_format::matrix_market:
      return detail::open_matrix_market(std::move(in), most);
    case edge_format::metis:
      return detail::open_metis(std::move(in), most);
    case edge_format::automatic:
    case edge_format::text:
      break;
  }
  return detail::open_edge_lines(std::move(in), most);
}

}  // namespace

edge_reader::edge_reader(storage& store, edge_source source)
    : store_(store),
      source_(std::move(source)),
      reading_(outsize::detail::input_options(store, outsize::detail::memory_of(store, {}),
                                              source_.decoding)),
      memory_(store.memory().take(io::input_stream_memory_bytes(reading_), "edges")) {
  if (source_.paths.empty()) source_.paths.emplace_back("-");
  open_next();
}

edge_reader::~edge_reader() = default;

void edge_reader::open_next() {
  if (file_) of_headers_ = std::max(of_headers_, file_->vertices());
  file_.reset();  // its memory is the next one's
  auto in = block::open_input(store_, source_.paths[opened_], memory_, reading_);
  edge_format format = source_.format;
  if (format == edge_format::automatic) format = edge_format_of_name(source_.paths[opened_]);
  if (format == edge_format::automatic) {
    auto begun = std::make_unique<detail::begun_input>(std::move(in));
    format = format_of(*begun);
    in = std::move(begun);
  }
  std::uint64_t const first = first_vertex_of(format);
  if (opened_ > 0 && first != first_vertex_)
    throw format_error(fmt::format("{}: its format numbers vertices from {}, that of {} from {}",
                                   in->name(), first, source_.paths[opened_ - 1], first_vertex_));
  first_vertex_ = first;
  file_ = open_edges(std::move(in), format, source_);
  ++opened_;
}

std::span<edge<std::uint64_t> const> edge_reader::next() {
  for (;;) {
    if (source_.stop.stop_requested()) throw cancelled("edges");
    auto const edges = file_->next();
    if (!edges.empty()) {
      std::uint64_t greatest = 0;
      for (auto const& e : edges) greatest = std::max(greatest, std::max(e.from, e.to));
      vertices_ = std::max(vertices_, greatest + 1);
      edges_ += edges.size();
      return edges;
    }
    if (opened_ == source_.paths.size()) break;
    open_next();
  }
  check_gaps();
  return {};
}

/// Numbers that are keys of something would make a graph of nothing but isolated vertices.
void edge_reader::check_gaps() const {
  constexpr std::uint64_t few = std::uint64_t{1} << 24, gap = 1024;
  if (source_.vertices || vertices_ <= few || vertices_ <= vertices_of_headers()) return;
  if (vertices_ / gap <= edges_) return;
  throw format_error(fmt::format(
      "{}: {} edges with vertices up to {}: if almost all of these numbers are isolated "
      "vertices, say how many there are (--vertices), else number the vertices densely",
      source_.paths.back(), edges_, vertices_ - 1));
}

std::uint64_t edge_reader::vertices_of_headers() const noexcept {
  return std::max(of_headers_, file_->vertices());
}
std::uint64_t edge_reader::vertices() const noexcept {
  return source_.vertices.value_or(std::max(vertices_, vertices_of_headers()));
}

}  // namespace outsize::graphs
