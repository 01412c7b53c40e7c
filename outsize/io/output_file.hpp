// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// An output that is written at any offsets, and appears under its name when it is complete.
//
// For sequential output see output_stream.hpp, which also writes to pipes. Thread rule: contents()
// as file; everything else belongs to one thread. Layer: io.

#include <cstdint>
#include <memory>
#include <string>

#include <outsize/io/file.hpp>
#include <outsize/io/request_queue.hpp>

namespace outsize::io {

/// A file under way to its name; without commit() nothing of it remains.
class output_file {
 public:
  /// Makes a file without a name (or with a hidden one) where `path` leads to, and allocates
  /// `room_bytes`. What has that name stays as it is.
  /// @throws io_error naming `path`, with ESPIPE if it is a pipe or device; out_of_space.
  output_file(std::string const& path, std::uint64_t room_bytes, request_queue& queue,
              bool direct = true);
  output_file(output_file const&) = delete;
  output_file& operator=(output_file const&) = delete;
  /// Waits for requests under way.
  ~output_file();

  file& contents() noexcept;

  /// Cuts it to `length_bytes` and puts it in the place of what had the name, with its mode and
  /// owner. Once, when all requests have ended. @throws io_error.
  void commit(std::uint64_t length_bytes);

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace outsize::io
