// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Unbuffered stdio: callers write large pieces, which go to the system as they are.
#include <tools/outsize/output_file.hpp>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <outsize/base/error.hpp>

namespace outsize::tool {

output_file::output_file(std::string path)
    : path_(std::move(path)), file_(nullptr), is_stdout_(path_ == "-") {
  file_ = is_stdout_ ? stdout : std::fopen(path_.c_str(), "wbe");
  if (file_ == nullptr) fail("create");
  std::setvbuf(file_, nullptr, _IONBF, 0);
}

output_file::~output_file() {
  if (file_ == nullptr || is_stdout_) return;
  std::fclose(file_);
  // A device or a link was there before; only what this object made may go.
  std::error_code ignored;
  if (std::filesystem::is_regular_file(std::filesystem::symlink_status(path_, ignored))) {
    std::filesystem::remove(path_, ignored);
  }
}

void output_file::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail("write");
}

void output_file::close() {
  if (std::fflush(file_) != 0) fail("write");
  if (is_stdout_) return;
  if (std::fclose(std::exchange(file_, nullptr)) != 0) fail("close");
}

void output_file::fail(char const* operation) const {
  throw io_error(errno, operation, is_stdout_ ? "standard output" : path_);
}

}  // namespace outsize::tool
