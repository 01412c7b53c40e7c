// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A disk, as its user describes it: in C++, in a file, or in the environment.
//
//   # path           what differs from the default
//   /mnt/nvme0       read=6GiB/s write=4GiB/s
//   /mnt/nvme1       read=3GiB/s write=2GiB/s capacity=500GiB depth=32
//   "/mnt/my disk"   read=3GiB/s write=2GiB/s backend=threads direct=no
//   /dev/sdx         read=1GiB/s write=1GiB/s raw=yes
//   /dev/sdy         raw=yes force=yes
//
// One disk on each line: words between blanks, first the path (in quotes if it has blanks), then
// settings. A word that begins with `#` begins a comment. docs/settings.md says what each setting
// means. Functions of this file may be called from any thread, as long as none changes the
// environment. Layer: block.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <outsize/io/file.hpp>
#include <outsize/io/request_queue.hpp>

namespace outsize {

/// One disk: a directory to put an unnamed temporary file in, or a file or device to write over.
struct disk_options {
  std::string path;
  std::uint64_t capacity_bytes =
      UINT64_MAX;    ///< Never uses more; the disk's free space limits it too.
  bool raw = false;  ///< `path` is a file or device, whose contents are lost; else a directory.
  /// With raw: a device may hold a file system or other things that are known. Not one in use.
  bool force = false;
  std::optional<io::backend> backend = {};   ///< Default: the storage's.
  std::optional<std::size_t> depth = {};     ///< Requests under way. Default: the storage's.
  std::optional<bool> direct = {};           ///< Past the page cache. Default: the storage's.
  std::uint64_t read_bytes_per_second = 0;   ///< 0: not known.
  std::uint64_t write_bytes_per_second = 0;  ///< 0: not known.
  /// Makes the disk's file instead of `path` (decorated ones, in memory, …); `path` is its name
  /// then.
  std::function<io::file_ptr(io::request_queue&)> open = {};

  /// A directory.
  disk_options(char const* where) : path(where) {}             // NOLINT(*-explicit-*)
  disk_options(std::string where) : path(std::move(where)) {}  // NOLINT(*-explicit-*)
  /// One that never holds more than `capacity` bytes.
  disk_options(std::string where, std::uint64_t capacity)
      : path(std::move(where)), capacity_bytes(capacity) {}
  /// One whose file `make` makes; `name` is for messages.
  disk_options(std::string name, std::function<io::file_ptr(io::request_queue&)> make)
      : path(std::move(name)), open(std::move(make)) {}
};

/// The disks that `text` describes, in its order; `name` stands for it in messages.
/// @throws format_error "name:line: 'word': what is wrong", for the first word that is malformed;
/// one that says so if there is no disk at all.
std::vector<disk_options> parse_disks(std::string_view text, std::string_view name);

/// The line of a list that describes a disk: what differs from the default, speeds rounded down to
/// MiB. Nothing for a path that no line can hold, with a line end or a `;`, or a quote among what
/// has to be quoted.
std::optional<std::string> describe_in_list(disk_options const& disk);

/// The disks that a file describes. @throws io_error if it cannot be read; as parse_disks.
std::vector<disk_options> read_disks(std::string const& path);

/// The disks of a storage that is given none: those of $OUTSIZE_DISKS, if that is not empty, else
/// the directory for temporary files. A value with a `;` in it is the description itself, each `;`
/// the end of a line (one disk needs one too); any other value is the path of the file to read.
/// @throws as parse_disks, as read_disks.
std::vector<disk_options> default_disks();

/// The directory for temporary files when none is named: $OUTSIZE_TMPDIR, $TMPDIR, or ".", or /tmp
/// if nothing can be made there.
std::string default_temporary_directory();

/// How blocks are to be divided between disks, for make_placement: by the speed at which each
/// moves a block there and back. A disk of which only one bandwidth is known is as fast both ways.
/// All alike if none is known.
/// @throws std::invalid_argument if some disks' bandwidths are known, naming one whose are not.
std::vector<std::uint64_t> weights_of(std::span<disk_options const> disks);
/// How fast they are at reading alone, for prefetch_schedule. @throws likewise.
std::vector<std::uint64_t> read_speeds_of(std::span<disk_options const> disks);

}  // namespace outsize
