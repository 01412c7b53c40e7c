// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <tools/outsize_run/run_json.hpp>

#include <cstdint>

#include <nlohmann/json.hpp>

namespace outsize::launcher {
namespace {

using nlohmann::ordered_json;

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

ordered_json plan_json(bsp::run_plan const& plan) {
  return {{"ranks", plan.count},
          {"at_once", plan.workers},
          {"memory_bytes", plan.memory_bytes},
          {"frame_bytes", plan.frame_bytes},
          {"message_bytes", plan.message_bytes},
          {"private_bytes", plan.stack_bytes},
          {"context_bytes", plan.context_bytes}};
}

ordered_json totals_json(bsp::superstep_counts const& sum) {
  return {{"changed_bytes", sum.changed_bytes},
          {"written_bytes", sum.written_bytes},
          {"used_bytes", sum.used_bytes},
          {"read_bytes", sum.read_bytes},
          {"sent_bytes", sum.sent_bytes},
          {"received_bytes", sum.received_bytes},
          {"lent_bytes", sum.lent_bytes},
          {"stored_bytes", sum.stored_bytes},
          {"stored_written_bytes", sum.stored_written_bytes},
          {"stored_read_bytes", sum.stored_read_bytes},
          {"formula_bytes", sum.formula_bytes()},
          {"moved_bytes", sum.moved_bytes()},
          {"operations", sum.operations},
          {"computing_seconds", seconds(sum.computing_ns)},
          {"moving_seconds", seconds(sum.moving_ns)},
          {"waiting_seconds", seconds(sum.waiting_ns)}};
}

}  // namespace

std::string run_json(bsp::run_report const& report, run_facts const& facts) {
  bsp::process::memory_use const& memory = facts.most_memory;
  ordered_json all = {{"seconds", facts.seconds},
                      {"peak_rss_bytes", memory.total_bytes()},
                      {"peak_shared_bytes", memory.shared_bytes},
                      {"peak_process_bytes", memory.process_bytes},
                      {"peak_page_table_bytes", memory.page_table_bytes},
                      {"disk_written_bytes", facts.moved.write_bytes},
                      {"disk_read_bytes", facts.moved.read_bytes},
                      {"supersteps", report.history.supersteps},
                      {"ranks_ended", report.history.ended},
                      {"plan", plan_json(report.plan)},
                      {"totals", totals_json(report.history.total())}};
  all["failure"] = facts.failure.empty() ? ordered_json() : ordered_json(facts.failure);
  return all.dump(2, ' ', true, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace outsize::launcher
