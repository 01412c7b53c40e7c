// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/posix/open_descriptor.hpp>

#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <optional>

#include <outsize/base/error.hpp>
#include <outsize/base/memory_budget.hpp>
#include <outsize/io/detail/patience.hpp>

namespace outsize::io::detail {
namespace {

/// For file systems without unnamed files: makes a name and removes it at once. Returns -1 with
/// errno.
int open_and_unlink(std::string const& directory) {
  std::string path = directory + "/.outsize-XXXXXX";
  int const number = ::mkostemp(path.data(), O_CLOEXEC);
  if (number >= 0) ::unlink(path.c_str());
  return number;
}

/// Sets or clears O_DIRECT; returns whether the file system took it.
bool set_direct(int number, bool on) noexcept {
  int const flags = ::fcntl(number, F_GETFL);
  if (flags < 0) return false;
  int const wanted = on ? flags | O_DIRECT : flags & ~O_DIRECT;
  return wanted == flags || ::fcntl(number, F_SETFL, wanted) == 0;
}

/// What the file system says about direct I/O on this file: an alignment, 0 for "none", or nothing
/// at all.
std::optional<std::size_t> stated_alignment(int number) noexcept {
#ifdef STATX_DIOALIGN
  struct statx about {};
  if (::statx(number, "", AT_EMPTY_PATH, STATX_DIOALIGN, &about) != 0) return std::nullopt;
  if ((about.stx_mask & STATX_DIOALIGN) == 0) return std::nullopt;
  if (about.stx_dio_offset_align == 0) return 0;
  return std::max<std::size_t>(about.stx_dio_offset_align, about.stx_dio_mem_align);
#else
  static_cast<void>(number);
  return std::nullopt;
#endif
}

/// What to try where nothing is stated: a page suits every sector size that files lie on.
std::size_t usual_alignment(open_descriptor const& file) noexcept {
  int sector_bytes = 0;
  bool const known = is_block_device(file) && ::ioctl(file.number(), BLKSSZGET, &sector_bytes) == 0;
  return known && sector_bytes > 0 ? static_cast<std::size_t>(sector_bytes) : page_bytes();
}

/// The unit in which the file system gives space to a regular file, as far as it fits in a page.
std::size_t unit_of_space(int number) noexcept {
  struct stat about {};
  if (::fstat(number, &about) != 0 || !S_ISREG(about.st_mode) || about.st_blksize <= 0) return 1;
  return std::min<std::size_t>(std::bit_ceil(static_cast<std::size_t>(about.st_blksize)),
                               page_bytes());
}

/// Whether a direct read of one aligned unit works. A file that may only be written cannot be
/// tried.
bool direct_read_works(int number, std::size_t alignment_bytes) noexcept {
  if ((::fcntl(number, F_GETFL) & O_ACCMODE) == O_WRONLY) return true;
  void* const place =
      ::mmap(nullptr, alignment_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) return false;
  bool const works = ::pread(number, place, alignment_bytes, 0) >= 0 || errno == EINTR;
  ::munmap(place, alignment_bytes);
  return works;
}

}  // namespace

open_descriptor::~open_descriptor() {
  if (number_ >= 0) ::close(number_);
}

int open_descriptor::close() noexcept {
  // Never again: it is closed in any case.
  return ::close(std::exchange(number_, -1)) == 0 ? 0 : errno;
}

open_descriptor open_temporary(std::string const& directory) {
  // O_EXCL: nobody can give the file a name later.
  int number = open_uninterrupted(directory.c_str(), O_TMPFILE | O_EXCL | O_RDWR, 0600);
  bool const unsupported = errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL;
  if (number < 0 && unsupported) number = open_and_unlink(directory);
  if (number < 0) throw io_error(errno, "create a temporary file", directory);
  return open_descriptor(number);
}

int sync_uninterrupted(open_descriptor const& file) noexcept {
  return call_patiently([&] { return ::fsync(file.number()); });
}

int check_closing(open_descriptor const& file) noexcept {
  return call_patiently([&] {
    int const copy = ::fcntl(file.number(), F_DUPFD_CLOEXEC, 3);
    return copy < 0 ? 0 : ::close(copy);  // no descriptor is left: then it cannot be asked
  });
}

int open_uninterrupted(char const* path, int flags, unsigned permissions) noexcept {
  return call_patiently([&] { return ::open(path, flags | O_CLOEXEC, permissions); });
}

bool is_block_device(open_descriptor const& file) noexcept {
  struct stat about {};
  return ::fstat(file.number(), &about) == 0 && S_ISBLK(about.st_mode);
}

std::uint64_t file_size_bytes(open_descriptor const& file, std::string const& path) {
  struct stat about {};
  if (::fstat(file.number(), &about) != 0) throw io_error(errno, "ask the size", path);
  if (!S_ISBLK(about.st_mode)) return static_cast<std::uint64_t>(about.st_size);
  auto const end = ::lseek(file.number(), 0, SEEK_END);  // nothing else uses the position
  if (end < 0) throw io_error(errno, "ask the size", path);
  return static_cast<std::uint64_t>(end);
}

std::size_t choose_alignment(open_descriptor const& file, bool want_direct) noexcept {
  std::size_t const needed = stated_alignment(file.number()).value_or(usual_alignment(file));
  // Buffers lie at pages: what asks for more goes through the page cache.
  bool const is_possible = needed != 0 && needed <= page_bytes();
  // What begins or ends inside a unit that nothing has been written to is written alone: ext4 locks
  // the file, and fills the unit with zeros.
  std::size_t const alignment = is_possible ? std::max(needed, unit_of_space(file.number())) : 0;
  bool const direct = want_direct && alignment != 0 && set_direct(file.number(), true) &&
                      direct_read_works(file.number(), alignment);
  if (direct) return alignment;
  set_direct(file.number(), false);
  return 1;
}

}  // namespace outsize::io::detail
