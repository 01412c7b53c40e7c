// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Whether a file is still what it was: while it is read, and before an output replaces it.
//
//   reading    what counts is the file at its opening. Cut short or written to meanwhile, what has
//              been read is neither the old file nor the new one: changed_file. A file that only
//              grew, by samples of what was read, has been read as it was; the listener is told,
//              and without one that is changed_file, too.
//   replacing  an output may be an input. Before it gets its name the input must be the file that
//              it was before the work, byte for byte, or what somebody wrote meanwhile is lost.
//
// Judged by device, inode, size and times, as the file system notes them: two writes within one
// tick of its clock look like one. Values, which any thread may read. Layer: io.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace outsize::io {

class file;
class file_samples;

/// A file at some moment.
struct file_version {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ns = 0;  ///< When its contents changed last.
  std::int64_t changed_ns = 0;   ///< When anything of it did: contents, mode, names.

  bool is_same_file(file_version const& other) const noexcept {
    return device == other.device && inode == other.inode;
  }
  friend bool operator==(file_version const&, file_version const&) = default;
};

/// The version of the regular file that `path` leads to ("-": of standard input); nothing if it
/// leads to none.
std::optional<file_version> version_of(std::string const& path);

/// Is told, by one line, of a file that grew while it was read. Any thread may call it.
using growth_listener = std::function<void(std::string const& message)>;

/// Checks a file of which all has been read that was there at `begin`. Where it grew and somebody
/// listens, what was `read` of it must still be there.
/// @throws changed_file if it was written to or cut short, or if it grew and nobody listens.
void finish_reading(file const& source, file_version const& begin);
void finish_reading(file& source, file_version const& begin, growth_listener const& on_growth,
                    file_samples const& read);

/// What to throw where a file ends before its size at `begin`: changed_file if it has changed,
/// else io_error.
[[noreturn]] void throw_ended_early(file const& source, file_version const& begin);

/// The inputs of an operation that its output replaces, as they were at its beginning.
class input_watch {
 public:
  /// Watches nothing.
  input_watch() = default;
  /// Watches those of `inputs` ("-": standard input) that `output` leads to, by whatever name.
  input_watch(std::vector<std::string> const& inputs, std::string const& output);

  /// @throws changed_file if one of them has changed, or if the name of the output leads to
  /// another file now.
  void require_unchanged() const;

 private:
  std::string output_;
  std::vector<file_version> replaced_;
};

}  // namespace outsize::io
