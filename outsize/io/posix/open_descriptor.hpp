// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// An open file of the system that closes itself, and questions that disk_file asks about one.
// One thread at a time. Layer: io.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <outsize/io/file_version.hpp>

namespace outsize::io {
class file;
class request_queue;
}  // namespace outsize::io

namespace outsize::io::detail {

/// Owns a file descriptor. Movable.
class open_descriptor {
 public:
  explicit open_descriptor(int number) noexcept : number_(number) {}
  open_descriptor(open_descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  open_descriptor& operator=(open_descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~open_descriptor();

  int number() const noexcept { return number_; }

  /// Closes it now, and returns what was wrong with earlier writes, if a file system tells only at
  /// the end (NFS, FUSE, quotas); else 0. EINTR: nobody knows whether they have arrived. Once.
  [[nodiscard]] int close() noexcept;

 private:
  int number_;
};

/// open(2), repeated when a signal interrupts it (patience.hpp). Returns -1 with errno on failure.
int open_uninterrupted(char const* path, int flags, unsigned permissions) noexcept;

/// An empty file without a name in a directory, for reading and writing. @throws io_error.
open_descriptor open_temporary(std::string const& directory);

/// fsync(2), likewise.
int sync_uninterrupted(open_descriptor const& file) noexcept;

/// The version of a regular file; nothing for another kind.
std::optional<file_version> version_of(open_descriptor const& file) noexcept;

/// Asks what closing the file would tell, by closing a second descriptor of it; each close(2) has a
/// file system over a network send what it still has. Returns -1 with errno on failure.
int check_closing(open_descriptor const& file) noexcept;

/// Whether it is a block device. False where that cannot be asked.
bool is_block_device(open_descriptor const& file) noexcept;

/// The length of a regular file or block device. @throws io_error naming `path`.
std::uint64_t file_size_bytes(open_descriptor const& file, std::string const& path);

/// Switches direct I/O on if the file system can do it, and off if it turns out that it cannot.
/// Returns what offsets, lengths and addresses are to be multiples of: 1 if I/O is buffered;
/// otherwise what direct I/O asks for, and of a regular file the unit of its file system too, so
/// that writes to new space can go on at the same time. Where the system does not say, it is the
/// sector of a device, and a page for files.
std::size_t choose_alignment(open_descriptor const& file, bool want_direct) noexcept;

/// A file over a descriptor that other files use too, and that may be closed when all of its
/// requests have ended. They agree about direct I/O, which is a matter of the descriptor: the
/// alignment is what choose_alignment() has said once.
std::unique_ptr<file> share_file(std::shared_ptr<open_descriptor const> descriptor,
                                 std::string name, request_queue& queue,
                                 std::size_t alignment_bytes);

}  // namespace outsize::io::detail
