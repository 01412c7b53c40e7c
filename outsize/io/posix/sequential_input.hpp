// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The input_stream of what has no offsets: pipes, terminals, character devices, files of /proc.
//
// Each read(2) blocks the caller and counts as one request; all of its time is time spent waiting.
// After the first end of input nothing is read any more, so a terminal needs only one Ctrl-D.
// Private to io. One thread at a time. Layer: io.

#include <optional>
#include <span>
#include <string>

#include <outsize/io/input_stream.hpp>
#include <outsize/io/posix/blocking_io.hpp>

namespace outsize::io::detail {

class sequential_input final : public input_stream {
 public:
  sequential_input(open_descriptor source, std::string name, grant& memory,
                   input_stream_options const& options);

  std::span<std::byte const> next() override;
  std::size_t read(std::span<std::byte> into) override;
  std::optional<std::uint64_t> remaining_bytes() const override;
  std::string const& name() const noexcept override { return name_; }

  /// Reads a first piece now, to find out whether there is any.
  void look_ahead() { look_ahead(1); }
  /// Reads until there are so many bytes, at most a block, or the input ends; returns what there
  /// is. Nothing of it is handed out thereby. Before anything else is read.
  std::span<std::byte const> look_ahead(std::size_t least_bytes);

 private:
  std::size_t read_counted(std::span<std::byte> into);

  open_descriptor source_;
  std::string name_;
  statistics* counter_;
  buffer memory_;
  std::span<std::byte const> view_;  // read, and not yet handed out
  bool ended_ = false;
};

}  // namespace outsize::io::detail
