// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// `outsize gen`: writes generated items to a file or to stdout, a piece at a time. Layer: tools.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <tools/outsize/command.hpp>
#include <tools/outsize/generator.hpp>
#include <tools/outsize/interruption.hpp>
#include <tools/outsize/option_rows.hpp>
#include <tools/outsize/options.hpp>
#include <tools/outsize/output_file.hpp>
#include <tools/outsize/work_options.hpp>

namespace outsize::tool {
namespace {

constexpr std::size_t piece_items = 1 << 14;

struct gen_request {
  std::optional<std::uint64_t> count;
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
  std::string output = "-";
};

option_table gen_options(gen_request& request) {
  option_table table(
      "outsize gen KIND --count N [--seed S] [--offset I] [-o FILE]",
      fmt::format(
          "Writes items I to I+N-1 of the sequence that KIND and S define, the same bytes on "
          "every machine.\nKIND is one of {}.\nNumbers are 64-bit little-endian; records "
          "have 100 bytes, the first 10 of them the key;\nlines have 20 to 200 bytes.",
          item_kind_list()));
  table
      .add({.name = "count",
            .takes = argument::required,
            .value = "N",
            .help = "number of items; k, M, G, T: powers of 1000",
            .handler = [&](std::string_view text) { request.count = parse_count(text, "count"); }})
      .add({.name = "seed",
            .takes = argument::required,
            .value = "S",
            .help = "which sequence (0)",
            .handler = [&](std::string_view text) { request.seed = parse_count(text, "seed"); }})
      .add(
          {.name = "offset",
           .takes = argument::required,
           .value = "I",
           .help = "index of the first item (0)",
           .handler = [&](std::string_view text) { request.offset = parse_count(text, "offset"); }})
      .add(output_row(request.output, "write here instead of to standard output"));
  return table;
}

void write_items(generator const& items, std::uint64_t first, std::uint64_t count,
                 output_file& output) {
  std::vector<char> piece(items.buffer_bytes(std::min<std::uint64_t>(count, piece_items)));
  while (count > 0) {
    std::size_t const now = std::min<std::uint64_t>(count, piece_items);
    output.write({piece.data(), items.write(first, now, piece.data())});
    first += now;
    count -= now;
  }
}

}  // namespace

int cmd_gen(int argc, char** argv) {
  gen_request request;
  auto const operands = gen_options(request).parse(argc, argv);
  if (!operands) return exit_done;
  generator const items(parse_item_kind(single_operand(*operands, "KIND")), request.seed);
  if (!request.count) throw usage_error("--count is missing");
  if (request.offset > items.limit() || *request.count > items.limit() - request.offset) {
    throw usage_error(fmt::format("the sequence has {} items, too few for offset {} and count {}",
                                  items.limit(), request.offset, *request.count));
  }
  interruption const ends_cleanly("gen");
  output_file output(request.output);
  write_items(items, request.offset, *request.count, output);
  output.close();
  return exit_done;
}

}  // namespace outsize::tool
