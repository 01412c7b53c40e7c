// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Checked sequential output to a file or to stdout, for commands whose output is not worth a
// temporary file: a regular file that could not be completed is removed. Layer: tools.
// One thread at a time.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace outsize::tool {

class output_file {
 public:
  /// Creates or truncates `path`; "-" is stdout. Errors: io_error naming the path.
  explicit output_file(std::string path);
  output_file(output_file const&) = delete;
  output_file& operator=(output_file const&) = delete;
  /// Removes the file unless close() succeeded.
  ~output_file();

  /// Errors: io_error naming the path, also for a disk that is full.
  void write(std::string_view bytes);

  /// Learns of late errors; no write may follow. Errors: io_error naming the path.
  void close();

 private:
  [[noreturn]] void fail(char const* operation) const;

  std::string path_;
  std::FILE* file_;
  bool is_stdout_;
};

}  // namespace outsize::tool
