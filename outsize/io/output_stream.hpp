// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Writing bytes front to back into a file that appears under its name only when it is complete.
//
//   regular file, new name   an unnamed file of the same directory (O_TMPFILE), named by commit();
//                            where there is no such thing, a hidden name that is removed on failure
//   pipe, device, "-"        written through with write(2)
//
// The caller lends memory instead of having it copied: it leaves lead_bytes() of room in front of
// its data, where the stream puts the last unaligned bytes of what came before, so that direct I/O
// stays aligned.
//
//   window:  | lead | data ............................ | tail |
//            ^ aligned to alignment_bytes()              └ kept by the stream, the next lead
//
// One thread at a time uses a stream. Layer: io.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <outsize/base/memory_budget.hpp>
#include <outsize/io/compression.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/file_version.hpp>

namespace outsize::io {

/// Bytes written front to back, from memory that the caller lends. In a process that comes from a
/// fork functions of a copy throw io_error (EOWNERDEAD), and its destructor leaves all as it is.
class output_stream {
 public:
  output_stream() = default;
  output_stream(output_stream const&) = delete;
  output_stream& operator=(output_stream const&) = delete;
  /// Waits for writes under way; without commit() nothing appears under the name.
  virtual ~output_stream() = default;

  /// What the addresses given to write() must be multiples of, the lead included.
  virtual std::size_t alignment_bytes() const noexcept = 0;
  /// Bytes of room that the next write() needs in front of its data: less than alignment_bytes().
  virtual std::size_t lead_bytes() const noexcept = 0;

  /// Issues the writing of `data`; the memory from data.data() - lead_bytes() to the end of data
  /// belongs to the stream until wait(data) returns (or commit). data.data() - lead_bytes() must be
  /// aligned.
  /// @throws io_error of this or an earlier write.
  virtual void write(std::span<std::byte> data) = 0;
  /// Waits until no write under way uses memory of `window`. @throws io_error.
  virtual void wait(std::span<std::byte const> window) = 0;

  /// Writes the tail, cuts the file to its length, closes it, and makes it appear under its name,
  /// with the owner, mode, access control list and attributes of the file it replaces (a new one:
  /// 0666 less the umask, or what its directory says). Once, at the end. What went through the page
  /// cache is written back before, and a file system over a network tells at the closing what it
  /// could not write, so no error comes too late. Standard output and other files that are written
  /// in place are only closed. To write more afterwards is a mistake that is asserted.
  /// @throws io_error; changed_file if it would replace an input that has changed.
  virtual void commit() = 0;

  /// Bytes given to write() so far.
  virtual std::uint64_t written_bytes() const noexcept = 0;
  /// For messages: the path, or what stands for it.
  virtual std::string const& name() const noexcept = 0;
};

/// How a stream writes, and what it may know beforehand.
struct output_stream_options {
  std::size_t block_bytes = std::size_t{1} << 20;              ///< Of one write request.
  std::optional<std::uint64_t> expected_bytes = std::nullopt;  ///< Allocated ahead if known.
  statistics* counter = nullptr;                               ///< Where the writes are counted.
  compression compress = compression::none;                    ///< See encoding_output.hpp.
  /// What the memory of its library comes out of; nullptr: it is not counted.
  memory_budget* codec_memory = nullptr;
  /// Of the inputs: commit() does not replace one of them that has changed since. A pipe, a device
  /// and standard output replace nothing.
  input_watch inputs = {};
};

/// Whether open_output() would write to what is open or no regular file, rather than replace what
/// has the name when all is written. @throws io_error as open_output().
bool is_written_in_place(std::string const& path);

/// Opens `path` for writing ("-": standard output). Symbolic links are followed. An existing
/// regular file must be writable and stays as it is until commit().
/// @throws io_error naming the path if it can be neither written nor made, is a directory, or is a
/// file with an owner, a mode or attributes that its successor cannot be given; budget_error if its
/// library needs more memory than options.codec_memory has.
std::unique_ptr<output_stream> open_output(std::string const& path, request_queue& queue,
                                           output_stream_options const& options = {});

/// For whoever is about to end the process: from now on no output gets its name, who is about to
/// give it one waits for good. Returns whether any has got its name, in this process, before that.
bool end_publishing() noexcept;

/// Removes hidden names of output streams of this process that exist only because the file system
/// lacks unnamed files. Async-signal-safe: for a signal handler that is about to end the process.
void remove_hidden_outputs() noexcept;

}  // namespace outsize::io
