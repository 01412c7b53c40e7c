// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/bsp/linux/arena_range.hpp>

#include <sys/mman.h>

#include <cerrno>
#include <new>

#include <outsize/base/assert.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>

namespace outsize::bsp::detail {

namespace {

constexpr std::uint64_t huge_page_bytes = 2_MiB;

/// For kernels before 5.14, which cannot populate.
void touch(std::byte* from, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += page_bytes()) {
    auto* const place = reinterpret_cast<std::byte volatile*>(from + at);
    *place = *place;
  }
}

}  // namespace

arena_range::arena_range(std::uint64_t bytes, bool huge_pages)
    : reserved_bytes_(bytes + huge_page_bytes), bytes_(bytes) {
  void* const got = ::mmap(nullptr, reserved_bytes_, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) throw std::bad_alloc();
  reserved_ = static_cast<std::byte*>(got);
  auto const address = reinterpret_cast<std::uintptr_t>(reserved_);
  data_ = reserved_ + (round_up(address, huge_page_bytes) - address);
  // Advice only: without it arenas work as well. A huge page of which a part has been dropped would
  // still be there.
  ::madvise(data_, bytes_, huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

arena_range::~arena_range() { ::munmap(reserved_, reserved_bytes_); }

void arena_range::open(std::uint64_t bytes) {
  OUTSIZE_ASSERT(bytes <= bytes_);
  if (bytes <= open_bytes_) return;
  if (::mprotect(data_, bytes, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  open_bytes_ = bytes;
}

void arena_range::close() noexcept {
  if (open_bytes_ != 0) ::mprotect(data_, open_bytes_, PROT_NONE);
  open_bytes_ = 0;
}

void arena_range::populate(std::uint64_t offset_bytes, std::uint64_t bytes) {
  OUTSIZE_ASSERT(offset_bytes + bytes <= open_bytes_);
  int result;
  do {
    result = ::madvise(data_ + offset_bytes, bytes, MADV_POPULATE_WRITE);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  if (result == 0) return;
  if (errno != EINVAL) throw std::bad_alloc();
  touch(data_ + offset_bytes, bytes);
}

void arena_range::drop(std::uint64_t offset_bytes, std::uint64_t bytes) noexcept {
  ::madvise(data_ + offset_bytes, bytes, MADV_DONTNEED);
}

}  // namespace outsize::bsp::detail
