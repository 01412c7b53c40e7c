// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The benchmark pipeline-stages on oneTBB: parallel_pipeline with a filter for each stage.
//
//   tbb_stages IN OUT THREADS

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/version.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "../programs/stages.hpp"

namespace {

using namespace stages;

void run_tbb(std::string const& in_path, std::string const& out_path, std::size_t threads) {
  namespace tbb = oneapi::tbb;
  tbb::global_control const limit(tbb::global_control::max_allowed_parallelism, threads);
  descriptor const in(open_input(in_path)), out(open_output(out_path));
  std::vector<std::vector<number>> all(buffers, std::vector<number>(length));
  std::size_t next = 0;
  using buffer = std::vector<number>*;
  auto const bytes_of = [](buffer b) { return std::as_writable_bytes(numbers(*b)); };
  tbb::filter<void, buffer> chain = tbb::make_filter<void, buffer>(
      tbb::filter_mode::serial_in_order, [&](tbb::flow_control& flow) -> buffer {
        buffer const b = &all[next++ % buffers];
        if (read_all(in.number, bytes_of(b)) < buffer_bytes) flow.stop();
        return b;
      });
  for (unsigned s = 0; s < inner_stages; ++s)
    chain =
        chain & tbb::make_filter<buffer, buffer>(tbb::filter_mode::serial_in_order, [s](buffer b) {
          apply_stage(s, *b);
          return b;
        });
  tbb::parallel_pipeline(buffers, chain & tbb::make_filter<buffer, void>(
                                              tbb::filter_mode::serial_in_order, [&](buffer b) {
                                                write_all(out.number, bytes_of(b));
                                              }));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: tbb_stages IN OUT THREADS\n");
    return 2;
  }
  try {
    auto const begin = std::chrono::steady_clock::now();
    run_tbb(argv[1], argv[2], std::strtoull(argv[3], nullptr, 10));
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
    std::printf("{\"seconds\": %f, \"version\": \"%s\"}\n", took.count(), TBB_runtime_version());
  } catch (std::exception const& e) {
    std::fprintf(stderr, "tbb_stages: %s\n", e.what());
    return 2;
  }
}
