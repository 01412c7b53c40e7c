// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A file that gets one text: a report of a run. Layer: tools. One thread at a time.

#include <memory>
#include <string>
#include <string_view>

#include <outsize/base/memory_budget.hpp>
#include <outsize/io/output_stream.hpp>
#include <outsize/io/request_queue.hpp>

namespace outsize::launcher {

/// It is opened before the work, so that a report that cannot be written costs nothing, and appears
/// under its name with write().
class result_file {
 public:
  /// Opens `path`, "-" being stdout. @throws io_error that names it.
  explicit result_file(std::string const& path);

  /// Call it once. @throws io_error.
  void write(std::string_view text);

 private:
  std::unique_ptr<io::request_queue> queue_;
  memory_budget budget_;
  grant memory_;
  std::unique_ptr<io::output_stream> stream_;
};

}  // namespace outsize::launcher
