// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What the networks that copy files in order have in common. Pure functions. Layer: algorithm.

#include <algorithm>
#include <cstddef>

#include <outsize/algorithm/sort_options.hpp>
#include <outsize/base/units.hpp>
#include <outsize/block/storage.hpp>
#include <outsize/pipeline/network.hpp>

namespace outsize::detail {

/// The requests under way and the buffers of a copy. Fewer buffers, or as many requests to write as
/// to read, and the two wait for each other (decision 0042).
struct copy_shape {
  static constexpr std::size_t read_depth = 8;
  static constexpr std::size_t write_depth = 4;
  static constexpr std::size_t buffers = 2 * (read_depth + write_depth);
  static constexpr std::size_t longest_buffer_bytes = 2_MiB;  // one request
  static constexpr std::size_t most_threads = 4;              // that look at buffers, or sort them
};

inline std::size_t copy_threads(storage& store) {
  return std::clamp<std::size_t>(store.threads().threads(), 1, copy_shape::most_threads);
}

inline pipeline::network_options copy_network(storage& store, char const* name,
                                              sort_options const& options) {
  return {.name = name,
          .threads = std::max<std::size_t>(2, copy_threads(store)),
          .tune = false,
          .trace = options.trace,
          .errors_name_stages = false};
}

}  // namespace outsize::detail
