// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/text/line_sort.hpp>

#include <outsize/algorithm/detail/file_merge.hpp>

namespace outsize::text {

sort_report sort_lines(storage& store, sort_paths const& paths, line_order const& order,
                       line_format const& format, sort_options const& options) {
  return with_plain_order(order, [&](auto const& by) {
    return detail::sort_shaped_files(store, by, {.lines = order.with_fields(format)}, paths,
                                     options);
  });
}

sort_plan plan_line_sort(storage& store, sort_paths const& paths, line_order const& order,
                         sort_options const& options) {
  return with_plain_order(order, [&](auto const& by) {
    return detail::plan_files(store, detail::record_items(by, 0), paths, options);
  });
}

sort_report merge_lines(storage& store, sort_paths const& paths, line_order const& order,
                        line_format const& format, sort_options const& options) {
  return with_plain_order(order, [&](auto const& by) {
    return detail::merge_files(store, by, {.lines = order.with_fields(format)}, paths, options);
  });
}

sort_plan plan_line_merge(storage& store, sort_paths const& paths, line_order const& order,
                          sort_options const& options) {
  return with_plain_order(order, [&](auto const& by) {
    return detail::plan_merge_files(store, by, 0, paths, options);
  });
}

}  // namespace outsize::text
