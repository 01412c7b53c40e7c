// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/record/record_reader.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <utility>

#include <outsize/base/detail/byte_places.hpp>
#include <outsize/base/error.hpp>
#include <outsize/record/detail/cut_short.hpp>

namespace outsize {
namespace {

std::string_view description_of(detail::csv_scanner::fault fault) noexcept {
  using enum detail::csv_scanner::fault;
  switch (fault) {
    case unclosed:
      return "the quote is not closed";
    case behind_quote:
      return "a quoted field goes on behind its quote";
    case other_end:
      return "a line ends in LF, though the first one ends in CR alone";
    case none:
      break;
  }
  return "";
}

}  // namespace

bool record_reader::refill() {
  auto const bytes = in_->next();
  view_ = {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
  read_bytes_ += bytes.size();
  return !bytes.empty();
}

std::size_t record_reader::next_at_hand(std::span<std::string_view> records) {
  if (record_bytes_ == 0 && !csv_) return cut_lines(records);
  std::size_t count = 0;
  for (; count < records.size(); ++count) {
    auto const record = next_at_hand();
    if (!record) break;
    records[count] = *record;
  }
  return count;
}

/// Lines that are no CSV.
std::size_t record_reader::cut_lines(std::span<std::string_view> lines) {
  std::array<std::uint32_t, 512> ends;
  auto const room = std::span(ends).first(std::min(lines.size(), ends.size()));
  std::size_t const found = detail::find_byte(view_, delimiter_, room);
  std::size_t count = 0, begin = 0;
  for (; count < found && ends[count] - begin <= longest_bytes_; ++count) {
    lines[count] = {view_.data() + begin, ends[count] - begin};
    begin = std::size_t{ends[count]} + 1;
  }
  view_.remove_prefix(begin);
  return count;
}

std::optional<std::string_view> record_reader::next_across_views() {
  if (csv_) return next_csv();
  pieced_.assign(view_);
  view_ = {};
  return record_bytes_ != 0 ? finish_record() : finish_line();
}

std::optional<std::string_view> record_reader::finish_record() {
  while (refill()) {
    if (pieced_.empty() && view_.size() >= record_bytes_) return cut_record();
    std::size_t const more = std::min(record_bytes_ - pieced_.size(), view_.size());
    pieced_.append(view_.substr(0, more));
    view_.remove_prefix(more);
    if (pieced_.size() == record_bytes_) return pieced_;
  }
  if (pieced_.empty()) return std::nullopt;
  detail::throw_cut_short(in_->name(), read_bytes_, record_bytes_);
}

std::optional<std::string_view> record_reader::finish_line() {
  if (pieced_.size() > longest_bytes_) {
    view_ = pieced_;
    throw_too_long(0);
  }
  while (refill()) {
    std::size_t const end = std::min(view_.find(delimiter_), view_.size());
    if (pieced_.size() + end > longest_bytes_) throw_too_long(pieced_.size());
    if (pieced_.empty() && end < view_.size()) return cut_line();
    pieced_.append(view_.substr(0, end));
    if (end < view_.size()) {
      view_.remove_prefix(end + 1);
      return pieced_;
    }
    view_ = {};
  }
  if (pieced_.empty()) return std::nullopt;
  return pieced_;
}

/// At the beginning of CSV. What looked like a mark, and is none, is in `pieced_`, in front of the
/// view.
void record_reader::step_over_mark() {
  while (!has_mark_ && refill()) {
    auto const missing = byte_order_mark.substr(pieced_.size());
    auto const found = view_.substr(0, missing.size());
    if (!missing.starts_with(found)) return;
    pieced_ += found;
    view_.remove_prefix(found.size());
    has_mark_ = found.size() == missing.size();
  }
  if (has_mark_) pieced_.clear();
}

/// Finds out what ends the records, by the first of them. What was read for that is in `pieced_`,
/// in front of the view, and has the end of the record at most as its last byte.
void record_reader::find_end_of_lines() {
  constexpr auto not_found = detail::csv_scanner::not_found;
  detail::csv_scanner scanner(*csv_, '\r');
  auto const keep_view = [this] {
    pieced_ += view_;
    view_ = {};
    return refill();
  };
  std::size_t end = not_found;
  scanner.scan(pieced_);
  if (view_.empty() && !refill()) return;
  while ((end = scanner.scan(view_)) == not_found) {
    auto const fault = scanner.found_fault(false);
    ends_are_known_ = fault == detail::csv_scanner::fault::other_end;
    bool const is_told_later =
        fault != detail::csv_scanner::fault::none || pieced_.size() + view_.size() > longest_bytes_;
    if (is_told_later || !keep_view()) return;
  }
  bool const is_last = end + 1 == view_.size();
  auto const behind = is_last ? (keep_view(), view_) : view_.substr(end + 1);
  if (!behind.starts_with('\n')) delimiter_ = '\r';
  ends_are_known_ = true;
}

void record_reader::begin_csv() {
  if (!csv_ || std::exchange(has_begun_, true)) return;
  step_over_mark();
  find_end_of_lines();
}

/// A record of CSV with quotes, one that straddles views, or the first.
std::optional<std::string_view> record_reader::next_csv() {
  if (at_begin_) {
    begin_csv();
    at_begin_ = false;
  } else {
    pieced_.clear();
  }
  if (pieced_.empty() && view_.empty() && !refill()) return std::nullopt;
  detail::csv_scanner scanner(*csv_, delimiter_);
  if (!pieced_.empty() && scanner.scan(pieced_) != detail::csv_scanner::not_found) {
    pieced_.pop_back();
    return note_quoted(pieced_);
  }
  std::size_t const end = scan_csv(scanner);
  if (end == detail::csv_scanner::not_found) return finish_csv(scanner);
  std::string_view record = view_.substr(0, end);
  view_.remove_prefix(end + 1);
  if (!pieced_.empty()) record = pieced_ += record;
  return note_quoted(record);
}

std::optional<std::string_view> record_reader::finish_csv(detail::csv_scanner& scanner) {
  pieced_.append(view_);
  while (refill()) {
    std::size_t const end = scan_csv(scanner);
    pieced_.append(view_.substr(0, end));
    if (end == detail::csv_scanner::not_found) continue;
    view_.remove_prefix(end + 1);
    return note_quoted(pieced_);
  }
  refuse_fault(scanner, {}, true);
  if (ends_with_cr_ && !pieced_.ends_with('\r')) pieced_ += '\r';
  return note_quoted(pieced_);
}

std::string_view record_reader::note_quoted(std::string_view record) {
  refuse_missing_fields(record);
  line_number_ += static_cast<std::uint64_t>(std::ranges::count(record, delimiter_));
  note_record(record);
  return record;
}

bool record_reader::lacks_fields(std::string_view record) const {
  bool const is_empty = record.empty() || record == "\r";
  return !is_empty && detail::count_csv_fields(record, *csv_, least_fields_) < least_fields_;
}

void record_reader::refuse_missing_fields(std::string_view record) const {
  if (least_fields_ < 2 || !lacks_fields(record)) return;
  auto const count = detail::count_csv_fields(record, *csv_, least_fields_);
  throw format_error(fmt::format("{}:{}: a key is field {}, but there {} only {}", in_->name(),
                                 line_number_, least_fields_, count == 1 ? "is" : "are", count));
}

/// Goes on through the view, which is behind what is pieced together.
std::size_t record_reader::scan_csv(detail::csv_scanner& scanner) {
  std::size_t const end = scanner.scan(view_);
  refuse_fault(scanner, view_, false);
  if (pieced_.size() + std::min(end, view_.size()) > longest_bytes_)
    throw budget_error(
        in_->name(), budget_bytes_, longest_bytes_,
        fmt::format("{}:{}: a record of more than {} bytes is too long for a memory budget of {} "
                    "bytes; is a quote not closed?",
                    in_->name(), line_number_, longest_bytes_, budget_bytes_));
  return end;
}

void record_reader::refuse_fault(detail::csv_scanner const& scanner, std::string_view bytes,
                                 bool ends) const {
  auto const fault = scanner.found_fault(ends);
  if (fault == detail::csv_scanner::fault::none) return;
  auto record = pieced_;
  record += bytes;
  record.resize(std::min(record.size(), scanner.fault_place()));
  auto const line =
      line_number_ + static_cast<std::uint64_t>(std::ranges::count(record, delimiter_));
  auto const column = record.size() - (record.rfind(delimiter_) + 1) + 1;
  throw format_error(fmt::format("{}:{}:{}: {}", in_->name(), line, column, description_of(fault)));
}

/// Reads on to the end of the line, so that the message can say how long it is. The view is behind
/// the bytes `so_far`.
void record_reader::throw_too_long(std::uint64_t so_far) {
  std::uint64_t length = so_far;
  do {
    std::size_t const end = view_.find(delimiter_);
    length += std::min(end, view_.size());
    if (end != std::string_view::npos) break;
  } while (refill());
  throw budget_error(
      in_->name(), budget_bytes_, length,
      fmt::format("{}: a line of {} bytes is too long for a memory budget of {} bytes", in_->name(),
                  length, budget_bytes_));
}

}  // namespace outsize
