// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A library for LD_PRELOAD that stands in for a bad file system: calls on files below a folder
// fail where the environment says so.
//
//   OUTSIZE_FAULT_BELOW    the folder; calls on other files go through untouched
//   OUTSIZE_FAULT_CALL     what fails: open, read, write, allocate, rename, sync, resize, close
//   OUTSIZE_FAULT_FIRST    the first call of that kind that fails, from 1; none without it
//   OUTSIZE_FAULT_COUNT    how many fail from there on (1); 0: all
//   OUTSIZE_FAULT_ERRNO    how: an errno, 0 to move nothing, -1 to move half
//   OUTSIZE_FAULT_LOG      a file that gets the name of each call as a line
//   OUTSIZE_FAULT_LACKS    what is missing, as letters: t, unnamed files; d, direct I/O;
//                          u, io_uring; s, 500 submissions to it; f, an fsync() that does anything
//
// Without io_uring, whose reads and writes nobody can stand in for, the program uses threads. A
// close() or fsync() that fails loses what was written since the last one, and the file with it: it
// is cut to nothing, as if a server had met a quota; not with EINTR and EAGAIN. Pauses pass at
// once. Any thread may make the calls.

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string_view>

namespace {

enum call : std::uint8_t {
  opening,
  reading,
  writing,
  allocating,
  renaming,
  syncing,
  resizing,
  closing
};
constexpr std::array<std::string_view, 8> call_names{"open",   "read", "write",  "allocate",
                                                     "rename", "sync", "resize", "close"};

constexpr int moves_nothing = 0;
constexpr int moves_half = -1;

/// What the environment asks for.
struct plan {
  std::string_view below;
  std::string_view lacks;
  int failing = -1;  // a call
  long first = 0;
  long count = 1;
  int error_number = EIO;
  int log = -1;

  bool lacks_feature(char letter) const { return lacks.find(letter) != lacks.npos; }
};

std::string_view variable(char const* name) {
  char const* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

long number(char const* name, long otherwise) {
  char const* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtol(value, nullptr, 10);
}

plan read_plan() {
  plan p;
  p.below = variable("OUTSIZE_FAULT_BELOW");
  p.lacks = variable("OUTSIZE_FAULT_LACKS");
  for (std::size_t i = 0; i < call_names.size(); ++i)
    if (variable("OUTSIZE_FAULT_CALL") == call_names[i]) p.failing = static_cast<int>(i);
  p.first = number("OUTSIZE_FAULT_FIRST", 0);
  p.count = number("OUTSIZE_FAULT_COUNT", 1);
  p.error_number = static_cast<int>(number("OUTSIZE_FAULT_ERRNO", EIO));
  if (char const* const path = std::getenv("OUTSIZE_FAULT_LOG"))
    p.log = static_cast<int>(
        ::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  return p;
}

plan const& the_plan() {
  static plan const p = read_plan();
  return p;
}

std::atomic<long> calls{0};  // of the kind that fails

template <typename Function>
Function* real(char const* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool is_below(std::string_view path) {
  auto const& below = the_plan().below;
  return !below.empty() && path.starts_with(below) &&
         (path.size() == below.size() || path[below.size()] == '/');
}

bool is_below(int descriptor) {
  char link[64];
  char path[4096];
  char* end = link + sizeof link;
  *--end = '\0';
  unsigned rest = descriptor < 0 ? 0 : static_cast<unsigned>(descriptor);
  do {
    *--end = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest > 0);
  constexpr std::string_view folder = "/proc/self/fd/";
  end -= folder.size();
  std::memcpy(end, folder.data(), folder.size());
  auto const bytes = ::readlink(end, path, sizeof path);
  return bytes > 0 && is_below({path, static_cast<std::size_t>(bytes)});
}

/// Whether this call is one that fails; counts it.
template <typename File>
bool fails(call which, File file) {
  auto const& p = the_plan();
  int const saved = errno;
  bool const counts = is_below(file);
  errno = saved;
  if (!counts) return false;
  if (p.log >= 0) {
    char line[32];
    auto const name = call_names[which];
    std::memcpy(line, name.data(), name.size());
    line[name.size()] = '\n';
    ::syscall(SYS_write, p.log, line, name.size() + 1);
  }
  if (p.failing != which || p.first == 0) return false;
  long const number = ++calls;
  return number >= p.first && (p.count == 0 || number < p.first + p.count);
}

/// What a call that fails returns.
template <typename Result = int>
Result failed() {
  errno = the_plan().error_number;
  return -1;
}

/// Files with writes that neither fsync(2) nor close(2) has confirmed.
class unconfirmed_files {
 public:
  void note(int descriptor, bool has_writes) {
    struct stat found {};
    if (::fstat(descriptor, &found) != 0) return;
    std::lock_guard const held(mutex_);
    auto const end = files_.begin() + static_cast<std::ptrdiff_t>(count_);
    auto const place = std::find(files_.begin(), end, found.st_ino);
    if (has_writes && place == end && count_ < files_.size()) files_[count_++] = found.st_ino;
    if (!has_writes && place != end) *place = files_[--count_];
  }
  bool has(int descriptor) {
    struct stat found {};
    if (::fstat(descriptor, &found) != 0) return false;
    std::lock_guard const held(mutex_);
    auto const end = files_.begin() + static_cast<std::ptrdiff_t>(count_);
    return std::find(files_.begin(), end, found.st_ino) != end;
  }

 private:
  std::mutex mutex_;
  std::array<ino_t, 64> files_{};
  std::size_t count_ = 0;
};

unconfirmed_files unconfirmed;

template <typename Move>
ssize_t moved(call which, int descriptor, std::size_t bytes, Move const& move) {
  bool const is_bad = fails(which, descriptor);
  if (which == writing) unconfirmed.note(descriptor, true);
  if (!is_bad) return move(bytes);
  int const how = the_plan().error_number;
  if (how == moves_nothing) return 0;
  // At least a unit of direct I/O.
  if (how == moves_half) return move(bytes <= 4096 ? bytes : bytes / 2 / 4096 * 4096);
  return failed<ssize_t>();
}

/// Whether fsync(2) or close(2) fails; then what was written since the last one is lost, and the
/// file with it, unless the caller may ask again.
bool fails_to_confirm(call which, int descriptor) {
  int const saved = errno;
  bool const is_bad = fails(which, descriptor);
  int const error = the_plan().error_number;
  if (!is_bad) {
    bool const confirms = which == closing || !the_plan().lacks_feature('f');
    if (confirms) unconfirmed.note(descriptor, false);
  } else if (error != EINTR && error != EAGAIN && unconfirmed.has(descriptor)) {
    static_cast<void>(::syscall(SYS_ftruncate, descriptor, 0));
  }
  errno = saved;
  return is_bad;
}

/// Has the system refuse io_uring_setup(2), as some containers do.
[[gnu::constructor]] void refuse_uring() {
  if (!the_plan().lacks_feature('u')) return;
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog const filter{std::size(code), code};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    std::_Exit(125);
}

int open_file(char const* path, int flags, unsigned mode) {
  if (fails(opening, std::string_view(path))) return failed();
  if ((flags & O_TMPFILE) == O_TMPFILE && the_plan().lacks_feature('t') &&
      is_below(std::string_view(path))) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags | O_LARGEFILE, mode));
}

}  // namespace

// The names of libc that the tool and its libraries call, and those they may be compiled to.
extern "C" {

int open(char const* path, int flags, ...) {
  std::va_list more;
  va_start(more, flags);
  bool const makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  unsigned const mode = makes ? va_arg(more, unsigned) : 0;
  va_end(more);
  return open_file(path, flags, mode);
}
int open64(char const* path, int flags, ...) __attribute__((alias("open")));

int mkostemp(char* path, int flags) {
  if (fails(opening, std::string_view(path))) return failed();
  return real<int(char*, int)>("mkostemp")(path, flags);
}
int mkostemp64(char* path, int flags) __attribute__((alias("mkostemp")));

ssize_t read(int descriptor, void* into, std::size_t bytes) {
  return moved(reading, descriptor, bytes,
               [&](std::size_t n) { return ::syscall(SYS_read, descriptor, into, n); });
}
ssize_t pread(int descriptor, void* into, std::size_t bytes, off_t offset) {
  return moved(reading, descriptor, bytes,
               [&](std::size_t n) { return ::syscall(SYS_pread64, descriptor, into, n, offset); });
}
ssize_t pread64(int descriptor, void* into, std::size_t bytes, off_t offset)
    __attribute__((alias("pread")));

ssize_t write(int descriptor, void const* from, std::size_t bytes) {
  return moved(writing, descriptor, bytes,
               [&](std::size_t n) { return ::syscall(SYS_write, descriptor, from, n); });
}
ssize_t pwrite(int descriptor, void const* from, std::size_t bytes, off_t offset) {
  return moved(writing, descriptor, bytes,
               [&](std::size_t n) { return ::syscall(SYS_pwrite64, descriptor, from, n, offset); });
}
ssize_t pwrite64(int descriptor, void const* from, std::size_t bytes, off_t offset)
    __attribute__((alias("pwrite")));

// Vectors of buffers fail as a whole.
#define OUTSIZE_VECTORED(name, kind, ...)                                                    \
  ssize_t name(int descriptor, iovec const* buffers, int count __VA_OPT__(, off_t offset)) { \
    if (fails(kind, descriptor) && the_plan().error_number > 0) return failed<ssize_t>();    \
    return real<ssize_t(int, iovec const*, int __VA_OPT__(, off_t))>(#name)(                 \
        descriptor, buffers, count __VA_OPT__(, offset));                                    \
  }
OUTSIZE_VECTORED(readv, reading)
OUTSIZE_VECTORED(writev, writing)
OUTSIZE_VECTORED(preadv, reading, offset)
OUTSIZE_VECTORED(pwritev, writing, offset)
OUTSIZE_VECTORED(preadv64, reading, offset)
OUTSIZE_VECTORED(pwritev64, writing, offset)
#undef OUTSIZE_VECTORED

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
  if (fails(allocating, descriptor)) return failed();
  return static_cast<int>(::syscall(SYS_fallocate, descriptor, mode, offset, length));
}
int fallocate64(int descriptor, int mode, off_t offset, off_t length)
    __attribute__((alias("fallocate")));

int rename(char const* from, char const* to) {
  if (fails(renaming, std::string_view(to))) return failed();
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int renameat2(int from_folder, char const* from, int to_folder, char const* to, unsigned flags) {
  if (fails(renaming, std::string_view(to))) return failed();
  return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}
int linkat(int from_folder, char const* from, int to_folder, char const* to, int flags) {
  if (fails(renaming, std::string_view(to))) return failed();
  return static_cast<int>(::syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}

int fsync(int descriptor) {
  if (fails_to_confirm(syncing, descriptor)) return failed();
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}
int fdatasync(int descriptor) __attribute__((alias("fsync")));

int ftruncate(int descriptor, off_t length) {
  if (fails(resizing, descriptor)) return failed();
  return static_cast<int>(::syscall(SYS_ftruncate, descriptor, length));
}
int ftruncate64(int descriptor, off_t length) __attribute__((alias("ftruncate")));

int close(int descriptor) {
  bool const is_bad = fails_to_confirm(closing, descriptor);
  auto const status = static_cast<int>(::syscall(SYS_close, descriptor));
  return is_bad ? failed() : status;
}

int fcntl(int descriptor, int command, ...) {
  std::va_list more;
  va_start(more, command);
  long const argument = va_arg(more, long);
  va_end(more);
  if (command == F_SETFL && (argument & O_DIRECT) != 0 && the_plan().lacks_feature('d') &&
      is_below(descriptor)) {
    errno = EINVAL;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fcntl, descriptor, command, argument));
}
int fcntl64(int descriptor, int command, ...) __attribute__((alias("fcntl")));

// Nobody waits for a disk that is bad on purpose.
int nanosleep(timespec const*, timespec*) { return 0; }
int clock_nanosleep(clockid_t, int, timespec const*, timespec*) { return 0; }

struct io_uring;
int io_uring_submit(io_uring* ring) {
  static std::atomic<int> refused{0};
  if (the_plan().lacks_feature('s') && refused++ < 500) return -EAGAIN;
  return real<int(io_uring*)>("io_uring_submit")(ring);
}

}  // extern "C"
