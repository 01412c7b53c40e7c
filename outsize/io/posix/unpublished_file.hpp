// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A new file beside its target, that takes the target's name only when it is complete.
//
//   unnamed   O_TMPFILE; publish() links it under a hidden name and renames that over the target
//   hidden    where the file system has no unnamed files: the hidden name is there from the start,
//             mode 0600, and goes with the object or with remove_hidden_outputs()
//
// Invariants: until the rename, the target is as it was; it is renamed when it has been closed, as
// file systems over a network, and quotas, may refuse then what they took before. One thread at a
// time uses an object.
// Private to io. Layer: io.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <outsize/base/detail/process_mark.hpp>
#include <outsize/io/file_version.hpp>
#include <outsize/io/posix/file_protection.hpp>
#include <outsize/io/posix/hidden_name.hpp>
#include <outsize/io/posix/open_descriptor.hpp>

namespace outsize::io::detail {

/// Where an output goes once symbolic links are followed.
struct output_target {
  std::string path;                         // its last part is no link; absolute if it can be
  std::optional<file_protection> existing;  // handed on to the successor
};

/// Follows `path` to a regular file that may be written, or to a name that is free. Returns nothing
/// for what cannot be replaced by name: a device, a pipe, what is open and stands behind
/// /dev/stdout.
/// @throws io_error naming `path`: EISDIR, EACCES, EPERM, EBUSY for a mount point, and others.
std::optional<output_target> find_replaceable(std::string const& path);

/// The descriptor of this process that `path` leads to, as /dev/stdout and /dev/fd/3 do. Who writes
/// there goes on where others have stopped, and they behind him: there must not be a second
/// position, and what is there must stay. @throws io_error naming `path` for links without an end.
std::optional<int> descriptor_behind(std::string const& path);

enum class naming : std::uint8_t { unnamed, hidden };

class unpublished_file {
 public:
  /// `name` is the target as messages show it. `unnamed` falls back to `hidden`.
  /// @throws io_error if it cannot be made, or cannot be given all of the target's protection.
  unpublished_file(output_target target, std::string name, naming preferred = naming::unnamed);
  unpublished_file(unpublished_file const&) = delete;
  unpublished_file& operator=(unpublished_file const&) = delete;
  ~unpublished_file() = default;

  /// For reading and writing. The only one: what close(2) tells of it, it tells of all writes.
  std::shared_ptr<open_descriptor const> descriptor() const noexcept { return file_; }
  /// Where it takes up space.
  std::string const& directory() const noexcept { return directory_; }

  /// Gives it the protection of the target, closes it, and puts it in the place of the target.
  /// Once, when all requests have ended. @throws io_error, also if the file system tells only at
  /// the closing that something was not written, and in a process that comes from a fork;
  /// changed_file if the target is one of `inputs` that has changed. The target is as it was then.
  void publish(input_watch const& inputs = {});

 private:
  bool make_unnamed();
  void make_hidden();
  void link_hidden();
  unsigned first_permissions() const noexcept;
  bool note_mode() noexcept;
  void close_to_others() noexcept;
  void set_protection();
  void close();
  std::string next_hidden_path() const;
  [[noreturn]] void fail(char const* operation) const;

  outsize::detail::process_mark process_;
  output_target target_;
  std::string name_;
  std::string directory_;
  std::shared_ptr<open_descriptor> file_ = std::make_shared<open_descriptor>(-1);
  std::optional<hidden_name> hidden_;  // none: the file has no name
  unsigned new_mode_ = 0;              // of a file that replaces nothing
};

}  // namespace outsize::io::detail
