// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// `outsize permute`: moves record x of a file to place A x xor c. Layer: tools.

#include <utility>
#include <vector>

#include <outsize/numeric/bmmc.hpp>
#include <tools/outsize/command.hpp>
#include <tools/outsize/pass_command.hpp>
#include <tools/outsize/permute_request.hpp>

namespace outsize::tool {

int cmd_permute(int argc, char** argv) {
  auto const r = read_permute_request(argc, argv);
  if (!r) return exit_done;
  return run_pass_command(
      "permute", *r, r->storage(),
      [&](storage& store, numeric::pass_listener const& listener) -> pass_outcome {
        unsigned const bits = numeric::count_record_bits(store, r->input, r->record_bytes);
        auto report = numeric::permute(store, r->input, r->output, make_map(*r, bits),
                                       {.record_bytes = r->record_bytes,
                                        .block_bytes = r->block_bytes,
                                        .trace = r->work.trace.has_value(),
                                        .on_progress = listener});
        return {.records = report.records,
                .record_bytes = r->record_bytes,
                .passes = report.passes,
                .seconds = report.seconds,
                .read_bytes = report.read_bytes,
                .written_bytes = report.written_bytes,
                .memory_bytes = report.memory_bytes,
                .block_bytes = report.block_bytes,
                .requests = std::vector<pass_requests>(
                    report.passes, {report.read_request_bytes, report.write_request_bytes}),
                .networks = std::move(report.networks)};
      });
}

}  // namespace outsize::tool
