// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The output_stream over a file: whole aligned pieces of the caller's windows are written
// asynchronously, the rest of each is kept and goes in front of the next.
//
//   file:   | written, or under way | tail | (allocated ahead) |
//                                   ^ issued_bytes_, a multiple of the alignment
//
// Space is allocated ahead in growing steps, so that the file lies in few pieces and writes need
// not extend it; commit() cuts off what is too much. After a failed write every call throws its
// error. One thread at a time. Layer: io.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <outsize/base/detail/aligned_memory.hpp>
#include <outsize/io/output_stream.hpp>

namespace outsize::io {

/// The stream that open_output makes for regular files.
class file_output final : public output_stream {
 public:
  /// Writes into `target`, of which so many bytes are allocated, whatever they hold. `directory` is
  /// what out_of_space errors name and ask for free space. `publish` is called at the end of
  /// commit(), once all bytes are in the file.
  file_output(file_ptr target, std::string directory, output_stream_options const& options,
              std::function<void()> publish, std::uint64_t allocated_bytes = 0);

  std::size_t alignment_bytes() const noexcept override { return alignment_bytes_; }
  std::size_t lead_bytes() const noexcept override { return tail_bytes_; }
  void write(std::span<std::byte> data) override;
  void wait(std::span<std::byte const> window) override;
  void commit() override;
  std::uint64_t written_bytes() const noexcept override { return written_bytes_; }
  std::string const& name() const noexcept override { return target_->name(); }

 private:
  struct writing {
    request_ptr request;
    std::span<std::byte const> memory;
  };

  void allocate_ahead(std::uint64_t end_bytes);
  void issue(std::span<std::byte const> body);
  template <typename Which>
  void settle(Which which);
  void check(request& written);
  void throw_failure();

  std::function<void()> publish_;
  std::string directory_;
  std::optional<std::uint64_t> expected_bytes_;
  std::size_t alignment_bytes_;
  std::size_t block_bytes_;
  outsize::detail::aligned_memory<std::byte> tail_;  // one unit of alignment
  file_ptr target_;  // behind the tail, so that it ends first and waits for its writes
  std::vector<writing> under_way_;
  std::size_t tail_bytes_ = 0;
  std::uint64_t issued_bytes_ = 0;
  std::uint64_t written_bytes_ = 0;  // of the caller's
  std::uint64_t allocated_bytes_ = 0;
  bool allocates_ = true;
  std::exception_ptr failure_;
};

}  // namespace outsize::io
