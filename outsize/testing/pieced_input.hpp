// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// An input_stream over text in memory that comes in pieces as a test wants them.
//
// Each piece lies in memory of its own, which is gone with the next one, so that a sanitizer sees
// who looks at a view too long. One thread at a time. Layer: testing.

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <outsize/base/error.hpp>
#include <outsize/io/input_stream.hpp>

namespace outsize {

class pieced_input final : public io::input_stream {
 public:
  struct options {
    std::size_t piece_bytes = 0;  ///< Of each piece; 0: of random lengths.
    std::size_t most_bytes = 20;  ///< Of random pieces.
    std::uint64_t seed = 3;       ///< Of the random lengths.
    bool fails = false;           ///< With EIO, where it would end.
    std::string name = "pieces";
  };

  pieced_input(std::string content, options how)
      : content_(std::move(content)), how_(std::move(how)), random_(how_.seed) {}

  std::span<std::byte const> next() override {
    auto const bytes = how_.piece_bytes != 0 ? how_.piece_bytes : 1 + random_() % how_.most_bytes;
    auto const piece = std::as_bytes(std::span(content_))
                           .subspan(given_, std::min(bytes, content_.size() - given_));
    if (piece.empty() && how_.fails) throw io_error(EIO, "read", how_.name, given_);
    given_ += piece.size();
    piece_ = std::vector(piece.begin(), piece.end());
    return piece_;
  }
  /// Gives nothing: who is tested with it asks for pieces.
  std::size_t read(std::span<std::byte>) override { return 0; }
  std::optional<std::uint64_t> remaining_bytes() const override { return std::nullopt; }
  std::string const& name() const noexcept override { return how_.name; }

 private:
  std::string content_;
  options how_;
  std::mt19937_64 random_;
  std::size_t given_ = 0;
  std::vector<std::byte> piece_;
};

}  // namespace outsize
