// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/compression_options.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <functional>
#include <numeric>

#include <outsize/base/printable_text.hpp>
#include <outsize/io/detail/decoding_input.hpp>
#include <tools/outsize/command.hpp>
#include <tools/outsize/option_words.hpp>

namespace outsize::tool {
namespace {

io::compression parse_kind(std::string_view text) {
  auto const kind = io::compression_called(text);
  if (!kind)
    throw usage_error(fmt::format(
        "--compress-output '{}' is unknown; there are none, gzip, zstd, lz4, xz and bzip2", text));
  return *kind;
}

constexpr std::array encodings{option_word<bool>{"auto", true}, option_word<bool>{"bytes", false}};

}  // namespace

contents contents_of(key_options const& keys) noexcept {
  return keys.format ? contents::records : keys.csv ? contents::csv : contents::lines;
}

io::compression compression_promised_by(std::string const& path, std::string_view way_out) {
  auto const kind = io::compression_of_name(path);
  auto const promised = io::promise_of_name(path);
  if (kind == io::compression::none && !promised.empty())
    throw usage_error(fmt::format("{}: its name promises {}, which is not written here; {}", path,
                                  promised, way_out));
  return kind;
}

std::uint64_t compression_options::memory_bytes(std::vector<std::string> const& inputs,
                                                std::string const& output_path, contents what,
                                                std::size_t inputs_at_once) const {
  std::vector<std::uint64_t> needs;
  if (decoding(what).decompress)
    for (std::string const& input : inputs) needs.push_back(io::decoding_memory_bytes(input));
  std::ranges::sort(needs, std::greater());
  needs.resize(std::min(needs.size(), inputs_at_once));
  return std::accumulate(needs.begin(), needs.end(),
                         io::encoding_memory_bytes(output(output_path)));
}

void compression_options::apply_to(sort_options& options, std::vector<std::string> const& inputs,
                                   std::string const& output_path, contents what) const {
  auto const how = decoding(what);
  options.decompress = how.decompress;
  options.transcode = how.transcode;
  options.compress = output(output_path);
  for (auto const& input : inputs) look_at(input, what);
}

void compression_options::look_at(std::string const& input, contents what) const {
  auto const promised = io::promise_of_name(input);
  if (promised.empty() || decompress == false) return;
  auto const how = decoding(what);
  if (!how.decompress)
    throw usage_error(
        fmt::format("{}: its name promises {}; --decompress decompresses what is in it, "
                    "--no-decompress takes it as it is",
                    input, promised));
  auto const form = io::form_of_file(input, how);
  if (!form || form->packed != io::compression::none) return;
  if (what != contents::lines)
    throw format_error(
        fmt::format("{}: its name promises {}, but its bytes are not; --no-decompress takes them "
                    "as they are",
                    input, promised));
  put_error(
      fmt::format("outsize: warning: {}: its name promises {}, but its bytes are not; they are "
                  "taken for text\n",
                  printable(input), promised));
}

std::vector<option> decompression_rows(compression_options& into) {
  return {{.name = "decompress",
           .help = "decompress gzip, zstd, lz4, xz and bzip2 inputs (default for lines)",
           .handler = [&into](auto) { into.decompress = true; }},
          {.name = "no-decompress",
           .help = "take inputs as they are, whatever they begin with",
           .handler = [&into](auto) { into.decompress = false; }},
          {.name = "encoding",
           .takes = argument::required,
           .value = "WHICH",
           .help = "of lines: auto (UTF-16 with a byte order mark becomes UTF-8) or bytes",
           .handler = [&into](std::string_view text) {
             into.transcode = meaning_of(encodings, "--encoding", text);
           }}};
}

std::vector<option> compression_rows(compression_options& into) {
  auto rows = decompression_rows(into);
  rows.push_back({.name = "compress-output",
                  .takes = argument::required,
                  .value = "KIND",
                  .help = "gzip, zstd, lz4, xz, bzip2 or none (default: by the name)",
                  .handler = [&into](std::string_view text) { into.compress = parse_kind(text); }});
  return rows;
}

}  // namespace outsize::tool
