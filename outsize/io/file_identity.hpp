// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Whether two paths lead to the same bytes: links are followed, and a partition lies in its disk.
//
// Values, which any thread may read. Layer: io.

#include <cstdint>
#include <optional>
#include <string>

namespace outsize::io {

/// A regular file or a block device, whatever names it has.
struct file_identity {
  std::uint64_t device = 0;  ///< The one of its file system; of a block device its own.
  std::uint64_t inode = 0;   ///< 0: a block device.
  std::uint64_t disk = 0;    ///< Of a block device: the whole disk that it is or lies in.
};

/// The identity of what `path` leads to; nothing if that is neither a file nor a block device.
std::optional<file_identity> identity_of(std::string const& path);
/// The same of a descriptor of this process.
std::optional<file_identity> identity_of(int file_descriptor);

/// Whether what is written to one may change the other.
bool share_bytes(file_identity const& one, file_identity const& other) noexcept;

}  // namespace outsize::io
