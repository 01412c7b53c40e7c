// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/detail/file_merge.hpp>

#include <sys/resource.h>

#include <algorithm>

#include <outsize/algorithm/detail/input_options.hpp>

namespace outsize::detail {
namespace {

/// Half of the files that the process may have open; the other half is for all else.
std::size_t most_open_inputs() {
  constexpr std::size_t most = 512;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return most;
  return std::min<std::size_t>(most, static_cast<std::size_t>(limit.rlim_cur) / 2);
}

/// Whatever the memory.
bool can_be_open_at_once(sort_paths const& paths, sort_options const& options) {
  constexpr std::size_t most_decoded = 16;  // as each has a thread, and memory besides
  std::size_t const count = paths.inputs.size();
  if (options.most_fan_in != 0 && count > options.most_fan_in) return false;
  if (count > most_open_inputs()) return false;
  return count <= most_decoded || !options.decoding().any() ||
         encoded_inputs(paths.inputs, options.decoding()) <= most_decoded;
}

}  // namespace

std::size_t inputs_decoded_at_once(sort_paths const& paths, sort_options const& options) {
  return can_be_open_at_once(paths, options) ? paths.inputs.size() : 1;
}

std::optional<merge_division> divide_for_merge(storage& store, std::uint64_t memory_bytes,
                                               sort_paths const& paths,
                                               sort_options const& options) {
  if (!can_be_open_at_once(paths, options)) return std::nullopt;
  auto const input_count = std::max<std::size_t>(1, paths.inputs.size());
  auto reading = input_options(store, memory_bytes, options.decoding());
  reading.depth = 2;
  std::uint64_t const for_each = memory_bytes / 8 * 3 / input_count;
  while (reading.block_bytes > page_bytes() && io::input_stream_memory_bytes(reading) > for_each)
    reading.block_bytes /= 2;
  if (io::input_stream_memory_bytes(reading) > for_each) return std::nullopt;
  // One line of each input, and with `unique` the last of the output.
  std::uint64_t const line = memory_bytes / 2 / (input_count + 1);
  return merge_division{reading, round_down<std::size_t>(memory_bytes / 16, page_bytes()),
                        std::min(line, memory_bytes / 5)};
}

sort_plan plan_direct_merge(merge_division const& division, std::uint64_t memory_bytes,
                            sort_paths const& paths, sort_options const& options) {
  sort_plan plan;
  plan.memory_bytes = memory_bytes;
  plan.block_bytes = division.reading.block_bytes;
  plan.read_bytes = plan.written_bytes =
      known_input_bytes(paths.inputs, options.decoding()).value_or(0);
  return plan;
}

void append_header(record_output& out, std::vector<record_reader>& readers, sort_paths const& paths,
                   line_format const& lines) {
  input_header header;
  for (std::size_t i = 0; i < readers.size(); ++i)
    header.take_from(readers[i], paths.inputs[i], lines);
  out.end_records_with(header.end_of_lines());
  out.put(header.bytes());
}

}  // namespace outsize::detail
