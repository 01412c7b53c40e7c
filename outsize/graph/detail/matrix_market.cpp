// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Matrix Market: "%%MatrixMarket matrix coordinate FIELD SYMMETRY", comments, a line of rows,
// columns and entries, and a line of row, column and value for each entry.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <utility>

#include <outsize/graph/detail/edge_file.hpp>
#include <outsize/graph/detail/edge_lines.hpp>
#include <outsize/graph/detail/text_pieces.hpp>

namespace outsize::graphs::detail {
namespace {

/// The next word of a line, in lower case, which is taken off; empty at the end.
std::string take_word(std::string_view& line) {
  constexpr std::string_view blanks = " \t\r\n";
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  std::string word(line.substr(0, line.find_first_of(blanks)));
  line.remove_prefix(word.size());
  std::ranges::transform(word, word.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word;
}

class matrix_market final : public edge_file {
 public:
  matrix_market(std::unique_ptr<io::input_stream> in, std::uint64_t vertices)
      : in_(std::move(in)), pieces_(*in_, text_pieces::ends::lines), most_vertices_(vertices) {}

  std::span<edge<std::uint64_t> const> next() override {
    edges_.clear();
    while (edges_.empty()) {
      auto piece = pieces_.next(parser_ ? parser_->line() : line_);
      if (piece.empty()) {
        finish();
        break;
      }
      while (!parser_ && !piece.empty()) take_header_line(piece);
      if (parser_) parser_->parse(piece, edges_);
      found_ += edges_.size();
      if (found_ > entries_) refuse_count("more");
    }
    return edges_;
  }
  std::uint64_t vertices() const noexcept override { return vertices_; }

 private:
  void take_header_line(std::string_view& piece) {
    std::string_view const line = piece.substr(0, piece.find('\n') + 1);
    piece.remove_prefix(line.size());
    if (line_ == 1) {
      take_banner(line);
    } else if (line.find_first_not_of(" \t\r\n") != std::string_view::npos && line[0] != '%') {
      take_sizes(line);
    }
    ++line_;
    if (parser_) parser_->skip_lines(line_ - 1);
  }
  void take_banner(std::string_view line) const {
    std::string_view rest = line;
    if (take_word(rest) != "%%matrixmarket")
      refuse_text({in_->name(), 1}, "not the first line of a Matrix Market file", line);
    if (take_word(rest) != "matrix" || take_word(rest) != "coordinate")
      refuse_text({in_->name(), 1}, "not a matrix in coordinate format, which lists edges", line);
  }
  void take_sizes(std::string_view line) {
    std::array<std::uint64_t, 3> sizes{};
    char const* at = line.data();
    for (auto& size : sizes) {
      while (is_blank(*at)) ++at;
      if (!is_digit(*at)) refuse_sizes(line);
      auto const number = read_digits(at);
      if (!number.fits || !(is_blank(*number.end) || *number.end == '\n')) refuse_sizes(line);
      size = number.value;
      at = number.end;
    }
    while (is_blank(*at)) ++at;
    if (*at != '\n') refuse_sizes(line);
    vertices_ = std::max(sizes[0], sizes[1]);
    entries_ = sizes[2];
    require_vertices({in_->name(), line_}, vertices_, most_vertices_);
    size_line_ = line_;
    parser_.emplace(in_->name(), vertex_range{1, sizes[0]}, vertex_range{1, sizes[1]});
  }
  [[noreturn]] void refuse_sizes(std::string_view line) const {
    refuse_text({in_->name(), line_}, "not the numbers of rows, columns and entries", line);
  }
  [[noreturn]] void refuse_count(std::string_view found) const {
    refuse_line({in_->name(), size_line_},
                fmt::format("{} entries, but there are {}", entries_, found));
  }
  void finish() const {
    if (!parser_) refuse_line({in_->name(), line_}, "ends before its line of sizes");
    if (found_ < entries_) refuse_count(fmt::format("{}", found_));
  }

  std::unique_ptr<io::input_stream> in_;
  text_pieces pieces_;
  std::uint64_t most_vertices_;
  std::uint64_t line_ = 1;  // of the header
  std::uint64_t size_line_ = 0;
  std::uint64_t vertices_ = 0;
  std::uint64_t entries_ = 0;
  std::uint64_t found_ = 0;
  std::optional<edge_line_parser> parser_;  // from the sizes on
  edge_batch edges_;
};

}  // namespace

std::unique_ptr<edge_file> open_matrix_market(std::unique_ptr<io::input_stream> in,
                                              std::uint64_t vertices) {
  return std::make_unique<matrix_market>(std::move(in), vertices);
}

}  // namespace outsize::graphs::detail
