// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The output_stream of what cannot be replaced: pipes, terminals, devices, standard output.
//
// write() blocks until all is written, counts as one request, and all of its time is time spent
// waiting; so wait() has nothing left to do, and what was written stays whether or not there is a
// commit, which asks whether it really was: a file system over a network says so at the end, a
// device when its cache is written back. A reader that has gone is an io_error with EPIPE where
// SIGPIPE is ignored. Private to io. One thread at a time. Layer: io.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <outsize/io/output_stream.hpp>
#include <outsize/io/posix/open_descriptor.hpp>

namespace outsize::io::detail {

class sequential_output final : public output_stream {
 public:
  sequential_output(open_descriptor target, std::string name, output_stream_options const& options);

  std::size_t alignment_bytes() const noexcept override { return 1; }
  std::size_t lead_bytes() const noexcept override { return 0; }
  void write(std::span<std::byte> data) override;
  void wait(std::span<std::byte const>) override {}
  void commit() override;
  std::uint64_t written_bytes() const noexcept override { return written_bytes_; }
  std::string const& name() const noexcept override { return name_; }

 private:
  open_descriptor target_;
  std::string name_;
  statistics* counter_;
  std::uint64_t written_bytes_ = 0;
};

}  // namespace outsize::io::detail
