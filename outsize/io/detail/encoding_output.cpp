// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/detail/encoding_output.hpp>

#include <algorithm>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/units.hpp>
#include <outsize/io/codecs/codec.hpp>

namespace outsize::io {
namespace {

constexpr std::size_t piece_bytes = 128_KiB;
constexpr std::size_t least_window_bytes = 256_KiB;

}  // namespace

encoding_output::encoding_output(std::unique_ptr<output_stream> target, compression kind,
                                 memory_budget* codec_memory)
    : codec_memory_(codec_memory, target->name(), name_of(kind)),
      encoder_(
          (codec_memory_.cover(detail::encoder_memory_bytes(kind)), detail::make_encoder(kind))),
      target_(std::move(target)),
      window_bytes_(round_up(least_window_bytes, target_->alignment_bytes())),
      memory_(outsize::detail::allocate_aligned<std::byte>(2 * window_bytes_,
                                                           target_->alignment_bytes())),
      windows_(*target_, {memory_.get(), 2 * window_bytes_}) {
  piece_.reserve(piece_bytes);
}

encoding_output::~encoding_output() = default;

void encoding_output::write(std::span<std::byte> data) {
  OUTSIZE_ASSERT(encoder_ != nullptr && "written to after commit()");
  written_bytes_ += data.size();
  while (!data.empty()) {
    auto const more = data.first(std::min(data.size(), piece_bytes - piece_.size()));
    piece_.insert(piece_.end(), more.begin(), more.end());
    data = data.subspan(more.size());
    if (piece_.size() < piece_bytes) return;
    windows_.put(encoder_->encode(piece_, false));
    piece_.clear();
  }
}

void encoding_output::commit() {
  OUTSIZE_ASSERT(encoder_ != nullptr && "commit() was called twice");
  windows_.put(encoder_->encode(piece_, true));
  windows_.hand_over();
  target_->commit();
  encoder_.reset();
}

}  // namespace outsize::io
