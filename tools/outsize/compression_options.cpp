// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/compression_options.hpp>

#include <fmt/format.h>

namespace outsize::tool {
namespace {

io::compression parse_kind(std::string_view text) {
  auto const kind = io::compression_called(text);
  if (!kind)
    throw usage_error(fmt::format(
        "--compress-output '{}' is unknown; there are none, gzip, zstd, lz4 and xz", text));
  return *kind;
}

}  // namespace

std::vector<option> decompression_rows(compression_options& into) {
  return {{.name = "decompress",
           .help = "decompress gzip, zstd, lz4 and xz inputs (default for lines)",
           .handler = [&into](auto) { into.decompress = true; }},
          {.name = "no-decompress", .help = "take inputs as they are", .handler = [&into](auto) {
             into.decompress = false;
           }}};
}

std::vector<option> compression_rows(compression_options& into) {
  auto rows = decompression_rows(into);
  rows.push_back({.name = "compress-output",
                  .takes = argument::required,
                  .value = "KIND",
                  .help = "gzip, zstd, lz4, xz or none (default: by the name)",
                  .handler = [&into](std::string_view text) { into.compress = parse_kind(text); }});
  return rows;
}

}  // namespace outsize::tool
