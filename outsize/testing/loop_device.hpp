// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// A block device for one test: bytes in memory, full of zeros, that the kernel shows as a disk.
//
// It takes rights that few processes have; refusal() says what is missing. The kernel takes the
// device away with the last descriptor that is open on it, however the process ends. Layer:
// testing.

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace outsize::scratch {

class loop_device {
 public:
  explicit loop_device(std::uint64_t bytes, std::uint32_t sector_bytes = 512) {
    make(bytes, sector_bytes);
  }
  loop_device(loop_device const&) = delete;
  loop_device& operator=(loop_device const&) = delete;
  ~loop_device() {
    if (device_ >= 0) ::close(device_);
    if (content_ >= 0) ::close(content_);
  }

  /// Why there is none; empty if there is one.
  std::string const& refusal() const { return refusal_; }
  std::string const& path() const { return path_; }

 private:
  void make(std::uint64_t bytes, std::uint32_t sector_bytes) {
    content_ = ::memfd_create("disk", MFD_CLOEXEC);
    if (content_ < 0 || ::ftruncate(content_, static_cast<off_t>(bytes)) != 0)
      return refuse("make its content");
    int const control = ::open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    if (control < 0) return refuse("open /dev/loop-control");
    // Another process may take the free number before we do; then we ask for the next.
    for (int tries = 0; tries < 100 && !attach(::ioctl(control, LOOP_CTL_GET_FREE), sector_bytes);
         ++tries) {
    }
    ::close(control);
  }

  /// Returns whether there is no need to try another number.
  bool attach(int number, std::uint32_t sector_bytes) {
    refusal_.clear();
    path_ = "/dev/loop" + std::to_string(number);
    device_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    if (device_ < 0) {
      refuse("open " + path_);
      return true;
    }
    loop_config how{};
    how.fd = static_cast<std::uint32_t>(content_);
    how.block_size = sector_bytes;
    how.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    if (::ioctl(device_, LOOP_CONFIGURE, &how) == 0) return true;
    bool const taken = errno == EBUSY;
    refuse("set up " + path_);
    ::close(device_);
    device_ = -1;
    return !taken;
  }

  void refuse(std::string const& what) {
    refusal_ = "no loop device here: cannot " + what + ": " + std::strerror(errno);
  }

  int content_ = -1;
  int device_ = -1;
  std::string path_;
  std::string refusal_;
};

}  // namespace outsize::scratch
