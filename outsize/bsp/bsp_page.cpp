// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/bsp_page.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <outsize/base/units.hpp>
#include <outsize/bsp/detail/run_pictures.hpp>
#include <outsize/pipeline/detail/network_figures.hpp>

namespace outsize::bsp {

namespace {

constexpr std::size_t most_table_rows = 48;

std::string time_text(std::int64_t ns) {
  return pipeline::detail::format_seconds(static_cast<double>(ns) * 1e-9);
}

std::string bytes_text(std::uint64_t bytes) { return bytes == 0 ? "" : format_bytes(bytes); }

std::string supersteps_text(run_report const& report) {
  run_history const& all = report.history;
  if (all.ended == report.plan.count) return fmt::format("{}", all.supersteps);
  return fmt::format("{} begun; {} of {} processors ended", all.supersteps, all.ended,
                     report.plan.count);
}

void add_facts(pipeline::run_page& page, run_report const& report) {
  run_plan const& plan = report.plan;
  superstep_counts const sum = report.history.total();
  auto const add = [&](char const* name, std::string value) {
    page.facts.emplace_back(name, std::move(value));
  };
  add("processors", fmt::format("{}, {} at a time", plan.count, plan.workers));
  add("memory", fmt::format("{}: contexts {}, messages {}, stacks and private memory {}",
                            format_bytes(plan.memory_bytes), format_bytes(plan.frame_bytes),
                            format_bytes(plan.message_bytes), format_bytes(plan.stack_bytes)));
  add("context, at most", format_bytes(plan.context_bytes));
  add("supersteps", supersteps_text(report));
  add("contexts", fmt::format("{} written, {} read", format_bytes(sum.written_bytes),
                              format_bytes(sum.read_bytes)));
  add("messages", fmt::format("{} sent: {} by way of a disk, {} read in contexts of their senders",
                              format_bytes(sum.sent_bytes), format_bytes(sum.stored_bytes),
                              format_bytes(sum.lent_bytes)));
  add("time of all processors",
      fmt::format("{} computing, {} moving, {} waiting", time_text(sum.computing_ns),
                  time_text(sum.moving_ns), time_text(sum.waiting_ns)));
}

void add_volumes(pipeline::run_page& page, superstep_counts const& sum) {
  page.volumes = {
      {"contexts, written", sum.changed_bytes, sum.written_bytes,
       "predicted: changed bytes at each swap-out"},
      {"contexts, read", sum.used_bytes, sum.read_bytes, "predicted: bytes in use at each swap-in"},
      {"messages, written", sum.stored_bytes, sum.stored_written_bytes,
       "predicted: bytes of messages that went to disk"},
      {"messages, read", sum.stored_bytes + sum.lent_bytes, sum.stored_read_bytes,
       "predicted: the same, and messages read in contexts of their senders"}};
}

std::string range_text(std::uint64_t first, std::uint64_t last) {
  return first == last ? fmt::format("{}", first) : fmt::format("{} to {}", first, last);
}

pipeline::run_page::listing superstep_table(run_history const& all) {
  pipeline::run_page::listing table{
      .title = "Bytes by superstep",
      .headings = {"superstep", "changed", "written", "in use", "read", "sent", "received",
                   "to disk", "lent", "messages written", "messages read", "formula", "moved"}};
  for (detail::superstep_group const& group : detail::superstep_groups(all, most_table_rows)) {
    superstep_counts const& sum = group.sum;
    table.rows.push_back({range_text(group.first, group.last), bytes_text(sum.changed_bytes),
                          bytes_text(sum.written_bytes), bytes_text(sum.used_bytes),
                          bytes_text(sum.read_bytes), bytes_text(sum.sent_bytes),
                          bytes_text(sum.received_bytes), bytes_text(sum.stored_bytes),
                          bytes_text(sum.lent_bytes), bytes_text(sum.stored_written_bytes),
                          bytes_text(sum.stored_read_bytes), bytes_text(sum.formula_bytes()),
                          bytes_text(sum.moved_bytes())});
  }
  return table;
}

pipeline::run_page::listing processor_table(run_history const& all) {
  pipeline::run_page::listing table{.title = "Virtual processors",
                                    .headings = {"rank", "supersteps", "computing", "moving",
                                                 "waiting", "written", "read", "sent", "received"}};
  std::size_t const count = all.processors.size();
  std::size_t const ranks = std::max<std::size_t>(div_up(count, most_table_rows), 1);
  for (std::size_t first = 0; first < count; first += ranks) {
    std::size_t const end = std::min(first + ranks, count);
    superstep_counts sum;
    for (std::size_t rank = first; rank < end; ++rank) sum += all.of_processor(rank);
    table.rows.push_back(
        {range_text(first, end - 1),
         all.merged == 1 && ranks == 1 ? fmt::format("{}", all.processors[first].size()) : "",
         time_text(sum.computing_ns), time_text(sum.moving_ns), time_text(sum.waiting_ns),
         bytes_text(sum.written_bytes), bytes_text(sum.read_bytes), bytes_text(sum.sent_bytes),
         bytes_text(sum.received_bytes)});
  }
  return table;
}

}  // namespace

pipeline::run_page page_of(run_report const& report, std::string title) {
  pipeline::run_page page{.title = std::move(title)};
  run_history const& all = report.history;
  add_facts(page, report);
  page.figures = {
      {"Virtual processors over time", detail::timeline_picture(all),
       "A row is a rank, or several. Computing: it has its turn. Moving: its context goes to disk "
       "or "
       "comes back. Waiting: for others, for memory, or for its turn."},
      {"Supersteps", detail::superstep_picture(all),
       "From the first processor that begins to the last one that ends."},
      {"Bytes of each superstep", detail::byte_picture(all),
       "The lines are those of the formula: changed bytes of contexts that go out, bytes in use of "
       "contexts that come in, messages that go to disk twice, those read in contexts of senders "
       "once."}};
  add_volumes(page, all.total());
  page.listings = {superstep_table(all), processor_table(all)};
  return page;
}

}  // namespace outsize::bsp
