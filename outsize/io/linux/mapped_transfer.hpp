// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Moves the bytes of an attempt by copying them from or to a mapping of the file, which is made for
// the copy and gone after it.
//
// A mapping answers failures of the disk, a full one, and an end of the file that came nearer with
// a signal. So this process never touches it: the kernel copies from and to it (process_vm_readv on
// this process), which brings pages in or stops without a signal, also where another process cuts
// the file short at that moment. A write first allocates its place, which extends the file.
// Whatever cannot be mapped (devices, pipes, a full disk, a bad sector) is left to pread and
// pwrite, which move it or know the errno. There is no mapping of the whole
// file that would have to grow with it, and that would count as resident memory of the process,
// whatever its budget says. Every function may be called from any thread. Private to io. Layer: io.

#include <cstdint>

#include <outsize/io/posix/thread_queue.hpp>

namespace outsize::io {

/// Copies through mappings as far as that goes; see the top of this file.
std::int64_t transfer_by_mapping(int file_descriptor, attempt const& work) noexcept;
inline constexpr transfer_method by_mapping{"mmap", false, transfer_by_mapping};

/// @throws io_error if the kernel does not copy within a process, as a filter may forbid.
void check_mapping();

}  // namespace outsize::io
