// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/process/frame_file.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include <outsize/base/assert.hpp>

namespace outsize::bsp::process {

shared_memory::shared_memory(char const* name, std::uint64_t bytes) : bytes_(bytes) {
  auto const fail = [&](char const* what) {
    int const error = errno;
    if (descriptor_ >= 0) ::close(descriptor_);
    throw std::system_error(error, std::generic_category(),
                            std::string("cannot ") + what + " shared memory");
  };
  descriptor_ = ::memfd_create(name, 0);  // processes inherit it
  if (descriptor_ < 0) fail("make");
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) fail("extend");
  void* const got =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
  if (got == MAP_FAILED) fail("map");
  data_ = static_cast<std::byte*>(got);
}

shared_memory::~shared_memory() {
  ::munmap(data_, bytes_);
  ::close(descriptor_);
}

frame_pool::frame_pool(shared_memory& memory, std::uint64_t frame_bytes)
    : memory_(memory),
      frame_bytes_(frame_bytes),
      end_(static_cast<std::uint32_t>(memory.bytes().size() / frame_bytes)) {
  free_.reserve(end_);  // so that giving back cannot fail
}

std::uint32_t frame_pool::take(bool clears) {
  std::uint32_t frame = 0;
  {
    std::lock_guard const held(mutex_);
    if (free_.empty()) {
      OUTSIZE_ASSERT(fresh_ < end_);
      return fresh_++;
    }
    frame = free_.back();
    free_.pop_back();
  }
  if (!clears) return frame;
  std::span<std::byte> const bytes = bytes_of(frame);
  std::memset(bytes.data(), 0, bytes.size());
  return frame;
}

void frame_pool::give(std::uint32_t frame) noexcept {
  std::lock_guard const held(mutex_);
  free_.push_back(frame);
}

void remote_arena::populate(std::size_t first_piece, std::size_t pieces) {
  provide(first_piece, pieces, true);
}

bool remote_arena::populate_to_read(std::size_t first_piece, std::size_t pieces) {
  provide(first_piece, pieces, false);
  return false;
}

void remote_arena::provide(std::size_t first_piece, std::size_t pieces, bool clears) {
  std::uint32_t* const frames = frames_of(all_, rank_);
  rank_control& control = control_of(all_, rank_);
  for (std::size_t piece = first_piece; piece < first_piece + pieces; ++piece) {
    if (frames[piece] == 0) frames[piece] = pool_.take(clears) + 1;
  }
  control.frames_changed = 1;
  control.piece_end = std::max(control.piece_end, static_cast<std::uint32_t>(first_piece + pieces));
}

void remote_arena::drop(std::size_t piece) noexcept {
  std::uint32_t& frame = frames_of(all_, rank_)[piece];
  if (frame == 0) return;
  pool_.give(frame - 1);
  frame = 0;
  control_of(all_, rank_).frames_changed = 1;
}

std::span<std::byte> remote_arena::bytes_of(std::size_t piece) const noexcept {
  return pool_.bytes_of(frames_of(all_, rank_)[piece] - 1);
}

std::span<std::uint64_t const> remote_arena::used_pages() const noexcept {
  auto const* const bits = reinterpret_cast<std::uint64_t const*>(heap_tables_of(all_, rank_));
  return {bits, all_.arena_bytes / 4096 / 64};
}

}  // namespace outsize::bsp::process
