// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/algorithm/detail/item_scan.hpp>

#include <fmt/format.h>

#include <bit>
#include <memory>

#include <outsize/algorithm/detail/input_options.hpp>
#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/block/user_files.hpp>
#include <outsize/io/input_stream.hpp>

namespace outsize::detail {

namespace {

constexpr std::size_t longest_block_bytes = 2_MiB;  // one request
// With few, reads at times get less of the disk than the writes beside them (decision 0042).
constexpr std::size_t few_requests = 4, many_requests = 8;

}  // namespace

io::input_stream_options input_options(storage& store, std::uint64_t memory_bytes,
                                       io::input_decoding decoding) {
  std::size_t const block_bytes =
      std::clamp<std::size_t>(std::bit_floor(memory_bytes / 64), 16_KiB, longest_block_bytes);
  bool const is_plenty = memory_bytes / block_bytes >= 128;
  return {.block_bytes = block_bytes,
          .depth = is_plenty ? many_requests : few_requests,
          .counter = &store.file_statistics(),
          .decompress = decoding.decompress,
          .transcode = decoding.transcode};
}

io::input_stream_options scan_options(storage& store, sort_options const& options) {
  auto reading = input_options(store, options);
  std::uint64_t room =
      options.memory_bytes != 0 ? store.memory().obtainable_bytes() : store.memory().fair_bytes();
  auto const fits = [&] { return io::input_stream_memory_bytes(reading) <= room; };
  if (options.memory_bytes == 0) {
    room /= 2;
    reading.block_bytes = longest_block_bytes;
    reading.depth = many_requests;
    if (!fits()) reading.depth = few_requests;
  }
  while (reading.block_bytes > page_bytes() && !fits()) reading.block_bytes /= 2;
  return reading;
}

struct opened_bytes::state {
  state(storage& store, std::string const& path, io::input_stream_options const& reading)
      : memory(store.memory().take(io::input_stream_memory_bytes(reading), "input stream")),
        stream(block::open_input(store, path, memory, reading)) {}

  grant memory;
  std::unique_ptr<io::input_stream> stream;
};

opened_bytes::opened_bytes(storage& store, std::string const& path, sort_options const& options)
    : state_(std::make_unique<state>(store, path, scan_options(store, options))) {}

opened_bytes::~opened_bytes() = default;

std::span<std::byte const> opened_bytes::next() { return state_->stream->next(); }

std::string const& opened_bytes::name() const noexcept { return state_->stream->name(); }

}  // namespace outsize::detail
