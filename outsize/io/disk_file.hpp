// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Files of the operating system, opened for direct I/O where the file system can do it, and block
// devices.
//
// A device keeps its length: resize() fails with EINVAL, and what goes beyond its end, writes and
// allocate(), with ENOSPC. One that is opened for writing belongs to the file alone: it must not be
// mounted or otherwise claimed, and nobody else can claim it. Thread rule as file's. Layer: io.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <outsize/base/error.hpp>
#include <outsize/io/file.hpp>
#include <outsize/io/request_queue.hpp>

namespace outsize::io {

/// How open_file opens a file.
struct open_options {
  access mode = access::read_only;
  bool direct = true;   ///< Past the page cache if the file system can; else quietly through it.
  bool create = false;  ///< Makes the file if it is missing.
  bool must_be_new = false;     ///< With create: fails with EEXIST if the file is there already.
  bool truncate = false;        ///< Drops previous contents.
  unsigned permissions = 0600;  ///< Of a file that is made.
  std::uint64_t least_device_bytes = 0;  ///< A block device that holds less is refused.
  /// Locks it: alone if it is opened to be written, else together with others that read. Refused
  /// with EBUSY while those that have it locked, in this process too, do not allow that. The lock
  /// ends with the file or the process, however that ends. File systems without locks do without.
  bool lock = false;
};

/// Opens `path`. Direct I/O alignment is asked from the file system (statx), tried out where it
/// does not say. The queue must outlive the file.
/// @throws io_error if it cannot be opened; a directory is refused with EISDIR, a pipe with ESPIPE,
/// a device to be written that is mounted or claimed, and a file that others have locked for a
/// second, with EBUSY; out_of_space if a device is too small.
std::unique_ptr<file> open_file(std::string const& path, request_queue& queue,
                                open_options const& options = {});

/// Makes a file without a name in `directory` (mode 0600), gone when it is closed or the process
/// ends, however it ends. Where the file system has no unnamed files, a new name is made and
/// removed at once.
/// @throws io_error if the directory does not exist or cannot be written.
std::unique_ptr<file> make_temporary_file(std::string const& directory, request_queue& queue,
                                          bool direct = true);

/// Takes over an open file descriptor (closed at the end) under a name for messages. With `direct`,
/// the descriptor is switched to direct I/O if the file system can do it, without it to buffered
/// I/O; whoever shares its open file (a parent process, for standard input) sees that too.
std::unique_ptr<file> adopt_file(int file_descriptor, std::string name, request_queue& queue,
                                 bool direct);

/// Makes the name of a file that was made or renamed durable, as sync() does its content.
/// @throws io_error.
void sync_name(std::string const& path);

/// Bytes that the file system of `path` still has for this user. @throws io_error.
std::uint64_t free_space_bytes(std::string const& path);

/// What to throw where `directory`'s disk has no room for so many bytes more: names what is free, 0
/// where that cannot be asked any more.
out_of_space no_space(std::string const& directory, std::uint64_t needed_bytes);

}  // namespace outsize::io
