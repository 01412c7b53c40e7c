// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
// `outsize sort`: sorts, merges or checks files of lines or binary records. Layer: tools.
//
// Everything that can be refused is refused before the first byte is read; the work itself is done
// by text::sort_lines, sort_records and their siblings.

#include <fmt/format.h>
#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <variant>

#include <outsize/algorithm/detail/file_merge.hpp>
#include <outsize/algorithm/record_sort.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/printable_text.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/text/line_sort.hpp>
#include <tools/outsize/command.hpp>
#include <tools/outsize/record_scan.hpp>
#include <tools/outsize/sort_command.hpp>
#include <tools/outsize/sort_request.hpp>

namespace outsize::tool {
namespace {

// ---- -c and -C ----

/// The item as GNU sort shows it, byte for byte; a terminal gets nothing that it would obey.
std::string shown_item(std::string_view item) {
  return ::isatty(STDERR_FILENO) != 0 ? printable(item) : std::string(item);
}

void tell_disorder(sort_request const& request, record_scan const& scan) {
  auto const& keys = request.keys;
  auto item = keys.format ? std::string_view() : scan.current();
  if (keys.csv && item.ends_with('\r')) item.remove_suffix(1);
  put_error(fmt::format("outsize sort: {}:{}: disorder{}{}{}", printable(request.inputs[0]),
                        scan.line(), keys.format ? "" : ": ", shown_item(item), keys.delimiter()));
}

template <typename Order>
int check_order(sort_request const& request, Order const& order, record_scan scan) {
  std::uint64_t const first = request.keys.header ? 2 : 1;
  while (scan.next()) {
    if (scan.count() <= first) continue;
    int const c = order.compare(scan.previous(), scan.current());
    if (c < 0 || (c == 0 && !request.keys.unique)) continue;
    if (request.what == sort_request::action::check) {
      tell_disorder(request, scan);
    }
    return exit_no;
  }
  return exit_done;
}

int check(sort_request const& request, item_order const& order) {
  memory_budget codec_memory(codec_bytes_beside_scans(1));
  auto scan = open_scan(request.keys, request.codecs, request.inputs[0], codec_memory);
  return std::visit([&](auto const& by) { return check_order(request, by, std::move(scan)); },
                    order);
}

// ---- sorting and merging ----

sort_paths paths_of(sort_request const& request) { return {request.inputs, request.output}; }

sort_options with_request(sort_options options, sort_request const& request) {
  options.unique = request.keys.unique;
  request.codecs.apply_to(options, request.inputs, request.output, contents_of(request.keys));
  return options;
}

command_files files_of(sort_request const& request) {
  bool const merges = request.what == sort_request::action::merge;
  return {.inputs = request.inputs,
          .output = request.output,
          .codecs = request.codecs,
          .what = contents_of(request.keys),
          .inputs_at_once = merges
                                ? outsize::detail::inputs_decoded_at_once(
                                      paths_of(request), with_request(request.sorting(), request))
                                : 1};
}

sort_report run(storage& store, sort_request const& request, item_order const& order,
                sort_options const& options) {
  bool const merges = request.what == sort_request::action::merge;
  sort_paths const paths = paths_of(request);
  if (auto const* lines = std::get_if<text::line_order>(&order)) {
    line_format const format = request.keys.lines();
    return merges ? text::merge_lines(store, paths, *lines, format, options)
                  : text::sort_lines(store, paths, *lines, format, options);
  }
  auto const& records = std::get<record_order>(order);
  return merges ? merge_records(store, paths, records, options)
                : sort_records(store, paths, records, options);
}

sort_plan make_plan(storage& store, sort_request const& request, item_order const& order) {
  bool const merges = request.what == sort_request::action::merge;
  sort_options const options = with_request(request.sorting(), request);
  sort_paths const paths = paths_of(request);
  if (auto const* lines = std::get_if<text::line_order>(&order)) {
    return merges ? text::plan_line_merge(store, paths, *lines, options)
                  : text::plan_line_sort(store, paths, *lines, options);
  }
  auto const& records = std::get<record_order>(order);
  return merges ? plan_record_merge(store, paths, records, options)
                : plan_record_sort(store, paths, records, options);
}

bool is_length_known(sort_request const& request) {
  return detail::known_input_bytes(request.inputs,
                                   request.codecs.decoding(contents_of(request.keys)))
      .has_value();
}

int print_plan(storage& store, sort_request const& request, item_order const& order) {
  sort_plan const plan = make_plan(store, request, order);
  auto const bytes = [](std::uint64_t n) {
    return fmt::format("{} ({} bytes)", format_bytes(n), n);
  };
  if (!is_length_known(request)) {
    fmt::print("the size of the input is not known before it is read\n");
    fmt::print("block        {}\npeak memory  {}\n", bytes(plan.block_bytes),
               bytes(plan.memory_bytes));
    return exit_done;
  }
  if (plan.runs == 0) {
    fmt::print("runs         0: nothing has to go to disk\npasses       0\n");
  } else {
    auto const kept = plan.kept_chunks == 0
                          ? std::string()
                          : fmt::format(", and {} more that stay in memory", plan.kept_chunks);
    fmt::print("runs         {} of about {}{}\npasses       {}\n", plan.runs,
               format_bytes(plan.run_bytes), kept, plan.passes);
  }
  fmt::print("block        {}\n", bytes(plan.block_bytes));
  fmt::print("peak memory  {}\n", bytes(plan.memory_bytes));
  if (plan.job.memory_bytes != 0) {  // a merge takes what it is given
    auto const needs = needs_of(plan.job);
    fmt::print("needs        {} at least; one merge from {} on, no disk from {} on\n",
               format_bytes(needs.least_bytes), format_bytes(needs.knee_bytes),
               format_bytes(needs.most_bytes));
  }
  auto const in_room =
      plan.room_bytes == 0
          ? std::string()
          : fmt::format("; {} if runs can be written over by the output", bytes(plan.room_bytes));
  fmt::print("peak disk    {}, beyond input and output{}\n", bytes(plan.peak_disk_bytes), in_room);
  fmt::print("to read      {}\n", bytes(plan.read_bytes));
  fmt::print("to write     {}\n", bytes(plan.written_bytes));
  return exit_done;
}

int plan_only(sort_request const& request, item_order const& order) {
  return naming_memory(request, [&] {
    outsize::storage store(sort_storage(request, files_of(request)));
    return print_plan(store, request, order);
  });
}

int sort_or_merge(sort_request const& request, item_order const& order) {
  auto files = files_of(request);
  files.plan = [&](storage& store) {
    return is_length_known(request) ? std::optional(make_plan(store, request, order))
                                    : std::nullopt;
  };
  return run_sort_command("sort", request, files, [&](auto& store, sort_options const& options) {
    return run(store, request, order, with_request(options, request));
  });
}

}  // namespace

int cmd_sort(int argc, char** argv) {
  auto const request = read_sort_request(argc, argv);
  if (!request) return exit_done;
  item_order const order = request->keys.any_order();
  if (request->what == sort_request::action::check ||
      request->what == sort_request::action::check_silently)
    return check(*request, order);
  return request->plan ? plan_only(*request, order) : sort_or_merge(*request, order);
}

}  // namespace outsize::tool
