// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The output_stream that compresses what it is given and writes that to another one.
//
//   write(data) ─▶ piece ─▶ encoder ─▶ | lead | encoded ... | ─▶ target
//
// Pieces have one length, whatever lengths write() is given, so that equal bytes give equal files.
// The caller's thread compresses; its data is used up when write() returns. The memory is allocated
// beside the caller's: one piece, two windows, and what the library of that kind needs
// (codecs/codec.hpp). One thread at a time. Layer: io.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <outsize/base/detail/aligned_memory.hpp>
#include <outsize/io/compression.hpp>
#include <outsize/io/detail/codec_grant.hpp>
#include <outsize/io/lent_windows.hpp>
#include <outsize/io/output_stream.hpp>

namespace outsize::io {
namespace detail {
class encoder;
}

/// The stream that open_output makes for compressed outputs.
class encoding_output final : public output_stream {
 public:
  /// Counts what it allocates against `codec_memory`, if there is one.
  /// @pre kind is not none. @throws budget_error; std::bad_alloc.
  encoding_output(std::unique_ptr<output_stream> target, compression kind,
                  memory_budget* codec_memory = nullptr);
  ~encoding_output() override;

  std::size_t alignment_bytes() const noexcept override { return 1; }
  std::size_t lead_bytes() const noexcept override { return 0; }
  void write(std::span<std::byte> data) override;
  void wait(std::span<std::byte const>) override {}
  void commit() override;
  std::uint64_t written_bytes() const noexcept override { return written_bytes_; }
  std::string const& name() const noexcept override { return target_->name(); }

 private:
  detail::codec_grant codec_memory_;
  std::unique_ptr<detail::encoder> encoder_;
  std::vector<std::byte> piece_;
  std::unique_ptr<output_stream> target_;
  std::size_t window_bytes_;
  outsize::detail::aligned_memory<std::byte> memory_;
  lent_windows windows_;
  std::uint64_t written_bytes_ = 0;
};

}  // namespace outsize::io
