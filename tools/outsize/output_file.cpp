// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The memory is an output_file's own: it is small, and there may be no storage to take it from.
#include <tools/outsize/output_file.hpp>

#include <outsize/base/units.hpp>
#include <tools/outsize/compression_options.hpp>

namespace outsize::tool {
namespace {

constexpr std::size_t window_bytes = 1_MiB;

}  // namespace

output_file::output_file(std::string const& path)
    : queue_(io::make_request_queue()),
      budget_(2 * window_bytes),
      memory_(budget_.take(2 * window_bytes, path)),
      stream_(io::open_output(
          path, *queue_, {.block_bytes = window_bytes, .compress = compression_promised_by(path)})),
      windows_(*stream_, memory_, window_bytes) {}

}  // namespace outsize::tool
