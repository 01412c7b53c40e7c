// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/stream/detail/piece_sources.hpp>

#include <outsize/algorithm/detail/input_options.hpp>
#include <outsize/io/input_stream.hpp>

namespace outsize::stream::detail {

std::optional<std::uint64_t> items_in_file(std::string const& path, std::size_t item_bytes) {
  auto const bytes = outsize::detail::known_input_bytes({path});
  if (!bytes) return std::nullopt;
  outsize::detail::require_whole_items({path}, item_bytes);
  return *bytes / item_bytes;
}

sort_options reading_options(std::uint64_t memory_bytes) {
  sort_options options;
  options.memory_bytes = memory_bytes;
  return options;
}

std::uint64_t reading_memory_bytes(segment_context const& c) {
  return io::input_stream_memory_bytes(
      outsize::detail::scan_options(c.store(), reading_options(c.stream_memory_bytes())));
}

}  // namespace outsize::stream::detail
