// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The tally adds up keys of the same bytes; keys that compare equal though their bytes differ meet
// behind the sorter, where they stand side by side in the order in which they first came.
#include <outsize/text/line_count.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <outsize/algorithm/record_sorter.hpp>
#include <outsize/algorithm/sort_plan.hpp>
#include <outsize/text/detail/headed_record.hpp>
#include <outsize/text/detail/line_files.hpp>
#include <outsize/text/detail/text_tally.hpp>
#include <outsize/text/key_extractor.hpp>

namespace outsize::text {
namespace {

using counting_sorter = record_sorter<headed_order>;

/// Writes groups.
class group_output {
 public:
  group_output(detail::line_output& out, key_extractor& keys, line_format const& lines)
      : counted_(out, lines), keys_(keys) {}

  /// All end as this record does, which is the first. Keys are values, and have no CR.
  void end_as(std::string_view record) {
    if (keys_.has_keys() && record.ends_with('\r')) counted_.add_cr();
  }
  void end_lines_with(char end) { counted_.end_lines_with(end); }
  void write_header(std::string_view line) {
    end_as(line);
    std::string const key(keys_.extract(line));
    counted_.put_header(keys_.shown(key));
  }
  void write(std::string_view key, std::uint64_t count) {
    counted_.put(count, keys_.shown(key));
    ++written_;
  }

  std::uint64_t written() const noexcept { return written_; }

 private:
  detail::counted_lines counted_;
  key_extractor& keys_;
  std::uint64_t written_ = 0;
};

/// Pushes the keys of all lines and how often each came since the last time that the tally was
/// full.
std::uint64_t push_counts(detail::line_input& in, key_extractor& keys, detail::text_tally& tally,
                          group_output& out, counting_sorter& into) {
  std::string record;
  auto const push = [&](std::string_view key, std::uint64_t count) {
    assign_headed(record, count, key);
    into.push(record);
  };
  std::uint64_t lines = 0;
  for (; auto const line = in.next(); ++lines) {
    if (lines == 0 && !in.header_line()) out.end_as(*line);
    auto const key = keys.extract(*line);
    if (tally.add(key)) continue;
    tally.for_each(push);
    tally.clear();
    if (!tally.add(key)) push(key, 1);
  }
  tally.for_each(push);
  return lines;
}

/// Calls use(key, count) for each group of equal keys, with the first of them.
template <typename F>
void for_each_group(counting_sorter& sorted, line_order const& order, F const& use) {
  std::string key;
  std::uint64_t count = 0;
  for (; !sorted.empty(); ++sorted) {
    auto const next = behind_header(*sorted);
    if (count > 0 && order.equal_keys(key, next)) {
      count += header_of(*sorted);
      continue;
    }
    if (count > 0) use(key, count);
    key = next;
    count = header_of(*sorted);
  }
  if (count > 0) use(key, count);
}

/// Writes the groups of `sorted` by their sizes; `ranks` is empty.
void write_by_count(counting_sorter& sorted, line_order const& order, counting_sorter& ranks,
                    group_output& out) {
  std::string record;
  for_each_group(sorted, order, [&](std::string_view key, std::uint64_t count) {
    assign_headed(record, ~count, key);  // the largest first
    ranks.push(record);
  });
  for (ranks.sort(); !ranks.empty(); ++ranks) out.write(behind_header(*ranks), ~header_of(*ranks));
}

}  // namespace

sort_report count_lines(storage& store, sort_paths const& paths, line_order_options const& order,
                        count_lines_options const& groups, sort_options const& options) {
  key_extractor keys(order, groups.lines.delimiter);
  auto const known = detail::known_input_bytes(paths.inputs, options.decoding());
  auto const division = detail::divide_for_lines(store, paths, options);
  grant memory = store.memory().take(division.stream_bytes, "count");
  detail::line_input in(store, memory, division, {paths.inputs, with_fields(groups.lines, order)});
  detail::line_output out(store, memory, division, paths.output);
  group_output written(out, keys, groups.lines);
  // By count there are two sorters at once, but then the tally is gone. Short lines take up to
  // sixteen times as much there; and of memory that is not needed every page would be touched.
  std::uint64_t tally_bytes = division.work_bytes / 4;
  if (known) tally_bytes = std::min(tally_bytes, 16 * *known + 64_KiB);
  std::uint64_t const sorter_bytes = division.work_bytes / 4 * (groups.by_count ? 2 : 3);
  sort_options sorting = with_memory(options, sorter_bytes, known);
  sorting.unique = false;

  line_order const& by = keys.order();
  counting_sorter sorter(store, headed_order(by), sorting);
  std::uint64_t lines = 0;
  {
    grant counting = store.memory().take(tally_bytes, "count");
    detail::text_tally tally(counting, round_down<std::size_t>(tally_bytes, page_bytes()));
    lines = push_counts(in, keys, tally, written, sorter);
  }
  sorter.sort();
  written.end_lines_with(in.end_of_lines());
  out.put(in.mark());
  if (auto const& header = in.header_line()) written.write_header(*header);
  sort_report ranking;
  if (groups.by_count) {
    counting_sorter ranks(store, headed_order(), sorting);
    write_by_count(sorter, by, ranks, written);
    ranking = ranks.report();
  } else {
    for_each_group(sorter, by, [&](auto key, auto count) { written.write(key, count); });
  }
  out.finish();
  sort_report report = sorter.report();
  report.add_work_of(ranking);
  report.items = lines;
  report.input_bytes = in.line_bytes();
  report.output_items = written.written();
  report.memory_bytes = division.memory_bytes;
  return report;
}

}  // namespace outsize::text
