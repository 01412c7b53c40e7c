// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/disk_file.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/io/detail/patience.hpp>
#include <outsize/io/posix/open_descriptor.hpp>

namespace outsize::io {
namespace {

class disk_file final : public file {
 public:
  /// @param is_locked  By this open file.
  disk_file(std::shared_ptr<detail::open_descriptor const> descriptor, std::string name,
            request_queue& queue, std::size_t alignment_bytes, bool is_locked = false)
      : descriptor_(std::move(descriptor)),
        name_(std::move(name)),
        queue_(queue),
        is_device_(detail::is_block_device(*descriptor_)),
        is_locked_(is_locked),
        alignment_bytes_(alignment_bytes) {}
  ~disk_file() override {
    drain();
    // A process that was forked meanwhile has the open file too, and would keep the lock.
    if (is_locked_ && process().is_current()) ::flock(descriptor_->number(), LOCK_UN);
  }

  std::uint64_t size_bytes() const override { return detail::file_size_bytes(*descriptor_, name_); }

  file_version version() const override {
    auto const regular = detail::version_of(*descriptor_);
    return regular ? *regular : file::version();
  }

  void resize(std::uint64_t bytes) override {
    process().check(name_.c_str());
    int const status = detail::call_patiently(
        [&] { return ::ftruncate(descriptor_->number(), static_cast<off_t>(bytes)); });
    if (status != 0) throw io_error(errno, "resize", name_);
  }

  void allocate(std::uint64_t offset_bytes, std::uint64_t length_bytes) override {
    if (length_bytes == 0) return;
    process().check(name_.c_str());
    if (is_device_) return check_fits(offset_bytes, length_bytes);
    int const status = detail::call_patiently([&] {
      return ::fallocate(descriptor_->number(), 0, static_cast<off_t>(offset_bytes),
                         static_cast<off_t>(length_bytes));
    });
    if (status != 0 && errno != EOPNOTSUPP && errno != ENOSYS)
      throw io_error(errno, "allocate", name_, offset_bytes, length_bytes);
  }

  void sync() override {
    process().check(name_.c_str());
    if (detail::sync_uninterrupted(*descriptor_) != 0 || detail::check_closing(*descriptor_) != 0)
      throw io_error(errno, "sync", name_);
  }

  std::size_t alignment_bytes() const noexcept override { return alignment_bytes_; }
  std::string const& name() const noexcept override { return name_; }

  void start(attempt work) noexcept override {
    queue_.start(descriptor_->number(), std::move(work));
  }
  bool withdraw(request const& owner) noexcept override { return queue_.withdraw(owner); }

 private:
  /// A device has all its space from the beginning, and never more.
  void check_fits(std::uint64_t offset_bytes, std::uint64_t length_bytes) const {
    std::uint64_t const bytes = size_bytes();
    if (offset_bytes > bytes || length_bytes > bytes - offset_bytes)
      throw io_error(ENOSPC, "allocate", name_, offset_bytes, length_bytes);
  }

  std::shared_ptr<detail::open_descriptor const> descriptor_;
  std::string name_;
  request_queue& queue_;
  bool is_device_;
  bool is_locked_;
  std::size_t alignment_bytes_;
};

std::unique_ptr<file> own_file(detail::open_descriptor descriptor, std::string name,
                               request_queue& queue, bool direct, bool is_locked = false) {
  auto const alignment = detail::choose_alignment(descriptor, direct && queue.moves_directly());
  return std::make_unique<disk_file>(
      std::make_shared<detail::open_descriptor>(std::move(descriptor)), std::move(name), queue,
      alignment, is_locked);
}

int open_flags(open_options const& options, bool is_device) {
  int flags = options.mode == access::read_only ? O_RDONLY : O_RDWR;
  // Without O_CREAT this flag claims a device, or fails where somebody has: a mounted file system,
  // an array of disks, another storage.
  if (is_device) return options.mode == access::read_write ? flags | O_EXCL : flags;
  if (options.create) flags |= options.must_be_new ? O_CREAT | O_EXCL : O_CREAT;
  if (options.truncate && !options.lock) flags |= O_TRUNC;  // else once it is locked
  return flags;
}

bool is_device(std::string const& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && S_ISBLK(about.st_mode);
}

void refuse_small_device(detail::open_descriptor const& descriptor, std::string const& path,
                         std::uint64_t least_bytes) {
  if (!detail::is_block_device(descriptor)) return;
  std::uint64_t const bytes = detail::file_size_bytes(descriptor, path);
  if (bytes < least_bytes) throw out_of_space(path, bytes, least_bytes);
}

void refuse_what_has_no_places(detail::open_descriptor const& descriptor, std::string const& path) {
  struct stat about {};
  if (::fstat(descriptor.number(), &about) != 0) throw io_error(errno, "open", path);
  if (S_ISDIR(about.st_mode)) throw io_error(EISDIR, "open", path);
  if (::lseek(descriptor.number(), 0, SEEK_CUR) < 0) throw io_error(errno, "open", path);
}

// I/O of a process that was killed may go on for a moment, and keeps its lock: whoever comes then
// must wait for it in any case.
constexpr int lock_attempts = 100;
constexpr std::chrono::milliseconds between_lock_attempts(10);

void lock_file(detail::open_descriptor const& descriptor, std::string const& path, access mode) {
  int const how = (mode == access::read_only ? LOCK_SH : LOCK_EX) | LOCK_NB;
  for (int attempt = 1; ::flock(descriptor.number(), how) != 0; ++attempt) {
    if (errno == EOPNOTSUPP || errno == ENOLCK || errno == EINVAL || errno == ENOSYS) return;
    if (errno != EINTR && errno != EWOULDBLOCK) throw io_error(errno, "lock", path);
    if (attempt == lock_attempts) throw io_error(EBUSY, "lock", path);
    std::this_thread::sleep_for(between_lock_attempts);
  }
}

}  // namespace

std::unique_ptr<file> open_file(std::string const& path, request_queue& queue,
                                open_options const& options) {
  bool const has_device = is_device(path);
  if (has_device && options.create && options.must_be_new) throw io_error(EEXIST, "open", path);
  detail::open_descriptor descriptor(detail::open_uninterrupted(
      path.c_str(), open_flags(options, has_device), options.permissions));
  if (descriptor.number() < 0) throw io_error(errno, "open", path);
  refuse_what_has_no_places(descriptor, path);
  refuse_small_device(descriptor, path, options.least_device_bytes);
  if (options.lock) lock_file(descriptor, path, options.mode);
  auto opened = own_file(std::move(descriptor), path, queue, options.direct, options.lock);
  if (options.lock && options.truncate && !has_device) opened->resize(0);
  return opened;
}

std::unique_ptr<file> make_temporary_file(std::string const& directory, request_queue& queue,
                                          bool direct) {
  return own_file(detail::open_temporary(directory), directory + "/(temporary)", queue, direct);
}

std::unique_ptr<file> adopt_file(int file_descriptor, std::string name, request_queue& queue,
                                 bool direct) {
  return own_file(detail::open_descriptor(file_descriptor), std::move(name), queue, direct);
}

std::unique_ptr<file> detail::share_file(std::shared_ptr<open_descriptor const> descriptor,
                                         std::string name, request_queue& queue,
                                         std::size_t alignment_bytes) {
  return std::make_unique<disk_file>(std::move(descriptor), std::move(name), queue,
                                     alignment_bytes);
}

void sync_name(std::string const& path) {
  auto const directory = std::filesystem::path(path).parent_path();
  detail::open_descriptor const descriptor(detail::open_uninterrupted(
      directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY, 0));
  bool const failed = descriptor.number() < 0 || detail::sync_uninterrupted(descriptor) != 0;
  if (failed && errno != EINVAL)  // some file systems have nothing to sync there
    throw io_error(errno, "sync the directory of", path);
}

std::uint64_t free_space_bytes(std::string const& path) {
  struct statvfs about {};
  if (::statvfs(path.c_str(), &about) != 0) throw io_error(errno, "ask the free space", path);
  return std::uint64_t{about.f_bavail} * about.f_frsize;
}

out_of_space no_space(std::string const& directory, std::uint64_t needed_bytes) {
  std::uint64_t free_bytes = 0;
  try {
    free_bytes = free_space_bytes(directory);
  } catch (io_error const&) {
    // The directory is gone, too; what matters is that the disk is full.
  }
  return {directory, free_bytes, needed_bytes};
}

}  // namespace outsize::io
