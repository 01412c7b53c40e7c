// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Files of the user's, opened for work with a storage: inputs, outputs, files of containers.
//
// Whatever the library opens beside the storage's disks it opens here. The files go through the
// storage's queue of files and are counted among them, a raw disk of the storage is refused, and
// the storage's listener is told of inputs that grow. Thread rule as the files'. Layer: block.

#include <cstdint>
#include <memory>
#include <string>

#include <outsize/block/storage.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/input_stream.hpp>
#include <outsize/io/output_file.hpp>
#include <outsize/io/output_stream.hpp>

namespace outsize::block {

/// As io::open_input. @throws as that; std::invalid_argument for a raw disk.
std::unique_ptr<io::input_stream> open_input(storage& store, std::string const& path, grant& memory,
                                             io::input_stream_options options);

/// As io::open_output. @throws likewise.
std::unique_ptr<io::output_stream> open_output(storage& store, std::string const& path,
                                               io::output_stream_options options);

/// As io::open_file. @throws likewise.
io::file_ptr open_file(storage& store, std::string const& path,
                       io::open_options const& options = {});

/// Makes an io::output_file. @throws likewise.
io::output_file make_output_file(storage& store, std::string const& path, std::uint64_t room_bytes,
                                 bool direct = true);

}  // namespace outsize::block
