// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/linux/mapped_transfer.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/base/units.hpp>

namespace outsize::io {
namespace {

/// What one thread maps at once. Mapped pages are resident memory that no budget knows of, so it is
/// little; it is much against the cost of a mapping.
constexpr std::uint64_t most_window_bytes = 1_MiB;

/// Copies by the kernel, which stops where a page cannot be had. Returns the number of bytes
/// copied, or -1 with errno if it is none.
ssize_t copy(operation kind, std::byte* memory, std::byte* mapped, std::size_t bytes) noexcept {
  iovec const own{memory, bytes}, other{mapped, bytes};
  return kind == operation::read ? ::process_vm_readv(::getpid(), &own, 1, &other, 1, 0)
                                 : ::process_vm_writev(::getpid(), &own, 1, &other, 1, 0);
}

/// A part of a file that is mapped, or nothing, where that cannot be.
class window {
 public:
  window(int file_descriptor, operation kind, std::uint64_t offset_bytes,
         std::size_t length_bytes) noexcept
      : lead_bytes_(offset_bytes % page_bytes()), mapped_bytes_(lead_bytes_ + length_bytes) {
    bool const writes = kind == operation::write;
    place_ = ::mmap(nullptr, mapped_bytes_, writes ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
                    file_descriptor, static_cast<off_t>(offset_bytes - lead_bytes_));
  }
  window(window const&) = delete;
  window& operator=(window const&) = delete;
  ~window() {
    if (place_ != MAP_FAILED) ::munmap(place_, mapped_bytes_);
  }

  bool is_mapped() const noexcept { return place_ != MAP_FAILED; }
  std::byte* data() const noexcept { return static_cast<std::byte*>(place_) + lead_bytes_; }

 private:
  std::size_t lead_bytes_;  // from the beginning of the page
  std::size_t mapped_bytes_;
  void* place_;
};

/// How much of a read, from its beginning, lies in a regular file.
std::uint64_t bytes_to_read(int file_descriptor, attempt const& work) noexcept {
  struct stat about {};
  if (::fstat(file_descriptor, &about) != 0 || !S_ISREG(about.st_mode)) return 0;
  auto const size_bytes = static_cast<std::uint64_t>(about.st_size);
  return std::min<std::uint64_t>(size_bytes - std::min(size_bytes, work.offset_bytes),
                                 work.length_bytes);
}

/// All of a write if its place could be allocated, which extends the file, or else nothing.
///
/// Not only where the file is too short: another thread that extends it beyond this place makes the
/// new size known before it has zeroed what was behind the old end, and what we would copy there in
/// between would be lost. The call waits until that is done.
std::uint64_t bytes_to_write(int file_descriptor, attempt const& work) noexcept {
  bool const there = ::fallocate(file_descriptor, 0, static_cast<off_t>(work.offset_bytes),
                                 static_cast<off_t>(work.length_bytes)) == 0;
  return there ? work.length_bytes : 0;
}

}  // namespace

std::int64_t transfer_by_mapping(int file_descriptor, attempt const& work) noexcept {
  std::uint64_t const there_bytes = work.kind == operation::read
                                        ? bytes_to_read(file_descriptor, work)
                                        : bytes_to_write(file_descriptor, work);
  std::uint64_t moved_bytes = 0;
  while (moved_bytes < there_bytes) {
    auto const length = std::min(there_bytes - moved_bytes, most_window_bytes);
    window const part(file_descriptor, work.kind, work.offset_bytes + moved_bytes, length);
    if (!part.is_mapped()) break;
    ssize_t const copied = copy(work.kind, work.data + moved_bytes, part.data(), length);
    if (copied > 0) moved_bytes += static_cast<std::uint64_t>(copied);
    if (copied != static_cast<ssize_t>(length)) break;
  }
  // After a part, the next attempt begins with what could not be copied.
  if (moved_bytes == 0) return transfer_by_calls(file_descriptor, work);
  return static_cast<std::int64_t>(moved_bytes);
}

void check_mapping() {
  std::byte from{1}, to{};
  if (copy(operation::read, &to, &from, 1) != 1) throw io_error(ENOSYS, "set up", "an mmap queue");
}

}  // namespace outsize::io
