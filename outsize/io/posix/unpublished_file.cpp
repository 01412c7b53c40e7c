// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/posix/unpublished_file.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <utility>

#include <outsize/base/error.hpp>
#include <outsize/io/output_stream.hpp>
#include <outsize/io/posix/blocking_io.hpp>

namespace outsize::io::detail {
namespace {

// Held while an output gets its name, and for good by who ends the process.
std::mutex publishing;
bool has_published = false;  // guarded by it

// A thread that holds it at a fork is not there in the new process.
[[maybe_unused]] int const is_free_after_forks =
    ::pthread_atfork(nullptr, nullptr, [] { std::construct_at(&publishing); });

constexpr int most_links = 40;       // as the kernel's
constexpr int most_attempts = 1000;  // at a hidden name that nobody has

// The number of the descriptor that `place` is the system's link to.
std::optional<int> number_of_link(std::filesystem::path const& place) {
  auto const name = place.filename().string();
  int number = 0;
  auto const [end, status] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (status != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  std::error_code failure;
  bool const is_ours =
      std::filesystem::equivalent(place.parent_path(), "/proc/self/fd", failure) && !failure;
  return is_ours ? std::optional(number) : std::nullopt;
}

struct end_of_links {
  std::string path;
  std::optional<int> descriptor;  // that the last link stands for
};

// The absolute path, which stays right where the program changes its folder; where the folders
// above may not be searched, or are too deep, a relative one, which is good for now.
std::filesystem::path reachable_path(std::string const& path) {
  std::error_code failure;
  struct stat found {};
  auto place = std::filesystem::absolute(path, failure);
  if (!failure && ::stat(place.parent_path().c_str(), &found) == 0) return place;
  return std::filesystem::path(path).has_parent_path() ? path : "./" + path;
}

// Follows the links at the end of `path`; unlike realpath(3) also to a name that is still free.
end_of_links follow_links(std::string const& path) {
  std::error_code failure;
  auto place = reachable_path(path);
  for (int links = 0; !failure && links < most_links; ++links) {
    struct stat found {};
    if (::lstat(place.c_str(), &found) != 0 || !S_ISLNK(found.st_mode))
      return {place.string(), std::nullopt};
    if (auto const number = number_of_link(place)) return {place.string(), number};
    // A relative link starts at the folder that holds it; an absolute one replaces all.
    place = place.parent_path() / std::filesystem::read_symlink(place, failure);
  }
  throw io_error(failure ? failure.value() : ELOOP, "open", path);
}

// Whether something is mounted on the name itself, which nothing can be renamed over then.
bool is_mount_point([[maybe_unused]] std::string const& path) noexcept {
#ifdef STATX_ATTR_MOUNT_ROOT
  struct statx found {};
  return ::statx(AT_FDCWD, path.c_str(), 0, 0, &found) == 0 &&
         (found.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
#else
  return false;
#endif
}

std::string proc_path(int number) { return fmt::format("/proc/self/fd/{}", number); }

}  // namespace

std::optional<output_target> find_replaceable(std::string const& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    if (errno != ENOENT || path.empty()) throw io_error(errno, "open", path);
    return output_target{follow_links(path).path, std::nullopt};
  }
  if (S_ISDIR(found.st_mode)) throw io_error(EISDIR, "write", path);
  if (!S_ISREG(found.st_mode)) return std::nullopt;
  if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) {
    throw io_error(errno, "write", path);
  }
  auto place = follow_links(path);
  struct stat same {};
  bool const has_name = ::stat(place.path.c_str(), &same) == 0 && same.st_ino == found.st_ino &&
                        same.st_dev == found.st_dev;
  if (place.descriptor) return std::nullopt;
  // Without a name that leads to it, it could only be emptied, and be an input.
  if (!has_name) throw io_error(ESTALE, "replace", path);
  if (is_mount_point(place.path)) throw io_error(EBUSY, "replace", path);
  return output_target{std::move(place.path), file_protection(path)};
}

std::optional<int> descriptor_behind(std::string const& path) {
  return follow_links(path).descriptor;
}

unpublished_file::unpublished_file(output_target target, std::string name, naming preferred)
    : target_(std::move(target)),
      name_(std::move(name)),
      directory_(std::filesystem::path(target_.path).parent_path().string()) {
  if (!std::filesystem::path(target_.path).has_filename()) throw io_error(EISDIR, "write", name_);
  // Whatever keeps the system from making it unnamed: if it matters, a hidden one meets it too.
  if (preferred == naming::hidden || !make_unnamed()) make_hidden();
  // Tried now, while the file is empty: what cannot be kept is told before the work.
  if (target_.existing) target_.existing->give_to(file_->number(), name_);
  close_to_others();
}

bool unpublished_file::make_unnamed() {
  *file_ = open_descriptor(
      open_uninterrupted(directory_.c_str(), O_TMPFILE | O_RDWR, first_permissions()));
  if (!note_mode()) return false;
  // Without /proc it could never be given a name; better to know that now.
  return ::access(proc_path(file_->number()).c_str(), F_OK) == 0;
}

void unpublished_file::make_hidden() {
  for (int attempts = 0; attempts < most_attempts; ++attempts) {
    hidden_.emplace(next_hidden_path());
    *file_ = open_descriptor(open_uninterrupted(hidden_->path().c_str(), O_CREAT | O_EXCL | O_RDWR,
                                                first_permissions()));
    if (file_->number() < 0 && errno == EEXIST) {
      hidden_->keep();
      continue;
    }
    if (!note_mode()) fail("create");
    return;
  }
  fail("create");
}

// A new file is made as if it were to stay, so that the system applies the umask; a successor is
// closed to others until it has its predecessor's owner and mode.
unsigned unpublished_file::first_permissions() const noexcept {
  return target_.existing ? 0600 : 0666;
}

bool unpublished_file::note_mode() noexcept {
  struct stat made {};
  if (file_->number() < 0 || ::fstat(file_->number(), &made) != 0) return false;
  new_mode_ = made.st_mode & 0777U;
  return true;
}

void unpublished_file::publish(input_watch const& inputs) {
  process_.check(name_.c_str());
  set_protection();
  if (!hidden_) link_hidden();
  close();
  std::lock_guard const held(publishing);
  inputs.require_unchanged();  // as late as can be
  if (::rename(hidden_->path().c_str(), target_.path.c_str()) != 0) fail("replace");
  has_published = true;
  hidden_->keep();
}

// Not with the lock: a server may take its time, and a signal must not wait for it.
void unpublished_file::close() {
  if (int const error = file_->close(); error != 0) throw io_error(error, "write", name_);
}

// With the lock, so that no name appears behind remove_hidden_outputs().
void unpublished_file::link_hidden() {
  std::lock_guard const held(publishing);
  auto const file = proc_path(file_->number());
  for (int attempts = 0; attempts < most_attempts; ++attempts) {
    hidden_.emplace(next_hidden_path());
    auto const* const path = hidden_->path().c_str();
    if (::linkat(AT_FDCWD, file.c_str(), AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0) return;
    if (errno != EEXIST) break;
    hidden_->keep();
  }
  fail("create");
}

// Until it is published it is for its owner alone. Some file systems have no modes: so be it. The
// mode limits a list of access rights, too.
void unpublished_file::close_to_others() noexcept { ::fchmod(file_->number(), 0600); }

void unpublished_file::set_protection() {
  if (target_.existing) return target_.existing->give_to(file_->number(), name_);
  // Where it fails the file stays closed to others, which is no reason to lose it.
  ::fchmod(file_->number(), new_mode_);
}

// A name that starts with a dot, says whose it is, and is not too long for a file system.
std::string unpublished_file::next_hidden_path() const {
  static std::atomic<unsigned> counter{0};
  auto const base = std::filesystem::path(target_.path).filename().string().substr(0, 200);
  return fmt::format("{}/.outsize-{}.{}.{}", directory_, base, ::getpid(), counter.fetch_add(1));
}

void unpublished_file::fail(char const* operation) const {
  throw io_error(errno, operation, name_);
}

}  // namespace outsize::io::detail

namespace outsize::io {

bool end_publishing() noexcept {
  detail::publishing.lock();
  return detail::has_published;
}

}  // namespace outsize::io
