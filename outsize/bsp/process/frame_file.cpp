// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/process/frame_file.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <outsize/base/assert.hpp>
#include <outsize/base/error.hpp>
#include <outsize/io/detail/patience.hpp>
#include <outsize/io/disk_file.hpp>
#include <outsize/io/posix/open_descriptor.hpp>

namespace outsize::bsp::process {

namespace {

[[noreturn]] void fail(char const* what) {
  throw std::system_error(errno, std::generic_category(),
                          std::string("cannot ") + what + " shared memory");
}

using io::detail::open_descriptor;

std::unique_ptr<open_descriptor const> file_in_memory(char const* name) {
  int const number = ::memfd_create(name, MFD_CLOEXEC);
  if (number < 0) fail("make");
  return std::make_unique<open_descriptor const>(number);
}

}  // namespace

shared_memory::shared_memory(char const* name, std::uint64_t bytes)
    : shared_memory(file_in_memory(name), "", bytes) {}

std::unique_ptr<shared_memory> shared_memory::in_directory(std::string const& directory,
                                                           std::uint64_t bytes, bool reads_ahead) {
  std::unique_ptr<shared_memory> made(new shared_memory(
      std::make_unique<open_descriptor const>(io::detail::open_temporary(directory)), directory,
      bytes));
  if (!reads_ahead) ::madvise(made->data_, bytes, MADV_RANDOM);
  return made;
}

shared_memory::shared_memory(file_ptr file, std::string directory, std::uint64_t bytes)
    : file_(std::move(file)), directory_(std::move(directory)), bytes_(bytes) {
  if (::ftruncate(file_->number(), static_cast<off_t>(bytes)) != 0) fail("extend");
  void* const got = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                           file_->number(), 0);
  if (got == MAP_FAILED) fail("map");
  data_ = static_cast<std::byte*>(got);
}

shared_memory::~shared_memory() { ::munmap(data_, bytes_); }

int shared_memory::descriptor() const noexcept { return file_->number(); }

void shared_memory::let_inherit() const noexcept { ::fcntl(file_->number(), F_SETFD, 0); }

void shared_memory::prepare(std::uint64_t offset, std::uint64_t bytes, bool is_fresh) {
  if (directory_.empty()) {
    if (!is_fresh) std::memset(data_ + offset, 0, bytes);
    return;
  }
  int const status = io::detail::call_patiently([&] {
    return ::fallocate(file_->number(), 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  });
  if (status == 0 || errno == EOPNOTSUPP) return;
  io_error const error(errno, "allocate", directory_, offset, bytes);
  if (error.is_full()) throw io::no_space(directory_, bytes);
  throw error;
}

void shared_memory::give_up(std::uint64_t offset, std::uint64_t bytes) noexcept {
  if (directory_.empty()) return;
  int const status = io::detail::call_patiently([&] {
    return ::fallocate(file_->number(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                       static_cast<off_t>(offset), static_cast<off_t>(bytes));
  });
  if (status != 0) std::memset(data_ + offset, 0, bytes);
}

std::uint64_t shared_memory::allocated_bytes() const noexcept {
  struct stat status = {};
  if (!directory_.empty() || ::fstat(file_->number(), &status) != 0) return 0;
  return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

frame_pool::frame_pool(shared_memory& memory, std::uint64_t frame_bytes)
    : memory_(memory),
      frame_bytes_(frame_bytes),
      end_(static_cast<std::uint32_t>(memory.bytes().size() / frame_bytes)) {
  free_.reserve(end_);  // so that giving back cannot fail
}

std::uint32_t frame_pool::take(bool clears) {
  bool is_fresh = false;
  std::uint32_t frame = 0;
  {
    std::lock_guard const held(mutex_);
    is_fresh = free_.empty();
    if (is_fresh) {
      OUTSIZE_ASSERT(fresh_ < end_);
      frame = fresh_++;
    } else {
      frame = free_.back();
      free_.pop_back();
    }
  }
  memory_.prepare(frame * frame_bytes_, frame_bytes_, is_fresh || !clears);
  return frame;
}

void frame_pool::give(std::uint32_t frame) noexcept {
  memory_.give_up(frame * frame_bytes_, frame_bytes_);
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
