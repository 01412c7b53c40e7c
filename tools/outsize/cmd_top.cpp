// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// `outsize top`: the first lines of an order. Layer: tools. The work is text::top_lines.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/text/line_top.hpp>
#include <tools/outsize/command.hpp>
#include <tools/outsize/compression_options.hpp>
#include <tools/outsize/input_names.hpp>
#include <tools/outsize/key_options.hpp>
#include <tools/outsize/option_rows.hpp>
#include <tools/outsize/options.hpp>
#include <tools/outsize/sort_command.hpp>
#include <tools/outsize/work_options.hpp>

namespace outsize::tool {
namespace {

constexpr char const* about_top =
    "Writes the first COUNT lines of what 'outsize sort' would write with the same options. Reads\n"
    "the input once, and as long as COUNT lines fit in a sixteenth of the memory uses no disk.\n"
    "Without FILE, or where FILE is -, reads standard input.";

struct top_request : work_options {
  key_options keys;
  compression_options codecs;
  std::uint64_t count = 0;
  std::optional<std::string> name_list;
  sort_paths paths;
};

option_table make_table(top_request& request) {
  option_table table("outsize top [OPTIONS] COUNT [FILE...]", about_top);
  table.heading("how lines compare")
      .add(line_key_rows(request.keys))
      .add(equal_key_rows(request.keys))
      .add(csv_rows(request.keys))
      .heading("with what")
      .add(output_row(request.paths.output, "write there, not to standard output; may be an input"))
      .add(files0_row(request.name_list))
      .add(resource_rows(request))
      .add(spill_rows(request))
      .heading("compressed files")
      .add(compression_rows(request.codecs))
      .heading("what to tell")
      .add(report_rows(request));
  return table;
}

}  // namespace

int cmd_top(int argc, char** argv) {
  top_request request;
  auto operands = make_table(request).parse(argc, argv);
  if (!operands) return exit_done;
  if (operands->empty()) throw usage_error("no COUNT given");
  request.count = parse_count(operands->front(), "number of lines");
  request.paths.inputs = all_inputs({operands->begin() + 1, operands->end()}, request.name_list);
  request.note_read(request.name_list);
  request.note_read(request.keys.chance.source);
  text::line_order const order(request.keys.line_options());
  return run_sort_command(
      "top", request, {request.paths.inputs, request.paths.output, request.codecs},
      [&](outsize::storage& store, sort_options how) {
        how.unique = request.keys.unique;
        request.codecs.apply_to(how, request.paths.inputs, request.paths.output,
                                contents_of(request.keys));
        return text::top_lines(store, request.paths, order,
                               {.count = request.count, .lines = request.keys.lines()}, how);
      });
}

}  // namespace outsize::tool
