// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/text/line_sort.hpp>

#include <outsize/algorithm/stream_merge.hpp>

namespace outsize::text {
namespace {

detail::item_framing lines_ending_with(char delimiter) {
  return {detail::item_framing::kind::terminator, delimiter};
}

}  // namespace

sort_report sort_lines(storage& store, sort_paths const& paths, line_order const& order,
                       char delimiter, sort_options const& options) {
  return with_plain_order(order, [&](auto const& by) {
    std::uint64_t const memory =
        options.memory_bytes != 0 ? options.memory_bytes : store.memory().free_bytes();
    auto const fill = [&](auto& engine, io::input_stream& in) {
      detail::fill_records(engine, record_reader::of_lines(in, delimiter, memory));
    };
    return detail::sort_files(store, detail::record_items(by, 0), lines_ending_with(delimiter),
                              paths, options, fill);
  });
}

sort_plan plan_line_sort(storage& store, sort_paths const& paths, line_order const& order,
                         sort_options const& options) {
  return with_plain_order(order, [&](auto const& by) {
    return detail::plan_files(store, detail::record_items(by, 0), paths, options);
  });
}

sort_report merge_lines(storage& store, sort_paths const& paths, line_order const& order,
                        char delimiter, sort_options const& options) {
  return with_plain_order(order, [&](auto const& by) {
    return detail::merge_files(store, by, 0, lines_ending_with(delimiter), paths, options);
  });
}

sort_plan plan_line_merge(storage& store, sort_paths const& paths, line_order const& order,
                          sort_options const& options) {
  return with_plain_order(order, [&](auto const& by) {
    return detail::plan_merge_files(store, by, 0, paths, options);
  });
}

}  // namespace outsize::text
