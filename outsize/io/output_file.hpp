// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// An output that is written at any offsets, and appears under its name when it is complete.
//
// For sequential output see output_stream.hpp, which also writes to pipes. One may turn into the
// other: who has used the room for something else then writes the output over it. Thread rule:
// contents() as file; everything else belongs to one thread. Layer: io.

#include <cstdint>
#include <memory>
#include <string>

#include <outsize/io/file.hpp>
#include <outsize/io/output_stream.hpp>
#include <outsize/io/request_queue.hpp>

namespace outsize::io {

/// A file under way to its name; without commit() nothing of it remains.
class output_file {
 public:
  /// Makes a file without a name (or with a hidden one) where `path` leads to, and allocates
  /// `room_bytes`. What has that name stays as it is.
  /// @throws io_error naming `path`: with ESPIPE if it is a pipe or device, or if the file that is
  /// there has an owner, a mode or attributes that the new one cannot be given; out_of_space.
  output_file(std::string const& path, std::uint64_t room_bytes, request_queue& queue,
              bool direct = true);
  output_file(output_file const&) = delete;
  output_file& operator=(output_file const&) = delete;
  /// Waits for requests under way.
  ~output_file();

  file& contents() noexcept;
  /// The same bytes, through another queue, perhaps for longer than this object; until the commit.
  /// @throws io_error.
  file_ptr contents_through(request_queue& queue) const;

  /// Cuts it to `length_bytes`, closes it, and puts it in the place of what had the name, with its
  /// owner, mode, access control list and attributes. Once, when all requests have ended. What went
  /// through the page cache is written back before. @throws io_error, also if only the closing
  /// tells that bytes were lost; changed_file if what had the name is one of `inputs` that has
  /// changed.
  void commit(std::uint64_t length_bytes, input_watch const& inputs = {});

  /// A stream that writes it from its beginning, over what is there, and whose commit() is this
  /// one's. Once, instead of commit(); the stream may outlive this object. @throws io_error.
  std::unique_ptr<output_stream> as_stream(request_queue& queue,
                                           output_stream_options const& options);

 private:
  struct parts;
  std::shared_ptr<parts> parts_;
};

}  // namespace outsize::io
