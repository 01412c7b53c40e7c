// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/graph/detail/text_pieces.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <outsize/graph/detail/edge_file.hpp>
#include <outsize/record/csv_scanner.hpp>

namespace outsize::graphs::detail {
namespace {

/// Edges take four times the bytes of their text at most, and stay in cache.
constexpr std::size_t piece_bytes = std::size_t{1} << 14;
constexpr std::string_view blanks = " \t\r\n";

}  // namespace

std::size_t text_pieces::first_end(std::string_view text) const noexcept {
  return at_ == ends::lines ? text.find('\n') : text.find_first_of(blanks);
}
std::size_t text_pieces::last_end(std::string_view text) const noexcept {
  return at_ == ends::lines ? text.rfind('\n') : text.find_last_of(blanks);
}

bool text_pieces::refill() {
  auto const bytes = in_.next();
  view_ = {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
  return !view_.empty();
}

std::string_view text_pieces::cut(std::size_t bytes) noexcept {
  std::string_view const piece = view_.substr(0, bytes);
  view_.remove_prefix(bytes);
  return piece;
}

std::string_view text_pieces::next(std::uint64_t line) {
  if (!has_begun_) {
    has_begun_ = true;
    refill();
    if (view_.starts_with(byte_order_mark)) cut(byte_order_mark.size());
  }
  std::size_t end = last_end(view_.substr(0, piece_bytes));
  if (end == std::string_view::npos) end = first_end(view_);
  return end == std::string_view::npos ? next_across_views(line) : cut(end + 1);
}

std::string_view text_pieces::next_across_views(std::uint64_t line) {
  pieced_.clear();
  for (;;) {
    std::size_t const end = first_end(view_);
    bool const is_whole = end != std::string_view::npos;
    pieced_ += cut(is_whole ? end + 1 : view_.size());
    if (pieced_.size() > longest_bytes)
      refuse_line({in_.name(), line},
                  fmt::format("a {} is longer than {} bytes",
                              at_ == ends::lines ? "line" : "number", longest_bytes));
    if (is_whole) return pieced_;
    if (refill()) continue;
    if (!pieced_.empty()) pieced_ += '\n';
    return pieced_;
  }
}

}  // namespace outsize::graphs::detail
