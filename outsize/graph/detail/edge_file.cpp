// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/graph/detail/edge_file.hpp>

#include <fmt/format.h>

#include <outsize/base/error.hpp>

namespace outsize::graphs::detail {

void refuse_text(line_place place, std::string_view reason, std::string_view text) {
  constexpr std::size_t shown = 40;
  text = text.substr(0, text.find_first_of("\r\n"));
  throw format_error(fmt::format("{}:{}: {}: '{}{}'", place.file, place.line, reason,
                                 text.substr(0, shown), text.size() > shown ? "…" : ""));
}

void refuse_line(line_place place, std::string_view reason) {
  throw format_error(fmt::format("{}:{}: {}", place.file, place.line, reason));
}

std::string reason_against(std::uint64_t number, vertex_range range) {
  if (number < range.first)
    return fmt::format("vertex {}, but vertices are numbered from {}", number, range.first);
  if (range.count == vertex_range().count) return fmt::format("vertex {} is too large", number);
  return fmt::format("vertex {}, but there are {} vertices, numbered from {}", number, range.count,
                     range.first);
}

void require_vertices(line_place place, std::uint64_t named, std::uint64_t most) {
  if (named > most)
    refuse_line(place, fmt::format("{} vertices, but there are to be {} at most", named, most));
}

}  // namespace outsize::graphs::detail
