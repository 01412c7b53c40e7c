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
  /// For read_from(): buffers are filled with whole items of this length, so that none is cut.
  std::size_t item_bytes = 1;
};

/// Bytes of a file.
struct file_range {
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
};

/// Fills each buffer with the next bytes of `range`, as many whole items as it holds or as there
/// are, and marks the last one. The range may begin and end anywhere in the file.
///
/// I/Os:    Reads the range once, in requests of up to 2 MiB. Where the file asks for alignment and
///          buffers begin inside of its units, those are read twice, and bytes are moved by the
///          thread in which requests end: not if items, or as many as fill half a buffer, are a
///          multiple of the alignment.
/// Errors:  stage_error; with an io_error nested, a changed_file if the file ends too early;
///          format_error if the range is not a whole number of items; std::invalid_argument if a
///          buffer holds none.
stage read_from(io::file& from, file_range range, file_stage_options options = {});

/// Fills each buffer from the pieces that `pieces` names for it, and sets its size to the end of
/// the last one; no pieces: this buffer holds nothing and nothing will follow. Where the file asks
/// for alignment, offsets of pieces in it, and in the buffer, are multiples of that; lengths need
/// not be.
///
/// Errors:  stage_error; with an io_error nested, also if the file ends too early;
///          std::invalid_argument if a piece is not in the buffer or not aligned.
stage read_pieces(io::file& from, file_pieces pieces, file_stage_options options = {});

/// Writes what is in each buffer behind what was in the one before it, from `offset_bytes` on. A
/// buffer may hold any number of bytes, also none, whatever alignment the file asks for. What lies
/// in front of and behind what is written stays: a file that is longer is not cut.
///
/// Where the file asks for alignment, bytes that do not fill a unit wait for the next buffer; the
/// last of them are written, and the file gets its length, when all stages of the network have
/// ended. So nobody else may write into the last unit meanwhile; several stages may write one file
/// if each begins with a unit that no other one writes to.
///
/// I/Os:    Each byte once, in requests of up to 2 MiB; where the file asks for alignment, one more
///          for each buffer that begins inside of a unit, whose bytes are moved to the front of the
///          buffer as long as they are written, and one or two at the end.
/// Errors:  stage_error; with an io_error nested; std::invalid_argument, before anything runs, if
///          `offset_bytes` is not a multiple of the file's alignment.
stage write_to(io::file& to, std::uint64_t offset_bytes = 0, file_stage_options options = {});

/// Writes the pieces that `pieces` names for each buffer. Where the file asks for alignment,
/// offsets of pieces in it, and in the buffer, are multiples of that; lengths need not be. What
/// lies behind a piece in its last unit stays as it is, for the price of a read, and the file ends
/// with the last piece, or where it did before. A unit belongs to one piece.
///
/// Errors:  as read_pieces().
stage write_pieces(io::file& to, file_pieces pieces, file_stage_options options = {});

}  // namespace outsize::pipeline
