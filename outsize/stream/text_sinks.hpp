// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// into_lines(path): flows of byte strings end in the lines of a text.
//
// The text appears under its name when it is complete. One thread at a time. Layer: stream.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <outsize/algorithm/detail/record_output.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/io/compression.hpp>
#include <outsize/io/output_stream.hpp>
#include <outsize/stream/detail/context.hpp>
#include <outsize/stream/detail/expression.hpp>
#include <outsize/stream/element_stream.hpp>
#include <outsize/stream/flow.hpp>
#include <outsize/stream/sinks.hpp>

namespace outsize::stream {

/// How lines are written.
struct into_lines_options {
  char delimiter = '\n';                             ///< Put behind each item.
  io::compression compress = io::compression::none;  ///< Form of the file.
};

namespace detail {

/// Writes byte strings as lines of a file.
class line_sink : public end_sink {
 public:
  line_sink(std::string path, into_lines_options options)
      : path_(std::move(path)), options_(options) {}

  /// Opens the file. @throws io_error; budget_error.
  void begin(segment_context& c);
  void push(std::string_view item) {
    some_.append(item);
    some_.push_back(options_.delimiter);
    if (some_.size() >= some_bytes) hand_over();
  }
  void finish();
  void describe(description& d) const {
    d.operators.push_back("into_lines '" + path_ + "'");
    d.output_files.push_back({path_, 0});
    ++d.files;
  }

 private:
  static constexpr std::size_t some_bytes = 32 << 10;

  void hand_over();

  std::string path_;
  into_lines_options options_;
  segment_context* context_ = nullptr;
  grant memory_;
  std::unique_ptr<io::output_stream> stream_;
  std::unique_ptr<outsize::detail::record_output> output_;
  std::string some_;  // that go to the output next
};

}  // namespace detail

/// Ends a flow of byte strings in the lines of a file, which appears under its name when it is
/// complete; until then a file of that name stays as it is. "-" is standard output. Items are
/// written as they are, so those that hold the delimiter become several lines.
///
/// I/Os:    Writes the text once.
/// Memory:  Two windows of a 16th of the share of one file in the storage's budget, 16 KiB to 4
/// MiB. Errors:  of the run: io_error, out_of_space, budget_error.
/// Checked: text_sinks_test.cpp.
inline auto into_lines(std::string path, into_lines_options const& options = {}) {
  return detail::sink_closure([path = std::move(path), options]<typename T>() {
    static_assert(byte_string<T>,
                  "outsize: into_lines() takes byte strings: transform the items to text");
    return detail::line_sink(path, options);
  });
}

}  // namespace outsize::stream
