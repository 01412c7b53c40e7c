// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// `outsize columnsort`: sorts u64 in three passes whose I/O does not depend on the keys.
// Layer: tools.

#include <fmt/format.h>
#include <optional>
#include <stdexcept>
#include <string>

#include <outsize/base/error.hpp>
#include <outsize/numeric/columnsort.hpp>
#include <tools/outsize/command.hpp>
#include <tools/outsize/interruption.hpp>
#include <tools/outsize/options.hpp>
#include <tools/outsize/work_options.hpp>

namespace outsize::tool {
namespace {

struct request : pass_request {
  std::uint64_t column_records = 0;
};

std::optional<request> read_request(int argc, char** argv) {
  request r;
  option_table table("outsize columnsort [OPTIONS] FILE -o FILE",
                     "Sorts the unsigned 64-bit integers of a file in three passes. What is read "
                     "and written when\ndepends on their number alone; `outsize sort --format "
                     "u64` moves a third less.");
  table.heading("what to do")
      .add(pass_rows(r))
      .add({.name = "column",
            .takes = argument::required,
            .value = "COUNT",
            .help = "items of a column (default: what memory allows)",
            .handler =
                [&](std::string_view text) { r.column_records = parse_count(text, "column"); }})
      .heading("with what")
      .add(resource_rows(r.work))
      .heading("what to tell")
      .add(report_rows(r.work));
  auto const operands = table.parse(argc, argv);
  if (!operands) return std::nullopt;
  r.input = single_operand(*operands, "input file");
  if (r.output.empty()) throw usage_error("no output given; use -o FILE");
  return r;
}

}  // namespace

int cmd_columnsort(int argc, char** argv) {
  auto const r = read_request(argc, argv);
  if (!r) return exit_done;
  interruption const ends_cleanly("columnsort");
  storage store(r->work.storage());
  auto const report =
      numeric::columnsort(store, r->input, r->output,
                          {.column_records = r->column_records, .trace = r->trace.has_value()});
  write_reports(*r, store,
                {.records = report.records,
                 .passes = report.passes,
                 .seconds = report.seconds,
                 .read_bytes = report.read_bytes,
                 .written_bytes = report.written_bytes,
                 .memory_bytes = report.memory_bytes,
                 .block_bytes = report.column_records * 8,
                 .networks = report.networks});
  return exit_done;
}

}  // namespace outsize::tool
