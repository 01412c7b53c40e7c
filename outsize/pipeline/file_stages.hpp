// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Ready stages that read buffers from files and write them, without a thread that waits.
//
// A buffer is filled from, or emptied to, one range of a file or many; all requests of a buffer are
// issued at once, and the requests of several buffers are under way together. Layer: pipeline.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <outsize/io/file.hpp>
#include <outsize/pipeline/stage.hpp>

namespace outsize::pipeline {

/// Some bytes of a buffer and where they are in a file.
struct file_piece {
  std::uint64_t file_offset_bytes = 0;
  std::size_t buffer_offset_bytes = 0;
  std::size_t length_bytes = 0;
};

/// The pieces of a buffer that is to be moved; called for one buffer after another.
using file_pieces = std::function<std::vector<file_piece>(pooled_buffer const&)>;

/// Longer pieces are moved by several requests: longer ones gain nothing on disks, and so several
/// are under way even for one large buffer.
inline constexpr std::size_t most_request_bytes = std::size_t{2} << 20;

struct file_stage_options {
  std::string name = {};  ///< Default: "read" or "write".
  std::size_t depth = 2;  ///< Buffers whose requests are under way at once.
};

/// Bytes of a file.
struct file_range {
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
};

/// Fills each buffer with the next bytes of `range`, as many as it holds or as there are, and
/// marks the last one. Where the file asks for alignment, range and buffer sizes must keep it;
/// the end of the range need not if it is the end of the file.
///
/// I/Os:    Reads the range once, in requests of up to 2 MiB.
/// Errors:  stage_error with an io_error nested; a changed_file if the file ends too early.
stage read_from(io::file& from, file_range range, file_stage_options options = {});

/// Fills each buffer from the pieces that `pieces` names for it, and sets its size to the end of
/// the last one; no pieces: this buffer holds nothing and nothing will follow. Offsets and lengths
/// as in read_from.
stage read_pieces(io::file& from, file_pieces pieces, file_stage_options options = {});

/// Writes each buffer behind the one before it, from `offset_bytes` on; every buffer but the last
/// must be full. Where the file asks for alignment the last write is rounded up to it: resize() the
/// file afterwards.
stage write_to(io::file& to, std::uint64_t offset_bytes = 0, file_stage_options options = {});

/// Writes the pieces that `pieces` names for each buffer; lengths are rounded up to the file's
/// alignment, so only what ends the file may be odd.
stage write_pieces(io::file& to, file_pieces pieces, file_stage_options options = {});

}  // namespace outsize::pipeline
