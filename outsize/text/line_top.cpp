// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/text/line_top.hpp>

#include <outsize/algorithm/sort_plan.hpp>
#include <outsize/algorithm/top_sorter.hpp>
#include <outsize/text/detail/line_files.hpp>

namespace outsize::text {

sort_report top_lines(storage& store, sort_paths const& paths, line_order const& order,
                      top_lines_options const& wanted, sort_options const& options) {
  auto const known = detail::known_input_bytes(paths.inputs, options.decoding());
  auto const division = detail::divide_for_lines(store, paths, options);
  grant memory = store.memory().take(division.stream_bytes, "top");
  detail::line_input in(store, memory, division, {paths.inputs, order.with_fields(wanted.lines)});
  detail::line_output out(store, memory, division, paths.output);
  return with_plain_order(order, [&](auto const& by) {
    top_sorter sorter(store, by, wanted.count, with_memory(options, division.work_bytes, known));
    while (auto const line = in.next()) sorter.push(*line);
    out.put(in.header());
    for (sorter.sort(); !sorter.empty(); ++sorter) out.put_line(*sorter, in.end_of_lines());
    out.finish();
    sort_report report = sorter.report();
    report.input_bytes = in.line_bytes();
    report.memory_bytes = division.memory_bytes;
    return report;
  });
}

}  // namespace outsize::text
