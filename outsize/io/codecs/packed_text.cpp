// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// What is in a compressed file, looked at as soon as its first bytes are there.
//
//   in ─▶ packed ─▶ | ready | ─▶ UTF-16 ─▶ out        or, once it is known to be other text:
//   in ─▶ packed ─────────────────────────▶ out
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include <outsize/io/codecs/codec.hpp>

namespace outsize::io::detail {
namespace {

constexpr std::size_t ready_bytes = std::size_t{64} << 10;

class packed_text_decoder final : public decoder {
 public:
  explicit packed_text_decoder(std::unique_ptr<decoder> packed)
      : packed_(std::move(packed)), room_(longest_signature_bytes) {}

  decoded_step step(std::span<std::byte const> in, std::span<std::byte> out, bool ends) override {
    if (is_known_ && !text_ && ready_.empty()) return packed_->step(in, out, ends);
    decoded_step did;
    while (did.produced_bytes == 0) {
      bool const needs_more = ready_.empty() || !is_known_;
      auto const got = needs_more ? unpack(in.subspan(did.consumed_bytes), ends) : decoded_step{};
      did.consumed_bytes += got.consumed_bytes;
      bool const is_stuck = needs_more && got.consumed_bytes + got.produced_bytes == 0;
      bool const suffices = ready_.size() == longest_signature_bytes || (is_stuck && ends);
      if (!is_known_ && suffices) look();
      if (is_known_) did.produced_bytes = give(out, is_stuck && ends);
      if (is_stuck) break;
    }
    did.complete = is_unpacked_ && ready_.empty() && is_text_complete_;
    return did;
  }

  /// What is ready does not count beside it.
  std::uint64_t memory_bytes() const noexcept override { return packed_->memory_bytes(); }

 private:
  /// Adds to what is ready, which is empty or too little to be known.
  decoded_step unpack(std::span<std::byte const> in, bool ends) {
    auto const used = ready_.size();
    if (used == 0) ready_ = std::span(room_).first(0);
    auto const did = packed_->step(in, std::span(room_).subspan(used), ends);
    ready_ = std::span(room_).first(used + did.produced_bytes);
    is_unpacked_ = did.complete;
    return did;
  }

  /// Finds out what text it is.
  void look() {
    is_known_ = true;
    try {
      auto const form = form_of_bytes(ready_, {.decompress = true, .transcode = true}, "");
      if (form.packed != compression::none)
        throw damaged_text(
            fmt::format("is compressed more than once, inside by {}; unpack it first",
                        name_of(form.packed)),
            foreign_input::aspect::compression);
      if (form.encoding != text_encoding::bytes) text_ = make_utf16_decoder();
    } catch (foreign_input const& e) {
      throw damaged_text(fmt::format("in the compressed file: {}", e.reason()), e.what_it_is());
    }
    if (!text_) return;
    // Now that much is to come of it, it gets more room.
    auto const begun = std::vector<std::byte>(ready_.begin(), ready_.end());
    room_.resize(ready_bytes);
    std::ranges::copy(begun, room_.begin());
    ready_ = std::span(room_).first(begun.size());
  }

  std::size_t give(std::span<std::byte> out, bool ends) {
    if (!text_) {
      auto const bytes = std::min(out.size(), ready_.size());
      std::copy_n(ready_.begin(), bytes, out.begin());
      ready_ = ready_.subspan(bytes);
      return bytes;
    }
    auto const did = text_->step(ready_, out, ends);
    ready_ = ready_.subspan(did.consumed_bytes);
    is_text_complete_ = did.complete;
    return did.produced_bytes;
  }

  std::unique_ptr<decoder> packed_;
  std::unique_ptr<decoder> text_;  // none: it is given out as it is
  std::vector<std::byte> room_;
  std::span<std::byte> ready_;  // unpacked, not given out
  bool is_known_ = false;
  bool is_unpacked_ = false;
  bool is_text_complete_ = true;
};

}  // namespace

std::unique_ptr<decoder> make_packed_text_decoder(std::unique_ptr<decoder> packed) {
  return std::make_unique<packed_text_decoder>(std::move(packed));
}

}  // namespace outsize::io::detail
