// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Of a group one line is held: its first, or with -D the one before the current.
#include <outsize/text/line_uniq.hpp>

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include <outsize/text/csv_field.hpp>
#include <outsize/text/detail/byte_filter.hpp>
#include <outsize/text/detail/line_files.hpp>

namespace outsize::text {
namespace {

using mark = uniq_options::mark;

void require_sensible(uniq_options const& options) {
  bool const selects = options.only_repeated || options.all_repeated || options.only_single;
  if (options.all_lines && (selects || options.count))
    throw std::invalid_argument("all lines in groups go with no choice of lines and no counts");
  if (options.all_repeated && options.count)
    throw std::invalid_argument("counts go with one line of each group, not with all of them");
}

std::string_view behind_words(std::string_view line, std::uint64_t count) {
  std::size_t at = 0;
  for (; count > 0 && at < line.size(); --count) {
    while (at < line.size() && is_blank(line[at])) ++at;
    while (at < line.size() && !is_blank(line[at])) ++at;
  }
  return line.substr(at);
}

/// The part of a line that is compared.
std::string_view compared_part(std::string_view line, uniq_options const& options) {
  line = options.lines.csv ? behind_csv_fields(line, options.skip_fields, *options.lines.csv)
                           : behind_words(line, options.skip_fields);
  line.remove_prefix(std::min<std::uint64_t>(options.skip_bytes, line.size()));
  return line.substr(0, std::min<std::uint64_t>(options.most_bytes, line.size()));
}

bool equal(std::string_view a, std::string_view b, bool fold) {
  if (!fold) return a == b;
  return std::ranges::equal(a, b, {}, to_upper, to_upper);
}

class uniq_pass {
 public:
  uniq_pass(uniq_options const& options, detail::line_output& out)
      : options_(options), out_(out), counted_(out, options.lines) {}

  void header(std::string_view line) {
    if (options_.count) {
      counted_.put_header(line);
    } else {
      out_.put_line(line, options_.lines.delimiter);
    }
  }

  void line(std::string_view line) {
    bool const joins = size_ > 0 && equal(compared_part(held_, options_),
                                          compared_part(line, options_), options_.fold);
    if (!joins) {
      end_group();
      begin_group(line);
    } else {
      ++size_;
      if (options_.all_repeated) join_repeated(line);
    }
    if (options_.all_lines) write(line);
  }

  void finish() {
    end_group();
    bool const closes = options_.marks == mark::append || options_.marks == mark::both;
    if (options_.all_lines && closes && groups_ > 0) put_mark();
  }

  std::uint64_t written() const noexcept { return written_; }

 private:
  void begin_group(std::string_view line) {
    held_ = line;
    size_ = 1;
    if (options_.all_lines) mark_group();
    ++groups_;
  }

  /// Marks where lines are written as they come: before the first, or between groups.
  void mark_group() {
    bool const opens = options_.marks == mark::prepend || options_.marks == mark::both;
    bool const parts = options_.marks == mark::separate || options_.marks == mark::append;
    if (opens || (parts && groups_ > 0)) put_mark();
  }

  /// An empty line that ends as the lines of the group do.
  void put_mark() {
    if (options_.lines.csv && held_.ends_with('\r')) out_.put('\r');
    out_.put(options_.lines.delimiter);
  }

  void join_repeated(std::string_view line) {
    if (size_ == 2) {
      bool const parts = options_.marks == mark::separate && repeated_groups_ > 0;
      if (options_.marks == mark::prepend || parts) put_mark();
      ++repeated_groups_;
    }
    write(held_);
    held_ = line;
  }

  void end_group() {
    if (size_ == 0 || options_.all_lines) return;
    bool const repeated = size_ > 1;
    bool const shown =
        repeated ? !options_.only_single : !options_.only_repeated && !options_.all_repeated;
    if (!shown) return;
    if (!options_.count) return write(held_);
    counted_.put(size_, held_);
    ++written_;
  }

  void write(std::string_view line) {
    out_.put_line(line, options_.lines.delimiter);
    ++written_;
  }

  uniq_options const& options_;
  detail::line_output& out_;
  detail::counted_lines counted_;
  std::string held_;
  std::uint64_t size_ = 0;  // of the group so far
  std::uint64_t groups_ = 0;
  std::uint64_t repeated_groups_ = 0;
  std::uint64_t written_ = 0;
};

}  // namespace

sort_report uniq_lines(storage& store, std::string const& input, std::string const& output,
                       uniq_options const& groups, sort_options const& options) {
  require_sensible(groups);
  auto const division = detail::divide_for_lines(store, {{input}, output}, options);
  grant memory = store.memory().take(division.stream_bytes, "uniq");
  detail::line_input in(store, memory, division, {{input}, groups.lines});
  detail::line_output out(store, memory, division, output);
  uniq_options writing = groups;
  writing.lines.delimiter = in.end_of_lines();
  uniq_pass pass(writing, out);
  out.put(in.mark());
  if (auto const& header = in.header_line()) pass.header(*header);
  sort_report report;
  for (; auto const line = in.next(); ++report.items) pass.line(*line);
  pass.finish();
  out.finish();
  report.input_bytes = in.line_bytes();
  report.output_items = pass.written();
  report.memory_bytes = division.memory_bytes;
  return report;
}

}  // namespace outsize::text
