// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/sort_command.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include <outsize/algorithm/sort/sort_plan.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/machine.hpp>
#include <outsize/base/progress_line.hpp>
#include <outsize/base/units.hpp>
#include <tools/outsize/command.hpp>
#include <tools/outsize/interruption.hpp>
#include <tools/outsize/output_file.hpp>
#include <tools/outsize/sort_trace.hpp>

namespace outsize::tool {
namespace {

void write_json(output_file& output, outsize::storage& store, sort_report const& report,
                double elapsed_seconds) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  auto const moved = store.total_statistics();
  nlohmann::ordered_json const object{
      {"items", report.items},
      {"output_items", report.output_items},
      {"input_bytes", report.input_bytes},
      {"runs", report.runs},
      {"encoded_runs", report.encoded_runs},
      {"run_items", report.run_items},
      {"run_disk_bytes", report.run_disk_bytes},
      {"passes", report.passes},
      {"seconds", elapsed_seconds},
      {"read_bytes", moved.read_bytes},
      {"written_bytes", moved.write_bytes},
      {"io_wait_seconds", static_cast<double>(moved.wait_ns) * 1e-9},
      {"cpu_seconds", processor_seconds()},
      {"memory_bytes", report.memory_bytes},
      {"peak_rss_bytes", static_cast<std::uint64_t>(usage.ru_maxrss) * 1024},
      {"threads", store.threads().threads()},
      {"block_bytes", report.block_bytes},
      {"fan_in", report.fan_in},
      {"peak_disk_bytes", report.peak_disk_bytes},
      {"networks", sort_networks_json(report)},
      {"backend", store.file_queue().name()}};
  output.write(object.dump(2) + '\n');
  output.close();
}

/// More memory than there is would only be missed when it is touched.
void require_memory(std::uint64_t memory_bytes) {
  require_sort_memory(memory_bytes);
  std::uint64_t const most = available_memory_bytes();
  if (memory_bytes <= most) return;
  throw budget_error("sort", most, memory_bytes,
                     fmt::format("a memory budget of {} is more than the {} that there are",
                                 format_bytes(memory_bytes), format_bytes(most)));
}

std::string_view name_of(sort_progress::phase phase) {
  switch (phase) {
    case sort_progress::phase::forming_runs:
      return "reading";
    case sort_progress::phase::merging_runs:
      return "merging";
    case sort_progress::phase::writing_output:
      return "writing";
    case sort_progress::phase::done:
      return "done";
  }
  return "";
}

}  // namespace

storage_options sort_storage(work_options const& work) {
  if (work.memory_bytes) require_memory(*work.memory_bytes);
  return work.storage();
}

int run_sort_command(
    std::string const& name, work_options const& work, command_files const& files,
    std::function<sort_report(outsize::storage&, sort_options const&)> const& program) {
  refuse_same_files(
      files.inputs,
      {{"the output", files.output, true}, {"--json", work.json}, {"--trace", work.trace}});
  interruption const ends_cleanly(name);
  auto const begin = std::chrono::steady_clock::now();
  return naming_memory(work, [&] {
    std::optional<sort_trace> trace;  // outlives the storage, which notes requests in it
    outsize::storage store(sort_storage(work));
    // Opened before the work, so that a report that cannot be written costs nothing.
    if (work.trace) trace.emplace(*work.trace).watch(store);
    std::optional<output_file> json;
    if (work.json) json.emplace(*work.json);
    std::optional<progress_line> bar;
    if (work.progress.value_or(::isatty(STDERR_FILENO) != 0)) bar.emplace();
    sort_options options = work.sorting();
    if (bar)
      options.on_progress = [&](sort_progress const& now) {
        bar->show(name_of(now.now), now.done_bytes, now.total_bytes);
      };
    sort_report const report = program(store, options);
    bar.reset();
    std::chrono::duration<double> const elapsed = std::chrono::steady_clock::now() - begin;
    if (json) write_json(*json, store, report, elapsed.count());
    if (trace) trace->write(report);
    return exit_done;
  });
}

}  // namespace outsize::tool
