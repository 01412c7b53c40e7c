// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/graph/detail/edge_lines.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include <outsize/graph/detail/text_pieces.hpp>

namespace outsize::graphs::detail {
namespace {

constexpr std::string_view no_edge = "not an edge of two vertices";

/// The line that begins at `at`, without its LF.
std::string_view line_at(char const* at) noexcept {
  char const* end = at;
  while (*end != '\n') ++end;
  return {at, static_cast<std::size_t>(end - at)};
}

char const* skip_blanks(char const* at) noexcept {
  while (is_blank(*at)) ++at;
  return at;
}

/// Text: a file of such lines and nothing else.
class edge_lines final : public edge_file {
 public:
  edge_lines(std::unique_ptr<io::input_stream> in, std::uint64_t vertices)
      : in_(std::move(in)),
        pieces_(*in_, text_pieces::ends::lines),
        parser_(in_->name(), {0, vertices}, {0, vertices}) {}

  std::span<edge<std::uint64_t> const> next() override {
    edges_.clear();
    while (edges_.empty()) {
      auto const piece = pieces_.next(parser_.line());
      if (piece.empty()) break;
      parser_.parse(piece, edges_);
    }
    return edges_;
  }

 private:
  std::unique_ptr<io::input_stream> in_;
  text_pieces pieces_;
  edge_line_parser parser_;
  edge_batch edges_;
};

}  // namespace

/// Returns the place behind the second vertex. A line ends in LF, so each loop stops there.
inline char const* edge_line_parser::parse_edge(char const* at, edge_batch& into) const {
  char const* const line = at;
  auto const u = read_digits(at);
  at = skip_blanks(u.end);
  if (at == u.end || !is_digit(*at)) refuse_text({file_, line_}, no_edge, line_at(line));
  auto const v = read_digits(at);
  if (!is_blank(*v.end) && *v.end != '\n') refuse_text({file_, line_}, no_edge, line_at(line));
  if (!u.fits || !v.fits) refuse_text({file_, line_}, "a vertex is too large", line_at(line));
  if (!from_.has(u.value)) refuse_line({file_, line_}, reason_against(u.value, from_));
  if (!to_.has(v.value)) refuse_line({file_, line_}, reason_against(v.value, to_));
  into.push_back({u.value - from_.first, v.value - to_.first});
  return v.end;
}

void edge_line_parser::parse(std::string_view piece, edge_batch& into) {
  char const* at = piece.data();
  char const* const end = at + piece.size();
  for (; at != end; ++line_) {
    at = skip_blanks(at);
    if (is_digit(*at)) {
      at = parse_edge(at, into);
    } else if (*at != '\n' && *at != '#' && *at != '%') {
      refuse_text({file_, line_}, no_edge, line_at(at));
    }
    if (*at != '\n')
      at = static_cast<char const*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    ++at;
  }
}

std::unique_ptr<edge_file> open_edge_lines(std::unique_ptr<io::input_stream> in,
                                           std::uint64_t vertices) {
  return std::make_unique<edge_lines>(std::move(in), vertices);
}

}  // namespace outsize::graphs::detail
