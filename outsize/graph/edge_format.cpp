// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/graph/edge_format.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <outsize/io/compression.hpp>

namespace outsize::graphs {
namespace {

using named_format = std::pair<std::string_view, edge_format>;

constexpr std::array names{
    named_format{"auto", edge_format::automatic}, named_format{"text", edge_format::text},
    named_format{"csv", edge_format::csv},        named_format{"u32", edge_format::u32},
    named_format{"u64", edge_format::u64},        named_format{"mm", edge_format::matrix_market},
    named_format{"metis", edge_format::metis}};

constexpr std::array endings{named_format{".csv", edge_format::csv},
                             named_format{".u32", edge_format::u32},
                             named_format{".u64", edge_format::u64},
                             named_format{".mtx", edge_format::matrix_market},
                             named_format{".mm", edge_format::matrix_market},
                             named_format{".graph", edge_format::metis},
                             named_format{".metis", edge_format::metis}};

constexpr std::string_view banner = "%%MatrixMarket";

bool ends_with(std::string_view text, std::string_view ending) noexcept {
  return text.size() >= ending.size() &&
         std::ranges::equal(text.substr(text.size() - ending.size()), ending, [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         });
}

}  // namespace

std::optional<edge_format> edge_format_called(std::string_view name) noexcept {
  auto const* const row = std::ranges::find(names, name, &named_format::first);
  return row == names.end() ? std::nullopt : std::optional(row->second);
}

edge_format edge_format_of_name(std::string_view path) noexcept {
  if (io::compression_of_name(path) != io::compression::none)
    path = path.substr(0, path.rfind('.'));
  for (auto const& [ending, format] : endings)
    if (ends_with(path, ending)) return format;
  return edge_format::automatic;
}

std::optional<edge_format> edge_format_of_bytes(std::string_view beginning) noexcept {
  if (beginning.starts_with(banner)) return edge_format::matrix_market;
  if (beginning.find('\0') != std::string_view::npos) return std::nullopt;
  auto const line = detail::first_data_line(beginning).value_or(std::string_view());
  return line.find_first_of(",\"") == std::string_view::npos ? edge_format::text : edge_format::csv;
}

namespace detail {

std::optional<std::string_view> first_data_line(std::string_view text) noexcept {
  while (!text.empty()) {
    std::size_t const end = text.find('\n');
    if (end == std::string_view::npos) break;
    std::string_view const line = text.substr(0, end);
    std::size_t const begin = line.find_first_not_of(" \t\r");
    if (begin != std::string_view::npos && line[begin] != '#' && line[begin] != '%') return line;
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

}  // namespace detail
}  // namespace outsize::graphs
