// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// METIS: a line "vertices edges [FORMAT [weights of a vertex]]", and for each vertex a line of its
// size and weights, if FORMAT says so, and its neighbours, each perhaps with a weight. Lines that
// begin with % are comments. A line may be of any length, so words are read and not lines.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include <outsize/base/detail/mixed_bits.hpp>
#include <outsize/graph/detail/edge_file.hpp>
#include <outsize/graph/detail/text_pieces.hpp>

namespace outsize::graphs::detail {
namespace {

class metis final : public edge_file {
 public:
  metis(std::unique_ptr<io::input_stream> in, std::uint64_t vertices)
      : in_(std::move(in)), pieces_(*in_, text_pieces::ends::words), most_vertices_(vertices) {}

  std::span<edge<std::uint64_t> const> next() override {
    edges_.clear();
    while (edges_.empty()) {
      auto const piece = pieces_.next(line_);
      if (piece.empty()) {
        finish();
        break;
      }
      parse(piece);
    }
    return edges_;
  }
  std::uint64_t vertices() const noexcept override { return vertices_; }

 private:
  void parse(std::string_view piece) {
    char const* at = piece.data();
    char const* const end = at + piece.size();
    while (at != end) {
      if (in_comment_) {
        at = static_cast<char const*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
        if (at == nullptr) return;
        in_comment_ = false;
        ++line_;
        ++at;
      } else if (*at == '\n') {
        end_line();
        ++at;
      } else if (is_blank(*at)) {
        ++at;
      } else if (*at == '%' && words_ == 0) {
        in_comment_ = true;
      } else {
        at = take_word(at);
      }
    }
  }
  char const* take_word(char const* at) {
    if (!is_digit(*at)) refuse_text(place(), "not a number", word_at(at));
    auto const number = read_digits(at);
    if (!is_blank(*number.end) && *number.end != '\n')
      refuse_text(place(), "not a number", word_at(at));
    if (!number.fits) refuse_text(place(), "a number is too large", word_at(at));
    ++words_;
    if (has_header_)
      take_number(number.value);
    else
      take_header_number(number.value);
    return number.end;
  }
  static std::string_view word_at(char const* at) {
    char const* end = at;
    while (!is_blank(*end) && *end != '\n') ++end;
    return {at, static_cast<std::size_t>(end - at)};
  }

  void take_header_number(std::uint64_t number) {
    if (words_ > header_.size()) refuse_line(place(), "a header has 2 to 4 numbers");
    header_[words_ - 1] = number;
  }
  void end_header() {
    auto const [vertices, edges, format, weights] = header_;
    if (words_ < 2) refuse_line(place(), "a header has 2 to 4 numbers");
    auto const flag = [format = format](std::uint64_t unit) { return format / unit % 10; };
    if (format > 111 || flag(1) > 1 || flag(10) > 1)
      refuse_line(place(), fmt::format("'{}' is not a format of three digits 0 or 1", format));
    require_vertices(place(), vertices, most_vertices_);
    vertices_ = vertices;
    header_line_ = line_;
    has_edge_weights_ = flag(1) == 1;
    numbers_in_front_ = flag(100) + (flag(10) == 0 ? 0 : words_ == 4 ? weights : 1);
    has_header_ = true;
  }

  void take_number(std::uint64_t number) {
    if (vertex_ == vertices_)
      refuse_line(place(), fmt::format("more lines than the {} vertices of the header", vertices_));
    if (words_ <= numbers_in_front_) return;
    if (std::exchange(weight_follows_, false)) return;
    weight_follows_ = has_edge_weights_;
    vertex_range const range{1, vertices_};
    if (!range.has(number)) refuse_line(place(), reason_against(number, range));
    add_neighbour(number - 1);
  }
  /// Each edge is in two lists, once upward and once downward: the difference of their sums is 0.
  void add_neighbour(std::uint64_t v) {
    using outsize::detail::mixed_bits;
    using outsize::detail::mixed_step;
    ++ends_;
    if (v == vertex_) return;
    edge<std::uint64_t> const e = edge<std::uint64_t>{vertex_, v}.upward();
    std::uint64_t const mark = mixed_bits(mixed_bits(e.from + mixed_step) + e.to);
    if (e.to == v) {
      edges_.push_back(e);
      balance_ += mark;
    } else {
      balance_ -= mark;
    }
  }
  void end_line() {
    if (!has_header_) {
      if (words_ > 0) end_header();
    } else if (vertex_ < vertices_) {
      if (words_ < numbers_in_front_)
        refuse_line(place(), fmt::format("fewer than {} weights", numbers_in_front_));
      if (weight_follows_) refuse_line(place(), "the last neighbour has no weight");
      ++vertex_;
    }
    words_ = 0;
    ++line_;
  }

  void finish() const {
    if (!has_header_) refuse_line(place(), "ends before its header");
    if (vertex_ < vertices_)
      refuse_line({in_->name(), header_line_},
                  fmt::format("{} vertices, but there are lines for {}", vertices_, vertex_));
    if (header_[1] > ends_ || ends_ != 2 * header_[1])
      refuse_line({in_->name(), header_line_},
                  fmt::format("{} edges, so {} neighbours, but there are {}", header_[1],
                              2 * header_[1], ends_));
    if (balance_ != 0)
      refuse_line({in_->name(), header_line_},
                  "an edge is not in the lines of both of its vertices");
  }
  line_place place() const noexcept { return {in_->name(), line_}; }

  std::unique_ptr<io::input_stream> in_;
  text_pieces pieces_;
  std::uint64_t most_vertices_;
  bool has_header_ = false;
  std::array<std::uint64_t, 4> header_{};  // vertices, edges, format, weights of a vertex
  std::uint64_t header_line_ = 0;
  std::uint64_t vertices_ = 0;
  bool has_edge_weights_ = false;
  std::uint64_t numbers_in_front_ = 0;  // of a line: size and weights of the vertex
  std::uint64_t line_ = 1;
  std::uint64_t words_ = 0;  // of the line so far
  bool in_comment_ = false;
  bool weight_follows_ = false;
  std::uint64_t vertex_ = 0;  // whose line it is
  std::uint64_t ends_ = 0;    // neighbours so far
  std::uint64_t balance_ = 0;
  edge_batch edges_;
};

}  // namespace

std::unique_ptr<edge_file> open_metis(std::unique_ptr<io::input_stream> in,
                                      std::uint64_t vertices) {
  return std::make_unique<metis>(std::move(in), vertices);
}

}  // namespace outsize::graphs::detail
