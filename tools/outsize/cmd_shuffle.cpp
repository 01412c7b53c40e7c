// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// `outsize shuffle`: lines in random order, with the options of shuf(1). Layer: tools. The work is
// text::shuffle_lines.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <outsize/text/line_shuffle.hpp>
#include <tools/outsize/command.hpp>
#include <tools/outsize/compression_options.hpp>
#include <tools/outsize/key_options.hpp>
#include <tools/outsize/option_rows.hpp>
#include <tools/outsize/options.hpp>
#include <tools/outsize/random_options.hpp>
#include <tools/outsize/sort_command.hpp>
#include <tools/outsize/work_options.hpp>

namespace outsize::tool {
namespace {

constexpr char const* about_shuffle =
    "Writes lines in random order, each order as likely as the others. With --seed or\n"
    "--random-source the order depends on these and the number of lines alone, whatever the "
    "memory\n"
    "and threads. Without FILE, or where it is -, reads standard input.";

struct shuffle_request : work_options {
  text::shuffle_lines_options order;
  random_options chance;
  key_options shape;  // what lines are
  std::optional<text::number_range> range;
  bool echo = false;
  std::string output = "-";
  compression_options codecs;
};

/// LO-HI. One number below LO makes the range empty.
text::number_range parse_range(std::string_view text) {
  auto const dash = text.find('-');
  auto const low = dash == text.npos ? std::nullopt : read_number(text.substr(0, dash));
  auto const high = low ? read_number(text.substr(dash + 1)) : std::nullopt;
  std::uint64_t const count = high ? *high - *low + 1 : 0;
  if (!high || (*low <= *high) == (count == 0))
    throw usage_error(fmt::format("'{}' is no range LO-HI of numbers", text));
  return {*low, count};
}

std::vector<option> source_rows(shuffle_request& request) {
  return {{.letter = 'e',
           .name = "echo",
           .help = "the operands are the lines",
           .handler = [&](auto) { request.echo = true; }},
          {.letter = 'i',
           .name = "input-range",
           .takes = argument::required,
           .value = "LO-HI",
           .help = "the numbers from LO to HI are the lines",
           .handler = [&](std::string_view text) {
             if (request.range) throw usage_error("more than one -i");
             request.range = parse_range(text);
           }}};
}

std::vector<option> output_rows(shuffle_request& request) {
  return {{.letter = 'n',
           .name = "head-count",
           .takes = argument::required,
           .value = "COUNT",
           .help = "no more lines than that",
           .handler =
               [&](std::string_view text) {
                 request.order.count =
                     std::min(request.order.count, parse_capped_number(text, "number of lines"));
               }},
          {.letter = 'r',
           .name = "repeat",
           .help = "lines may come again; without -n, forever",
           .handler = [&](auto) { request.order.repeat = true; }},
          output_row(request.output, "write there, not to standard output; may be the input")};
}

option_table make_table(shuffle_request& request) {
  option_table table(
      "outsize shuffle [OPTIONS] [FILE] | -e [OPTIONS] [LINE...] | -i LO-HI [OPTIONS]",
      about_shuffle);
  table.heading("which lines")
      .add(source_rows(request))
      .add(line_shape_rows(request.shape))
      .heading("what to write")
      .add(output_rows(request))
      .add(random_rows(request.chance))
      .heading("with what")
      .add(resource_rows(request))
      .add(spill_rows(request))
      .heading("compressed files")
      .add(compression_rows(request.codecs))
      .heading("what to tell")
      .add(report_rows(request));
  return table;
}

text::shuffle_source source_of(shuffle_request const& request, std::vector<std::string> operands) {
  if (request.echo && request.range) throw usage_error("options -e and -i are incompatible");
  if ((request.echo || request.range) && (request.shape.csv || request.shape.header))
    throw usage_error("options --csv and --header are for lines of a file");
  if (request.echo) return text::given_lines{std::move(operands)};
  std::size_t const most = request.range ? 0 : 1;
  if (operands.size() > most) throw usage_error(fmt::format("extra operand '{}'", operands[most]));
  if (request.range) return *request.range;
  if (operands.empty()) operands.emplace_back("-");
  return text::lines_of_files{std::move(operands)};
}

}  // namespace

int cmd_shuffle(int argc, char** argv) {
  shuffle_request request;
  auto operands = make_table(request).parse(argc, argv);
  if (!operands) return exit_done;
  auto const source = source_of(request, std::move(*operands));
  request.order.lines = line_shape(request.shape);
  request.order.salt = request.chance.salt();
  request.note_read(request.chance.source);
  auto const* const files = std::get_if<text::lines_of_files>(&source);
  return run_sort_command(
      "shuffle", request,
      {files ? files->paths : std::vector<std::string>(), request.output, request.codecs},
      [&](outsize::storage& store, sort_options how) {
        request.codecs.apply_to(how, files ? files->paths : std::vector<std::string>(),
                                request.output, contents_of(request.shape));
        return text::shuffle_lines(store, source, request.output, request.order, how);
      });
}

}  // namespace outsize::tool
