// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// `outsize columnsort`: sorts u64 in three passes whose I/O does not depend on the keys.
// Layer: tools.

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <outsize/numeric/columnsort.hpp>
#include <tools/outsize/command.hpp>
#include <tools/outsize/options.hpp>
#include <tools/outsize/pass_command.hpp>

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
  if (!parse_pass_request(table, argc, argv, r)) return std::nullopt;
  return r;
}

}  // namespace

int cmd_columnsort(int argc, char** argv) {
  auto const r = read_request(argc, argv);
  if (!r) return exit_done;
  return run_pass_command(
      "columnsort", *r, r->storage(),
      [&](storage& store, numeric::pass_listener const& listener) -> pass_outcome {
        auto report = numeric::columnsort(store, r->input, r->output,
                                          {.column_records = r->column_records,
                                           .trace = r->work.trace.has_value(),
                                           .on_progress = listener});
        return {.records = report.records,
                .record_bytes = sizeof(std::uint64_t),
                .passes = report.passes,
                .seconds = report.seconds,
                .read_bytes = report.read_bytes,
                .written_bytes = report.written_bytes,
                .memory_bytes = report.memory_bytes,
                .block_bytes = report.column_records * 8,
                .networks = std::move(report.networks)};
      });
}

}  // namespace outsize::tool
