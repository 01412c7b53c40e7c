// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/file_identity.hpp>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fstream>

namespace outsize::io {
namespace {

/// The disk that a partition lies in; of other devices themselves.
std::uint64_t disk_of(dev_t device) {
  auto const folder = fmt::format("/sys/dev/block/{}:{}", major(device), minor(device));
  struct stat status {};
  if (::stat((folder + "/partition").c_str(), &status) != 0) return device;
  std::ifstream whole(folder + "/../dev");
  unsigned int major_number = 0, minor_number = 0;
  char colon = 0;
  if (!(whole >> major_number >> colon >> minor_number)) return device;
  return makedev(major_number, minor_number);
}

std::optional<file_identity> identity_in(struct stat const& status) {
  if (S_ISREG(status.st_mode))
    return file_identity{.device = status.st_dev, .inode = status.st_ino};
  if (!S_ISBLK(status.st_mode)) return std::nullopt;
  return file_identity{.device = status.st_rdev, .disk = disk_of(status.st_rdev)};
}

}  // namespace

std::optional<file_identity> identity_of(std::string const& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? identity_in(status) : std::nullopt;
}

std::optional<file_identity> identity_of(int file_descriptor) {
  struct stat status {};
  return ::fstat(file_descriptor, &status) == 0 ? identity_in(status) : std::nullopt;
}

bool share_bytes(file_identity const& one, file_identity const& other) noexcept {
  if (one.inode != other.inode) return false;
  if (one.device == other.device) return true;
  bool const is_part = one.device == other.disk || other.device == one.disk;
  return one.inode == 0 && is_part;
}

}  // namespace outsize::io
