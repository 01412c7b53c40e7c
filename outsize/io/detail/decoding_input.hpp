// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// The input_stream over a compressed one, or one of text in UTF-16: a thread of its own reads,
// decodes and fills a ring of blocks ahead of the consumer.
//
//   source ──▶ thread: decoder ──▶ | lent | filled | filled | free | ──▶ next(), read()
//                                  ^ head_
//
// Invariants: the blocks filled follow each other from head_; the thread writes only into the one
// behind them, and only if it is free. The source belongs to the thread. An error comes out behind
// all bytes in front of it, and again whenever somebody asks. The destructor waits for a read of
// the source that is under way. Layer: io.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <outsize/io/detail/codec_grant.hpp>
#include <outsize/io/input_form.hpp>
#include <outsize/io/input_stream.hpp>

namespace outsize::io {
namespace detail {
class decoder;
}

/// The stream that open_input makes for inputs to be decoded. What it hands out is complete and
/// checked as far as the format has checksums, or ends with a format_error that names the input,
/// the kind and the position in the compressed bytes, or in the text.
class decoding_input final : public input_stream {
 public:
  /// Takes `block_count` (> 0) blocks of `block_bytes`, rounded up to pages, from `memory`.
  /// What the library allocates is not counted.
  /// @pre kind is not none. @throws budget_error; std::system_error if there is no thread.
  decoding_input(std::unique_ptr<input_stream> source, compression kind, grant& memory,
                 std::size_t block_count, std::size_t block_bytes)
      : decoding_input(std::move(source), {.packed = kind}, false, memory, block_count,
                       block_bytes) {}
  /// With `transcode`, what is compressed is text: if it is in UTF-16, it becomes UTF-8. What the
  /// library allocates is counted against `codec_memory`, if there is one.
  /// @pre the form is not plain. @throws likewise.
  decoding_input(std::unique_ptr<input_stream> source, input_form form, bool transcode,
                 grant& memory, std::size_t block_count, std::size_t block_bytes,
                 memory_budget* codec_memory = nullptr);
  ~decoding_input() override;

  std::span<std::byte const> next() override;
  std::size_t read(std::span<std::byte> into) override;
  std::optional<std::uint64_t> remaining_bytes() const override { return std::nullopt; }
  std::string const& name() const noexcept override { return source_->name(); }

 private:
  struct block {
    std::span<std::byte> memory;
    std::size_t used_bytes = 0;
  };

  void advance();
  void fill_blocks() noexcept;
  block* wait_for_free();
  std::exception_ptr decode(block& into) noexcept;
  std::size_t decode_step(std::span<std::byte> into);
  [[noreturn]] void fail(std::string const& reason) const;

  std::unique_ptr<input_stream> source_;
  std::unique_ptr<detail::decoder> decoder_;
  std::string_view kind_;  // for messages
  detail::codec_grant codec_memory_;
  buffer memory_;
  std::vector<block> ring_;
  std::span<std::byte const> view_;  // the consumer's

  // The thread's.
  std::span<std::byte const> compressed_;
  std::uint64_t consumed_bytes_ = 0;
  bool source_ended_ = false;
  bool complete_ = false;  // what was consumed is whole members
  bool finished_ = false;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::size_t head_ = 0;
  std::size_t filled_ = 0;
  bool lent_ = false;  // the block at head_ is the consumer's view
  bool ended_ = false;
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

/// Bytes that the library needs to decode a file, by its first bytes; 0 for what is not compressed,
/// cannot be looked at and read again, or cannot be read: whoever reads it will be told.
std::uint64_t decoding_memory_bytes(std::string const& path) noexcept;
/// Bytes that an output of that kind needs.
std::uint64_t encoding_memory_bytes(compression kind) noexcept;

}  // namespace outsize::io
