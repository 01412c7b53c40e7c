// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/stream/text_sources.hpp>

#include <outsize/algorithm/detail/input_options.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/block/user_files.hpp>
#include <outsize/text/csv_field.hpp>

namespace outsize::stream {

std::vector<std::string_view> const& csv_record::fields() const {
  if (parts_->number != number_) {
    text::split_csv(bytes_, parts_->format, parts_->fields);
    if (parts_->rooms.size() < parts_->fields.size()) parts_->rooms.resize(parts_->fields.size());
    parts_->number = number_;
  }
  return parts_->fields;
}

std::string_view csv_record::field(std::size_t index) const {
  auto const& all = fields();
  if (index >= all.size()) return {};
  return text::csv_value(all[index], parts_->format, parts_->rooms[index]);
}

namespace detail {
namespace {

io::input_stream_options options_for(segment_context const& c, io::input_decoding decoding) {
  sort_options options = reading_options(c.stream_memory_bytes());
  options.decompress = decoding.decompress;
  options.transcode = decoding.transcode;
  return outsize::detail::scan_options(c.store(), options);
}

}  // namespace

kept_form<csv_record>::type kept_form<csv_record>::of(csv_record const& item) {
  return std::make_shared<copy const>(
      copy{std::string(item.bytes()),
           {.format = item.format(), .number = 0, .fields = {}, .rooms = {}}});
}

opened_text::opened_text(segment_context& c, std::string const& path, text_form const& form)
    : opened_text(c, path, form, options_for(c, form.decoding)) {}
opened_text::opened_text(segment_context& c, std::string const& path, text_form const& form,
                         io::input_stream_options const& reading)
    : memory_(c.store().memory().take(io::input_stream_memory_bytes(reading), "input stream")),
      stream_(block::open_input(c.store(), path, memory_, reading)),
      reader_(record_reader::of_lines(*stream_, form.records, c.store().memory().total_bytes())),
      skips_header_(form.records.header) {
  c.hold(memory_.total_bytes());
}

std::span<std::string_view const> opened_text::next() {
  std::uint64_t const before = reader_.consumed_bytes();
  if (std::exchange(skips_header_, false) && !reader_.next()) return {};
  std::size_t count = reader_.next_at_hand(records_);
  if (count == 0) {
    if (auto const record = reader_.next()) records_[count++] = *record;
  }
  last_bytes_ = reader_.consumed_bytes() - before;
  return std::span(records_).first(count);
}

}  // namespace detail
}  // namespace outsize::stream
