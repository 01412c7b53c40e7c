// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/text/line_join.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <outsize/algorithm/detail/file_sort.hpp>
#include <outsize/algorithm/record_sorter.hpp>
#include <outsize/algorithm/sort_plan.hpp>
#include <outsize/base/error.hpp>
#include <outsize/text/csv_field.hpp>
#include <outsize/text/detail/line_files.hpp>
#include <outsize/text/field_split.hpp>
#include <outsize/text/line_order.hpp>

namespace outsize::text {
namespace {

using fields = std::vector<std::string_view>;

/// Fields of CSV as they are written.
void split(std::string_view line, join_options const& join, fields& into) {
  if (join.csv) return split_csv(line, *join.csv, into);
  split_fields(line, join.separator, into);
}

line_format format_of(join_options const& join, std::size_t field) {
  line_format lines(join.csv ? '\n' : join.delimiter);
  lines.csv = join.csv;
  lines.least_fields = field + 1;
  return lines;
}

/// All records alike, so that a sorter keeps them as they came.
struct input_order {
  std::uint64_t prefix(std::string_view) const noexcept { return 0; }
  int compare(std::string_view, std::string_view) const noexcept { return 0; }
  bool equal_keys(std::string_view, std::string_view) const noexcept { return true; }
};

/// How the work's memory is divided: sorters of both inputs, and a group in memory or on disk.
struct join_memory {
  std::uint64_t sorter_bytes;  // of each input
  std::uint64_t group_bytes;
  std::uint64_t spool_bytes;
};

join_memory divide(std::uint64_t work_bytes, bool sorts) {
  std::uint64_t const sorter = sorts ? work_bytes / 4 : 0;
  std::uint64_t const rest = work_bytes - 2 * sorter;
  return {sorter, rest / 4, rest / 4 * 3};
}

/// The order of join fields as an order of lines.
line_order order_of_field(std::size_t field, join_options const& join) {
  line_order_options order{.separator = join.separator, .stable = true, .csv = join.csv};
  line_key key{
      .begin_field = field, .end_field = field, .skip_begin_blanks = !join.separator && !join.csv};
  if (!join.csv && join.separator == whole_line_separator) {
    order.separator = std::nullopt;
    key = {.begin_field = field == 0 ? 0 : line_key::to_end_of_line - 1};
  }
  key.order.fold = join.fold;
  order.keys.push_back(key);
  return line_order(order);
}

/// One of the two inputs: its current line and the fields of it.
class join_input {
 public:
  struct place {
    storage& store;
    grant& streams;
    detail::line_division const& division;
  };

  join_input(place const& at, std::string const& path, std::size_t field, join_options const& join)
      : lines_(at.store, at.streams, at.division, {{path}, format_of(join, field)}),
        field_(field),
        join_(join) {}

  /// Has all lines behind the current one sorted before the next comes.
  void sort(storage& store, sort_options const& options) {
    sorter_ =
        std::make_unique<record_sorter<line_order>>(store, order_of_field(field_, join_), options);
    while (auto const line = lines_.next()) sorter_->push(*line);
    sorter_->sort();
  }

  /// Goes to the next line, which must not precede the current one if `checks`. Returns whether
  /// there is one. @throws format_error.
  bool advance(bool checks) {
    if (checks && has_line_) last_key_ = key_;
    auto const next = next_line();
    bool const compares = checks && has_line_;
    has_line_ = next.has_value();
    fields_.clear();
    if (next) split(*next, join_, fields_);
    find_key();
    if (!next) return false;
    ++count_;
    if (compares && compare_fields(last_key_, key_, join_.fold) > 0) refuse(*next);
    return true;
  }

  bool has_line() const noexcept { return has_line_; }
  std::string_view line() const noexcept { return line_; }
  fields const& current() const noexcept { return fields_; }
  std::string_view key() const noexcept { return key_; }
  std::uint64_t count() const noexcept { return count_; }
  std::uint64_t line_bytes() const noexcept { return lines_.line_bytes(); }
  std::string mark() const { return lines_.mark(); }
  detail::line_input const& lines() const noexcept { return lines_; }
  sort_report report() const { return sorter_ ? sorter_->report() : sort_report{}; }

 private:
  void find_key() {
    key_ = field_ < fields_.size() ? fields_[field_] : std::string_view();
    if (join_.csv) key_ = csv_value(key_, *join_.csv, room_);
  }

  [[noreturn]] void refuse(std::string_view line) const {
    auto const number = lines_.number_of(line);
    if (join_.csv) line = line.substr(0, line.find_first_of("\r\n"));  // a message is one line
    throw format_error(fmt::format("{}:{}: is not sorted: {}", lines_.path(), number, line));
  }

  std::optional<std::string_view> next_line() {
    if (!sorter_) {
      auto const next = lines_.next();
      line_ = next.value_or(std::string_view());
      return next;
    }
    if (has_sorted_) ++*sorter_;
    has_sorted_ = true;
    if (sorter_->empty()) return std::nullopt;
    line_ = **sorter_;
    return line_;
  }

  detail::line_input lines_;
  std::size_t field_;
  join_options const& join_;
  std::unique_ptr<record_sorter<line_order>> sorter_;
  bool has_sorted_ = false;  // whether the sorter's current line is ours
  bool has_line_ = false;
  std::string_view line_;
  fields fields_;
  std::string_view key_;
  std::string room_;  // for a value that is written otherwise
  std::string last_key_;
  std::uint64_t count_ = 0;
};

/// The lines of the second file that have one join field, which can be gone over again and again.
class join_group {
 public:
  join_group(storage& store, join_memory const& memory, join_options const& join,
             sort_options const& options)
      : store_(store),
        memory_(memory),
        join_(join),
        options_(options),
        resident_memory_(store.memory().take(memory.group_bytes, "join")) {
    options_.rewindable = true;
    options_.unique = false;
  }

  void clear() {
    constexpr std::size_t most_kept = 64;
    constexpr std::size_t most_kept_bytes = 1024;  // of one
    if (spool_) report_ = report();
    spool_.reset();
    // Lines are used again, but only so many and so long that they do not count.
    if (resident_.size() > most_kept) resident_.resize(most_kept);
    for (split_line& kept : resident_)
      if (kept.text.capacity() > most_kept_bytes) kept = {};
    size_ = 0;
    bytes_ = 0;
  }

  void add(std::string_view line) {
    std::size_t const bytes = line.size() + sizeof(split_line);
    if (!spool_ && bytes_ + bytes > memory_.group_bytes)
      spool_.emplace(store_, input_order{}, with_memory(options_, memory_.spool_bytes));
    if (spool_) return spool_->push(line);
    bytes_ += bytes;
    if (size_ == resident_.size()) resident_.emplace_back();
    split_line& kept = resident_[size_++];
    kept.text = line;
    split(kept.text, join_, kept.parts);
    bytes_ += kept.parts.size() * sizeof(std::string_view);
  }

  /// No line is added any more, until clear().
  void complete() {
    if (spool_) spool_->sort();
    is_at_begin_ = true;
  }

  /// Calls use(fields) for each line.
  template <typename F>
  void for_each(F const& use) {
    for (std::size_t i = 0; i < size_; ++i) use(resident_[i].parts);
    if (!spool_) return;
    if (!is_at_begin_) spool_->rewind();
    is_at_begin_ = false;
    for (; !spool_->empty(); ++*spool_) {
      split(**spool_, join_, parts_);
      use(parts_);
    }
  }

  /// What sorts of groups have done; without their networks, which may be very many.
  sort_report report() const {
    sort_report sum = report_;
    if (spool_) sum.add_work_of(spool_->report());
    sum.networks.clear();
    return sum;
  }

 private:
  struct split_line {
    std::string text;
    fields parts;  // of the text
  };

  storage& store_;
  join_memory memory_;
  join_options const& join_;
  sort_options options_;
  grant resident_memory_;            // of resident_, on the heap
  std::deque<split_line> resident_;  // lines stay where they are, and are used again
  std::size_t size_ = 0;
  std::uint64_t bytes_ = 0;
  sort_report report_;                               // of groups before this one
  std::optional<record_sorter<input_order>> spool_;  // what is beyond the memory, in input order
  bool is_at_begin_ = true;
  fields parts_;
};

/// Writes lines made of two.
class join_output {
 public:
  join_output(detail::line_output& out, join_options const& join)
      : out_(out),
        join_(join),
        separator_(join.csv ? join.csv->separator : join.separator.value_or(' ')),
        filler_(join.csv ? std::string() : join.filler) {
    if (join.csv) append_csv_field(filler_, join.filler, *join.csv);
  }

  /// The first lines say how all end, and how many fields they have where that is asked for.
  void follow(join_input const& first, join_input const& second) {
    if (join_.columns_of_first_lines) counts_ = {first.current().size(), second.current().size()};
    auto const& one = first.has_line() ? first : second;
    has_cr_ = join_.csv && one.has_line() && one.line().ends_with('\r');
    auto const found = first.lines().found_end_of_lines();
    end_of_lines_ = found ? *found : second.lines().end_of_lines();
  }

  /// Either may be missing, but not both.
  void write(fields const* first, fields const* second) {
    auto const& one = first ? *first : nothing_;
    auto const& two = second ? *second : nothing_;
    if (join_.columns.empty()) {
      write_joined(first != nullptr, one, two);
    } else {
      write_columns(first != nullptr, one, two);
    }
    if (has_cr_) out_.put('\r');
    out_.put(end_of_lines_);
    ++written_;
  }

  std::uint64_t written() const noexcept { return written_; }

 private:
  void write_joined(bool has_first, fields const& one, fields const& two) {
    put_join_field(has_first, one, two);
    put_others(one, join_.first_field, counts_ ? counts_->first : one.size());
    put_others(two, join_.second_field, counts_ ? counts_->second : two.size());
  }

  void write_columns(bool has_first, fields const& one, fields const& two) {
    for (join_column const& column : join_.columns) {
      if (&column != &join_.columns.front()) out_.put(separator_);
      if (column.file == join_column::join_field) {
        put_join_field(has_first, one, two);
      } else {
        put_field(column.file == 1 ? one : two, column.field);
      }
    }
  }

  void put_join_field(bool has_first, fields const& one, fields const& two) {
    put_field(has_first ? one : two, has_first ? join_.first_field : join_.second_field);
  }

  void put_others(fields const& from, std::size_t join_field, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (i == join_field) continue;
      out_.put(separator_);
      put_field(from, i);
    }
  }

  void put_field(fields const& from, std::size_t index) {
    bool const is_there = index < from.size() && !is_empty(from[index]);
    out_.put(is_there ? safe_at_end(from[index]) : std::string_view(filler_));
  }

  /// A CR that was inside of its record would be the end of another one.
  std::string_view safe_at_end(std::string_view field) {
    if (!join_.csv || !field.ends_with('\r')) return field;
    requoted_.clear();
    append_csv_field(requoted_, field, *join_.csv);
    return requoted_;
  }

  bool is_empty(std::string_view field) const noexcept {
    bool const quoted = join_.csv && field.size() == 2 && field[0] == join_.csv->quote;
    return field.empty() || quoted;
  }

  detail::line_output& out_;
  join_options const& join_;
  char separator_;
  std::string filler_;
  std::string requoted_;
  bool has_cr_ = false;
  char end_of_lines_ = '\n';
  fields nothing_;  // of a line that is missing
  std::optional<std::pair<std::size_t, std::size_t>> counts_;
  std::uint64_t written_ = 0;
};

/// The merge.
class join_pass {
 public:
  join_pass(join_options const& join, join_input& first, join_input& second, join_group& group,
            join_output& out)
      : join_(join), first_(first), second_(second), group_(group), out_(out) {}

  /// The first lines, and what they say about all.
  void begin() {
    first_.advance(false);
    second_.advance(false);
    out_.follow(first_, second_);
    if (join_.header && (first_.has_line() || second_.has_line()))
      out_.write(first_.has_line() ? &first_.current() : nullptr,
                 second_.has_line() ? &second_.current() : nullptr);
  }

  /// Goes to the first lines behind the headers, which need not follow those in the order.
  void skip_headers() {
    if (first_.has_line()) first_.advance(false);
    if (second_.has_line()) second_.advance(false);
  }

  void run() {
    while (first_.has_line() && second_.has_line()) {
      int const order = compare_fields(first_.key(), second_.key(), join_.fold);
      if (order == 0) {
        join_equal();
      } else {
        pass_unpaired(order < 0 ? first_ : second_);
        seen_unpaired_ = true;
      }
    }
    // The rest is read for what it is worth, and to know that it is in order.
    for (join_input* input : {&first_, &second_}) {
      if (!is_written(*input) && join_.check == check::never) continue;
      while (input->has_line()) pass_unpaired(*input);
    }
  }

 private:
  using check = join_options::order_check;

  bool checks() const noexcept {
    return join_.check == check::always || (join_.check == check::with_unpaired && seen_unpaired_);
  }

  bool is_written(join_input const& input) const noexcept {
    return &input == &first_ ? join_.first_unpaired : join_.second_unpaired;
  }

  void pass_unpaired(join_input& input) {
    if (is_written(input)) {
      bool const is_first = &input == &first_;
      out_.write(is_first ? &input.current() : nullptr, is_first ? nullptr : &input.current());
    }
    input.advance(checks());
  }

  /// All pairs of lines that have the field of the current ones.
  void join_equal() {
    key_ = second_.key();
    group_.clear();
    do {
      if (join_.paired) group_.add(second_.line());
    } while (second_.advance(checks()) && compare_fields(key_, second_.key(), join_.fold) == 0);
    group_.complete();
    do {
      if (join_.paired)
        group_.for_each([&](fields const& second) { out_.write(&first_.current(), &second); });
    } while (first_.advance(checks()) && compare_fields(first_.key(), key_, join_.fold) == 0);
  }

  join_options const& join_;
  join_input& first_;
  join_input& second_;
  join_group& group_;
  join_output& out_;
  std::string key_;
  bool seen_unpaired_ = false;
};

}  // namespace

sort_report join_lines(storage& store, join_paths const& paths, join_options const& join,
                       sort_options const& options) {
  auto const known = detail::known_input_bytes({paths.first, paths.second}, options.decoding());
  auto const division =
      detail::divide_for_lines(store, {{paths.first, paths.second}, paths.output}, options, 2);
  auto const shares = divide(division.work_bytes, join.sort);
  grant streams = store.memory().take(division.stream_bytes, "join");
  join_input::place const at{store, streams, division};
  join_input first(at, paths.first, join.first_field, join);
  join_input second(at, paths.second, join.second_field, join);
  auto const end = first.lines().found_end_of_lines();
  auto const second_end = second.lines().found_end_of_lines();
  if (end && second_end && *end != *second_end)
    detail::refuse_other_end(paths.second, *second_end, paths.first);
  detail::line_output out(store, streams, division, paths.output);
  out.put(first.mark());
  join_group group(store, shares, join, options);
  join_output written(out, join);
  join_pass pass(join, first, second, group, written);

  sort_options sorting = with_memory(options, shares.sorter_bytes, known);
  sorting.unique = false;
  auto const sort_both = [&] {
    if (!join.sort) return;
    first.sort(store, sorting);
    second.sort(store, sorting);
  };
  if (!join.header) sort_both();
  pass.begin();
  if (join.header) {
    sort_both();
    pass.skip_headers();
  }
  pass.run();
  out.finish();

  sort_report report;
  for (auto const& one : {first.report(), second.report(), group.report()}) report.add_work_of(one);
  report.items = first.count() + second.count();
  report.input_bytes = first.line_bytes() + second.line_bytes();
  report.output_items = written.written();
  report.memory_bytes = division.memory_bytes;
  report.peak_disk_bytes = store.peak_allocated_bytes();
  return report;
}

}  // namespace outsize::text
