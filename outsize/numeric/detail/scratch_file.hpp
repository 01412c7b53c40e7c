// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The files between the passes of a program that goes over its data several times. Layer: numeric.

#include <cstdint>

#include <outsize/block/storage.hpp>
#include <outsize/io/file.hpp>
#include <outsize/io/request_queue.hpp>

namespace outsize::numeric {

/// Makes a file without a name in the first of the storage's disks that is a directory (else in the
/// directory of the first one); its requests go through `queue` and are counted among the storage's
/// file statistics. `direct`: past the page cache, which asks for alignment. @throws io_error.
io::file_ptr make_scratch_file(storage& store, io::request_queue& queue, bool direct = true);

/// Allocates its space, so that missing space is known before anything runs.
/// @throws io_error; out_of_space naming the directory, what it has and what is needed.
void allocate_scratch(storage const& store, io::file& scratch, std::uint64_t length_bytes);

}  // namespace outsize::numeric
