// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The operating failures that leave the library, one type for each thing a caller can do about
// them.
//
// Every message is one line that names the thing it is about. Programmer errors are assertions
// (assert.hpp); malformed arguments are std::invalid_argument. Values, which any thread may throw.
// Layer: base.

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace outsize {

/// A read, write or file operation that the system refused or that came out short.
/// `code()` is the errno; afterwards the input is intact and no output exists under its name.
/// EOWNERDEAD: what was used belongs to another process, of which a fork made this one a copy.
class io_error : public std::system_error {
 public:
  io_error(int error_number, std::string operation, std::string path,
           std::uint64_t offset_bytes = 0, std::size_t length_bytes = 0);

  std::string const& operation() const noexcept { return operation_; }
  std::string const& path() const noexcept { return path_; }
  std::uint64_t offset_bytes() const noexcept { return offset_bytes_; }
  std::size_t length_bytes() const noexcept { return length_bytes_; }
  /// Whether a disk, a quota or the greatest length of a file has left no room.
  bool is_full() const noexcept;
  /// The message without the standard library's suffix: "path: cannot read …: No such file".
  char const* what() const noexcept override { return message_.c_str(); }

 private:
  std::string operation_;
  std::string path_;
  std::uint64_t offset_bytes_;
  std::size_t length_bytes_;
  std::string message_;
};

/// A disk cannot hold what is asked of it; thrown before the work where that can be known.
class out_of_space : public io_error {
 public:
  out_of_space(std::string disk, std::uint64_t free_bytes, std::uint64_t needed_bytes);

  std::string const& disk() const noexcept { return path(); }
  std::uint64_t free_bytes() const noexcept { return free_bytes_; }
  std::uint64_t needed_bytes() const noexcept { return needed_bytes_; }
  char const* what() const noexcept override { return message_.c_str(); }

 private:
  std::uint64_t free_bytes_;
  std::uint64_t needed_bytes_;
  std::string message_;
};

/// A file that was read, or was to be replaced, is not what it was before: somebody has written to
/// it, cut it short or put another one in its place meanwhile.
/// `code()` is ESTALE. Nothing has been made of what was read, and the file is as that left it.
class changed_file : public io_error {
 public:
  /// @param how  What has happened, for the message: "changed while it was read: …".
  changed_file(std::string path, std::string_view how);

  char const* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// A disk gave back other bytes than were written to a block: its checksum does not fit, or, of a
/// block without one, what is in it cannot be.
/// `code()` is EBADMSG, as file systems say it. Nobody has seen the bytes.
class corrupt_block : public io_error {
 public:
  /// @param how  How it shows, for the message.
  corrupt_block(std::string disk, std::uint64_t offset_bytes, std::size_t length_bytes,
                std::string_view how = "its checksum does not fit");

  std::string const& disk() const noexcept { return path(); }
  char const* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// The memory budget cannot cover a request; thrown before any memory is taken or any I/O is done.
class budget_error : public std::runtime_error {
 public:
  budget_error(std::string asker, std::uint64_t have_bytes, std::uint64_t need_bytes);
  /// With a message of its own, for limits that are not a plain "have and need".
  budget_error(std::string asker, std::uint64_t have_bytes, std::uint64_t need_bytes,
               std::string const& message);

  std::string const& asker() const noexcept { return asker_; }
  std::uint64_t have_bytes() const noexcept { return have_bytes_; }
  std::uint64_t need_bytes() const noexcept { return need_bytes_; }

 private:
  std::string asker_;
  std::uint64_t have_bytes_;
  std::uint64_t need_bytes_;
};

/// A graph, or a program on several processors, cannot be run as it was asked for; thrown before
/// anything of it runs.
class plan_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Input that is not in the form it was said to be in (a record cut short, say).
class format_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The work was given up because its stop token was triggered or a request was cancelled.
class cancelled : public std::runtime_error {
 public:
  explicit cancelled(std::string const& what) : std::runtime_error(what + ": cancelled") {}
};

}  // namespace outsize
