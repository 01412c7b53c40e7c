// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Bytes copied into an output stream: sequential output of commands to a file, which appears under
// its name only when it is complete, or to standard output, a pipe or a device. Layer: tools.
// One thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <outsize/algorithm/detail/record_output.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/io/output_stream.hpp>
#include <outsize/io/request_queue.hpp>

namespace outsize::tool {

class output_file {
 public:
  /// Opens `path`; "-" is stdout. What its name promises is compressed.
  /// Errors:  io_error naming the path; as compression_promised_by.
  explicit output_file(std::string const& path);

  /// Errors:  io_error naming the path, out_of_space naming the disk.
  void write(std::string_view bytes) { windows_.append(bytes); }

  /// Writes what is left, learns of late errors, and makes the file appear; no write may follow.
  /// Without it nothing appears, and what had the name before stays. Errors: as write.
  void close() { windows_.finish(); }

 private:
  // Each needs those before it.
  std::unique_ptr<io::request_queue> queue_;
  memory_budget budget_;
  grant memory_;
  std::unique_ptr<io::output_stream> stream_;
  detail::record_output windows_;
};

}  // namespace outsize::tool
