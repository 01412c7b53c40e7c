// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Reading bytes front to back from a file, a pipe or standard input, with the reads running ahead.
//
// Compressed inputs are decompressed on the way, and UTF-16 becomes UTF-8, if that is asked for
// (input_form.hpp, decoding_input.hpp). One thread at a time uses a stream; the memory of its
// read-ahead comes from a grant. Layer: io.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <outsize/base/memory_budget.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/file_version.hpp>
#include <outsize/io/input_form.hpp>

namespace outsize::io {

/// Bytes read front to back. In a process that comes from a fork next() and read() of a copy throw
/// io_error (EOWNERDEAD).
class input_stream {
 public:
  input_stream() = default;
  input_stream(input_stream const&) = delete;
  input_stream& operator=(input_stream const&) = delete;
  virtual ~input_stream() = default;

  /// The next bytes, at least one, as a view that is valid until the next call on the stream; empty
  /// at the end. @throws io_error.
  virtual std::span<std::byte const> next() = 0;

  /// Fills `into` and returns its size, or less where the input ends. Continues after what next()
  /// returned. Large reads go from the disk straight to `into` when position and address are
  /// aligned for it.
  /// @throws io_error.
  virtual std::size_t read(std::span<std::byte> into) = 0;

  /// The bytes that are still to come, if that is known (a regular file).
  virtual std::optional<std::uint64_t> remaining_bytes() const = 0;

  /// For messages: the path, or what stands for it.
  virtual std::string const& name() const noexcept = 0;
};

/// How far a stream reads ahead.
struct input_stream_options {
  std::size_t block_bytes = std::size_t{1} << 20;  ///< Of one read request.
  std::size_t depth = 4;          ///< Requests running ahead; memory: depth + 1 blocks.
  statistics* counter = nullptr;  ///< Where the reads are counted.
  /// What begins as compressed files do is decompressed, in a thread of its own that uses a part
  /// of the blocks, two or more altogether. The library of that kind has memory besides.
  bool decompress = false;
  /// Text in UTF-16 that begins with a byte order mark becomes UTF-8 without one, likewise, also
  /// where it was compressed.
  bool transcode = false;
  /// What the memory of the library of a compressed input comes out of; nullptr: it is not counted.
  memory_budget* codec_memory = nullptr;
  /// Told of a file that grew while it was read, of which what was there at the opening is what is
  /// read. Without one that is an error (file_version.hpp).
  growth_listener on_growth = {};

  input_decoding decoding() const noexcept { return {decompress, transcode}; }
};

/// Bytes that open_input takes from its grant.
std::size_t input_stream_memory_bytes(input_stream_options const& options);

/// Opens `path` ("-": standard input). Regular files and block devices are read asynchronously
/// through `queue` with direct I/O; pipes and terminals with read(2), and if they may be
/// compressed, their first bytes are waited for. Where the library of a compressed input needs
/// more memory than options.codec_memory has, next() and read() throw a budget_error that says so,
/// mostly at their first call.
/// @throws io_error if it cannot be opened or is a directory (EISDIR), naming it; foreign_input if
/// its first bytes are looked at, and nothing that is asked for can read it; budget_error.
/// The stream throws changed_file if a regular file changes before all of it is read.
std::unique_ptr<input_stream> open_input(std::string const& path, request_queue& queue,
                                         grant& memory, input_stream_options const& options = {});

}  // namespace outsize::io
