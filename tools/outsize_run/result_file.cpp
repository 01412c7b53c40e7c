// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// The memory is a result_file's own: it is small, and there is no storage yet when it is opened.
#include <tools/outsize_run/result_file.hpp>

#include <span>

#include <outsize/base/units.hpp>
#include <outsize/io/lent_windows.hpp>

namespace outsize::launcher {
namespace {

constexpr std::size_t window_bytes = 256_KiB;

}  // namespace

result_file::result_file(std::string const& path)
    : queue_(io::make_request_queue()),
      budget_(2 * window_bytes),
      memory_(budget_.take(2 * window_bytes, path)),
      stream_(io::open_output(path, *queue_, {.block_bytes = window_bytes})) {}

void result_file::write(std::string_view text) {
  buffer const memory = memory_.allocate(2 * window_bytes);
  io::lent_windows windows(*stream_, memory.bytes());
  windows.put(std::as_bytes(std::span(text)));
  windows.hand_over();
  stream_->commit();
}

}  // namespace outsize::launcher
