// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/text/detail/line_files.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include <outsize/algorithm/detail/file_sort.hpp>
#include <outsize/algorithm/detail/input_options.hpp>
#include <outsize/algorithm/sort_plan.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/user_files.hpp>

namespace outsize::detail {
namespace {

constexpr std::size_t most_window_bytes = 4_MiB;

}  // namespace

line_division divide_for_lines(storage& store, sort_paths const& paths, sort_options const& options,
                               std::size_t open_inputs) {
  std::uint64_t const memory = memory_of(store, options);
  if (options.block_bytes == 0) require_sort_memory(memory);
  line_division division;
  division.memory_bytes = memory;
  division.reading = input_options(store, memory, options.decoding());
  division.compress = options.compress;
  division.inputs = io::input_watch(paths.inputs, paths.output);
  division.stop = options.stop;
  division.window_bytes = round_down<std::size_t>(
      std::clamp<std::uint64_t>(memory / 32, page_bytes(), most_window_bytes), page_bytes());
  division.stream_bytes =
      open_inputs * io::input_stream_memory_bytes(division.reading) + 2 * division.window_bytes;
  if (division.stream_bytes >= memory)
    throw budget_error("lines", memory, 2 * division.stream_bytes);
  division.work_bytes = memory - division.stream_bytes;
  return division;
}

line_input::line_input(storage& store, grant& memory, line_division const& division,
                       line_source source)
    : store_(&store),
      memory_(&memory),
      reading_(division.reading),
      memory_bytes_(division.memory_bytes),
      stop_(division.stop),
      source_(std::move(source)) {
  if (source_.paths.empty()) source_.paths.emplace_back("-");
  open_next();
}

void line_input::give_up_if_stopped() const {
  if (stop_.stop_requested()) throw cancelled(memory_->asker());
}

void line_input::open_next() {
  give_up_if_stopped();
  reader_.reset();
  stream_.reset();  // its memory is the next one's
  stream_ = block::open_input(*store_, source_.paths[opened_], *memory_, reading_);
  reader_ = record_reader::of_lines(*stream_, source_.lines, memory_bytes_);
  ++opened_;
  line_number_ = 0;
  header_.take_from(*reader_, path(), source_.lines);
  if (source_.lines.header) ++line_number_;
}

line_output::line_output(storage& store, grant& memory, line_division const& division,
                         std::string const& path)
    : stream_(block::open_output(store, path,
                                 {.block_bytes = division.window_bytes,
                                  .compress = division.compress,
                                  .inputs = division.inputs})),
      windows_(*stream_, memory, division.window_bytes) {}

counted_lines::counted_lines(line_output& out, line_format const& lines)
    : out_(out), csv_(lines.csv), delimiter_(lines.delimiter) {}

void counted_lines::put(std::uint64_t count, std::string_view line) {
  constexpr std::string_view blanks = "       ";
  fmt::format_int const digits(count);
  if (!csv_) out_.put(blanks.substr(std::min(digits.size(), blanks.size())));
  out_.put({digits.data(), digits.size()});
  end_line(line);
}

void counted_lines::put_header(std::string_view line) {
  out_.put(csv_ ? "count" : "  count");
  end_line(line);
}

void counted_lines::end_line(std::string_view line) {
  out_.put(csv_ ? csv_->separator : ' ');
  out_.put(line);
  if (adds_cr_) out_.put('\r');
  out_.put(delimiter_);
}

}  // namespace outsize::detail
