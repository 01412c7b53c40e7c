// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize/sort_command.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include <outsize/algorithm/sort_page.hpp>
#include <outsize/algorithm/sort_plan.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/machine.hpp>
#include <outsize/base/progress_line.hpp>
#include <outsize/base/units.hpp>
#include <tools/outsize/command.hpp>
#include <tools/outsize/interruption.hpp>
#include <tools/outsize/json_file.hpp>
#include <tools/outsize/report_file.hpp>
#include <tools/outsize/sort_trace.hpp>

namespace outsize::tool {
namespace {

nlohmann::ordered_json fields_of(sort_report const& report, io::statistics_snapshot const& moved) {
  return {{"items", report.items},
          {"output_items", report.output_items},
          {"input_bytes", report.input_bytes},
          {"runs", report.runs},
          {"encoded_runs", report.encoded_runs},
          {"run_items", report.run_items},
          {"run_disk_bytes", report.run_disk_bytes},
          {"output_over_runs", report.output_over_runs},
          {"passes", report.passes},
          {"read_bytes", moved.read_bytes},
          {"written_bytes", moved.write_bytes},
          {"memory_bytes", report.memory_bytes},
          {"block_bytes", report.block_bytes},
          {"fan_in", report.fan_in},
          {"peak_disk_bytes", report.peak_disk_bytes},
          {"networks", sort_networks_json(report)}};
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

/// The bytes that `sort --plan` names, by where they go.
std::optional<predicted_volumes> volumes_of(std::optional<sort_plan> const& plan) {
  if (!plan) return std::nullopt;
  std::uint64_t const files = std::min(
      {plan->input_bytes.value_or(plan->read_bytes), plan->read_bytes, plan->written_bytes});
  return predicted_volumes{.files_read = files,
                           .files_written = files,
                           .blocks_read = plan->read_bytes - files,
                           .blocks_written = plan->written_bytes - files};
}

void write_page(report_file& to, std::string const& command, sort_report const& report,
                command_facts facts) {
  facts.input_bytes = report.input_bytes;
  if (facts.predicted && report.encoded_runs > 0)
    facts.predicted->blocks_note = "predicted without encoding";
  to.write(page_of(report, title_of(command, facts.inputs)), facts);
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

storage_options sort_storage(work_options const& work, command_files const& files) {
  storage_options options = work.storage();
  if (work.memory_bytes) {
    require_memory(*work.memory_bytes);
  } else {
    options.codec_memory_bytes =
        files.codecs.memory_bytes(files.inputs, files.output, files.what, files.inputs_at_once);
  }
  return options;
}

int run_sort_command(
    std::string const& name, work_options const& work, command_files const& files,
    std::function<sort_report(outsize::storage&, sort_options const&)> const& program) {
  refuse_same_files(files.inputs, work,
                    {{"the output", files.output, true},
                     {"--json", work.json},
                     {"--trace", work.trace},
                     {"--report", work.report}});
  interruption const ends_cleanly(name);
  auto const begin = std::chrono::steady_clock::now();
  return naming_memory(work, [&] {
    std::optional<sort_trace> trace;  // outlives the storage, which notes requests in it
    outsize::storage store(sort_storage(work, files));
    refuse_disks(store, {work.json, work.trace, work.report});
    // Opened before the work, so that a report that cannot be written costs nothing.
    if (work.trace) trace.emplace(*work.trace).watch(store);
    auto const json = open_json(work.json);
    command_facts facts{.inputs = files.inputs, .output = files.output};
    if (work.report && files.plan) facts.predicted = volumes_of(files.plan(store));
    std::optional<report_file> page;
    if (work.report) page.emplace(*work.report, store);
    std::optional<progress_line> bar;
    if (work.shows_progress()) bar.emplace();
    sort_options options = work.sorting();
    if (bar)
      options.on_progress = [&](sort_progress const& now) {
        bar->show(name_of(now.now), now.done_bytes, now.total_bytes);
      };
    sort_report const report = program(store, options);
    bar.reset();
    std::chrono::duration<double> const elapsed = std::chrono::steady_clock::now() - begin;
    if (json) {
      auto object = fields_of(report, store.total_statistics());
      object["seconds"] = elapsed.count();
      object.update(resource_fields(store));
      json->write(object);
    }
    if (trace) trace->write(report);
    facts.seconds = elapsed.count();
    if (page) write_page(*page, name, report, std::move(facts));
    return exit_done;
  });
}

}  // namespace outsize::tool
