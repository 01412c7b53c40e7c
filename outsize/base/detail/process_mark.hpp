// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// Which process made an object: a process that comes from a fork has copies of all objects, and
// none of their threads.
//
//   parent:  storage ── threads, rings, locks       goes on as if nothing had happened
//   child:   its copy: inert                        destructors do nothing, use is an error
//
// The copies must not touch what both processes share (files, rings, names) and cannot rely on what
// the child lacks (threads, the end of a critical section). So an object with threads or shared
// things has a mark; its destructor leaves all as it is in another process, and its functions throw
// there. What holds such an object is destroyed as usual. Forks are counted by a handler of
// pthread_atfork: fork() calls it; system(), posix_spawn() and vfork() need none, as their children
// only execute a program. Any thread. Layer: base.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace outsize::detail {

/// How many forks led to this process.
extern std::atomic<std::uint32_t> fork_count;

/// Remembers the process in which it was made. Copies remember the same one.
class process_mark {
 public:
  bool is_current() const noexcept { return made_ == fork_count.load(std::memory_order_relaxed); }
  /// Throws io_error (EOWNERDEAD) that names `what` if this is another process.
  void check(char const* what) const {
    if (!is_current()) refuse(what);
  }

 private:
  [[noreturn]] static void refuse(std::string what);

  std::uint32_t made_ = fork_count.load(std::memory_order_relaxed);
};

/// Deletes an object in the process that made it.
template <typename T>
struct process_delete {
  process_delete() = default;
  /// For process_ptr p = std::make_unique<T>(…).
  process_delete(std::default_delete<T>) noexcept {}
  void operator()(T* object) const noexcept {
    if (made.is_current()) delete object;
  }
  process_mark made;
};

/// Owns an object that other threads may be changing when a process forks: the child's copy is
/// never touched again.
template <typename T>
using process_ptr = std::unique_ptr<T, process_delete<T>>;

}  // namespace outsize::detail
