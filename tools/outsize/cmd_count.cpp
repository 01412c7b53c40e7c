// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// `outsize count`: how often lines or keys occur. Layer: tools. The work is text::count_lines.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/text/line_count.hpp>
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

constexpr char const* about =
    "Counts equal lines, or with -k equal keys, wherever they stand, and writes each count and "
    "key\n"
    "as 'sort | uniq -c' would, in the order of the keys. Of keys that compare equal the first is\n"
    "shown; several keys are shown with the separator of -t, or a space, between them. With --csv\n"
    "the output is CSV: count, and the values of the keys. Without FILE, or where FILE is -, "
    "reads\n"
    "standard input.";

struct count_request : work_options {
  key_options keys;
  compression_options codecs;
  text::count_lines_options groups;
  std::optional<std::string> name_list;
  sort_paths paths;
};

option_table make_table(count_request& request) {
  option_table table("outsize count [OPTIONS] [FILE...]", about);
  table.heading("what is counted, and how it compares")
      .add(line_key_rows(request.keys))
      .add(csv_rows(request.keys))
      .heading("what to write")
      .add({.name = "by-count",
            .help = "the most frequent first, then in the order of the keys",
            .handler = [&](auto) { request.groups.by_count = true; }})
      .add(output_row(request.paths.output, "write there, not to standard output; may be an input"))
      .heading("with what")
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

int cmd_count(int argc, char** argv) {
  count_request request;
  auto operands = make_table(request).parse(argc, argv);
  if (!operands) return exit_done;
  request.paths.inputs = all_inputs(std::move(*operands), request.name_list);
  request.note_read(request.name_list);
  request.groups.lines = request.keys.lines();
  auto const order = request.keys.line_options();
  text::line_order const refuses_what_is_incompatible(order);
  return run_sort_command(
      "count", request, {request.paths.inputs, request.paths.output, request.codecs},
      [&](outsize::storage& store, sort_options how) {
        request.codecs.apply_to(how, request.paths.inputs, request.paths.output,
                                contents_of(request.keys));
        return text::count_lines(store, request.paths, order, request.groups, how);
      });
}

}  // namespace outsize::tool
