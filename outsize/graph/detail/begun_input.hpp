// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A stream whose beginning has been looked at, and comes again. One thread at a time. Layer: graph.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <outsize/io/input_stream.hpp>

namespace outsize::graphs::detail {

class begun_input final : public io::input_stream {
 public:
  explicit begun_input(std::unique_ptr<io::input_stream> in) noexcept : in_(std::move(in)) {}

  /// Reads on until `is_enough(bytes so far)`, the end, or 64 KiB, and returns these bytes, which
  /// next() and read() return again. Call it before these. @throws as next() of the stream.
  template <typename Enough>
  std::string_view look(Enough const& is_enough) {
    first_ = in_->next();
    while (!is_enough(text_of(first_)) && first_.size() < most_bytes && go_on()) {
    }
    return text_of(first_);
  }

  std::span<std::byte const> next() override;
  std::size_t read(std::span<std::byte> into) override;
  std::optional<std::uint64_t> remaining_bytes() const override;
  std::string const& name() const noexcept override { return in_->name(); }

 private:
  static constexpr std::size_t most_bytes = std::size_t{1} << 16;

  static std::string_view text_of(std::span<std::byte const> bytes) noexcept {
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
  }
  bool go_on();

  std::unique_ptr<io::input_stream> in_;
  std::string copied_;                // of the beginning, if it is more than a view
  std::span<std::byte const> first_;  // bytes that come again
};

}  // namespace outsize::graphs::detail
