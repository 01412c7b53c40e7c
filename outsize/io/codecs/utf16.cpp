// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Units of UTF-16 and characters of UTF-8 may be cut anywhere, by the end of what is read or of the
// room: half a unit, half of a pair, and a character that found too little room are kept.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include <outsize/io/codecs/codec.hpp>

namespace outsize::io::detail {
namespace {

constexpr std::uint32_t mark = 0xFEFF;
constexpr std::size_t longest_character = 4;

bool is_high_half(std::uint32_t unit) noexcept { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low_half(std::uint32_t unit) noexcept { return unit >= 0xDC00 && unit < 0xE000; }

/// Writes the UTF-8 of a character, and returns its length.
std::size_t put_character(std::uint32_t code, std::byte* to) noexcept {
  auto const tail = [code](unsigned shift) {
    return static_cast<std::byte>(0x80U | (code >> shift & 0x3FU));
  };
  if (code < 0x80) {
    to[0] = static_cast<std::byte>(code);
    return 1;
  }
  if (code < 0x800) {
    to[0] = static_cast<std::byte>(0xC0U | code >> 6U);
    to[1] = tail(0);
    return 2;
  }
  if (code < 0x10000) {
    to[0] = static_cast<std::byte>(0xE0U | code >> 12U);
    to[1] = tail(6);
    to[2] = tail(0);
    return 3;
  }
  to[0] = static_cast<std::byte>(0xF0U | code >> 18U);
  to[1] = tail(12);
  to[2] = tail(6);
  to[3] = tail(0);
  return 4;
}

class utf16_decoder final : public decoder {
 public:
  decoded_step step(std::span<std::byte const> in, std::span<std::byte> out, bool ends) override {
    in_ = in;
    std::size_t produced = take_left_over(out);
    while (produced < out.size()) {
      auto const code = next_character();
      if (!code) break;
      if (out.size() - produced >= longest_character) {
        produced += put_character(*code, &out[produced]);
      } else {
        left_over_bytes_ = put_character(*code, left_over_.data());
        produced += take_left_over(out.subspan(produced));
      }
    }
    bool const is_whole = !half_unit_ && !high_half_;
    if (ends && in.empty() && produced == 0 && !is_whole) refuse_end();
    return {in.size() - in_.size(), produced, is_whole && left_over_bytes_ == 0};
  }

  std::uint64_t memory_bytes() const noexcept override { return 0; }

 private:
  /// What found no room before.
  std::size_t take_left_over(std::span<std::byte> out) noexcept {
    auto const bytes = std::min(left_over_bytes_, out.size());
    std::copy_n(left_over_.begin(), bytes, out.begin());
    std::copy(left_over_.begin() + static_cast<std::ptrdiff_t>(bytes),
              left_over_.begin() + static_cast<std::ptrdiff_t>(left_over_bytes_),
              left_over_.begin());
    left_over_bytes_ -= bytes;
    return bytes;
  }

  /// Nothing if there are too few bytes.
  std::optional<std::uint32_t> next_character() {
    while (auto const unit = next_unit()) {
      if (high_half_) {
        if (!is_low_half(*unit)) refuse(4);
        auto const code = 0x10000U + ((*high_half_ - 0xD800U) << 10U) + (*unit - 0xDC00U);
        high_half_.reset();
        return code;
      }
      if (is_low_half(*unit)) refuse(2);
      if (!is_high_half(*unit)) return unit;
      high_half_ = unit;
    }
    return std::nullopt;
  }

  /// The mark, which says in which order the bytes of all units come, is stepped over.
  std::optional<std::uint32_t> next_unit() noexcept {
    auto unit = next_raw_unit();
    if (unit && read_bytes_ == 2) {
      is_big_ = *unit != mark;
      unit = next_raw_unit();
    }
    return unit;
  }

  std::optional<std::uint32_t> next_raw_unit() noexcept {
    if (in_.size() < (half_unit_ ? 1U : 2U)) {
      if (in_.empty()) return std::nullopt;
      half_unit_ = in_[0];
      in_ = {};
      return std::nullopt;
    }
    auto const first = half_unit_.value_or(in_[0]), second = half_unit_ ? in_[0] : in_[1];
    in_ = in_.subspan(half_unit_ ? 1 : 2);
    half_unit_.reset();
    read_bytes_ += 2;
    auto const low = is_big_ ? second : first, high = is_big_ ? first : second;
    return std::to_integer<std::uint32_t>(low) | std::to_integer<std::uint32_t>(high) << 8U;
  }

  [[noreturn]] void refuse(std::uint64_t back_bytes) const {
    refuse(fmt::format("the surrogate at byte {} of the text has no other half",
                       read_bytes_ - back_bytes));
  }
  [[noreturn]] void refuse_end() const {
    refuse(fmt::format("the text ends inside of a character, at byte {}",
                       read_bytes_ + (half_unit_ ? 1 : 0)));
  }
  [[noreturn]] static void refuse(std::string const& cause) {
    throw damaged_text("begins with a byte order mark of UTF-16, but is not valid UTF-16: " + cause,
                       foreign_input::aspect::encoding);
  }

  std::span<std::byte const> in_;
  bool is_big_ = false;
  std::uint64_t read_bytes_ = 0;            // of whole units
  std::optional<std::byte> half_unit_;      // its first byte
  std::optional<std::uint32_t> high_half_;  // of a pair
  std::array<std::byte, longest_character> left_over_{};
  std::size_t left_over_bytes_ = 0;
};

}  // namespace

std::unique_ptr<decoder> make_utf16_decoder() { return std::make_unique<utf16_decoder>(); }

}  // namespace outsize::io::detail
