// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// `outsize permute`: moves record x of a file to place A x xor c. Layer: tools.

#include <unistd.h>

#include <fmt/format.h>
#include <optional>
#include <stdexcept>

#include <outsize/base/error.hpp>
#include <outsize/numeric/bmmc.hpp>
#include <tools/outsize/command.hpp>
#include <tools/outsize/interruption.hpp>
#include <tools/outsize/permute_request.hpp>
#include <tools/outsize/progress_bar.hpp>

namespace outsize::tool {
namespace {

numeric::permute_report permute(storage& store, permute_request const& r) {
  unsigned const bits = numeric::count_record_bits(store, r.input, r.record_bytes);
  numeric::permute_options options{
      .record_bytes = r.record_bytes, .block_bytes = r.block_bytes, .trace = r.trace.has_value()};
  std::optional<progress_bar> bar;
  if (r.work.progress.value_or(::isatty(STDERR_FILENO) != 0)) bar.emplace();
  if (bar)
    options.on_progress = [&](numeric::permute_progress const& now) {
      bar->show({sort_progress::phase::writing_output, now.done_bytes, now.total_bytes});
    };
  return numeric::permute(store, r.input, r.output, make_map(r, bits), options);
}

}  // namespace

int cmd_permute(int argc, char** argv) {
  auto const r = read_permute_request(argc, argv);
  if (!r) return exit_done;
  interruption const ends_cleanly("permute");
  try {
    storage store(r->work.storage());
    auto const report = permute(store, *r);
    write_reports(*r, store,
                  {.records = report.records,
                   .passes = report.passes,
                   .seconds = report.seconds,
                   .read_bytes = report.read_bytes,
                   .written_bytes = report.written_bytes,
                   .memory_bytes = report.memory_bytes,
                   .block_bytes = report.block_bytes,
                   .networks = report.networks});
  } catch (budget_error const& e) {
    if (r->work.memory_text.empty()) throw;
    throw std::runtime_error(fmt::format("-S {}: {}", r->work.memory_text, e.what()));
  }
  return exit_done;
}

}  // namespace outsize::tool
