// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/stream/sources.hpp>

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

}  // namespace outsize::stream::detail
