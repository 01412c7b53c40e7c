// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/item_streams.hpp>

#include <fmt/format.h>

#include <bit>

#include <outsize/base/error.hpp>
#include <outsize/base/units.hpp>

namespace outsize::detail {

io::input_stream_options input_options(storage& store, std::uint64_t memory_bytes,
                                       bool decompress) {
  std::size_t const block_bytes =
      std::clamp<std::size_t>(std::bit_floor(memory_bytes / 64), 16_KiB, 2_MiB);
  // With four, reads at times get less of the disk than the writes beside them (decision 0042).
  bool const is_plenty = memory_bytes / block_bytes >= 128;
  return {.block_bytes = block_bytes,
          .depth = is_plenty ? std::size_t{8} : 4,
          .counter = &store.file_statistics(),
          .decompress = decompress};
}

io::input_stream_options input_options_that_fit(storage& store, sort_options const& options) {
  auto reading = input_options(store, options);
  std::uint64_t const free_bytes = store.memory().free_bytes();
  while (reading.block_bytes > page_bytes() && io::input_stream_memory_bytes(reading) > free_bytes)
    reading.block_bytes /= 2;
  return reading;
}

void throw_cut_short(std::string const& name, std::uint64_t bytes, std::size_t item_bytes) {
  throw format_error(fmt::format("{}: the last record is cut short: {} bytes are no multiple of {}",
                                 name, bytes, item_bytes));
}

}  // namespace outsize::detail
