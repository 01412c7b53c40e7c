// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// CSV: the first two fields of each record are vertices. Empty records are skipped.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <outsize/graph/detail/edge_file.hpp>
#include <outsize/graph/detail/text_pieces.hpp>
#include <outsize/record/record_reader.hpp>
#include <outsize/text/csv_field.hpp>

namespace outsize::graphs::detail {
namespace {

constexpr std::string_view no_edge = "not an edge of two vertices";
constexpr std::size_t batch_edges = 1024;

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view blanks = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

class csv_edges final : public edge_file {
 public:
  csv_edges(std::unique_ptr<io::input_stream> in, std::uint64_t vertices, csv_edges_options options)
      : in_(std::move(in)),
        records_(record_reader::of_lines(*in_, format_of(options.csv), text_pieces::longest_bytes,
                                         text_pieces::longest_bytes)),
        options_(options),
        range_{0, vertices} {}

  std::span<edge<std::uint64_t> const> next() override {
    edges_.clear();
    while (edges_.size() < batch_edges) {
      auto const record = records_.next();
      if (!record) break;
      if (!trimmed(*record).empty()) take(*record);
    }
    return edges_;
  }

 private:
  static line_format format_of(csv_format csv) {
    line_format format;
    format.csv = csv;
    return format;
  }

  void take(std::string_view record) {
    std::size_t const end = outsize::detail::csv_field_end(record, 0, options_.csv);
    std::string_view const from = field(record.substr(0, end), rooms_[0]);
    std::string_view rest = record.substr(std::min(end + 1, record.size()));
    rest = rest.substr(0, outsize::detail::csv_field_end(rest, 0, options_.csv));
    std::string_view const to = field(rest, rooms_[1]);
    bool const is_first = !std::exchange(has_begun_, true);
    if (is_first && options_.header.value_or(!is_number(from) && !is_number(to))) return;
    edges_.push_back({vertex(from, record), vertex(to, record)});
  }
  std::string_view field(std::string_view written, std::string& room) const {
    return trimmed(text::csv_value(written, options_.csv, room));
  }
  static bool is_number(std::string_view text) noexcept {
    return !text.empty() && is_digit(text[0]);
  }

  std::uint64_t vertex(std::string_view text, std::string_view record) const {
    std::uint64_t number = 0;
    if (text.empty() || !std::ranges::all_of(text, is_digit))
      refuse_text({in_->name(), records_.line_of(record)}, no_edge, record);
    bool fits = true;
    for (char const c : text)
      fits = !__builtin_mul_overflow(number, std::uint64_t{10}, &number) &&
             !__builtin_add_overflow(number, static_cast<std::uint64_t>(c - '0'), &number) && fits;
    line_place const place{in_->name(), records_.line_of(record)};
    if (!fits) refuse_text(place, "a vertex is too large", record);
    if (!range_.has(number)) refuse_line(place, reason_against(number, range_));
    return number;
  }

  std::unique_ptr<io::input_stream> in_;
  record_reader records_;
  csv_edges_options options_;
  vertex_range range_;
  bool has_begun_ = false;
  std::string rooms_[2];
  edge_batch edges_;
};

}  // namespace

std::unique_ptr<edge_file> open_csv_edges(std::unique_ptr<io::input_stream> in,
                                          std::uint64_t vertices, csv_edges_options options) {
  return std::make_unique<csv_edges>(std::move(in), vertices, options);
}

}  // namespace outsize::graphs::detail
