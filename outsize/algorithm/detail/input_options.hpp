// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// How files of items are read: how far ahead, in what memory, and watched for changes.
//
// Values. Layer: algorithm.

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include <outsize/algorithm/item_sources.hpp>
#include <outsize/algorithm/sort_options.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/block/user_files.hpp>
#include <outsize/io/file_version.hpp>
#include <outsize/io/input_stream.hpp>

namespace outsize::detail {

/// Reading running ahead, scaled to the memory of the whole.
io::input_stream_options input_options(storage& store, std::uint64_t memory_bytes,
                                       io::input_decoding decoding = {});
inline io::input_stream_options input_options(storage& store, sort_options const& options) {
  return input_options(store, memory_of(store, options), options.decoding());
}
/// Those of a scan. If its memory is given, the same where that fits in what is free of the
/// storage's; else up to half of what is free, as whoever is shown the items may ask for some, too.
/// If need be in shorter blocks, of a page at least: no scan must fail where less would serve it.
io::input_stream_options scan_options(storage& store, sort_options const& options);

/// Watches files of items from now on, if an output file may replace one of them.
template <typename Out>
io::input_watch watch_inputs(std::vector<std::string> const& inputs, Out const& out) {
  if constexpr (std::same_as<Out, output_path>) return {inputs, out.path};
  return {};
}

}  // namespace outsize::detail
