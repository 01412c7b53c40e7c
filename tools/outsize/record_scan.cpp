// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A scan has a small queue and the memory of its read-ahead for itself: no storage is needed to
// read one file front to back.
#include <tools/outsize/record_scan.hpp>

#include <algorithm>
#include <bit>
#include <limits>

#include <outsize/base/machine.hpp>
#include <outsize/base/units.hpp>

#include <tools/outsize/work_options.hpp>

namespace outsize::tool {
namespace {

constexpr std::uint64_t any_length = std::numeric_limits<std::uint64_t>::max();

record_reader reader_of(io::input_stream& in, std::size_t item_bytes, line_format const& lines) {
  if (item_bytes != 0) return record_reader::of_records(in, item_bytes);
  return record_reader::of_lines(in, lines, any_length, any_length);
}

io::input_stream_options options_of(record_scan::reading const& how) {
  return {.block_bytes = how.block_bytes,
          .decompress = how.decoding.decompress,
          .transcode = how.decoding.transcode,
          .codec_memory = how.codec_memory,
          .on_growth = tell_of_growth};
}

/// Five of them are a twelfth of the memory at most.
std::size_t block_bytes_of_scan() {
  return std::clamp<std::size_t>(std::bit_floor(available_memory_bytes() / 64), 64_KiB,
                                 record_scan::default_block_bytes);
}

}  // namespace

record_scan::source::source(std::string const& path, std::size_t item_bytes,
                            line_format const& lines, io::input_stream_options const& options)
    : queue(io::make_request_queue()),
      budget(io::input_stream_memory_bytes(options)),
      memory(budget.take(budget.total_bytes(), path)),
      bytes(io::open_input(path, *queue, memory, options)),
      records(reader_of(*bytes, item_bytes, lines)),
      is_csv(lines.csv.has_value()) {}

bool record_scan::next_beyond() {
  source_->previous.assign(current_);
  previous_ = source_->previous;
  auto const found = source_->records.next();
  current_ = found.value_or(std::string_view());
  if (found) ++count_;
  return found.has_value();
}

record_scan record_scan::of_lines(std::string const& path, line_format const& lines,
                                  reading const& how) {
  return record_scan(std::make_unique<source>(path, 0, lines, options_of(how)));
}

record_scan record_scan::of_records(std::string const& path, std::size_t item_bytes,
                                    reading const& how) {
  return record_scan(std::make_unique<source>(path, item_bytes, line_format(), options_of(how)));
}

record_scan open_scan(key_options const& keys, compression_options const& codecs,
                      std::string const& path, memory_budget& codec_memory) {
  auto const what = contents_of(keys);
  codecs.look_at(path, what);
  record_scan::reading const how{.decoding = codecs.decoding(what),
                                 .block_bytes = block_bytes_of_scan(),
                                 .codec_memory = &codec_memory};
  return keys.format ? record_scan::of_records(path, keys.format->item_bytes, how)
                     : record_scan::of_lines(path, keys.lines(), how);
}

std::uint64_t codec_bytes_beside_scans(std::size_t count) {
  constexpr std::uint64_t fixed = 4_MiB, least = 1_MiB;
  std::uint64_t const of_scan =
      io::input_stream_memory_bytes(options_of({.block_bytes = block_bytes_of_scan()}));
  std::uint64_t const available = available_memory_bytes();
  return std::max(least, available - std::min(available, fixed + count * of_scan));
}

}  // namespace outsize::tool
