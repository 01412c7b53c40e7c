// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// `outsize fft`: the Fourier transform of a file of complex numbers. Layer: tools.

#include <complex>
#include <optional>
#include <string>

#include <outsize/numeric/fft.hpp>
#include <tools/outsize/command.hpp>
#include <tools/outsize/option_rows.hpp>
#include <tools/outsize/options.hpp>
#include <tools/outsize/pass_command.hpp>

namespace outsize::tool {
namespace {

struct fft_request : pass_request {
  bool inverse = false;
  std::uint64_t block_bytes = 0;
};

std::optional<fft_request> read_fft_request(int argc, char** argv) {
  fft_request r;
  option_table table("outsize fft [OPTIONS] FILE -o FILE",
                     "Writes the discrete Fourier transform of a file of 2^k complex numbers "
                     "(pairs of 64-bit\nfloating point numbers of this machine), in natural order "
                     "both. What fits in memory takes\none pass over the file, what does not "
                     "mostly two.");
  table.heading("what to do")
      .add(pass_rows(r))
      .add({.name = "inverse",
            .help = "the inverse transform, scaled by 1/2^k",
            .handler = [&](std::string_view) { r.inverse = true; }})
      .heading("with what")
      .add(resource_rows(r.work))
      .add(size_row("block",
                    "no request is shorter if memory allows (8K); longer ones may need more passes",
                    r.block_bytes))
      .heading("what to tell")
      .add(report_rows(r.work));
  if (!parse_pass_request(table, argc, argv, r)) return std::nullopt;
  return r;
}

pass_outcome outcome_of(numeric::fft_report const& report) {
  pass_outcome outcome{.records = report.records,
                       .record_bytes = sizeof(std::complex<double>),
                       .passes = report.passes.size(),
                       .seconds = report.seconds,
                       .read_bytes = report.read_bytes,
                       .written_bytes = report.written_bytes,
                       .memory_bytes = report.memory_bytes,
                       .block_bytes = report.block_bytes};
  for (auto const& pass : report.passes) {
    outcome.requests.push_back({pass.read_request_bytes, pass.write_request_bytes});
    outcome.networks.push_back(pass.network);
  }
  return outcome;
}

}  // namespace

int cmd_fft(int argc, char** argv) {
  auto const r = read_fft_request(argc, argv);
  if (!r) return exit_done;
  return run_pass_command("fft", *r, r->storage(),
                          [&](storage& store, numeric::pass_listener const& listener) {
                            return outcome_of(numeric::fft(store, r->input, r->output,
                                                           {.inverse = r->inverse,
                                                            .block_bytes = r->block_bytes,
                                                            .trace = r->work.trace.has_value(),
                                                            .on_progress = listener}));
                          });
}

}  // namespace outsize::tool
