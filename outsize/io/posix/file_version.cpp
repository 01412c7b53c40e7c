// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/file_version.hpp>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <outsize/base/error.hpp>
#include <outsize/io/file.hpp>
#include <outsize/io/file_samples.hpp>
#include <outsize/io/posix/open_descriptor.hpp>

namespace outsize::io {
namespace {

std::int64_t nanoseconds(timespec const& time) noexcept {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::optional<file_version> version_in(struct stat const& status) noexcept {
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  return file_version{.device = status.st_dev,
                      .inode = status.st_ino,
                      .size_bytes = static_cast<std::uint64_t>(status.st_size),
                      .modified_ns = nanoseconds(status.st_mtim),
                      .changed_ns = nanoseconds(status.st_ctim)};
}

std::string difference_in_words(file_version const& before, file_version const& now) {
  if (before.size_bytes == now.size_bytes)
    return before.modified_ns == now.modified_ns ? "its mode, owner, attributes or names are others"
                                                 : "it has been written to";
  return fmt::format("it had {} bytes, {} are there now", before.size_bytes, now.size_bytes);
}

/// The version of now; names and modes do not matter.
file_version contents_now(file const& source, file_version const& begin) {
  auto now = source.version();
  now.changed_ns = begin.changed_ns;
  return now;
}

[[noreturn]] void throw_changed(file const& source, file_version const& begin,
                                file_version const& now) {
  throw changed_file(source.name(),
                     "changed while it was read: " + difference_in_words(begin, now));
}

}  // namespace

std::optional<file_version> version_of(std::string const& path) {
  struct stat status {};
  int const failed = path == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status);
  return failed != 0 ? std::nullopt : version_in(status);
}

std::optional<file_version> detail::version_of(open_descriptor const& file) noexcept {
  struct stat status {};
  return ::fstat(file.number(), &status) != 0 ? std::nullopt : version_in(status);
}

void finish_reading(file const& source, file_version const& begin) {
  auto const now = contents_now(source, begin);
  if (now != begin) throw_changed(source, begin, now);
}

void finish_reading(file& source, file_version const& begin, growth_listener const& on_growth,
                    file_samples const& read) {
  auto const now = contents_now(source, begin);
  if (now == begin) return;
  bool const is_longer = now.is_same_file(begin) && now.size_bytes > begin.size_bytes;
  if (!is_longer || !on_growth || !read.are_in(source)) throw_changed(source, begin, now);
  on_growth(fmt::format("{}: grew while it was read: {}; what was appended is left out",
                        source.name(), difference_in_words(begin, now)));
}

void throw_ended_early(file const& source, file_version const& begin) {
  auto const now = source.version();
  if (now == begin) throw io_error(EIO, "read", source.name());
  throw_changed(source, begin, now);
}

input_watch::input_watch(std::vector<std::string> const& inputs, std::string const& output)
    : output_(output) {
  auto const target = output == "-" ? std::nullopt : version_of(output);
  for (std::string const& input : inputs)
    if (auto const version = version_of(input); version && target && version->is_same_file(*target))
      replaced_.push_back(*version);
}

void input_watch::require_unchanged() const {
  if (replaced_.empty()) return;
  auto const now = version_of(output_);
  if (!now || !now->is_same_file(replaced_.front()))
    throw changed_file(output_, "not replaced: another file has got its name meanwhile");
  for (file_version const& before : replaced_)
    if (*now != before)
      throw changed_file(output_, "not replaced: it has changed since the work began: " +
                                      difference_in_words(before, *now));
}

}  // namespace outsize::io
