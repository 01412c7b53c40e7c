// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/posix/blocking_io.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

#include <outsize/base/error.hpp>
#include <outsize/io/detail/patience.hpp>

namespace outsize::io::detail {
namespace {

/// Whether the size of what statfs(2) tells of says nothing.
bool is_of_sysfs(struct statfs const& system) noexcept {
  constexpr decltype(system.f_type) sysfs_magic = 0x62656572;
  return system.f_type == sysfs_magic;
}

file_status classify(struct stat const& found) {
  auto const size_bytes = static_cast<std::uint64_t>(found.st_size);
  if (S_ISREG(found.st_mode)) return {file_kind::regular, size_bytes};
  if (S_ISBLK(found.st_mode)) return {file_kind::block_device, 0};
  if (S_ISDIR(found.st_mode)) return {file_kind::directory, 0};
  return {file_kind::sequential, 0};
}

// Decides whether a call that moved nothing is made again. On a pipe or terminal it always is:
// poll(2) waits for the program at the other end. A file waits for nobody, and poll(2) calls it
// ready though it refuses: there patience ends.
class waiting {
 public:
  waiting(int number, short event) : ready_{number, event, 0} {}

  /// Waits; returns whether to try again after `error_number`.
  bool try_again(int error_number) {
    if (!is_passing(error_number)) return false;
    bool const has_patience = left_.try_again(error_number);
    if (has_patience && error_number == EINTR) return true;
    struct stat found {};
    if (::fstat(ready_.fd, &found) != 0) return false;
    if (classify(found).kind != file_kind::sequential) return has_patience;
    if (error_number == EINTR) return true;
    return ::poll(&ready_, 1, -1) >= 0 || errno == EINTR;
  }

 private:
  pollfd ready_;
  patience left_;
};

/// Whether nothing is expected behind `at`: where a file has a size, a read of nothing before it is
/// a fault, and must not be taken for an empty file.
bool ends_at(int number, off_t at) noexcept {
  struct stat status {};
  if (::fstat(number, &status) != 0 || !S_ISREG(status.st_mode) || at >= status.st_size)
    return true;
  struct statfs system {};
  return ::fstatfs(number, &system) == 0 && is_of_sysfs(system);
}

open_descriptor open_existing(std::string const& path, int flags, std::string const& name) {
  int const number = open_uninterrupted(path.c_str(), flags | O_NOCTTY, 0);
  if (number < 0) throw io_error(errno, "open", name);
  return open_descriptor(number);
}

}  // namespace

file_status status_of(std::string const& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) throw io_error(errno, "open", path);
  struct statfs system {};
  if (::statfs(path.c_str(), &system) == 0 && is_of_sysfs(system)) found.st_size = 0;
  return classify(found);
}

file_status status_of(int number, std::string const& name) {
  struct stat found {};
  if (::fstat(number, &found) != 0) throw io_error(errno, "open", name);
  struct statfs system {};
  if (::fstatfs(number, &system) == 0 && is_of_sysfs(system)) found.st_size = 0;
  return classify(found);
}

open_descriptor open_for_reading(std::string const& path, std::string const& name) {
  return open_existing(path, O_RDONLY, name);
}

open_descriptor open_for_writing(std::string const& path, std::string const& name) {
  return open_existing(path, O_WRONLY, name);
}

int duplicate(int number, std::string const& name) {
  // Not below 3: a copy must never become the standard input or output of somebody else.
  int const copy = ::fcntl(number, F_DUPFD_CLOEXEC, 3);
  if (copy < 0) throw io_error(errno, "open", name);
  return copy;
}

int reopen_for_reading(int number, std::string const& name) {
  auto const path = "/proc/self/fd/" + std::to_string(number);
  int const fresh = open_uninterrupted(path.c_str(), O_RDONLY | O_NOCTTY, 0);
  return fresh >= 0 ? fresh : duplicate(number, name);
}

std::uint64_t claim_rest(int number, std::string const& name) {
  auto const position = ::lseek(number, 0, SEEK_CUR);
  if (position < 0 || ::lseek(number, 0, SEEK_END) < 0) throw io_error(errno, "read", name);
  return static_cast<std::uint64_t>(position);
}

std::size_t read_some(int number, std::span<std::byte> into, std::string const& name) {
  for (waiting source(number, POLLIN);;) {
    auto const bytes = ::read(number, into.data(), into.size());
    if (bytes >= 0) return static_cast<std::size_t>(bytes);
    int const error = errno;
    if (!source.try_again(error)) throw io_error(error, "read", name);
  }
}

std::size_t peek(int number, std::span<std::byte> into, std::string const& name) {
  auto const position = ::lseek(number, 0, SEEK_CUR);
  if (position < 0) throw io_error(errno, "read", name);
  std::size_t done = 0;
  while (done < into.size()) {
    auto const rest = into.subspan(done);
    auto const at = position + static_cast<off_t>(done);
    auto const bytes =
        call_patiently([&] { return ::pread(number, rest.data(), rest.size(), at); });
    if (bytes == 0 && ends_at(number, at)) break;
    if (bytes <= 0)
      throw io_error(bytes < 0 ? errno : EIO, "read", name, static_cast<std::uint64_t>(at),
                     rest.size());
    done += static_cast<std::size_t>(bytes);
  }
  return done;
}

void write_all(int number, std::span<std::byte const> from, std::string const& name) {
  waiting target(number, POLLOUT);
  while (!from.empty()) {
    auto const bytes = ::write(number, from.data(), from.size());
    int const error = bytes == 0 ? EIO : errno;
    if (bytes > 0) {
      from = from.subspan(static_cast<std::size_t>(bytes));
      target = {number, POLLOUT};
    } else if (!target.try_again(error)) {
      throw io_error(error, "write", name);
    }
  }
}

}  // namespace outsize::io::detail
