// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/linux/frame_stash.hpp>

#include <sys/mman.h>

#include <outsize/base/units.hpp>

namespace outsize::bsp::detail {

namespace {

constexpr std::uint64_t least_frame_bytes = 2_MiB;
constexpr std::uint64_t most_frames = 8192;

/// The pages go; the addresses that they leave stay mapped, without pages.
bool move_pages(std::byte* from, std::byte* to, std::uint64_t bytes) noexcept {
  constexpr int flags = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
  return ::mremap(from, bytes, bytes, flags, to) != MAP_FAILED;
}

}  // namespace

frame_stash::frame_stash(std::uint64_t frame_bytes, std::uint64_t frames)
    : frame_bytes_(frame_bytes),
      range_(
          frames <= most_frames && frame_bytes % least_frame_bytes == 0 ? frame_bytes * frames : 0,
          true) {
  range_.open(range_.size());
  empty_.reserve(range_.size() / frame_bytes);
  full_.reserve(range_.size() / frame_bytes);
  for (std::uint64_t at = 0; at < range_.size(); at += frame_bytes) {
    empty_.push_back(range_.data() + at);
  }
}

bool frame_stash::put(std::byte* frame) noexcept {
  std::lock_guard const held(mutex_);
  if (empty_.empty() || !move_pages(frame, empty_.back(), frame_bytes_)) return false;
  full_.push_back(empty_.back());
  empty_.pop_back();
  return true;
}

bool frame_stash::take(std::byte* frame) noexcept {
  std::lock_guard const held(mutex_);
  if (full_.empty()) return false;
  std::byte* const slot = full_.back();
  full_.pop_back();
  empty_.push_back(slot);
  if (move_pages(slot, frame, frame_bytes_)) return true;
  range_.drop(static_cast<std::uint64_t>(slot - range_.data()), frame_bytes_);
  return false;
}

}  // namespace outsize::bsp::detail
