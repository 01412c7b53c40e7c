// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/text/line_shuffle.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include <outsize/algorithm/detail/file_sort.hpp>
#include <outsize/algorithm/sort_plan.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>
#include <outsize/text/detail/headed_record.hpp>
#include <outsize/text/detail/line_files.hpp>
#include <outsize/text/detail/random_permutation.hpp>

namespace outsize::text {
namespace {

/// Numbers of a range that is no shorter are drawn one by one, of a shorter one sorted, since few
/// have orders that a permutation of random_permutation's kind cannot be. Decided by the range
/// alone: the order must not depend on the memory, nor on how many are asked for.
constexpr std::uint64_t long_range = std::uint64_t{1} << 20;

/// What is known when all lines have been read.
struct shuffled_input {
  std::string header = {};  // of the files, with its end
  char end_of_lines = '\n';
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;                        // of the files
  std::optional<std::uint64_t> known_bytes = {};  // of them, beforehand
};

struct shuffle_job {
  storage& store;
  grant& streams;
  detail::line_division const& division;
  shuffle_lines_options const& order;
  sort_options const& options;
  shuffled_input& input;
};

/// Calls use(line) for all lines.
template <typename F>
struct lines_visitor {
  shuffle_job const& job;
  F const& use;

  void operator()(lines_of_files const& files) const {
    detail::line_input in(job.store, job.streams, job.division, {files.paths, job.order.lines});
    for (; auto const line = in.next(); ++job.input.items) use(*line);
    job.input.header = in.header();
    job.input.end_of_lines = in.end_of_lines();
    job.input.bytes = in.line_bytes();
  }
  void operator()(given_lines const& given) const {
    for (auto const& line : given.lines) use(std::string_view(line));
    job.input.items = given.lines.size();
  }
  void operator()(number_range const& range) const {
    for (std::uint64_t i = 0; i < range.count; ++i) {
      fmt::format_int const text(range.first + i);
      use(std::string_view(text.data(), text.size()));
    }
  }
};

template <typename F>
void for_each_line(shuffle_job const& job, shuffle_source const& lines, F const& use) {
  std::visit(lines_visitor<F>{job, use}, lines);
}

/// All lines in memory, to be drawn from.
///
///   | line line line … | free | end of line 1 | end of line 0 |
class resident_lines {
 public:
  resident_lines(storage& store, std::uint64_t bytes)
      : grant_(store.memory().take(bytes, "shuffle")),
        memory_(grant_.allocate(round_down<std::size_t>(bytes, page_bytes()))) {}

  void push(std::string_view line) {
    std::size_t const needed = used_ + line.size() + (count_ + 1) * sizeof(std::uint64_t);
    if (needed > memory_.size())
      throw budget_error("shuffle", memory_.size(), needed,
                         fmt::format("lines to be repeated do not fit in the {} for them",
                                     format_bytes(memory_.size())));
    std::memcpy(memory_.data() + used_, line.data(), line.size());
    used_ += line.size();
    ++count_;
    *end(count_ - 1) = used_;
  }

  std::uint64_t size() const noexcept { return count_; }
  std::string_view operator[](std::uint64_t i) const noexcept {
    std::uint64_t const begin = i == 0 ? 0 : *end(i - 1);
    return {reinterpret_cast<char const*>(memory_.data()) + begin, *end(i) - begin};
  }

 private:
  std::uint64_t* end(std::uint64_t i) const noexcept {
    return reinterpret_cast<std::uint64_t*>(memory_.data() + memory_.size()) - 1 - i;
  }

  grant grant_;
  buffer memory_;
  std::size_t used_ = 0;
  std::uint64_t count_ = 0;
};

void require_not_stopped(shuffle_job const& job) {
  if (job.options.stop.stop_requested()) throw cancelled("shuffle");
}

/// Calls write(i) for `count` random numbers below `size`.
template <typename F>
void draw(shuffle_job const& job, std::uint64_t size, F const& write) {
  if (job.order.count == 0) return;
  if (size == 0) throw format_error("no lines to repeat");
  random_numbers numbers(job.order.salt);
  for (std::uint64_t i = 0; job.order.count == shuffle_lines_options::all || i < job.order.count;
       ++i) {
    require_not_stopped(job);
    write(numbers.below(size));
  }
}

/// What is written, and how much of it.
struct counted_output {
  detail::line_output& out;
  char const& end_of_lines;  // known when all have been read
  sort_report report = {};

  void write(std::string_view line) {
    out.put_line(line, end_of_lines);
    ++report.output_items;
  }
  void write(std::uint64_t number) {
    fmt::format_int const text(number);
    write(std::string_view(text.data(), text.size()));
  }
};

void repeat(shuffle_job const& job, shuffle_source const& lines, counted_output& out) {
  if (auto const* range = std::get_if<number_range>(&lines))
    return draw(job, range->count, [&](std::uint64_t i) { out.write(range->first + i); });
  resident_lines resident(job.store, job.division.work_bytes);
  for_each_line(job, lines, [&](std::string_view line) { resident.push(line); });
  out.out.put(job.input.header);
  draw(job, resident.size(), [&](std::uint64_t i) { out.write(resident[i]); });
}

void permute(shuffle_job const& job, shuffle_source const& lines, counted_output& out) {
  if (auto const* range = std::get_if<number_range>(&lines); range && range->count >= long_range) {
    random_permutation const place(job.order.salt, range->count);
    std::uint64_t const count = std::min(job.order.count, range->count);
    for (std::uint64_t i = 0; i < count; ++i) {
      require_not_stopped(job);
      out.write(range->first + place(i));
    }
    return;
  }
  sort_options sorting = with_memory(job.options, job.division.work_bytes, job.input.known_bytes);
  sorting.unique = false;
  top_sorter sorter(job.store, headed_order(), job.order.count, sorting);
  std::string record;
  std::uint64_t index = 0;
  for_each_line(job, lines, [&](std::string_view line) {
    assign_headed(record, job.order.salt.number(index++), line);
    sorter.push(record);
  });
  out.out.put(job.input.header);
  for (sorter.sort(); !sorter.empty(); ++sorter) out.write(behind_header(*sorter));
  std::uint64_t const written = out.report.output_items;
  out.report = sorter.report();
  out.report.output_items = written;
}

}  // namespace

sort_report shuffle_lines(storage& store, shuffle_source const& lines, std::string const& output,
                          shuffle_lines_options const& order, sort_options const& options) {
  sort_paths paths{{}, output};
  if (auto const* files = std::get_if<lines_of_files>(&lines)) paths.inputs = files->paths;
  shuffled_input input{.end_of_lines = order.lines.delimiter,
                       .known_bytes = detail::known_input_bytes(paths.inputs, options.decoding())};
  auto const division = detail::divide_for_lines(store, paths, options);
  grant streams = store.memory().take(division.stream_bytes, "shuffle");
  detail::line_output out(store, streams, division, output);
  counted_output written{out, input.end_of_lines};
  if (auto const* range = std::get_if<number_range>(&lines)) input.items = range->count;
  shuffle_job const job{store, streams, division, order, options, input};
  if (order.repeat) {
    repeat(job, lines, written);
  } else {
    permute(job, lines, written);
  }
  out.finish();
  written.report.items = input.items;
  written.report.input_bytes = input.bytes;
  written.report.memory_bytes = division.memory_bytes;
  return written.report;
}

}  // namespace outsize::text
