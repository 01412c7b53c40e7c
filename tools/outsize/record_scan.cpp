// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Unbuffered stdio into a buffer of our own; the system's read-ahead overlaps it with the scan.
#include <tools/outsize/record_scan.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include <outsize/base/error.hpp>

namespace outsize::tool {

void record_scan::closer::operator()(std::FILE* file) const noexcept {
  if (file != stdin) std::fclose(file);
}

record_scan record_scan::of_lines(std::string path, char delimiter, std::size_t buffer_bytes) {
  return {std::move(path), 0, delimiter, buffer_bytes};
}

record_scan record_scan::of_records(std::string path, std::size_t item_bytes,
                                    std::size_t buffer_bytes) {
  return {std::move(path), item_bytes, '\n', buffer_bytes};
}

record_scan::record_scan(std::string path, std::size_t item_bytes, char delimiter,
                         std::size_t buffer_bytes)
    : path_(path == "-" ? "standard input" : path),
      item_bytes_(item_bytes),
      delimiter_(delimiter),
      file_(path == "-" ? stdin : std::fopen(path.c_str(), "rbe")),
      buffer_(buffer_bytes) {
  if (file_ == nullptr) throw io_error(errno, "open", path_);
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);
}

bool record_scan::next_of_kind() { return item_bytes_ != 0 ? next_record() : next_line(); }

bool record_scan::next_record() {
  while (available() < item_bytes_) {
    if (refill()) continue;
    if (available() == 0) return false;
    throw format_error(fmt::format("{}: {} bytes are no multiple of the record length, {} bytes",
                                   path_, buffer_offset_ + filled_, item_bytes_));
  }
  accept(item_bytes_, 0);
  return true;
}

bool record_scan::next_line() {
  std::size_t searched = 0;
  for (;;) {
    char const* const begin = buffer_.data() + next_;
    void const* const end = std::memchr(begin + searched, delimiter_, available() - searched);
    if (end != nullptr) {
      accept(static_cast<std::size_t>(static_cast<char const*>(end) - begin), 1);
      return true;
    }
    searched = available();
    if (refill()) continue;
    if (searched == 0) return false;
    accept(searched, 0);
    return true;
  }
}

/// Makes room behind what is still needed, the current item included as it is about to become the
/// previous one, and reads. Returns false at the end of the file.
bool record_scan::refill() {
  std::size_t const shift = current_.begin;
  std::memmove(buffer_.data(), buffer_.data() + shift, filled_ - shift);
  buffer_offset_ += shift;
  filled_ -= shift;
  next_ -= shift;
  current_.begin = 0;
  previous_ = {};
  if (filled_ > buffer_.size() / 2) buffer_.resize(2 * buffer_.size());

  std::size_t const got =
      std::fread(buffer_.data() + filled_, 1, buffer_.size() - filled_, file_.get());
  if (got == 0 && std::ferror(file_.get()) != 0) throw io_error(errno, "read", path_);
  filled_ += got;
  return got != 0;
}

}  // namespace outsize::tool
