// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What the streams need of open(2), stat(2), read(2) and write(2): interrupted and short calls are
// continued, and a descriptor that somebody set to non-blocking is waited for. Private to io.
//
// A descriptor is used by one thread at a time. Layer: io.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <outsize/io/posix/open_descriptor.hpp>

namespace outsize::io::detail {

/// What stands behind a path or a descriptor, as far as the choice of a stream depends on it.
enum class file_kind : std::uint8_t {
  regular,       // bytes at offsets
  block_device,  // likewise
  directory,
  sequential  // pipe, terminal, character device, socket: read and written through
};

struct file_status {
  file_kind kind;
  std::uint64_t size_bytes;  // of a regular file
};

/// Whether bytes can be read at offsets. A regular file that says it is empty may be one of /proc,
/// whose size shows only by reading it. Those of /sys all say they are a page, and count as empty.
inline bool has_offsets(file_status const& status) noexcept {
  return (status.kind == file_kind::regular && status.size_bytes > 0) ||
         status.kind == file_kind::block_device;
}

/// Follows symbolic links. @throws io_error naming the path.
file_status status_of(std::string const& path);
file_status status_of(int number, std::string const& name);

/// Opens what exists, with a position of its own. @throws io_error "cannot open" naming `name`.
open_descriptor open_for_reading(std::string const& path, std::string const& name);
/// What is there stays. @throws likewise.
open_descriptor open_for_writing(std::string const& path, std::string const& name);

/// A copy, the caller's to close, that shares position and flags. @throws io_error "cannot open".
int duplicate(int number, std::string const& name);

/// Opens the file of `number` anew for reading, the caller's to close: flags set on one do not
/// change the other. Where the system does not let us, a copy with shared flags. @throws io_error
/// "cannot open".
int reopen_for_reading(int number, std::string const& name);

/// Returns the position of `number` and moves it to the end, as reading to the end would.
std::uint64_t claim_rest(int number, std::string const& name);

/// Reads at least one byte, or returns 0 at the end. Blocks. @throws io_error naming `name`.
std::size_t read_some(int number, std::span<std::byte> into, std::string const& name);

/// Reads what comes next of something that has offsets and leaves the position where it is. Returns
/// less than asked for at the end. @throws io_error naming `name`; so if a regular file ends before
/// its size.
std::size_t peek(int number, std::span<std::byte> into, std::string const& name);

/// Writes all of `from`. Blocks. @throws io_error naming `name`.
void write_all(int number, std::span<std::byte const> from, std::string const& name);

}  // namespace outsize::io::detail
