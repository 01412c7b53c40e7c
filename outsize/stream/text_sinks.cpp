// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/stream/text_sinks.hpp>

#include <outsize/block/storage.hpp>
#include <outsize/block/user_files.hpp>

namespace outsize::stream::detail {

void line_sink::begin(segment_context& c) {
  context_ = &c;
  std::size_t const window_bytes = file_window_bytes(c.stream_memory_bytes(), 1);
  c.outside([&] {
    memory_ = c.store().memory().take(2 * window_bytes, "output stream");
    c.hold(memory_.total_bytes());
    stream_ = block::open_output(c.store(), path_,
                                 {.block_bytes = window_bytes, .compress = options_.compress});
    output_ = std::make_unique<outsize::detail::record_output>(*stream_, memory_, window_bytes);
  });
  some_.reserve(some_bytes);
}

void line_sink::hand_over() {
  context_->outside([this] { output_->put(some_); });
  some_.clear();
}

void line_sink::finish() {
  hand_over();
  context_->outside([this] { output_->finish(); });
}

}  // namespace outsize::stream::detail
