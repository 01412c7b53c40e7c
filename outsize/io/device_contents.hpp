// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// What a block device holds before it is written over, so that a wrong name does not cost its
// contents.
//
// Known are the signatures of what Linux systems keep on disks. libblkid knows four times as many,
// but would be a dependency of everybody for the few who use raw disks. Functions may be called
// from any thread. Layer: io.

#include <optional>
#include <string>
#include <string_view>

namespace outsize::io {

/// What begins with the first and ends with the last bytes of a device or file, in words: "an ext2,
/// ext3 or ext4 file system". Nothing for what is not known. @throws io_error if it cannot be read.
std::optional<std::string_view> known_contents(std::string const& path);

/// @throws io_error with EBUSY if a block device is in use: mounted, swapped to, a part of an array
/// or of a volume group, or claimed by another process, perhaps as a disk of another storage.
void require_unused_device(std::string const& path);

}  // namespace outsize::io
