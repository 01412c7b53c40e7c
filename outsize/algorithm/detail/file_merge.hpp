// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Merging input streams that are sorted already into an output stream, without a temporary file.
//
// Each input is read ahead through buffers of its own; a loser tree picks the next record. One
// thread merges: the inputs are byte streams, whose records can only be found from front to back.
// Layer: algorithm.

#include <fmt/format.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/algorithm/detail/file_sort.hpp>
#include <outsize/algorithm/detail/record_output.hpp>
#include <outsize/algorithm/detail/sort/family/record_items.hpp>
#include <outsize/base/error.hpp>
#include <outsize/kernel/detail/loser_tree.hpp>
#include <outsize/record/record_reader.hpp>

namespace outsize::detail {

/// What inputs and output are made of.
struct record_shape {
  std::size_t item_bytes = 0;  ///< Of each record; 0: lines
  line_format lines = {};

  item_framing framing() const noexcept {
    if (item_bytes != 0) return {};
    return {item_framing::kind::terminator, lines.delimiter};
  }
  /// Whether each line of an input is one that is sorted, as it stands.
  bool is_of_plain_lines() const noexcept { return item_bytes == 0 && !lines.csv && !lines.header; }
  record_reader reader(io::input_stream& in, std::uint64_t memory_bytes,
                       std::uint64_t longest_line_bytes) const {
    return item_bytes != 0 ? record_reader::of_records(in, item_bytes)
                           : record_reader::of_lines(in, lines, memory_bytes, longest_line_bytes);
  }
};

/// A record of one input after the other, as the loser tree wants them.
template <typename Order>
class reader_cursor {
 public:
  reader_cursor(Order const& order, record_reader& reader) : order_(&order), reader_(&reader) {}

  bool next() {
    auto const record = reader_->next();
    if (record) current_ = {order_->prefix(*record), record->data(), record->size()};
    return record.has_value();
  }
  record_key_ref get() const noexcept { return current_; }

 private:
  Order const* order_;
  record_reader* reader_;
  record_key_ref current_{};
};

/// How a merge divides its memory among so many inputs:
///
///   | windows, 1/8 | read-ahead of the inputs, 3/8 | lines that straddle their blocks, 1/2 |
struct merge_division {
  io::input_stream_options reading;
  std::size_t window_bytes;  ///< Of each of the two.
  std::uint64_t longest_line_bytes;
};

/// Nothing if there are too many inputs: for this memory, for options.most_fan_in, for the files
/// that a process may have open, or to be decompressed at once.
std::optional<merge_division> divide_for_merge(storage& store, std::uint64_t memory_bytes,
                                               sort_paths const& paths,
                                               sort_options const& options);

/// Of how many inputs a merge has the codecs at once, at most: of all, or of one if they are to be
/// sorted instead.
std::size_t inputs_decoded_at_once(sort_paths const& paths, sort_options const& options);

/// The plan of a merge that needs no disk.
sort_plan plan_direct_merge(merge_division const& division, std::uint64_t memory_bytes,
                            sort_paths const& paths, sort_options const& options);

/// Sorted records of several streams, merged.
template <typename Order>
class merging_reader {
 public:
  merging_reader(merging_reader const&) = delete;
  merging_reader& operator=(merging_reader const&) = delete;
  /// `order`, and the streams of `readers`, must outlive it.
  merging_reader(Order const& order, std::vector<record_reader> readers)
      : readers_(std::move(readers)), less_{&order}, tree_(first_records(order, readers_), less_) {}

  /// The next record, valid until the next call; nothing at the end.
  std::optional<std::string_view> next() {
    if (has_begun_) tree_.pop();
    has_begun_ = true;
    if (tree_.empty()) return std::nullopt;
    return tree_.top().record();
  }

 private:
  using cursor = reader_cursor<Order>;
  using less = typename record_items<Order>::key_less;

  static std::vector<cursor> first_records(Order const& order,
                                           std::vector<record_reader>& readers) {
    std::vector<cursor> made;
    for (record_reader& reader : readers) {
      cursor one(order, reader);
      if (one.next()) made.push_back(one);
    }
    return made;
  }

  std::vector<record_reader> readers_;
  less less_;
  loser_tree<cursor, less> tree_;  // refers to less_
  bool has_begun_ = false;
};

/// Copies records to the output, with `unique` only the first of those that are equal, and commits
/// it.
template <typename Order>
sort_report copy_merged(merging_reader<Order>& in, record_output& out, Order const& order,
                        item_framing framing, sort_options const& options,
                        std::optional<std::uint64_t> known_bytes) {
  constexpr std::uint64_t records_per_report = 1 << 12;
  sort_report report;
  std::optional<std::string> last;
  while (auto const record = in.next()) {
    ++report.items;
    report.input_bytes += record->size() + framing.overhead_bytes();
    if (report.items % records_per_report == 0) {
      if (options.stop.stop_requested()) throw cancelled("merge");
      if (options.on_progress)
        options.on_progress({.now = sort_progress::phase::writing_output,
                             .done_bytes = report.input_bytes,
                             .total_bytes = known_bytes.value_or(0)});
    }
    if (options.unique) {
      if (last && order.equal_keys(*last, *record)) continue;
      last = *record;
    }
    out.append(*record);
    ++report.output_items;
  }
  out.finish();
  return report;
}

/// Puts first what all inputs begin with, and has records end as theirs do. @throws format_error.
void append_header(record_output& out, std::vector<record_reader>& readers, sort_paths const& paths,
                   line_format const& lines);

/// Fills a chunk for sort_files with records, the header aside.
class record_filling {
 public:
  record_filling(record_shape const& shape, std::uint64_t memory_bytes,
                 std::uint64_t longest_line_bytes, input_header& header)
      : shape_(shape), memory_(memory_bytes), longest_(longest_line_bytes), header_(header) {}

  template <typename Engine>
  void operator()(Engine& engine, io::input_stream& in) const {
    auto reader = shape_.reader(in, memory_, longest_);
    if (shape_.item_bytes == 0) header_.take_from(reader, in.name(), shape_.lines);
    try {
      fill_records(engine, std::move(reader));
    } catch (budget_error const& e) {
      if (e.asker() == in.name()) throw;  // the reader's; who sorts knows of no file
      throw budget_error(e.asker(), e.have_bytes(), e.need_bytes(),
                         fmt::format("{}: {}", in.name(), e.what()));
    }
  }

 private:
  record_shape const& shape_;
  std::uint64_t memory_;
  std::uint64_t longest_;
  input_header& header_;
};

/// Sorts inputs of records of any shape.
template <typename Order>
sort_report sort_shaped_files(storage& store, Order const& order, record_shape const& shape,
                              sort_paths const& paths, sort_options const& options) {
  std::uint64_t const memory = memory_of(store, options);
  input_header header;
  record_filling const fill(shape, memory, memory / 5, header);
  std::optional<line_operations> lines;
  if (shape.is_of_plain_lines())
    lines = operations_of_lines(order, shape.lines.delimiter, memory / 5);
  return sort_files(store, record_items(order, shape.item_bytes), shape.framing(), paths, options,
                    fill, header, lines);
}

/// Merges sorted inputs of records of any shape. Too many inputs for one merge are sorted instead,
/// with the same result.
template <typename Order>
sort_report merge_files(storage& store, Order const& order, record_shape const& shape,
                        sort_paths const& paths, sort_options const& options) {
  io::input_watch const inputs(paths.inputs, paths.output);
  auto const known = known_input_bytes(paths.inputs, options.decoding());
  std::uint64_t const memory = memory_of(store, options);
  require_sort_memory(memory);
  auto const division = divide_for_merge(store, memory, paths, options);
  if (!division) return sort_shaped_files(store, order, shape, paths, options);
  if (known && shape.item_bytes != 0) require_whole_items(paths.inputs, shape.item_bytes);

  grant taken = store.memory().take(memory, "merge");
  bool const same_size = known && !options.unique && shape.item_bytes != 0;
  std::vector<std::unique_ptr<io::input_stream>> streams;
  std::vector<record_reader> readers;
  for (std::string const& path : paths.inputs) {
    streams.push_back(block::open_input(store, path, taken, division->reading));
    readers.push_back(shape.reader(*streams.back(), memory, division->longest_line_bytes));
  }
  auto const out = block::open_output(store, paths.output,
                                      {.block_bytes = division->reading.block_bytes,
                                       .expected_bytes = same_size ? known : std::nullopt,
                                       .compress = options.compress,
                                       .inputs = inputs});
  record_output output(*out, taken, division->window_bytes, shape.framing());
  if (shape.item_bytes == 0) append_header(output, readers, paths, shape.lines);
  merging_reader<Order> merged(order, std::move(readers));
  sort_report report = copy_merged(merged, output, order, shape.framing(), options, known);
  report.memory_bytes = memory;
  report.block_bytes = division->reading.block_bytes;
  return report;
}

/// What merge_files would do.
template <typename Order>
sort_plan plan_merge_files(storage& store, Order const& order, std::size_t item_bytes,
                           sort_paths const& paths, sort_options const& options) {
  std::uint64_t const memory = memory_of(store, options);
  require_sort_memory(memory);
  auto const division = divide_for_merge(store, memory, paths, options);
  if (division) return plan_direct_merge(*division, memory, paths, options);
  return plan_files(store, record_items<Order>(order, item_bytes), paths, options);
}

}  // namespace outsize::detail
