// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/encoding_output.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include <outsize/base/units.hpp>
#include <outsize/io/codecs/codec.hpp>

namespace outsize::io {
namespace {

constexpr std::size_t piece_bytes = 128_KiB;
constexpr std::size_t least_window_bytes = 256_KiB;

}  // namespace

encoding_output::encoding_output(std::unique_ptr<output_stream> target, compression kind)
    : encoder_(detail::make_encoder(kind)),
      target_(std::move(target)),
      window_bytes_(round_up(least_window_bytes, target_->alignment_bytes())) {
  piece_.reserve(piece_bytes);
  auto const alignment = round_up(target_->alignment_bytes(), sizeof(void*));
  for (auto& one : windows_) {
    one.reset(
        static_cast<std::byte*>(std::aligned_alloc(alignment, round_up(window_bytes_, alignment))));
    if (!one) throw std::bad_alloc();
  }
  lead_ = used_ = target_->lead_bytes();
}

encoding_output::~encoding_output() = default;

void encoding_output::write(std::span<std::byte> data) {
  written_bytes_ += data.size();
  while (!data.empty()) {
    auto const more = data.first(std::min(data.size(), piece_bytes - piece_.size()));
    piece_.insert(piece_.end(), more.begin(), more.end());
    data = data.subspan(more.size());
    if (piece_.size() < piece_bytes) return;
    put(encoder_->encode(piece_, false));
    piece_.clear();
  }
}

void encoding_output::commit() {
  put(encoder_->encode(piece_, true));
  hand_over();
  target_->commit();
}

void encoding_output::put(std::span<std::byte const> encoded) {
  while (!encoded.empty()) {
    auto const room = window().subspan(used_);
    auto const bytes = std::min(encoded.size(), room.size());
    std::memcpy(room.data(), encoded.data(), bytes);
    used_ += bytes;
    encoded = encoded.subspan(bytes);
    if (bytes == room.size()) hand_over();
  }
}

// Lends the window to the target and goes on with the other one.
void encoding_output::hand_over() {
  if (used_ > lead_) target_->write(window().subspan(lead_, used_ - lead_));
  current_ ^= 1;
  target_->wait(window());
  lead_ = used_ = target_->lead_bytes();
}

std::span<std::byte> encoding_output::window() const noexcept {
  return {windows_[current_].get(), window_bytes_};
}

}  // namespace outsize::io
